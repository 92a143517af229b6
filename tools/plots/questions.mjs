/** Makes one plot for each question about speed and memory, from the figures of `benchmark/RESULTS.md`. */

import { row } from "./data.mjs";

/**
 * @typedef {import("./data.mjs").Results} Results
 * @typedef {import("./data.mjs").Figure} Figure
 * @typedef {import("./draw.mjs").Plot & { name: string, answer: string }} Question
 */

const scenes = ["1 child", "8 children", "8 children, one with the line", "32 children, one with the line"];
const sceneLabels = ["1 child", "8 children", "8, one with a 64 MiB line", "32, one with a 64 MiB line"];

/** @param {Results} results @returns {Question[]} */
export function questions(results) {
	return [
		firstRequest(results),
		chainOfThree(results),
		queuedTasks(results),
		delay(results),
		memory(results),
		survivors(results),
		throughput(results),
	];
}

/** @param {Results} results @returns {Question} */
function firstRequest(results) {
	const title = "From a complete call to its child's first request";
	const { sections } = results;
	/** @type {[what: string, label: string][]} */
	const ways = [
		["early boot, the call streams for 1.8 s", "the call streams for 1.8 s"],
		["the same without early boot", "the same, `earlyBoot: off`"],
		["the call comes at once", "the call comes at once"],
		["the same, and a child waits for it (`spare.count: 1`)", "at once, a spare child waits"],
	];
	const measured = sections.find((section) => section.title === title)?.rows.map(({ what }) => what) ?? [];
	const early = row(results, title, ways[0]?.[0] ?? "");
	return {
		name: "first-request",
		title: "How soon does the child start?",
		axis: "ms from the complete call to the child's first request (median and range)",
		names: { ours: "this package", baseline: "pi's own example" },
		groups: ways
			.filter(([what]) => measured.includes(what))
			.map(([what, label]) => group(label.replaceAll("`", ""), row(results, title, what))),
		answer: [
			`A child sends its first request ${short(early.ours)} after a call that the model wrote for 1.8 s, and ${short(early.baseline)} with pi's example`,
			"extension. The child boots while the model still writes the call. A call that arrives in one piece starts no sooner.",
		].join("\n"),
	};
}

const ahead = {
	title: "Runs whose children boot ahead",
	names: { ours: "this package", baseline: "the same without boot ahead" },
};

/** @param {Results} results @returns {Question} */
function chainOfThree(results) {
	const what = "a chain of three";
	const one = row(results, ahead.title, "one run");
	const chain = row(results, ahead.title, what);
	return {
		name: "chain",
		title: "How long does a chain of three take?",
		axis: "ms until the result, with a model that answers at once (median and range)",
		names: ahead.names,
		groups: [group(what, chain), group("one run", one)],
		answer: [
			`A chain of three takes ${short(chain.ours)}, and ${short(chain.baseline)} if each child boots after the step before. One run takes ${short(one.ours)}.`,
			"The model answers at once here, so nearly all of that is booting. The child of the next step boots while a step works.",
		].join("\n"),
	};
}

/** @param {Results} results @returns {Question} */
function queuedTasks(results) {
	const what = "24 tasks on 8 slots";
	const many = row(results, ahead.title, what);
	return {
		name: "tasks",
		title: "How long do 24 tasks on 8 slots take?",
		axis: "ms until the result, with a model that answers at once (median and range)",
		names: ahead.names,
		groups: [group(what, many)],
		answer: [
			`24 tasks take ${short(many.ours)}, and ${short(many.baseline)} without boot ahead. With instant answers the processors boot children all the time, so`,
			"boot ahead saves little here. It saves the boot of each queued task while the models of the others work.",
		].join("\n"),
	};
}

/** @param {Results} results @returns {Question} */
function delay(results) {
	const title = "Host while its children write as fast as they can";
	const at = (/** @type {string} */ scene, /** @type {string} */ part) =>
		row(results, title, `${scene}: delay, ${part}`);
	/** @type {(scene: string, side: "ours" | "baseline") => import("./draw.mjs").Bar} */
	const bar = (scene, side) => {
		const [p50, p99, max] = ["p50", "p99", "max"].map((part) => value(at(scene, part)[side]));
		return { value: p99 ?? 0, low: p50 ?? 0, high: max ?? 0, text: `${p99}, at most ${max} ms` };
	};
	const promised = at(scenes[2] ?? "", "p99");
	return {
		name: "delay",
		title: "Does pi's interface wait while children write?",
		axis: "event loop delay in ms (p99, range from p50 to the maximum); 1.1 when idle",
		names: { ours: "this package", baseline: "JavaScript: spawn and JSON.parse" },
		isLogarithmic: true,
		groups: scenes.map((scene, index) => ({
			label: sceneLabels[index] ?? scene,
			ours: bar(scene, "ours"),
			baseline: bar(scene, "baseline"),
		})),
		answer: [
			`The p99 delay is ${short(promised.ours)} with eight children that write 50 MB each, one of them a line of 64 MiB. It is ${short(promised.baseline)} if`,
			"JavaScript reads them. A user notices 100 ms while typing.",
		].join("\n"),
	};
}

