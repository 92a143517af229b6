/** Measures the time until no process of a process tree is left. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { baseline, median, report } from "./run.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 *
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 * @typedef {{ ms: number[], left: number[] }} Way the times at which the last process exited, and the numbers of
 * processes left if some were
 */

/** The maximum lifetime of a process after the forced end, in ms. */
const maxMs = 100;

/** The time limit. Each round starts a process tree and waits for its end. */
const longestMs = 600_000;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function tree({ folder, quick }) {
	const rounds = quick ? 1 : 5;
	const about =
		`${rounds} runs for each way to end a run. The child has descendants that ignore SIGTERM, leave their group and session, lose\n` +
		"their parent, are stopped, or fork all the time. The figure is the time from the forced end to the exit of the last process,\n" +
		"median and maximum. Baseline: a process group instead of a warden, and the number of processes left after 1.5 s. Linux only.";
	const title = "End of a process tree";
	if (process.platform !== "linux") return { title, about, rows: [] };

	const measureOurs = () => measure("warden", rounds, folder);
	const measureTheirs = () => measure("process-group", quick ? 1 : 2, folder);
	const [ours, theirs] = quick
		? await Promise.all([measureOurs(), measureTheirs()])
		: [await measureOurs(), await measureTheirs()];
	return { title, about, rows: Object.keys(ours).map((name) => row(name, ours[name], theirs[name])) };
}

/**
 * @param {string} level the mechanism that ends the tree
 * @param {number} rounds
 * @param {string} folder
 * @returns {Promise<Record<string, Way>>}
 */
async function measure(level, rounds, folder) {
	const command = [...baseline("tree-end"), mkdtempSync(join(folder, "trees-")), String(rounds), level];
	const found = await step(`ends of process trees, ${level}`, () => report(command, { limitMs: longestMs }));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	return found.ways;
}

/**
 * @param {string} what
 * @param {Way} [ours]
 * @param {Way} [theirs]
 * @returns {Row}
 */
function row(what, ours = { ms: [], left: [] }, theirs = { ms: [], left: [] }) {
	return {
		what,
		ours: timesText(ours),
		baseline: timesText(theirs),
		target: `≤ ${maxMs} ms, none left`,
		reached: ours.ms.length > 0 && ours.left.length === 0 && Math.max(...ours.ms) <= maxMs,
	};
}

/** @param {Way} way */
function timesText({ ms, left }) {
	const times = ms.length > 0 ? [`${median(ms).toFixed(1)} ms, at most ${Math.max(...ms).toFixed(1)} ms`] : [];
	return [...times, ...(left.length > 0 ? [`${Math.round(median(left))} left`] : [])].join("; ");
}
