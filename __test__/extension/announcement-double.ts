/** The message that announces, as the addon makes it of runs. */

import type { CustomMessage } from "../../extension/host/pi.ts";
import type { DeliveryMessage } from "../../native.js";

const FIELDS = [
	...(["runId", "sessionKey", "agent", "usage", "label", "task", "status", "outcome", "error", "model"] as const),
	...(["result", "partial", "transcript", "startedMs", "endedMs", "notes"] as const),
];

type Unannounced = Omit<DeliveryMessage, "announcement">;
type AnnouncedRuns = Pick<Unannounced, "deliveryIds" | "runIds" | "text" | "runs"> & Partial<Unannounced>;

export function announcementOf({
	deliveryIds,
	runIds,
	text,
	runs,
}: AnnouncedRuns): CustomMessage & { details: object } {
	const summaries = runs.map((run) => Object.fromEntries(FIELDS.map((name) => [name, run[name]])));
	const details = { kind: "subagent-announcement", version: 1, deliveryIds, runIds, runs: summaries };
	return {
		customType: "subagent-announcement",
		content: text,
		display: true,
		details: JSON.parse(JSON.stringify(details)),
	};
}

export function announced(message: Unannounced): DeliveryMessage {
	return { ...message, announcement: announcementOf(message) as unknown as DeliveryMessage["announcement"] };
}
