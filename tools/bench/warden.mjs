/** Measures the cost of a warden, of each of its layers, and of the two sandboxes together. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { wardenName } from "../../scripts/lib/warden.mjs";
import { median, quantile, report } from "./run.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 * @typedef {{ mechanisms: string[], byteMs: number[], lifeMs: number[], openNs: number }} Way
 */

/**
 * The maximum time that a warden adds to a start, and its maximum memory. A statically linked warden may use half of
 * it.
 */
const max = { milliseconds: 2, mebibytes: 2 };

/** A directory that exists on most systems and is almost empty. */
const memory = "/dev/shm";

/** The maximum time that the outer sandbox adds to a start, and the inner one to a shell command, in ms. */
const maxOfRings = 1;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function warden({ programs: { children }, folder, quick }) {
	const starts = quick ? 3 : 100;
	const about =
		`${starts} starts of \`/bin/echo\` in each way, in turn, by \`process::supervise\`: in a process group (baseline) and through a\n` +
		"warden. The baseline for a namespace or a sandbox is a warden without it. The first byte is the child's, as seen by the\n" +
		"host. An `open` is one call of the child, for a file some folders deep. Linux only.";
	const title = "Warden";
	if (process.platform !== "linux") return { title, about, rows: [] };

	const program = join(root, wardenName);
	const part = isStatic(program) ? 2 : 1;
	const command = [children, "guarded", program, mkdtempSync(join(folder, "guarded-")), String(starts)];
	const found = await step("starting children through a warden", () => report(command));
	/** @type {Record<string, Way | undefined>} */
	const ways = found?.ways ?? {};
	const { plain, warden } = ways;
	if (!plain || !warden)
		throw new SetupProblem("The warden starts no child.", `Check that ${program} --probe answers.`);

	const mebibytes = found.residentKib / 1024;
	const maxMs = max.milliseconds / part;
	const maxMebibytes = max.mebibytes / part;
	/** @type {Row[]} */
	const rows = [
		...startRows("through a warden", warden, plain, maxMs),
		{
			what: `resident, ${part === 2 ? "static" : "with shared libraries"}`,
			ours: `${mebibytes.toFixed(2)} MiB`,
			target: `≤ ${maxMebibytes} MiB`,
			reached: mebibytes <= maxMebibytes,
		},
		{ what: "size", ours: `${(readFileSync(program).length / 1e6).toFixed(2)} MB` },
	];
	const more = {
		pidNamespace: "in a pid namespace",
		readOnly: "read only",
		metadata: "read only, metadata as well",
		both: "read only, metadata as well, in a pid namespace",
	};
	for (const [name, what] of Object.entries(more)) {
		const way = ways[name];
		// This machine does not allow this layer.
		if (!way) continue;
		rows.push(...startRows(`${what} (${way.mechanisms.join(", ")})`, way, warden));
		rows.push(row(`${what}: one \`open\``, way.openNs / 1000, warden.openNs / 1000, "µs"));
	}
	return { title, about, rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
export async function rings({ programs: { children }, folder, quick }) {
	const times = quick ? 3 : 300;
	const title = "The two sandboxes of a child";
	const program = join(root, wardenName);
	const about =
		`${times} starts of \`/bin/echo\` through a warden without (baseline) and with the sandbox of a readonly child, in turn. Then,\n` +
		`in such a child, ${times} empty commands of \`/bin/sh\` and of the shell in the sandbox of tools, in turn. Most of the latter's\n` +
		"time is the start of another program, and a scan of the entries next to a hidden path: a home directory with 60 entries,\n" +
		`and one with 1,000. The warden is linked ${process.platform === "linux" ? linkedWith(program) : ""}. Linux only.`;
	if (process.platform !== "linux") return { title, about, rows: [] };

	// A parent directory with few entries, similar to a home directory.
	const place = mkdtempSync(join(existsSync(memory) ? memory : folder, "rings-"));
	const command = [children, "rings", program, place, String(times)];
	const found = await step("starting children and shells in sandboxes", () => report(command)).finally(() =>
		rmSync(place, { recursive: true, force: true }),
	);
	const { warden, both } = /** @type {Record<string, Way | undefined>} */ (found?.ways ?? {});
	// This machine does not allow the sandboxes.
	if (!warden || !both) return { title, about, rows: [] };
	/** @type {Record<string, number[]>} */
	const { plainMs = [], ...confined } = found.shells;
	const shells = {
		confinedMs: "a shell command",
		noNetworkMs: "a shell command without network",
		untidyMs: "a shell command beside 1,000 entries",
	};
	const rows = spreadRows(
		`a child (${both.mechanisms.join(", ")}), first byte`,
		both.byteMs,
		warden.byteMs,
		maxOfRings,
	);
	for (const [name, what] of Object.entries(shells)) {
		const wanted = name === "confinedMs" ? maxOfRings : undefined;
		rows.push(...spreadRows(what, confined[name] ?? [], plainMs, wanted));
	}
	return { title, about, rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
export async function builds({ programs: { children }, folder, quick }) {
	const times = quick ? 1 : 20;
	const title = "A build by a child that may write";
	const about =
		`${times} builds of 24 C files by \`make -j2\`, from nothing, through a warden without a sandbox (baseline) and in the two\n` +
		"sandboxes of a child that may write in the tree (with `.git` and `.pi` read-only), in turn, until the last process exits. Linux only, with a C compiler.";
	const program = join(root, wardenName);
	const hasTools = process.platform === "linux" && ["make", "cc"].every((name) => isOnPath(name));
	if (!hasTools) return { title, about, rows: [] };
	const place = mkdtempSync(join(existsSync(memory) ? memory : folder, "builds-"));
	const command = [children, "builds", program, place, String(times)];
	const found = await step("building in a sandbox", () => report(command)).finally(() =>
		rmSync(place, { recursive: true, force: true }),
	);
	return { title, about, rows: spreadRows("a build", found.confinedMs, found.freeMs) };
}

/** @param {string} name */
function isOnPath(name) {
	return (process.env.PATH ?? "").split(":").some((directory) => existsSync(join(directory, name)));
}

/**
 * @param {string} what
 * @param {number[]} ours
 * @param {number[]} baseline
 * @param {number} [max] milliseconds more than the baseline, in the median
 */
function spreadRows(what, ours, baseline, max) {
	return [0.1, 0.5, 0.9].map((part) => {
		const wanted = part === 0.5 ? max : undefined;
		return row(`${what}, p${part * 100}`, quantile(ours, part), quantile(baseline, part), "ms", wanted);
	});
}

/**
 * @param {string} what
 * @param {Way} ours
 * @param {Way} baseline
 * @param {number} [max] milliseconds more than the baseline
 */
function startRows(what, ours, baseline, max) {
	return [
		row(`${what}: first byte, p50`, median(ours.byteMs), median(baseline.byteMs), "ms", max),
		row(`${what}: first byte, p90`, quantile(ours.byteMs, 0.9), quantile(baseline.byteMs, 0.9), "ms"),
		row(`${what}: until nobody is left, p50`, median(ours.lifeMs), median(baseline.lifeMs), "ms"),
	];
}

/**
 * @param {string} what
 * @param {number} ours
 * @param {number} baseline
 * @param {string} unit
 * @param {number} [max] more than the baseline
 * @returns {Row}
 */
function row(what, ours, baseline, unit, max) {
	const more = ours - baseline;
	return {
		what,
		ours: `${ours.toFixed(2)} ${unit} (${more < 0 ? "−" : "+"}${Math.abs(more).toFixed(2)})`,
		baseline: `${baseline.toFixed(2)} ${unit}`,
		...(max ? { target: `≤ ${max} ${unit} more`, reached: more <= max } : {}),
	};
}

/**
 * Returns how a program is linked, and the time that this adds to each start. glibc queries the processor's caches
 * dozens of times, and on a virtual machine the host answers each query.
 *
 * @param {string} path
 */
function linkedWith(path) {
	const glibc =
		"glibc, which alone takes about 0.6 ms of each start on a virtual machine; musl, as published, does not";
	if (!isStatic(path)) return `with shared libraries, and with ${glibc}`;
	return `statically, with ${readFileSync(path).includes("glibc.") ? glibc : "musl"}`;
}

/**
 * Returns true if a 64-bit program for Linux needs no dynamic loader.
 *
 * @param {string} path
 */
function isStatic(path) {
	const elf = readFileSync(path);
	const interpreter = 3;
	const size = elf.readUInt16LE(54);
	const count = elf.readUInt16LE(56);
	const headers = Array.from({ length: count }, (_, index) => Number(elf.readBigUInt64LE(32)) + index * size);
	return headers.every((at) => elf.readUInt32LE(at) !== interpreter);
}
