/**
 * Measures the sanitizer and the truncator against what they replace, and with inputs that are slow for other
 * implementations.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { chinese, code, jsonOutput, prose } from "../../benchmark/corpora.mjs";
import { hostile } from "../../benchmark/hostile.mjs";
import { root } from "../../scripts/lib/places.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { alternate, baseline, median, report, spread } from "./run.mjs";
import { duration, megabytesPerSecond, speed, times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 */

/** The time limit for one measurement of ours. */
const ourLimitMs = 20_000;

/** The quick form takes one of this many worst inputs. */
const quickStride = 10;

/** The maximum growth in time for ten times the input. */
const maxGrowth = 12;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function sanitizer({ programs: { text: program }, folder, quick }) {
	const length = quick ? 50_000 : 4_000_000;
	/** @type {[name: string, text: string, least?: number][]} */
	const texts = [
		["prose", prose(length, { secrets: false }), 400],
		["prose with a secret every 20 KB", prose(length, { secrets: true })],
		["code", code(root, length), 250],
		["JSON tool output with home directories", jsonOutput(length)],
	];
	/** @type {Row[]} */
	const rows = [];
	for (const [name, text, least] of texts) {
		const file = join(folder, "text");
		writeFileSync(file, text);
		const commands = { ours: [program, "sanitize", file], theirs: [...baseline("baseline-sanitizer"), file] };
		const found = await step(`sanitizer, ${name}`, () => alternate(commands, quick ? 1 : 5));
		const [ours, theirs] = [found.ours, found.theirs].map((list) =>
			list.map((/** @type {any} */ one) => megabytesPerSecond(one.bytes, one.ns)),
		);
		const target = least ? { target: `≥ ${least} MB/s`, reached: median(ours) >= least } : {};
		const ratio = times(median(ours) / median(theirs));
		rows.push({ what: name, ours: spread(ours, speed), baseline: spread(theirs, speed), ratio, ...target });
	}
	const about = `${length / 1e6} MB each. Baseline: the same rules as JavaScript regular expressions, one after the other.`;
	return { title: "Sanitizer", about, rows };
}

/** @param {Setting} setting @returns {Promise<Section>} */
export async function hostileTexts({ programs: { text: program }, folder, quick }) {
	const length = quick ? 2_000 : 80_000;
	const limitMs = 3_000;
	/** @type {Row[]} */
	const rows = [];
	const small = hostile(length);
	const large = hostile(length * 10);
	await step("sanitizer, worst inputs", async () => {
		const files = { small: join(folder, "small"), large: join(folder, "large") };
		const chosen = Object.entries(small).filter((_, index) => !quick || index % quickStride === 0);
		for (const [name, text] of chosen) {
			writeFileSync(files.small, text);
			writeFileSync(files.large, large[name]);
			const theirs = await report([...baseline("baseline-sanitizer"), files.small], { limitMs });
			const { one, ten } = await growth(
				quick ? 1 : 10,
				[program, "sanitize", files.small],
				[program, "sanitize", files.large],
			);
			const exceeds = (/** @type {number} */ ms) => `> ${duration(ms * 1e6)}`;
			rows.push({
				what: name,
				ours: `${one ? duration(one) : exceeds(ourLimitMs)}, ${ten ? duration(ten) : exceeds(ourLimitMs)}`,
				baseline: theirs ? duration(theirs.ns) : exceeds(limitMs),
				ratio: one && ten ? times(ten / one) : "",
				target: `≤ ${maxGrowth}×`,
				reached: one !== undefined && ten !== undefined && ten / one <= maxGrowth,
			});
		}
	});
	const one = length.toLocaleString("en");
	const ten = (length * 10).toLocaleString("en");
	const about = `This package at ${one} and at ${ten} characters, and the ratio of the two; a linear time gives 10. Baseline: JavaScript at ${one}.`;
	return { title: "Sanitizer, worst inputs", about, rows };
}

/**
 * Measures the minimum times for a small and a large input, in nanoseconds, because the minimum is the time without
 * other load. If the ratio looks bad, it is measured again, because other programs can only have made it worse.
 *
 * @param {number} limit of the rounds
 * @param {string[]} small
 * @param {string[]} large
 * @returns {Promise<{ one?: number, ten?: number }>} a time is absent if it exceeds the limit
 */
async function growth(limit, small, large) {
	let one = Number.POSITIVE_INFINITY;
	let ten = Number.POSITIVE_INFINITY;
	for (let round = 0; round === 0 || (round < limit && ten / one > maxGrowth); round++) {
		const first = await report(small, { limitMs: ourLimitMs });
		if (!first) return {};
		one = Math.min(one, first.leastNs);
		const second = await report(large, { limitMs: ourLimitMs });
		if (!second) return { one };
		ten = Math.min(ten, second.leastNs);
	}
	return { one, ten };
}

/** @param {Setting} setting @returns {Promise<Section>} */
export async function truncator({ programs: { text: program }, folder, quick }) {
	const bytes = quick ? 100_000 : 400_000;
	const limitMs = 240_000;
	const file = join(folder, "text");
	writeFileSync(file, chinese(bytes));
	const [ours, theirs] = await step("truncator", async () => [
		await alternate({ ours: [program, "truncate", file] }, quick ? 1 : 3),
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
