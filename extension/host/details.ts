/** What the details of our tools hold, as far as it is drawn, and how it is read back from a session. */

import type {
	CallError,
	CommandReport,
	DisplayItem,
	RetryNotice,
	RunDetails,
	RunUsage,
	SingleResult,
	SpawnableAgents,
	SpawnReceipt,
	Streaming,
	TaskProgress,
} from "../../index.js";
import { decoder, isFlag, isNumber, isObject, isText, listOf, maybe, oneOf, type Stamp, shape } from "./stored.ts";

export type { RunDetails as CardDetails, Streaming as LiveRun, TaskProgress } from "../../index.js";

export type RunOutcome = SingleResult["outcome"];

/** How far a task is, or how it ended. `waiting` is a later step of a chain. */
export type TaskState = TaskProgress["state"];

/** What a call of ours may leave in a session; the version changes with the meaning of a field. */
export const STAMPS = {
	run: { kind: "subagent-run", version: 1 },
	receipt: { kind: "subagent-receipt", version: 1 },
	agents: { kind: "subagent-agents", version: 1 },
	session: { kind: "subagent-session", version: 1 },
} as const satisfies Record<string, Stamp>;

export const isUsage = shape<RunUsage>([isNumber, "input", "output", "cacheRead", "cacheWrite", "cost", "turns"]);

type Item<Type> = Extract<DisplayItem, { type: Type }>;
const isSaid = shape<Item<"text">>([oneOf(["text"]), "type"], [isText, "text"]);
const isCall = shape<Item<"toolCall">>([oneOf(["toolCall"]), "type"], [isText, "name"], [isObject, "args"]);
const areItems = listOf((value) => isSaid(value) || isCall(value));

const isResult = shape<SingleResult>(
	[isText, "agent", "task", "outcome"],
	[isNumber, "attempts", "durationMs"],
	[isUsage, "usage"],
	[maybe(isText), "error", "sessionFile", "output", "model", "stopReason", "signal", "fullOutputFile"],
	[maybe(listOf(isText)), "changes", "diagnostics"],
	[maybe(areItems), "displayItems"],
);

export const isRetry = shape<RetryNotice>(
	[isNumber, "attempt", "atMs"],
	[maybe(isNumber), "maxAttempts"],
	[maybe(isText), "error"],
);
const isUnderWay = shape<Streaming & TaskProgress>(
	[isNumber, "attempt", "turnCount", "elapsedMs", "sinceEventMs"],
	[maybe(isNumber), "position", "heldForMs"],
	[isUsage, "usage"],
	[maybe(isText), "model"],
	[maybe(isRetry), "retry"],
);
const isLiveState = oneOf(["queued", "starting", "running", "retrying"]);
const isStreaming = shape<Streaming>([isLiveState, "state"], [areItems, "displayItems"]);
const isTask = shape<TaskProgress>(
	[isText, "agent", "state"],
	[maybe(isText), "error", "text"],
	[maybe(areItems), "displayItems"],
);

const isRun = shape<RunDetails>(
	[oneOf(["single", "parallel", "chain", "management"]), "mode"],
	[maybe(isText), "runId"],
	[listOf(isResult), "results"],
	[maybe((value) => isUnderWay(value) && isStreaming(value)), "streaming"],
	[maybe(listOf((value) => isUnderWay(value) && isTask(value))), "tasks"],
	[maybe(shape<CallError>([isText, "code", "message"])), "error"],
);

/** The details of a call that ran agents, or of an update on its way. pi's own example leaves some with nothing in them. */
export const runDetailsIn = decoder<RunDetails>(STAMPS.run, (value) => {
	const { results, error, streaming, tasks } = value as Partial<RunDetails>;
	return isRun(value) && (results?.length !== 0 || (error ?? streaming ?? tasks) !== undefined);
});

/** The receipt of a background run. */
export const receiptIn = decoder<SpawnReceipt>(
	STAMPS.receipt,
	shape<SpawnReceipt>(
		[oneOf(["accepted", "forbidden", "error"]), "status"],
		[maybe(isText), "runId", "childSessionKey", "note", "error"],
		[maybe(listOf(isText)), "warnings"],
	),
);

const isSpawnable = shape<SpawnableAgents["agents"][number]>(
	[isText, "id", "description", "source"],
	[isFlag, "readonly"],
	[maybe(isText), "model"],
);

/** The list of those who may run in the background. */
export const agentsIn = decoder<SpawnableAgents>(
	STAMPS.agents,
	shape<SpawnableAgents>([listOf(isSpawnable), "agents"], [isText, "defaultAgent"]),
);

/** What is kept of a report; `text` is the same for whoever draws nothing. */
export const isReport = shape<Pick<CommandReport, "title" | "lines" | "text">>(
	[isText, "title", "text"],
	[
		listOf(
			shape<CommandReport["lines"][number]>(
				[isText, "text"],
				[maybe(isText), "mark", "name"],
				[maybe(isNumber), "indent"],
			),
		),
		"lines",
	],
);

/** What a session tool leaves: its answer for people, and the deliveries whose content the model has with it. */
export interface SessionDetails {
	report: Pick<CommandReport, "title" | "lines" | "text">;
	deliveryIds?: string[];
}

export const sessionIn = decoder<SessionDetails>(
	STAMPS.session,
	shape<SessionDetails>([isReport, "report"], [maybe(listOf(isText)), "deliveryIds"]),
);
