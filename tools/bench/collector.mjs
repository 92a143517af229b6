/** Measures the collector against a JavaScript collector and against the pipe itself. */

import { rmSync } from "node:fs";
import { join } from "node:path";

import { writeStream } from "../../benchmark/streams.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { alternate, baseline, median, pipeline, spread } from "./run.mjs";
import { megabytesPerSecond, speed, times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 */

/** Enough for every kind of event, and for a program without optimization. */
const quickBytes = 1e6;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function collector({ programs: { events }, folder, quick }) {
	/** @type {Row[]} */
	const rows = [];
	for (const form of /** @type {const} */ (["cumulative", "delta"])) {
		const file = join(folder, `${form}.jsonl`);
		await step(`writing a ${form} stream`, async () => writeStream(file, form, quick ? quickBytes : 200e6));
		const pour = (/** @type {string} */ writes) =>
			/** @type {[string, string, string, string]} */ ([events, "pour", file, writes]);
		const poured = pour("chunks");
		/** @type {Record<string, string[]>} */
		const readers = {
			drain: pipeline(poured, [events, "drain"]),
			collect: pipeline(poured, [events, "collect"]),
			superviseDrain: [events, "supervise", "drain", ...poured],
			supervise: [events, "supervise", "collect", ...poured],
			drainLines: pipeline(pour("lines"), [events, "drain"]),
			collectLines: pipeline(pour("lines"), [events, "collect"]),
			javascript: pipeline(poured, baseline("baseline-collector")),
			fast: [events, "supervise", "collect", ...pour("sent")],
			javascriptChild: [...baseline("baseline-collector"), ...pour("sent")],
		};
		const found = await step(`collector, ${form} stream`, () => alternate(readers, quick ? 1 : 5));
		checkSame(found.collect[0], found.javascript[0]);
		rmSync(file);
		const least = form === "delta" ? 10 : 20;
		const at = (/** @type {string} */ name) =>
			found[name].map((/** @type {any} */ one) => megabytesPerSecond(one.bytes, one.ns));
		const cpu = (/** @type {string} */ name) =>
			found[name].map((/** @type {any} */ one) => megabytesPerSecond(one.bytes, one.cpuNs));
		/** @type {(what: string, ours: number[], baseline: number[], least?: number) => Row} */
		const row = (what, ours, baseline, least) => {
			const ratio = median(ours) / median(baseline);
			return {
				what: `${form}: ${what}`,
				ours: spread(ours, speed),
				baseline: spread(baseline, speed),
				ratio: times(ratio),
				...(least ? { target: `≥ ${least}×`, reached: ratio >= least } : {}),
			};
		};
		rows.push(
			row("against the JavaScript collector, each reading its child", at("fast"), at("javascriptChild"), least),
			row("against draining the same child", at("supervise"), at("superviseDrain"), 0.5),
			row("against the JavaScript collector, in a shell's pipe", at("collect"), at("javascript")),
			row("against draining a shell's pipe", at("collect"), at("drain")),
			row("the same, one write per event as pi does", at("collectLines"), at("drainLines")),
			row("per second of processor time, against JavaScript", cpu("collect"), cpu("javascript")),
		);
	}
	const about =
		"A stream of 200 MB in pi's formats, from a writer with 64 KiB writes. The live text is updated and copied ten times a\n" +
		"second. A run reads a child with `process::supervise`, an extension with Node's `spawn`. For the comparison with\n" +
		"JavaScript, the child sends its file without a copy, so that the reader sets the pace. In a shell's pipe, both read standard\n" +
		"input. JavaScript: string concatenation, split, `JSON.parse`, messages kept.";
	return { title: "Collector", about: quick ? about.replace("200 MB", `${quickBytes / 1e6} MB`) : about, rows };
}

/**
 * Compares the results. A collector that skips data would be fast.
 *
 * @param {Record<string, number>} ours
 * @param {Record<string, number>} theirs
 */
function checkSame(ours, theirs) {
	for (const key of ["bytes", "turns", "output", "toolsCompleted", "textBytes"]) {
		if (ours[key] !== theirs[key]) {
			const what = `The two collectors report different values for ${key}: ${ours[key]} here, ${theirs[key]} in JavaScript.`;
			throw new SetupProblem(what, "One of them, or the generated stream, is wrong.");
		}
	}
}
