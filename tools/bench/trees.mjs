/** Measures the cost of a private tree for a run, against git's linked work tree. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { wardenName } from "../../scripts/lib/warden.mjs";
import { median, report, spread } from "./run.mjs";

/** The maximum ratio between the times for a private tree and for git's own. */
const maxRatio = 1.2;

/** The time limit. Each round writes and removes thousands of files. */
const longestMs = 600_000;

/** @param {import("./run.mjs").Setting} setting @returns {Promise<import("./table.mjs").Section>} */
export async function trees({ programs: { trees: program }, folder, quick }) {
	const files = quick ? 200 : 20_000;
	const rounds = quick ? 1 : 2;
	const about =
		`A repository of ${files} files, ${rounds} rounds: a snapshot, the private tree, one changed file, its branch, and the end of\n` +
		"the tree (baseline: `git worktree add`, `add` and `commit` of the file, `git worktree remove`). Then `undo` of 100 changed\n" +
		"files (baseline: `git checkout -- .`, which also drops uncommitted changes).";
	const warden = process.platform === "linux" ? join(root, wardenName) : "none";
	const command = [program, "trees", warden, mkdtempSync(join(folder, "private-")), String(files), String(rounds)];
	const found = await step(`trees of ${files} files`, () => report(command, { limitMs: longestMs }));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	const ours = median(found.ours);
	const theirs = median(found.theirs);
	const ms = (/** @type {number} */ value) => `${value.toFixed(0)} ms`;
	const ratio = `${(ours / theirs).toFixed(2)}×`;
	return {
		title: "Private trees",
		about,
		rows: [
			{
				what: "made, taken over and removed",
				ours: spread(found.ours, ms),
				baseline: spread(found.theirs, ms),
				ratio,
				target: `≤ ${maxRatio}×`,
				reached: ours <= maxRatio * theirs,
			},
			{ what: "the snapshot alone", ours: spread(found.snapshots, ms) },
			{
				what: "undo of 100 changed files",
				ours: spread(found.undone, ms),
				baseline: spread(found.checkedOut, ms),
				ratio: `${(median(found.undone) / median(found.checkedOut)).toFixed(2)}×`,
			},
		],
	};
}
