/** What is measured, section by section. */

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { chinese, code, hostile, jsonOutput, prose } from "../../benchmark/corpora.mjs";
import { writeStream } from "../../benchmark/streams.mjs";
import { median, pipeline, quantile, report } from "./bench-run.mjs";
import { duration, megabytesPerSecond, speed, times } from "./bench-table.mjs";
import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { step } from "./progress.mjs";

/**
 * @typedef {import("./bench-table.mjs").Row} Row
 * @typedef {import("./bench-table.mjs").Section} Section
 * @typedef {object} Setting
 * @property {string} engine the native program
 * @property {string} folder for data
 * @property {boolean} quick
 */

const baseline = (/** @type {string} */ name) => [process.execPath, join(root, "benchmark", `${name}.mjs`)];

/** @type {Record<string, (setting: Setting) => Promise<Section>>} */
export const sections = {
	collector,
	sanitizer,
	hostile: hostileTexts,
	truncator,
	addon,
	start,
	memory,
};

/** @param {Setting} setting @returns {Promise<Section>} */
async function collector({ engine, folder, quick }) {
	/** @type {Row[]} */
	const rows = [];
	for (const form of /** @type {const} */ (["cumulative", "delta"])) {
		const file = join(folder, `${form}.jsonl`);
		await step(`writing a ${form} stream`, async () => writeStream(file, form, quick ? 30e6 : 200e6));
		const pour = (/** @type {string} */ writes) =>
			/** @type {[string, string, string, string]} */ ([engine, "pour", file, writes]);
		const poured = pour("chunks");
		/** @type {Record<string, string[]>} */
		const readers = {
			drain: pipeline(poured, [engine, "drain"]),
			collect: pipeline(poured, [engine, "collect"]),
			superviseDrain: [engine, "supervise", "drain", ...poured],
			supervise: [engine, "supervise", "collect", ...poured],
			drainLines: pipeline(pour("lines"), [engine, "drain"]),
			collectLines: pipeline(pour("lines"), [engine, "collect"]),
			javascript: pipeline(poured, baseline("baseline-collector")),
		};
		const found = await step(`collector, ${form} stream`, () => alternate(readers, quick ? 3 : 7));
		checkSame(found.collect[0], found.javascript[0]);
		rmSync(file);
		const at = (/** @type {string} */ name) =>
			median(found[name].map((/** @type {any} */ one) => megabytesPerSecond(one.bytes, one.ns)));
		const cpu = (/** @type {string} */ name) =>
			median(found[name].map((/** @type {any} */ one) => megabytesPerSecond(one.bytes, one.cpuNs)));
		/** @type {(what: string, ours: number, baseline: number, least?: number) => Row} */
		const row = (what, ours, baseline, least) => ({
			what: `${form}: ${what}`,
			ours: speed(ours),
			baseline: speed(baseline),
			ratio: times(ours / baseline),
			...(least ? { target: `≥ ${least}×`, reached: ours / baseline >= least } : {}),
		});
		rows.push(
			row("against the JavaScript collector, same pipe", at("collect"), at("javascript"), form === "delta" ? 10 : 20),
			row("against draining the same pipe", at("collect"), at("drain"), 0.5),
			row("the same, both through `process::supervise`", at("supervise"), at("superviseDrain")),
			row("the same, one write per event as pi does", at("collectLines"), at("drainLines")),
			row("per second of processor time, against JavaScript", cpu("collect"), cpu("javascript")),
		);
	}
	const about =
		"A stream of 200 MB in pi's shapes, from a writer with 64 KiB writes through a pipe, the live text folded along and\n" +
		"looked at 20 times a second. JavaScript: string concatenation, split, `JSON.parse`, messages kept.";
	return { title: "Collector", about: quick ? about.replace("200 MB", "30 MB") : about, rows };
}

/**
 * A collector that leaves something out would be fast.
 *
 * @param {Record<string, number>} ours
 * @param {Record<string, number>} theirs
 */
function checkSame(ours, theirs) {
	for (const key of ["bytes", "turns", "output", "toolsCompleted", "textBytes"]) {
		if (ours[key] !== theirs[key]) {
			const what = `The two collectors do not agree on ${key}: ${ours[key]} here, ${theirs[key]} in JavaScript.`;
			throw new SetupProblem(what, "One of them, or the generated stream, is wrong.");
		}
	}
}

