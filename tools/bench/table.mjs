/** The table of results. */

import { cpus, loadavg, release } from "node:os";

import { probe } from "../../scripts/lib/programs.mjs";

/**
 * One line of the table. `reached` is absent if there is no target.
 *
 * @typedef {{ what: string, ours: string, baseline?: string, ratio?: string, target?: string, reached?: boolean }} Row
 * @typedef {{ title: string, about: string, rows: Row[] }} Section
 */

/** The load by other programs when the measurement began. Half a core or more distorts the figures. */
const loadBefore = loadavg()[0] ?? 0;

/**
 * @param {Section[]} sections
 *
 * @param {string[]} failed names of the sections that failed, and therefore have no figures
 * @param {number} durationMs the duration of the measurement
 * @returns {string} Markdown
 */
export function page(sections, failed, durationMs) {
	const head = [
		"# Benchmark results",
		"",
		"`npm run bench` writes this page. Both sides were measured on one machine, in medians of alternating runs, with their range if",
		"there are several. Compare the ratios: absolute figures differ between machines. Plots: [docs/speed.md](../docs/speed.md).",
		"",
		`${machine()} Measuring took ${Math.ceil(durationMs / 60_000)} minutes.`,
		...(failed.length > 0 ? ["", `**Not measured, because they failed: ${failed.join(", ")}.**`] : []),
	];
	return `${[head.join("\n"), ...sections.map(section)].join("\n\n")}\n`;
}

/**
 * Returns the page with some sections replaced. Sections that the page does not have are added at its end.
 *
 * @param {string} page
 * @param {Section[]} sections
 * @returns {string} Markdown
 */
export function renewed(page, sections) {
	const parts = page.trimEnd().split(/\n\n(?=## )/);
	for (const fresh of sections) {
		const index = parts.findIndex((part) => part.startsWith(`## ${fresh.title}\n`));
		if (index === -1) parts.push(section(fresh));
		else parts[index] = section(fresh);
	}
	return `${parts.join("\n\n")}\n`;
}

function machine() {
	const kernel = /^\d+\.\d+(\.\d+)?/.exec(release())?.[0] ?? release();
	const rust = /\d+\.\d+\.\d+/.exec(probe("rustc", ["--version"]) ?? "")?.[0] ?? "?";
	const system = { linux: "Linux", darwin: "Darwin", win32: "Windows" }[process.platform] ?? process.platform;
	const parts = [`${cpus().length} cores`, process.arch, `${system} ${kernel}`, `Node ${process.version.slice(1)}`];
	return `Machine: ${parts.join(", ")}, Rust ${rust}; load average before: ${loadBefore.toFixed(1)}.`;
}

/** @param {Section} section */
function section({ title, about, rows }) {
	const lines = [
		`## ${title}`,
		"",
		about,
		"",
		"| what | ours | baseline | ratio | target | reached |",
		"|---|---|---|---|---|---|",
		...rows.map(line),
	];
	return lines.join("\n");
}

/** @param {Row} row */
function line({ what, ours, baseline, ratio, target, reached }) {
	const mark = reached === undefined ? "" : reached ? "yes" : "**no**";
	return `| ${[what, ours, baseline ?? "", ratio ?? "", target ?? "", mark].join(" | ")} |`;
}

/**
 * @param {number} bytes
 * @param {number} nanoseconds
 */
export function megabytesPerSecond(bytes, nanoseconds) {
	return (bytes / nanoseconds) * 1000;
}

/** @param {number} speed */
export function speed(speed) {
	return `${speed < 10 ? speed.toFixed(1) : Math.round(speed)} MB/s`;
}

/** @param {number} factor */
export function times(factor) {
	return `${factor < 10 ? factor.toFixed(2) : factor.toFixed(1)}×`;
}

/** @param {number} nanoseconds */
export function duration(nanoseconds) {
	if (nanoseconds >= 1e9) return `${(nanoseconds / 1e9).toFixed(1)} s`;
	if (nanoseconds >= 1e6) return `${(nanoseconds / 1e6).toFixed(nanoseconds < 1e7 ? 2 : 0)} ms`;
	return `${(nanoseconds / 1e3).toFixed(nanoseconds < 1e4 ? 1 : 0)} µs`;
}
