/** Measures the cost of many children at once for a host. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { alternate, baseline, median, spread, together } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 *
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 * @typedef {{ wallMs: number, hostMs: number, threadMs: number, growthMib: number, peakMib: number, wardenMib: number,
 * threads: number, textBytes: number, timersMs: number }} Cost the cost of all children together
 */

/** The maximum cost of one child for its host. */
const max = { mebibytes: 1, threadMs: 3 };

/**
 * The maximum ratio between the cost of one of many children and of one of a few. A higher ratio means that the cost is
 * not linear.
 */
const maxGrowth = 1.5;
const few = 8;

const counts = [1, few, 256];
const quickCounts = [1, few];

/** @type {Record<string, string>} */
const sandboxes = { off: "", required: ", sandboxed" };

/** @param {Setting} setting @returns {Promise<Section>} */
export async function scale({ programs: { events }, folder, quick }) {
	const rounds = quick ? 1 : 2;
	const numbers = quick ? quickCounts : counts;
	const about =
		"All children send a short answer in twenty deltas over a second, at the same time. The addon reads them (`startRun`, with\n" +
		`updates), each time in a fresh host, ${rounds} times. The baseline reads the same children with Node's \`spawn\` and \`JSON.parse\`.\n` +
		"Processor time is the host's without its children; the JavaScript thread's time comes from the kernel. Memory is the growth of\n" +
		"the host's resident set while all children exist, after a garbage collection, or its peak. The delay of the event loop (measured\n" +
		"every millisecond, so that an idle host shows 1.1 ms) comes from separate runs. Linux only.";
	const title = "Many children at once";
	if (process.platform !== "linux") return { title, about, rows: [] };

	const place = mkdtempSync(join(folder, "scale-"));
	/** @type {(way: string, count: number, sandbox: string, purpose: string) => string[]} */
	const host = (way, count, sandbox, purpose) => {
		const [node = "", program = ""] = baseline("many");
		return [node, "--expose-gc", program, way, place, events, String(count), sandbox, purpose];
	};
	/** @type {Row[]} */
	const rows = [];
	/** @type {Record<string, Record<number, Cost>>} */
	const costs = { off: {}, required: {} };
	for (const count of numbers) {
		const what = `${count} ${count === 1 ? "child" : "children"}`;
		const hosts = {
			off: host("run", count, "off", "cost"),
			required: host("run", count, "required", "cost"),
			javascript: host("javascript", count, "off", "cost"),
			offDelay: host("run", count, "off", "delay"),
			requiredDelay: host("run", count, "required", "delay"),
			javascriptDelay: host("javascript", count, "off", "delay"),
		};
		const found = await step(`${what} at once`, () => (quick ? together(hosts) : alternate(hosts, rounds)));
		/** @type {Cost[]} */
		const theirs = found.javascript;
		for (const [sandbox, more] of Object.entries(sandboxes)) {
			/** @type {Cost[]} */
			const ours = found[/** @type {"off" | "required"} */ (sandbox)];
			const delays = found[/** @type {"offDelay" | "requiredDelay"} */ (`${sandbox}Delay`)];
			checkSame(medianOf(ours).textBytes, medianOf(theirs).textBytes);
			costs[sandbox][count] = medianOf(ours);
			rows.push(
				...costRows(`${what}${more}`, count, ours, theirs),
				delayRow(`${what}${more}`, medianOf(delays), medianOf(found.javascriptDelay)),
			);
		}
	}
	for (const [sandbox, more] of Object.entries(sandboxes))
		rows.push(growthRow(more, costs[sandbox], numbers.at(-1) ?? 0));
	return { title, about, rows };
}

/**
 * Returns the median of each figure.
 *
 * @param {any[]} reports
 * @returns {any}
 */
function medianOf(reports) {
	const names = Object.keys(reports[0]);
	return Object.fromEntries(names.map((name) => [name, median(reports.map((report) => report[name]))]));
}

