/** Measures the delay of a host's event loop while its children write as fast as they can. */

import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { join } from "node:path";

import { writeStream } from "../../benchmark/streams.mjs";
import { root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { report } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 */

/**
 * The time limit. A JavaScript collector rescans a line of 64 MB for each chunk; with 31 other children that takes two
 * minutes.
 */
const longestMs = 400_000;

/** The maximum delays of the host, and the maximum memory per run. */
const max = { p99: 8, max: 20, mebibytes: 4 };

/** The minimum improvement over JavaScript. */
const minRatio = 20;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function loop({ programs: { events }, folder, quick }) {
	const rounds = quick ? 1 : 5;
	const stream = join(folder, "stream.jsonl");
	const line = join(folder, "line.jsonl");
	const warmUp = join(folder, "warm-up.jsonl");
	const place = mkdtempSync(join(folder, "host-"));
	await step("writing a stream and a line for each child", async () => {
		writeStream(stream, "delta", quick ? 2e5 : 50e6);
		writeStream(warmUp, "delta", quick ? 1e5 : 1e6);
		writeLine(events, line, quick ? 2 ** 18 : 2 ** 26);
	});
	const streams = (/** @type {number} */ count) => Array.from({ length: count }, () => stream);
	/** @type {{ what: string, files: string[], isPromised?: true }[]} */
	const scenes = [
		{ what: "1 child", files: streams(1) },
		{ what: "8 children", files: streams(8) },
		{ what: "8 children, one with the line", files: [...streams(7), line], isPromised: true },
		{ what: "32 children, one with the line", files: [...streams(31), line] },
	];
	/** @type {Row[]} */
	const rows = [];
	for (const { what, files, isPromised } of scenes) {
		const measure = async (/** @type {string} */ way, /** @type {number} */ rounds) => {
			const program = [process.execPath, "--expose-gc", join(root, "benchmark", "host.mjs")];
			const command = [...program, way, String(rounds), place, events, warmUp, ...files];
			const found = await report(command, { limitMs: longestMs });
			if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
			return found;
		};
		const ours = await step(`event loop, ${what}`, () => measure("run", rounds));
		const theirs = await step(`event loop, ${what}, JavaScript`, () => measure("javascript", 1));
		checkSame(ours.turns, theirs.turns);
		rows.push(...sceneRows(what, files.length, rounds, ours, theirs, isPromised ?? false));
		if (!isPromised) continue;
		const others = await step(`event loop, ${what}, read by other processes`, () => measure("otherProcess", rounds));
		rows.push(
			{ what: `${what}, read by other processes: delay, p99`, ours: milliseconds(others.p99) },
			{ what: `${what}, read by other processes: delay, max`, ours: milliseconds(others.max) },
		);
	}
	const about =
		`Delay of the event loop (\`monitorEventLoopDelay\`, every millisecond, so that an idle host shows 1.1 ms) of a host whose\n` +
		`children each write ${quick ? 0.2 : 50} MB of pi's events, one of them a single answer of ${quick ? 0.25 : 64} MiB in one line, with updates\n` +
		`subscribed: \`startRun\` of the addon, ${rounds} times one after the other, all of it in one histogram (baseline: the JavaScript\n` +
		"collector on Node's `spawn`, once). Busy is the processor time of the JavaScript thread while all children were read once;\n" +
		"waiting is its time without a processor. Memory is the peak growth of the resident set, per child. The rows “read by other\n" +
		"processes” show the effect of the machine's load alone.";
	return { title: "Host while its children write as fast as they can", about, rows };
}

/**
 * @param {string} what
 * @param {number} children
 * @param {number} rounds
 * @param {any} ours
 * @param {any} theirs
 * @param {boolean} isPromised
 * @returns {Row[]}
 */
function sceneRows(what, children, rounds, ours, theirs, isPromised) {
	/** @type {(name: string, ours: number, theirs: number, limit?: number) => Row} */
	const row = (name, ours, theirs, limit) => ({
		what: `${what}: ${name}`,
		ours: milliseconds(ours),
		baseline: milliseconds(theirs),
		ratio: times(theirs / ours),
		...(limit && isPromised
			? { target: `< ${limit} ms, ≥ ${minRatio}×`, reached: ours < limit && theirs / ours >= minRatio }
			: {}),
	});
	const rows = [
		row("delay, p50", ours.p50, theirs.p50),
		row("delay, p99", ours.p99, theirs.p99, max.p99),
		row("delay, max", ours.max, theirs.max, max.max),
	];
	if (process.platform !== "linux") return rows;
	const growth = (/** @type {any} */ { beforeKib, peakKib }) => (peakKib - beforeKib) / 1024 / children;
	rows.push(
		row("busy", ours.busyMs / rounds, theirs.busyMs),
		row("waiting for a processor", ours.queuedMs / rounds, theirs.queuedMs),
		{
			what: `${what}: memory by child`,
			ours: `${growth(ours).toFixed(2)} MiB`,
			baseline: `${growth(theirs).toFixed(2)} MiB`,
			ratio: times(growth(theirs) / growth(ours)),
			target: `< ${max.mebibytes} MiB`,
			reached: growth(ours) < max.mebibytes,
		},
	);
	return rows;
}

/** @param {number} value */
function milliseconds(value) {
	return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
}

/**
 * @param {string} events
 * @param {string} path
 * @param {number} bytes
 */
function writeLine(events, path, bytes) {
	const file = openSync(path, "w");
	const { status } = spawnSync(events, ["flood", "message", String(bytes)], { stdio: ["ignore", file, "inherit"] });
	closeSync(file);
	if (status !== 0) throw new SetupProblem("The line could not be written.", `Check the free space for ${path}.`);
}

/**
 * Compares the results. A host that skips data would have short delays.
 *
 * @param {number[]} ours
 * @param {number[]} theirs
 */
function checkSame(ours, theirs) {
	if (ours.join() === theirs.join()) return;
	const what = `The two hosts counted different turns: ${ours} here, ${theirs} in JavaScript.`;
	throw new SetupProblem(what, "One of them, or the generated stream, is wrong.");
}
