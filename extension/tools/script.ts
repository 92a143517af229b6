/** The results of `subagent_run`, as scripts of pi's `codemode` receive them. */

import { readFile } from "node:fs/promises";
import type { SingleResult, ToolResult } from "../../native.js";
import type { ToolOutput } from "../host/pi.ts";
import { defined } from "../host/stored.ts";
import { submittedBy } from "../host/submission.ts";

/** The name of the tool. */
export const SCRIPT_TOOL = "subagent_run";

/** The outcomes whose code the engine tells people in words only. The package for programs has the same codes. */
const CODES: Partial<Record<SingleResult["outcome"], string>> = {
	aborted: "SUBAGENT_ABORTED",
	budget: "SUBAGENT_OVER_BUDGET",
};

/**
 * Returns the result for pi. A failure has no structured content: `codemode` then throws its text in the script, and
 * still counts its usage.
 */
export async function scriptOutput(result: ToolResult): Promise<ToolOutput> {
	const [run] = result.details.results;
	const text = result.content.map((part) => part.text).join("\n");
	const isBackground = run?.outcome === "background";
	if (!run || (run.outcome !== "completed" && !isBackground)) {
		const code = (run && CODES[run.outcome]) ?? result.details.error?.code ?? "SUBAGENT_FAILED";
		return { ...result, content: [{ type: "text", text: `${code}: ${text}` }], isError: true };
	}
	const structuredContent = defined({
		status: run.outcome,
		// A moved run has a receipt in place of a report.
		report: isBackground ? text : await reportOf(run),
		data: await submittedBy(run),
		runId: run.runId ?? result.details.runId ?? "",
		// The usage of a stored result is that of the run that was paid before.
		cost: run.reused ? 0 : run.usage.cost,
	});
	return { ...result, structuredContent };
}

/** A script filters a long report itself, so it gets the whole text. */
async function reportOf({ output = "", fullOutputFile }: SingleResult): Promise<string> {
	return fullOutputFile ? await readFile(fullOutputFile, "utf8") : output;
}