/**
 * @param {string} what
 * @param {number} count
 * @param {Cost[]} ours
 * @param {Cost[]} theirs
 * @returns {Row[]}
 */
function costRows(what, count, ours, theirs) {
	/** @type {(name: string, key: keyof Cost, unit: string, limit?: number) => Row} */
	const each = (name, key, unit, limit) => {
		const owns = ours.map((cost) => cost[key] / count);
		const others = theirs.map((cost) => cost[key] / count);
		const own = median(owns);
		const other = median(others);
		const word = (/** @type {number} */ value) => `${value.toFixed(2)} ${unit}`;
		return {
			what: `${what}: ${name}`,
			ours: spread(owns, word),
			baseline: spread(others, word),
			...(own > 0 && other > 0 ? { ratio: times(other / own) } : {}),
			...(limit ? { target: `< ${limit} ${unit}`, reached: own < limit } : {}),
		};
	};
	/** @type {(costs: Cost[], key: keyof Cost) => number[]} */
	const all = (costs, key) => costs.map((cost) => cost[key]);
	const milliseconds = (/** @type {number} */ ms) => `${ms.toFixed(2)} ms`;
	const threads = (/** @type {Cost[]} */ costs) => String(median(all(costs, "threads")));
	/** @type {Row[]} */
	const alone =
		count === 1
			? [
					{
						what: `${what}: twenty timers that do nothing, JavaScript thread`,
						ours: spread(all(ours, "timersMs"), milliseconds),
					},
				]
			: [];
	return [
		{
			what: `${what}: until all have ended`,
			ours: spread(all(ours, "wallMs"), seconds),
			baseline: spread(all(theirs, "wallMs"), seconds),
		},
		each("processor time of the host by child", "hostMs", "ms"),
		// A thread that sleeps in between spends most of this time on waking up.
		each("JavaScript thread by child", "threadMs", "ms", count === 1 ? undefined : max.threadMs),
		...alone,
		each("memory by child", "growthMib", "MiB", max.mebibytes),
		each("memory by child at its peak", "peakMib", "MiB"),
		{ what: `${what}: a warden`, ours: `${(median(all(ours, "wardenMib")) / count).toFixed(2)} MiB` },
		{ what: `${what}: threads of the host`, ours: threads(ours), baseline: threads(theirs) },
	];
}

/**
 * @param {string} what
 * @param {{ p50: number, p99: number, max: number }} ours
 * @param {{ p50: number, p99: number, max: number }} theirs
 * @returns {Row}
 */
function delayRow(what, ours, theirs) {
	const text = ({ p50 = 0, p99 = 0, max = 0 }) => `${[p50, p99, max].map((ms) => ms.toFixed(1)).join(", ")} ms`;
	return { what: `${what}: delay, p50, p99, max`, ours: text(ours), baseline: text(theirs) };
}

/**
 * @param {string} more
 * @param {Record<number, Cost>} costs
 * @param {number} many
 * @returns {Row}
 */
function growthRow(more, costs, many) {
	/** @param {number} count */
	const each = (count) => (costs[count]?.hostMs ?? Number.NaN) / count;
	return {
		what: `processor time of the host by child, ${many} against ${few}${more}`,
		ours: `${each(many).toFixed(2)} ms`,
		baseline: `${each(few).toFixed(2)} ms`,
		ratio: times(each(many) / each(few)),
		target: `≤ ${maxGrowth}×`,
		reached: each(many) <= maxGrowth * each(few),
	};
}

/**
 * Compares the results. A host that loses answers would have little to do.
 *
 * @param {number} ours
 * @param {number} theirs
 */
function checkSame(ours, theirs) {
	if (ours === theirs) return;
	throw new SetupProblem(`The answers have ${ours} bytes here and ${theirs} in JavaScript.`, "One of them is wrong.");
}

/** @param {number} ms */
function seconds(ms) {
	return `${(ms / 1000).toFixed(2)} s`;
}
