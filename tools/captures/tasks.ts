/** The tasks of the scenes and the children's texts. */

import { fail } from "../../__test__/support/steps.ts";
import { list, read, turns } from "./model.ts";

/** The key that expands and collapses cards. */
export const EXPAND = "C-o";

export const find = "Find where the configuration is loaded, and in which order its files count.";
export const review = "Review src/config.ts for mistakes.";
export const tests = "Plan tests for the order of the files.";
export const plan = "Plan an option --profile that selects a third file.";

export const found = [
	"# Where it is",
	"`load` in `src/config.ts` reads two files, **the user's first**:",
	"",
	"1. `~/.config/app.json`",
	"2. `app.json` in the project, which can only tighten",
	"",
	"`src/main.ts` calls it once, before anything else.",
].join("\n");

export const noMistake =
	"No mistake found. `merge` keeps the stricter of two limits, and a missing file is an empty one.";
export const testPlan = "1. No file.\n2. The user's only.\n3. Both, and the project's is looser: it must not count.";
export const optionPlan = "Read `--profile` in `src/main.ts`, pass it to `load`, and merge that file last.";

export const explore = turns(
	{ text: "First the lay of the land.", calls: [list("."), read("src/config.ts", 40)] },
	{ text: found },
);

export const outOfCredit = () => [fail(400, { body: { error: { message: "The account is out of credit." } } })];

export const rateLimited = () => [
	fail(429, { body: { error: { message: "Rate limit reached. Please try again in 50 seconds." } } }),
];

export function at(agent: string, task: string): { agent: string; task: string } {
	return { agent, task };
}
