/** What the details of our tools hold: names for their parts, and how they are read back from a session. */

import type {
	CallError,
	DisplayItem,
	RetryNotice,
	RunDetails,
	RunUsage,
	SandboxReport,
	SingleResult,
	SpawnableAgents,
	SpawnReceipt,
	Streaming,
	TaskProgress,
} from "../../index.js";
import {
	type Check,
	decoder,
	isFlag,
	isNumber,
	isObject,
	isText,
	listOf,
	maybe,
	oneOf,
	type Stamp,
	shape,
} from "./stored.ts";

export type { RunDetails as CardDetails, Streaming as LiveRun, TaskProgress } from "../../index.js";

export type RunOutcome = SingleResult["outcome"];

/** How far a task is, or how it ended. `waiting` is a later step of a chain. */
export type TaskState = TaskProgress["state"];

/** What a queued run waits for, and how often it was started. */
export type Standing = Partial<Pick<Streaming, "position" | "heldForMs" | "attempt">>;

/** What a call of ours may leave in a session; the version changes with the meaning of a field. */
export const STAMPS = {
	run: { kind: "subagent-run", version: 1 },
	receipt: { kind: "subagent-receipt", version: 1 },
	agents: { kind: "subagent-agents", version: 1 },
} as const satisfies Record<string, Stamp>;

const isLiveState = oneOf(["queued", "starting", "running", "retrying"]);

export const isUsage: Check = shape<RunUsage>({
	...{ input: isNumber, output: isNumber, cacheRead: isNumber, cacheWrite: isNumber, cost: isNumber, turns: isNumber },
});

const isSaid = shape<Extract<DisplayItem, { type: "text" }>>({ type: oneOf(["text"]), text: isText });
const isCall = shape<Extract<DisplayItem, { type: "toolCall" }>>({
	...{ type: oneOf(["toolCall"]), name: isText, args: isObject },
});
const areItems = listOf((value) => isSaid(value) || isCall(value));

const isResult = shape<SingleResult>({
	...{ agent: isText, task: isText, exitCode: isNumber, usage: isUsage, error: maybe(isText), outcome: isText },
	...{ sessionFile: maybe(isText), output: maybe(isText), displayItems: maybe(areItems), attempts: isNumber },
	...{ durationMs: isNumber, model: maybe(isText), stopReason: maybe(isText), signal: maybe(isText) },
	...{ timeoutReason: maybe(isText), supervision: maybe(isText), fullOutputFile: maybe(isText) },
	sandbox: maybe(shape<SandboxReport>({ enforced: isFlag, mechanism: listOf(isText), reason: maybe(isText) })),
	resources: maybe(
		shape<NonNullable<SingleResult["resources"]>>({ peakRssBytes: isNumber, cpuMs: isNumber, processes: isNumber }),
	),
	...{ changes: maybe(listOf(isText)), diagnostics: maybe(listOf(isText)) },
});

const isRetry = shape<RetryNotice>({
	...{ attempt: isNumber, maxAttempts: maybe(isNumber), atMs: isNumber, error: maybe(isText) },
});
const UNDER_WAY = {
	...{ position: maybe(isNumber), heldForMs: maybe(isNumber), attempt: isNumber, usage: isUsage, turnCount: isNumber },
	...{ elapsedMs: isNumber, sinceEventMs: isNumber, model: maybe(isText), retry: maybe(isRetry) },
};
const isStreaming = shape<Streaming>({ ...UNDER_WAY, state: isLiveState, displayItems: areItems });
const isTask = shape<TaskProgress>({
	...UNDER_WAY,
	...{ agent: isText, state: isText, error: maybe(isText), text: maybe(isText), displayItems: maybe(areItems) },
});

const isRun = shape<RunDetails>({
	mode: oneOf(["single", "parallel", "chain", "management"]),
	...{ runId: maybe(isText), results: listOf(isResult), streaming: maybe(isStreaming), tasks: maybe(listOf(isTask)) },
	error: maybe(shape<CallError>({ code: isText, message: isText })),
});

/** The details of a call that ran agents, or of an update on its way. pi's own example leaves some with nothing in them. */
export const runDetailsIn = decoder<RunDetails>(STAMPS.run, (value) => {
	const { results, error, streaming, tasks } = value as Partial<RunDetails>;
	return isRun(value) && (results?.length !== 0 || (error ?? streaming ?? tasks) !== undefined);
});

/** The receipt of a background run. */
export const receiptIn = decoder<SpawnReceipt>(
	STAMPS.receipt,
	shape<SpawnReceipt>({
		...{ status: oneOf(["accepted", "forbidden", "error"]), runId: maybe(isText), childSessionKey: maybe(isText) },
		...{ note: maybe(isText), warnings: maybe(listOf(isText)), error: maybe(isText) },
	}),
);

/** The list of those who may run in the background. */
export const agentsIn = decoder<SpawnableAgents>(
	STAMPS.agents,
	shape<SpawnableAgents>({
		agents: listOf(
			shape<SpawnableAgents["agents"][number]>({
				...{ id: isText, description: isText, source: isText, readonly: isFlag, model: maybe(isText) },
			}),
		),
		defaultAgent: isText,
	}),
);
