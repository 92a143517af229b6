/** Measures the time from a complete call to its child's first request, against pi's own example of a sub-agent. */

import { existsSync } from "node:fs";
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
 */

/** The targets: the maximum time and the maximum share of the example's time with early boot, and the share without. */
const max = { ms: 150, part: 1 / 4, atOncePart: 0.75 };

/** The target with a spare child, of a background run, and of a message to an ended run, in ms. */
const maxSpareMs = 60;

/** The time limit. Each delegation takes some seconds, in nine ways. */
const longestMs = 900_000;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function early(setting) {
	const delegations = setting.quick ? 1 : 3;
	const { node, program } = piOf(setting);
	const example = join(program, "..", "..", "..", "examples", "extensions", "subagent", "index.ts");
	if (!existsSync(example)) {
		throw new SetupProblem(`pi's example extension is not at ${example}.`, "Install pi's npm package.");
	}
	const command = [
		node,
		join(root, "benchmark", "early.ts"),
		example,
		String(delegations),
		setting.quick ? "cold" : "warm",
	];
	// The driver of pi finds the program in the same way as the tests do.
	const env = { PI_TEST_NODE: node, [piOverride(newestPi)]: program };
	const found = await step("delegating in real pi", () => report(command, { limitMs: longestMs, env }));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	const { example: theirs, early, notEarly, atOnce, exampleAtOnce, spare, background } = found.ways;
	const { message, messageNotEarly } = found.ways;
	/** @type {Row[]} */
	const rows = [
		...earlyRows(early, theirs),
		row("the same without early boot", notEarly, theirs),
		row("the call comes at once", atOnce, exampleAtOnce),
		part("the call comes at once", atOnce, exampleAtOnce, max.atOncePart),
		{
			...row("the same, and a child waits for it (`spare.count: 1`)", spare, exampleAtOnce),
			target: `≤ ${maxSpareMs} ms`,
			reached: median(spare) <= maxSpareMs,
		},
		{
			what: "a background run (`sessions_spawn`), the call streams for 1.8 s",
			ours: text(background),
			target: `≤ ${maxSpareMs} ms`,
			reached: median(background) <= maxSpareMs,
		},
		{
			what: "a message to an ended run (`sessions_send`), the call streams for 1.8 s",
			ours: text(message),
			target: `≤ ${maxSpareMs} ms`,
			reached: median(message) <= maxSpareMs,
		},
		{ what: "the same without early boot", ours: text(messageNotEarly) },
	];
	const about =
		`The time from the last byte of the parent's tool call, streamed by a scripted model, to the child's first request to that\n` +
		`model, in pi ${newestPi}: median and range of ${delegations} delegations. Baseline: pi's example of a sub-agent extension with the\n` +
		"same agent file, in turn on the same machine. A slow call streams its arguments for 1.8 s and begins with the agent.";
	return { title: "From a complete call to its child's first request", about, rows };
}

/**
 * @param {number[]} ours
 * @param {number[]} theirs
 * @returns {Row[]}
 */
function earlyRows(ours, theirs) {
	const what = "early boot, the call streams for 1.8 s";
	return [
		{ ...row(what, ours, theirs), target: `≤ ${max.ms} ms`, reached: median(ours) <= max.ms },
		part(what, ours, theirs, max.part),
	];
}

/**
 * @param {string} what
 * @param {number[]} ours
 * @param {number[]} theirs
 * @param {number} target
 * @returns {Row}
 */
function part(what, ours, theirs, target) {
	const share = median(ours) / median(theirs);
	return {
		what: `${what}: part of the baseline`,
		ours: share.toFixed(2),
		target: `≤ ${target}`,
		reached: share <= target,
	};
}

/** @param {number[]} ms */
function text(ms) {
	return spread(ms, (value) => `${value.toFixed(0)} ms`);
}

/**
 * @param {string} what
 * @param {number[]} ours
 * @param {number[]} theirs
 * @returns {Row}
 */
function row(what, ours, theirs) {
	return { what, ours: text(ours), baseline: text(theirs), ratio: times(median(theirs) / median(ours)) };
}