/** @param {Setting} setting @returns {Promise<Section>} */
async function sanitizer({ engine, folder, quick }) {
	const length = quick ? 500_000 : 4_000_000;
	/** @type {[name: string, text: string, least?: number][]} */
	const texts = [
		["prose", prose(length, { secrets: false }), 200],
		["prose with a secret every 20 KB", prose(length, { secrets: true })],
		["code", code(root, length), 200],
		["JSON tool output with home directories", jsonOutput(length)],
	];
	/** @type {Row[]} */
	const rows = [];
	for (const [name, text, least] of texts) {
		const file = join(folder, "text");
		writeFileSync(file, text);
		const commands = { ours: [engine, "sanitize", file], theirs: [...baseline("baseline-sanitizer"), file] };
		const found = await step(`sanitizer, ${name}`, () => alternate(commands, quick ? 3 : 5));
		const [ours, theirs] = [found.ours, found.theirs].map((list) =>
			median(list.map((/** @type {any} */ one) => megabytesPerSecond(one.bytes, one.ns))),
		);
		const target = least ? { target: `≥ ${least} MB/s`, reached: ours >= least } : {};
		rows.push({ what: name, ours: speed(ours), baseline: speed(theirs), ratio: times(ours / theirs), ...target });
	}
	const about = `${length / 1e6} MB each. Baseline: the same rules as JavaScript regular expressions, one after the other.`;
	return { title: "Sanitizer", about, rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
async function hostileTexts({ engine, folder, quick }) {
	const length = 80_000;
	const limitMs = quick ? 2000 : 10_000;
	/** @type {Row[]} */
	const rows = [];
	const [small, large] = [hostile(length), hostile(length * 10)];
	await step("sanitizer, worst inputs", async () => {
		const files = { small: join(folder, "small"), large: join(folder, "large") };
		for (const [name, text] of Object.entries(small)) {
			writeFileSync(files.small, text);
			writeFileSync(files.large, large[name]);
			const theirs = await report([...baseline("baseline-sanitizer"), files.small], { limitMs });
			const one = await leastOf([engine, "sanitize", files.small], 3, limitMs);
			const ten = one && (await leastOf([engine, "sanitize", files.large], 3, limitMs));
			const over = `> ${duration(limitMs * 1e6)}`;
			rows.push({
				what: name,
				ours: `${one ? duration(one) : over}, ${ten ? duration(ten) : over}`,
				baseline: theirs ? duration(theirs.ns) : over,
				ratio: one && ten ? times(ten / one) : "",
				target: "≤ 12×",
				reached: one !== undefined && ten !== undefined && ten / one <= 12,
			});
		}
	});
	const about =
		"Ours at 80,000 and at 800,000 characters, and the ratio of the two: linear is 10. Baseline: JavaScript at 80,000.";
	return { title: "Sanitizer, worst inputs", about, rows };
}

/**
 * The least of several medians: what the work takes when nothing else runs.
 *
 * @param {string[]} command
 * @param {number} rounds
 * @param {number} limitMs
 * @returns {Promise<number | undefined>} nanoseconds, or nothing when it takes longer than the limit
 */
async function leastOf(command, rounds, limitMs) {
	let least = Number.POSITIVE_INFINITY;
	for (let round = 0; round < rounds; round++) {
		const found = await report(command, { limitMs });
		if (!found) return undefined;
		least = Math.min(least, found.ns);
	}
	return least;
}

/** @param {Setting} setting @returns {Promise<Section>} */
async function truncator({ engine, folder, quick }) {
	const bytes = quick ? 150_000 : 1_000_000;
	const limitMs = 240_000;
	const file = join(folder, "text");
	writeFileSync(file, chinese(bytes));
	const [ours, theirs] = await step("truncator", async () => [
		await alternate({ ours: [engine, "truncate", file] }, 3),
		await report([...baseline("baseline-truncator"), file], { limitMs }),
	]);
	const ns = median(ours.ours.map((/** @type {any} */ one) => one.ns));
	const theirNs = theirs?.ns ?? limitMs * 1e6;
	const row = {
		what: `${bytes / 1e6} MB of Chinese on one line`,
		ours: duration(ns),
		baseline: `${theirs ? "" : "> "}${duration(theirNs)}`,
		ratio: times(theirNs / ns),
	};
	const about = "To 50 KiB. Baseline: `slice(0, -1)` until `Buffer.byteLength` fits; one run.";
	return { title: "Truncator", about, rows: [row] };
}

/** @param {Setting} setting @returns {Promise<Section>} */
async function addon() {
	const found = await step("loading the addon", () => alternate({ load: baseline("addon-load") }, 20));
	const ms = median(found.load.map((/** @type {any} */ one) => one.ms));
	const file = readdirSync(root).find((name) => name.endsWith(".node"));
	if (!file) throw new SetupProblem("There is no addon.", "npm run build makes it.");
	const size = statSync(join(root, file)).size / 1e6;
	const rows = [
		{ what: "`require`, first time in a process", ours: `${ms.toFixed(1)} ms`, target: "< 6 ms", reached: ms < 6 },
		{ what: "size, stripped", ours: `${size.toFixed(2)} MB`, target: "< 4 MB", reached: size < 4 },
	];
	return { title: "Addon", about: "Median of 20 fresh processes.", rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
async function start({ folder, quick }) {
	const starts = quick ? 10 : 50;
	const megabytes = quick ? 300 : 1024;
	const place = mkdtempSync(join(folder, "start-"));
	const found = await step(`starting children from a process of ${megabytes} MB`, () =>
		report([...baseline("start-block"), String(megabytes), String(starts), place]),
	);
	/** @type {(kind: "call" | "pause", part: number) => { ours: number, theirs: number }} */
	const at = (kind, part) => ({
		ours: quantile(found.ours.map((/** @type {any} */ one) => one[kind]), part),
		theirs: quantile(found.baseline.map((/** @type {any} */ one) => one[kind]), part),
	});
	/** @type {(what: string, found: { ours: number, theirs: number }, most?: number) => Row} */
	const row = (what, { ours, theirs }, most) => ({
		what,
		ours: `${ours.toFixed(2)} ms`,
		baseline: `${theirs.toFixed(2)} ms`,
		ratio: times(theirs / ours),
		...(most ? { target: `≤ ${most} ms`, reached: ours <= most } : {}),
	});
	const rows = [
		row("the call, p50", at("call", 0.5)),
		row("the call, p90", at("call", 0.9), 1),
		row("the call, max", at("call", 1)),
		row("longest pause of the event loop until the result, p50", at("pause", 0.5)),
		row("longest pause of the event loop until the result, p90", at("pause", 0.9), 1),
	];
	const about =
		`${starts} starts of each, alternating, from a Node process with ${megabytes} MB resident: \`startRun\` of the addon\n` +
		"(baseline: `spawn` of Node), with a child that ends at once.";
	return { title: "JavaScript thread blocked by starting a child", about, rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
async function memory({ engine, quick }) {
	const bytes = String(quick ? 2 ** 26 : 2 ** 30);
	/** @type {Record<string, string>} */
	const kinds = {
		"noise-line": "one line that is not JSON",
		"result-line": "one tool result",
		"nested-line": "one line of nested brackets",
		"message": "one answer",
		"arguments": "one tool argument",
		"deltas": "deltas of one answer",
		"tool-calls": "tool calls",
		"garbage-lines": "lines that are not JSON",
		"stderr": "standard error",
	};
	/** @type {Row[]} */
	const rows = [];
	if (process.platform === "linux") {
		for (const [kind, what] of Object.entries(kinds)) {
			const found = await step(`memory, ${what}`, () => report([engine, "memory", kind, bytes]));
			const mebibytes = (found.peakKib - found.beforeKib) / 1024;
			rows.push({
				what,
				ours: `${mebibytes.toFixed(2)} MiB`,
				target: "< 4 MiB",
				reached: mebibytes < 4 && found.complete,
			});
		}
	}
	const about =
		`Growth of the resident set, at its peak, of a fresh process that reads a child's ${quick ? "64 MiB" : "1 GiB"} through\n` +
		"`process::supervise` and the collector; code that is used for the first time is included. Linux only.";
	return { title: "Memory of a run", about, rows };
}

/**
 * Runs commands in turn, several times, and returns the reports of each.
 *
 * @template {string} Name
 * @param {Record<Name, string[]>} commands
 * @param {number} rounds
 * @returns {Promise<Record<Name, any[]>>}
 */
async function alternate(commands, rounds) {
	const found = /** @type {Record<Name, any[]>} */ ({});
	for (let round = 0; round < rounds; round++) {
		for (const [name, command] of /** @type {[Name, string[]][]} */ (Object.entries(commands))) {
			const one = await report(command);
			if (!one) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
			found[name] ??= [];
			found[name].push(one);
		}
	}
	return found;
}
