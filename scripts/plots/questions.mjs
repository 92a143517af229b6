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
	return [firstRequest(results), delay(results), memory(results), survivors(results), throughput(results)];
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
	const there = sections.find((section) => section.title === title)?.rows.map(({ what }) => what) ?? [];
	const early = row(results, title, ways[0]?.[0] ?? "");
	return {
		name: "first-request",
		title: "How soon is the child at work?",
		axis: "ms from the complete call to the child's first request: median, and the range of all",
		names: { ours: "this package", baseline: "pi's own example" },
		groups: ways
			.filter(([what]) => there.includes(what))
			.map(([what, label]) => group(label.replaceAll("`", ""), row(results, title, what))),
		answer: [
			`${short(early.ours)} after a call that its model wrote for 1.8 s, ${short(early.baseline)} with the sub-agent extension that pi has as an`,
			"example: the child boots while the call is still being written. A call that comes whole gains nothing by that.",
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
		axis: "ms of delay of the event loop: p99, from p50 to the longest; an idle host shows 1.1",
		names: { ours: "this package", baseline: "JavaScript: spawn and JSON.parse" },
		isLogarithmic: true,
		groups: scenes.map((scene, index) => ({
			label: sceneLabels[index] ?? scene,
			ours: bar(scene, "ours"),
			baseline: bar(scene, "baseline"),
		})),
		answer: [
			`${short(promised.ours)} at p99 with eight children that pour 50 MB each, one of them a line of 64 MiB; ${short(promised.baseline)} where JavaScript`,
			"reads them. 100 ms are felt when one types.",
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
		axis: "MiB by child that pi's process grows, at its peak",
		names: { ours: "this package", baseline: "JavaScript: spawn and JSON.parse" },
		groups: scenes.map((scene, index) => group(sceneLabels[index] ?? scene, of(scene))),
		answer: `${short(promised.ours)} by each of 8 children, one of which writes a line of 64 MiB; ${short(promised.baseline)} where JavaScript keeps it.`,
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
	const most = Math.max(...ways.map(([what]) => left(row(results, title, what).ours)));
	return {
		name: "survivors",
		title: "What runs on after the end?",
		axis: "processes of a stubborn tree that are still there 1.5 s later, median",
		names: { ours: "this package", baseline: "a process group" },
		groups: ways.map(([what, label]) => {
			const { ours, baseline } = row(results, title, what);
			return {
				label,
				ours: { value: left(ours), text: left(ours) > 0 ? ours.text : `0, all gone after ${short(ours)}` },
				...(baseline ? { baseline: { value: value(baseline), text: baseline.text } } : {}),
			};
		}),
		answer: [
			`${most === 0 ? "Nothing" : `Up to ${most} processes`}: ${short(killed.ours)} after pi was killed the last of them is gone, also those that ignore SIGTERM, have left their`,
			`group, lost their parent, or fork all the time. With a process group ${value(killed.baseline)} run on. Linux.`,
		].join("\n"),
	};
}

/** @param {Results} results @returns {Question} */
function throughput(results) {
	/** @type {[title: string, what: string, label: string][]} */
	const rows = [
		["Collector", "cumulative: against the JavaScript collector, each reading its child", "events with the whole text"],
		["Collector", "delta: against the JavaScript collector, each reading its child", "events with what is new"],
		["Sanitizer", "prose", "taking secrets out of prose"],
		["Sanitizer", "code", "taking secrets out of code"],
	];
	const delta = row(results, "Collector", rows[1]?.[1] ?? "");
	const prose = row(results, "Sanitizer", "prose");
	return {
		name: "throughput",
		title: "How fast is a child's output read and sanitized?",
		axis: "MB/s: median, and the range of all",
		names: { ours: "this package", baseline: "the same in JavaScript" },
		groups: rows.map(([title, what, label]) => group(label, row(results, title, what))),
		answer: [
			`At ${short(delta.ours)}, beside ${short(delta.baseline)} in JavaScript, where each event has only what is new; secrets are taken out of prose at`,
			`${short(prose.ours)}, beside ${short(prose.baseline)}. A model writes a few kB/s: what counts is how little of a processor that takes.`,
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
	if (figure?.median === undefined) throw new Error(`\`${figure?.text ?? "nothing"}\` is no figure that can be drawn`);
	return figure.median;
}

/** Returns the number of remaining processes. A time means that all processes have exited. @param {Figure} figure */
function left(figure) {
	return figure.unit === "left" ? value(figure) : 0;
}

/** Returns the median with its unit. @param {Figure | undefined} figure */
function short(figure) {
	return `${value(figure)} ${figure?.unit}`;
}