/** @param {Results} results @returns {Question} */
function memory(results) {
	const title = "Host while its children write as fast as they can";
	const of = (/** @type {string} */ scene) => row(results, title, `${scene}: memory by child`);
	const promised = of(scenes[2] ?? "");
	return {
		name: "memory",
		title: "How much memory does a child take from pi?",
		axis: "growth of pi's process per child in MiB (peak)",
		names: { ours: "this package", baseline: "JavaScript: spawn and JSON.parse" },
		groups: scenes.map((scene, index) => group(sceneLabels[index] ?? scene, of(scene))),
		answer: `Each of 8 children takes ${short(promised.ours)}, although one of them writes a line of 64 MiB. It is ${short(promised.baseline)} if JavaScript keeps the line.`,
	};
}

/** @param {Results} results @returns {Question} */
function survivors(results) {
	const title = "End of a process tree";
	const killed = row(results, title, "SIGKILL to the host");
	/** @type {[what: string, label: string][]} */
	const ways = [
		["SIGKILL to the host", "pi is killed (SIGKILL)"],
		["SIGTERM to the host", "pi is ended (SIGTERM)"],
		["process.exit() of the host", "pi ends by itself"],
		["an abort, from the call", "the call is aborted"],
		["the child's own end, from the result", "after the call's result"],
	];
	const max = Math.max(...ways.map(([what]) => survivorsOf(row(results, title, what).ours)));
	return {
		name: "survivors",
		title: "Which processes survive the end?",
		axis: "surviving processes of a stubborn tree after 1.5 s (median)",
		names: { ours: "this package", baseline: "a process group" },
		groups: ways.map(([what, label]) => {
			const { ours, baseline } = row(results, title, what);
			return {
				label,
				ours: {
					value: survivorsOf(ours),
					text: survivorsOf(ours) > 0 ? ours.text : `0, all gone after ${short(ours)}`,
				},
				...(baseline ? { baseline: { value: value(baseline), text: baseline.text } } : {}),
			};
		}),
		answer: [
			`${max === 0 ? "No process survives" : `Up to ${max} processes survive`}. The last process exits ${short(killed.ours)} after pi was killed, even if it ignores SIGTERM, has left its`,
			`group, has lost its parent, or forks all the time. With a process group, ${value(killed.baseline)} processes survive. Measured on Linux.`,
		].join("\n"),
	};
}

/** @param {Results} results @returns {Question} */
function throughput(results) {
	/** @type {[title: string, what: string, label: string][]} */
	const rows = [
		["Collector", "cumulative: against the JavaScript collector, each reading its child", "events with the whole text"],
		["Collector", "delta: against the JavaScript collector, each reading its child", "events with new text only"],
		["Sanitizer", "prose", "removing secrets from prose"],
		["Sanitizer", "code", "removing secrets from code"],
	];
	const delta = row(results, "Collector", rows[1]?.[1] ?? "");
	const prose = row(results, "Sanitizer", "prose");
	return {
		name: "throughput",
		title: "How fast is a child's output read and sanitized?",
		axis: "MB/s (median and range)",
		names: { ours: "this package", baseline: "the same in JavaScript" },
		groups: rows.map(([title, what, label]) => group(label, row(results, title, what))),
		answer: [
			`Events with new text only are read at ${short(delta.ours)}, against ${short(delta.baseline)} in JavaScript. Secrets are removed from prose at`,
			`${short(prose.ours)}, against ${short(prose.baseline)}. A model writes only a few kB/s, so the speed mainly reduces the processor time.`,
		].join("\n"),
	};
}

/**
 * @param {string} label
 * @param {import("./data.mjs").Row} row
 * @returns {import("./draw.mjs").Group}
 */
function group(label, { ours, baseline }) {
	return { label, ours: bar(ours), ...(baseline ? { baseline: bar(baseline) } : {}) };
}

/** @param {Figure} figure @returns {import("./draw.mjs").Bar} */
function bar(figure) {
	const { low, high } = figure;
	return {
		value: value(figure),
		text: short(figure),
		...(low === undefined ? {} : { low }),
		...(high === undefined ? {} : { high }),
	};
}

/** @param {Figure | undefined} figure */
function value(figure) {
	if (figure?.median === undefined)
		throw new Error(`\`${figure?.text ?? "nothing"}\` is not a figure that can be drawn`);
	return figure.median;
}

/** Returns the number of remaining processes. A time means that all processes have exited. @param {Figure} figure */
function survivorsOf(figure) {
	return figure.unit === "left" ? value(figure) : 0;
}

/** Returns the median with its unit. @param {Figure | undefined} figure */
function short(figure) {
	return `${value(figure)} ${figure?.unit}`;
}
