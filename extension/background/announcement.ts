/** The message that tells a conversation how its background runs ended, as data in the session. */

import { isUsage } from "../host/details.ts";
import { decoder, isNumber, isObject, isText, listOf, maybe, shape } from "../host/stored.ts";
import type { BackgroundRun } from "./run.ts";

/** Type of the messages that announce. Sessions keep it: it must not change. */
export const ANNOUNCEMENT = "subagent-announcement";

/** The tool whose results can hold a delivery. */
const SENDS = "sessions_send";

const STAMP = { kind: ANNOUNCEMENT, version: 1 } as const;

/** What of a run is always kept, and what only where it is known. */
const ALWAYS = ["runId", "sessionKey", "agent", "usage"] as const;
const TEXTS = ["label", "task", "status", "outcome", "error", "model", "result", "partial", "transcript"] as const;
const TIMES = ["startedMs", "endedMs"] as const;
const KNOWN = [...TEXTS, ...TIMES, "notes"] as const;

export type AnnouncedRun = Pick<BackgroundRun, (typeof ALWAYS)[number]> &
	Partial<Pick<BackgroundRun, (typeof KNOWN)[number]>>;

/** Kept in the session: whoever opens it sees by the ids what has been delivered. */
export interface AnnouncementDetails {
	kind?: typeof STAMP.kind;
	version?: typeof STAMP.version;
	deliveryIds: string[];
	runIds: string[];
	runs: AnnouncedRun[];
}

const isAnnounced = shape<AnnouncedRun>(
	[isText, "runId", "sessionKey", "agent"],
	[isUsage, "usage"],
	[maybe(isText), ...TEXTS],
	[maybe(isNumber), ...TIMES],
	[maybe(listOf(isText)), "notes"],
);

/** The details of an announcement; nothing where they are not what this release draws. */
export const announcementIn = decoder<AnnouncementDetails>(
	STAMP,
	shape<AnnouncementDetails>([listOf(isText), "deliveryIds", "runIds"], [listOf(isAnnounced), "runs"]),
);

/**
 * The ids of the deliveries that stand in a session, in messages of ours and in replies that a tool has waited for. Another
 * release's stand there too, however they are drawn.
 */
export function deliveredIn(entries: readonly unknown[]): string[] {
	const ids: string[] = [];
	for (const entry of entries) {
		if (!isObject(entry)) continue;
		const { details } = entry.customType === ANNOUNCEMENT ? entry : replyIn(entry);
		const deliveryIds = isObject(details) ? details.deliveryIds : undefined;
		for (const id of Array.isArray(deliveryIds) ? deliveryIds : []) if (isText(id)) ids.push(id);
	}
	return ids;
}

function replyIn({ message }: Record<string, unknown>): { details?: unknown } {
	return isObject(message) && message.role === "toolResult" && message.toolName === SENDS ? message : {};
}
