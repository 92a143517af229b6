/** Measures the cost of a thousand runs for their host: in the queue, and in the panel. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { alternate, baseline, median, quantile, report, spread } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 *
 * @typedef {{ cpuMs: number, grownKib: number, updates: number }} Cost the cost of one run
 */

/** The maximum ratio between the cost of one of many queued runs and of one of a few, and the maximum time for a key. */
const max = { growth: 1.5, keyMs: 50 };

const few = 50;

/** The time limit of one queue. */
const limitMs = 300_000;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function thousand({ programs: { events }, folder, quick }) {
	const many = quick ? 2 * few : 1_000;
	const rounds = quick ? 1 : 2;
	const about =
		`${many} runs wait for two slots, in a fresh host, ${rounds} times; each child answers at once. Baseline: ${few} runs, in turn.\n` +
		"Processor time is the host's without its children, for one run. Memory is the growth of the host's resident set when the\n" +
		"first run has ended, for one run. A key moves the selection of the panel and draws it: median and p99. Linux only.";
	const title = "A thousand runs in one host";
	if (process.platform !== "linux") return { title, about, rows: [] };

	const place = mkdtempSync(join(folder, "thousand-"));
	const [node = "", program = ""] = baseline("thousand");
	/** @type {(...words: (string | number)[]) => string[]} */
	const host = (...words) => [node, "--expose-gc", program, ...words.map(String)];
	const queues = { few: host("queue", place, events, few), many: host("queue", place, events, many) };
	const found = await step(`${many} runs in the queue`, () => alternate(queues, rounds, { limitMs }));
	const panels = {
		few: await panel(host("panel", few)),
		many: await panel(host("panel", many)),
	};
	const rows = [
		row(`${many} queued runs: processor time of one`, found.many, found.few, "cpuMs", "ms"),
		row(`${many} queued runs: memory of one`, found.many, found.few, "grownKib", "KiB"),
		{
			what: `a key in the panel with ${many} runs`,
			ours: key(panels.many),
			baseline: key(panels.few),
			target: `≤ ${max.keyMs} ms`,
			reached: quantile(panels.many, 0.99) <= max.keyMs,
		},
	];
	return { title, about, rows };
}

/** @param {string[]} command @returns {Promise<number[]>} */
async function panel(command) {
	const found = await report(command);
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	return found.ms;
}

/** @param {number[]} ms */
function key(ms) {
	return `${median(ms).toFixed(1)} ms, p99 ${quantile(ms, 0.99).toFixed(1)} ms`;
}

/**
 * @param {string} what
 * @param {Cost[]} ours
 * @param {Cost[]} theirs
 * @param {keyof Cost} part
 * @param {string} unit
 * @returns {Row}
 */
function row(what, ours, theirs, part, unit) {
	const of = (/** @type {Cost[]} */ costs) => costs.map((cost) => cost[part]);
	const word = (/** @type {number} */ value) => `${value.toFixed(1)} ${unit}`;
	const growth = median(of(ours)) / median(of(theirs));
	return {
		...{ what, ours: spread(of(ours), word), baseline: spread(of(theirs), word), ratio: times(growth) },
		...{ target: `≤ ${max.growth}×`, reached: growth <= max.growth },
	};
}
