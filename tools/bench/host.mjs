/** Measures the cost for the host: loading the addon, starting a child, and the memory of a run. */

import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { npm, runQuietly } from "../../scripts/lib/programs.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { alternate, baseline, median, quantile, report, spread } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 */

/** @param {Setting} setting @returns {Promise<Section>} */
export async function addon({ quick }) {
	const rounds = quick ? 2 : 20;
	const found = await step("loading the addon", () =>
		alternate({ load: [process.execPath, join(root, "benchmark", "addon-load.cjs")] }, rounds),
	);
	const loads = found.load.map((/** @type {any} */ one) => one.ms);
	const ms = median(loads);
	const word = (/** @type {number} */ ms) => `${ms.toFixed(1)} ms`;
	const file = readdirSync(root).find((name) => name.endsWith(".node"));
	if (!file) throw new SetupProblem("The addon is missing.", "Run `npm run build`.");
	const size = statSync(join(root, file)).size / 1e6;
	const packed = (await packedBytes([file, "pi-subagent-warden"])) / 1e6;
	const rows = [
		{ what: "`require`, first time in a process", ours: spread(loads, word), target: "≤ 5 ms", reached: ms <= 5 },
		{ what: "size, stripped", ours: `${size.toFixed(2)} MB`, target: "≤ 8 MB", reached: size <= 8 },
		{
			what: "both packages, packed",
			ours: `${packed.toFixed(2)} MB`,
			target: "≤ 5 MB",
			reached: packed <= 5,
		},
	];
	return { title: "Addon", about: `Median of ${rounds} fresh processes.`, rows };
}

/** Returns what npm downloads: the main package, and the binaries of the platform's package. @param {string[]} binaries */
async function packedBytes(binaries) {
	const main = await runQuietly("npm pack", [
		...npm(),
		"pack",
		"--dry-run",
		"--json",
		"--ignore-scripts",
		"--loglevel=error",
	]);
	const present = readdirSync(root).filter((name) => binaries.includes(name));
	const packed = present.map((name) => gzipSync(readFileSync(join(root, name)), { level: 9 }).length);
	return packed.reduce((sum, bytes) => sum + bytes, JSON.parse(main)[0].size);
}

/** @param {Setting} setting @returns {Promise<Section>} */
export async function start({ folder, quick }) {
	const starts = quick ? 2 : 25;
	const rounds = quick ? 1 : 2;
	const megabytes = quick ? 64 : 1024;
	const place = mkdtempSync(join(folder, "start-"));
	const measure = (/** @type {string} */ way) => [
		...baseline("start-block"),
		...[way, String(megabytes), String(starts), place],
	];
	const found = await step(`starting children from a process of ${megabytes} MB`, () =>
		alternate({ ours: measure("run"), theirs: measure("spawn") }, rounds),
	);
	/** @type {(name: "ours" | "theirs", kind: "calls" | "pauses") => number[]} */
	const all = (name, kind) => found[name].flatMap((/** @type {any} */ one) => one[kind]);
	/** @type {(kind: "calls" | "pauses", part: number) => { ours: number, theirs: number }} */
	const at = (kind, part) => ({ ours: quantile(all("ours", kind), part), theirs: quantile(all("theirs", kind), part) });
	/** @type {(what: string, found: { ours: number, theirs: number }, max?: number) => Row} */
	const row = (what, { ours, theirs }, max) => ({
		what,
		ours: `${ours.toFixed(2)} ms`,
		baseline: `${theirs.toFixed(2)} ms`,
		ratio: times(theirs / ours),
		...(max ? { target: `≤ ${max} ms`, reached: ours <= max } : {}),
	});
	const rows = [
		row("the call, p50", at("calls", 0.5)),
		row("the call, p90", at("calls", 0.9), 1),
		row("the call, max", at("calls", 1)),
		row("longest pause of the event loop until the result, p50", at("pauses", 0.5)),
		row("longest pause of the event loop until the result, p90", at("pauses", 0.9)),
	];
	const about =
		`${starts * rounds} starts of each, from Node processes with ${megabytes} MB resident: \`startRun\` of the addon (baseline:\n` +
		"`spawn` of Node), with a child that exits at once. A pause covers the whole run, including the delivery of its result.";
	return { title: "JavaScript thread blocked by starting a child", about, rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
export async function memory({ programs: { events }, quick }) {
	const bytes = String(quick ? 2 ** 24 : 2 ** 30);
	/** @type {Record<string, string>} */
	const kinds = {
		"noise-line": "one line that is not JSON",
		"result-line": "one tool result",
		"nested-line": "one line of nested brackets",
		message: "one answer",
		arguments: "one tool argument",
		deltas: "deltas of one answer",
		"tool-calls": "tool calls",
		"garbage-lines": "lines that are not JSON",
		stderr: "standard error",
	};
	/** @type {Row[]} */
	const rows = [];
	if (process.platform === "linux") {
		for (const [kind, what] of Object.entries(kinds)) {
			const { peakKib, beforeKib, complete } = await step(`memory, ${what}`, () =>
				flood([events, "memory", kind, bytes], what),
			);
			const mebibytes = (peakKib - beforeKib) / 1024;
			rows.push({
				what,
				ours: `${mebibytes.toFixed(2)} MiB`,
				target: "< 4 MiB",
				reached: mebibytes < 4 && complete,
			});
		}
	}
	const about =
		`The peak growth of the resident set of a fresh process that reads ${quick ? "16 MiB" : "1 GiB"} from a child through\n` +
		"`process::supervise` and the collector; the first use of code is included. Linux only.";
	return { title: "Memory of a run", about, rows };
}

/**
 * Reads the whole output of a child that writes data of one kind.
 *
 * @param {string[]} command
 * @param {string} what
 */
async function flood(command, what) {
	const found = await report(command);
	// For standard error, only the omitted bytes are counted; the few kept bytes do not matter.
	const arrived = found.stdoutBytes + found.stderrOmitted;
	if (arrived >= Number(command.at(-1)) * 0.99) return found;
	throw new SetupProblem(`Only ${arrived} bytes of ${what} arrived.`, "The flood ended early.");
}
