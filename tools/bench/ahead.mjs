/** Measures runs whose child boots before the run can start: steps of a chain, queued tasks, a next call, another attempt. */

import { join } from "node:path";
import { newestPi, piOverride, root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { median, piOf, report, spread } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 *
 * @typedef {{ ms: number, cpuMs: number, peakMib: number }} Cost
 */

export const title = "Runs whose children boot ahead";

/** The targets: of a chain of three against one run, of 24 tasks against no boot ahead, of a next call and another attempt in ms. */
const max = { chain: 1.35, many: 0.75, callMs: 60, attemptMs: 60 };

/** The time limit. */
const longestMs = 900_000;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function ahead(setting) {
	const rounds = setting.quick ? 1 : 2;
	const { node, program } = piOf(setting);
	const command = [node, join(root, "benchmark", "ahead.ts"), String(rounds), setting.quick ? "cold" : "warm"];
	const env = { PI_TEST_NODE: node, [piOverride(newestPi)]: program };
	const found = await step("runs in real pi", () => report(command, { limitMs: longestMs, env }));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	const { one, chain, chainWithout, many, manyWithout, attempt, attemptWithout } = found.ways;
	const { slowOne, slowChain, slowChainWithout, slowMany, slowManyWithout } = found.ways;
	const { programChain, programChainWithout, nextCall, nextCallWithout } = found.ways;
	const chainPart = mid(chain, "ms") / mid(one, "ms");
	const manyPart = mid(many, "ms") / mid(manyWithout, "ms");
	/** @type {Row[]} */
	const rows = [
		{ what: "one run", ours: text(one, "ms") },
		...costs("a chain of three", chain, chainWithout),
		{
			what: "a chain of three: part of one run",
			ours: chainPart.toFixed(2),
			baseline: (mid(chainWithout, "ms") / mid(one, "ms")).toFixed(2),
			target: `≤ ${max.chain}`,
			reached: chainPart <= max.chain,
		},
		...costs("a program's chain of three (`run.chain`)", programChain, programChainWithout),
		...costs("24 tasks on 8 slots", many, manyWithout),
		{
			what: "24 tasks on 8 slots: part of the baseline",
			ours: manyPart.toFixed(2),
			target: `≤ ${max.many}`,
			reached: manyPart <= max.many,
		},
		{ what: "one run, the model writes for a second", ours: text(slowOne, "ms") },
		row("a chain of three, the model writes for a second", slowChain, slowChainWithout, "ms"),
		row("24 tasks on 8 slots, the model writes for a second", slowMany, slowManyWithout, "ms"),
		{
			...row(
				"a program's next call, to its request, and a child waits for it (`spare.count: 1`)",
				nextCall,
				nextCallWithout,
				"ms",
			),
			target: `≤ ${max.callMs} ms`,
			reached: mid(nextCall, "ms") <= max.callMs,
		},
		{
			...row("another attempt, from the end of its pause to its request", attempt, attemptWithout, "ms"),
			target: `≤ ${max.attemptMs} ms`,
			reached: mid(attempt, "ms") <= max.attemptMs,
		},
	];
	const about =
		`Runs in pi ${newestPi} with a scripted model that answers at once: medians and ranges of ${rounds} rounds, or one round if the\n` +
		"model writes for a second. Baseline: the same with `bootAhead: 0`, in turn; of a program's chain with `earlyBoot: off`, and of\n" +
		"its next call without a spare child. Processor time and peak memory (PSS) are those of all children. Where all processors are\n" +
		"busy with boots, a boot ahead cannot save time.";
	return { title, about, rows };
}

/**
 * @param {string} what
 * @param {Cost[]} ours
 * @param {Cost[]} theirs
 * @returns {Row[]}
 */
function costs(what, ours, theirs) {
	return [
		row(what, ours, theirs, "ms"),
		row(`${what}: processor time`, ours, theirs, "cpuMs"),
		row(`${what}: peak memory`, ours, theirs, "peakMib"),
	];
}

/**
 * @param {string} what
 * @param {Cost[]} ours
 * @param {Cost[]} theirs
 * @param {keyof Cost} part
 * @returns {Row}
 */
function row(what, ours, theirs, part) {
	const ratio = times(mid(theirs, part) / mid(ours, part));
	return { what, ours: text(ours, part), baseline: text(theirs, part), ratio };
}

/** @param {Cost[]} found @param {keyof Cost} part */
function mid(found, part) {
	return median(found.map((cost) => cost[part]));
}

/** @param {Cost[]} found @param {keyof Cost} part */
function text(found, part) {
	const unit = part === "peakMib" ? "MiB" : "ms";
	return spread(
		found.map((cost) => cost[part]),
		(value) => `${value.toFixed(0)} ${unit}`,
	);
}
