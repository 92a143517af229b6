/** Results, as programs read them. */

import { readFile } from "node:fs/promises";
import { type Submission, submittedBy } from "../extension/host/submission.ts";
import type { ErrorCode, Failure, ResultBase, Success } from "../index.js";
import type { RunUsage, SingleResult, ToolResult } from "../native.js";
import { validated } from "./schema.ts";

/** The usage of a run that has not begun. */
export const noUsage: RunUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };

/** The codes that the engine tells people in words only. */
const codes: Partial<Record<SingleResult["outcome"], ErrorCode>> = {
	aborted: "SUBAGENT_ABORTED",
	budget: "SUBAGENT_OVER_BUDGET",
	background: "MOVED_TO_BACKGROUND",
};

/** The words of the engine for models and people, and those for programs. */
const wordings: [RegExp, string][] = [
	[/; (use another one(, and do not ask for it again)?|do the work yourself)$/, ""],
	[/ and `subagents\.nonInteractivePolicy` is `deny`/, ", and no one was asked to allow it: pass `onConfirm`"],
	[/the user did not allow it, and is asked again .*$/, "`onConfirm` has not allowed it"],
	[/the user has not answered whether it may run/, "`onConfirm` has not answered whether it may run"],
	[/before the user could be asked/, "before `onConfirm` could be asked"],
	[/^stopped on request$/, "stopped by `stop`"],
	[/^pi ended (before the run started|during the run)/, "the process ended $1"],
	[
		/pi waits at most (\d+) ms for background runs before it ends \(`background.headlessWaitMs`\)/,
		"`settled` waits at most $1 ms (its argument, or `background.headlessWaitMs`)",
	],
	[/`\/subagents resume \w+` continues its session/, "`send` continues it"],
	[/(, as `\/subagents doctor` says)/, ""],
];

/** Returns a message of the engine in words for programs. */
export function forProgram(message: string): string {
	return wordings.reduce((text, [words, own]) => text.replace(words, own), message);
}

const movedToBackground = "the run continues in the background, and its session receives the result";

/** The words of a program about its run. */
export interface OwnWords {
	/** The message if the program has ended the run. */
	aborted: string | undefined;
	/** The name of a group's budget. The engine knows it as `sessionBudget`. */
	budget: string | undefined;
}

/** Returns the result of a run. `schema` is the shape that it had to submit. */
export async function resultOf(
	native: ToolResult,
	schema: object | undefined,
	{ aborted, budget }: OwnWords,
): Promise<Success<unknown> | Failure> {
	const [details] = native.details.results;
	const base: ResultBase = {
		outcome: details?.outcome ?? "failed",
		usage: details?.usage ?? noUsage,
		...(details && { details }),
		...(details?.reused && { reused: true }),
		...(details?.runId !== undefined && { runId: details.runId }),
		...(details?.caveats && { caveats: details.caveats }),
	};
	const said = details?.output ?? "";
	if (base.outcome !== "completed") {
		const code =
			details?.quotaExhausted === undefined ? (codes[base.outcome] ?? errorCode(native)) : "SUBAGENT_QUOTA_EXHAUSTED";
		const words = details?.error ?? native.details.error?.message ?? native.content[0]?.text ?? "the run failed";
		const own = { aborted, background: movedToBackground }[base.outcome as "aborted" | "background"];
		const message = own ?? forProgram(budget ? words.replace("`sessionBudget.maxCost`", budget) : words);
		return { ok: false, error: { code, message }, partial: said, ...base };
	}
	if (!schema) return { ok: true, text: said, data: undefined, ...base };
	const checked = await checkedData(details ?? {}, schema);
	if ("problem" in checked) {
		return { ok: false, error: { code: "RESULT_INVALID", message: checked.problem }, partial: said, ...base };
	}
	return { ok: true, text: said, data: checked.value, ...base };
}

/** The size from which the engine cuts a text in `details`, in bytes. */
const cutBytes = 64 * 1024;

/** Returns a result with its whole text. A long one is in a file. */
export async function wholeText(result: Success<unknown> | Failure): Promise<Success<unknown> | Failure> {
	const file = result.details?.fullOutputFile;
	// The marker of a cut takes some of the bytes.
	if (!result.ok || !file || Buffer.byteLength(result.text) < cutBytes / 2) return result;
	return { ...result, text: await readFile(file, "utf8") };
}

function errorCode({ details: { error } }: ToolResult): ErrorCode {
	return error && error.code !== "SUBAGENT_OUTPUT_TRUNCATED" ? error.code : "SUBAGENT_FAILED";
}

/** Returns the data of a run, or the reason why there is none: a conversion of the schema may throw, and a file may be gone. */
async function checkedData(details: Submission, schema: object): Promise<{ value: unknown } | { problem: string }> {
	try {
		return await validated(schema, await submittedBy(details));
	} catch (error) {
		return { problem: error instanceof Error ? error.message : String(error) };
	}
}
