/** The package for programs. `index.d.ts` describes it; `index.js` is this directory in one file. */

import type { Run, RunOptions, Schema } from "../index.js";
import { chain, parallel } from "./group.ts";
import { checkRun } from "./options.ts";
import { RunTask } from "./task.ts";

export { collectOutput, sanitizeOutput, startRun, truncateOutput } from "../native.js";
export { defineAgent } from "./agent.ts";
export { OptionsError } from "./options.ts";
export { openSession } from "./session.ts";
export { collect, sanitize, truncate } from "./text.ts";
export { WorkflowError, workflow } from "./workflow.ts";

function one(options: RunOptions<Schema | undefined>): RunTask {
	checkRun(options);
	return new RunTask(options);
}

export const run = Object.assign(one, { parallel, chain }) as unknown as Run;
