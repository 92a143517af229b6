/** Names for what details carry while runs are under way, and when they are over. */

import type { SingleResult, Streaming, TaskProgress } from "../../index.js";

export type { RunDetails as CardDetails, Streaming as LiveRun, TaskProgress } from "../../index.js";

export type RunOutcome = SingleResult["outcome"];

/** How far a task is, or how it ended. `waiting` is a later step of a chain. */
export type TaskState = TaskProgress["state"];

/** What a queued run waits for, and how often it was started. */
export type Standing = Partial<Pick<Streaming, "position" | "heldForMs" | "attempt">>;
