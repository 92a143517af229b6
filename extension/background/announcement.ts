/** The message that tells a conversation how its background runs ended, as data in the session. */

import { isUsage } from "../host/details.ts";
import type { CustomMessage, SessionEntry } from "../host/pi.ts";
import { decoder, isNumber, isObject, isText, listOf, maybe, shape } from "../host/stored.ts";
import type { BackgroundRun, DeliveryMessage } from "./types.ts";

/** Type of the messages that announce. Sessions keep it: it must not change. */
export const ANNOUNCEMENT = "subagent-announcement";

const STAMP = { kind: ANNOUNCEMENT, version: 1 } as const;

/** Characters of a task kept: its first line names a run without a label. */
const MAX_TASK_CHARACTERS = 200;
/** Characters of results kept beside the text for the model: for drawing, in every session for good. */
const MAX_RESULT_CHARACTERS = 16_000;

/** What of a run is kept and drawn. */
export type AnnouncedRun = Pick<BackgroundRun, "runId" | "sessionKey" | "agent" | "usage"> &
	Partial<
		Pick<
			BackgroundRun,
			| ("label" | "task" | "status" | "outcome" | "error" | "model" | "startedMs" | "endedMs")
			| ("result" | "partial" | "notes" | "transcript")
		>
	>;

/** Kept in the session: whoever opens it sees by the ids what has been delivered. */
export interface AnnouncementDetails {
	kind?: typeof STAMP.kind;
	version?: typeof STAMP.version;
	deliveryIds: string[];
	runIds: string[];
	runs: AnnouncedRun[];
}

const isAnnounced = shape<AnnouncedRun>({
	...{ runId: isText, sessionKey: isText, agent: isText, usage: isUsage, label: maybe(isText) },
	...{ task: maybe(isText), status: maybe(isText), outcome: maybe(isText), error: maybe(isText), model: maybe(isText) },
	...{ startedMs: maybe(isNumber), endedMs: maybe(isNumber), result: maybe(isText), partial: maybe(isText) },
	...{ notes: maybe(listOf(isText)), transcript: maybe(isText) },
});

/** The details of an announcement; nothing where they are not what this release draws. */
export const announcementIn = decoder<AnnouncementDetails>(
	STAMP,
	shape<AnnouncementDetails>({ deliveryIds: listOf(isText), runIds: listOf(isText), runs: listOf(isAnnounced) }),
);

/** The message as pi takes it. */
export function announcementOf({ deliveryIds, runIds, text, runs }: DeliveryMessage): CustomMessage {
	const room = Math.floor(MAX_RESULT_CHARACTERS / Math.max(1, runs.length));
	const details: AnnouncementDetails = { ...STAMP, deliveryIds, runIds, runs: runs.map((run) => announced(run, room)) };
	return { customType: ANNOUNCEMENT, content: text, display: true, details };
}

function announced(run: BackgroundRun, room: number): AnnouncedRun {
	const { runId, sessionKey, label, agent, status, outcome, model, startedMs, endedMs, usage, transcript } = run;
	const { result, partial, error, notes } = run;
	const task = run.task.trim().slice(0, MAX_TASK_CHARACTERS);
	return {
		...{ runId, sessionKey, label, agent, status, outcome, model, startedMs, endedMs, usage, transcript },
		...{ task, error, notes, result: result?.slice(0, room), partial: partial?.slice(0, room) },
	} as AnnouncedRun;
}

/** The ids of the deliveries that stand in a session. Another release's stand there too, however they are drawn. */
export function deliveredIn(entries: readonly SessionEntry[]): Set<string> {
	const ids = new Set<string>();
	for (const entry of entries) {
		if (entry?.customType !== ANNOUNCEMENT || !isObject(entry.details)) continue;
		const { deliveryIds } = entry.details;
		for (const id of Array.isArray(deliveryIds) ? deliveryIds : []) if (isText(id)) ids.add(id);
	}
	return ids;
}
