/** Measures what reads and writes many small files: private files, agents' definitions, and the store of runs. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { median, report, spread } from "./run.mjs";

/** @param {import("./run.mjs").Setting} setting @returns {Promise<import("./table.mjs").Section>} */
export async function disk({ programs: { entries, definitions, records }, folder, quick }) {
	const counts = quick
		? { files: 20, agents: 5, runs: 5, rounds: 1 }
		: { files: 2000, agents: 200, runs: 500, rounds: 9 };
	const measure = async (/** @type {string} */ program, /** @type {number} */ count) => {
		const command = [program, mkdtempSync(join(folder, "disk-")), String(count), String(counts.rounds)];
		const found = await report(command);
		if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
		return found;
	};
	const { file, agents, store } = await step("small files, agents and the store", async () => ({
		file: await measure(entries, counts.files),
		agents: await measure(definitions, counts.agents),
		store: await measure(records, counts.runs),
	}));
	const about =
		`Small files are opened without following links, and replaced by a private file of 2 KB (baseline: \`std::fs\`). ${counts.agents} agents are\n` +
		"discovered (baseline: the files are read and their front matter parsed, without a check). The store keeps records of 4 KB\n" +
		"(baseline: one table in SQLite with the same settings, without other processes, deliveries and recovery).";
	const micros = (/** @type {number} */ value) => `${value.toFixed(0)} µs`;
	const millis = (/** @type {number} */ value) => `${value.toFixed(1)} ms`;
	return {
		title: "Files, agents and the store",
		about,
		rows: [
			row("reading a small file", file.read, file.plainlyRead, micros),
			row("replacing a small file", file.replaced, file.plainlyReplaced, micros),
			row("discovering changed agents", agents.changed, agents.parsed, millis),
			row("discovering unchanged agents", agents.unchanged, agents.parsed, millis),
			row("a run: stored, ended, delivered", store.ours.run, store.plain.run, micros),
			row("a slot of the queue: taken, given back", store.ours.slot, store.plain.slot, micros),
			row("a list of the 100 newest runs", store.ours.list, store.plain.list, micros),
		],
	};
}

/**
 * @param {string} what
 * @param {number[]} ours
 * @param {number[]} baseline
 * @param {(value: number) => string} unit
 * @returns {import("./table.mjs").Row}
 */
function row(what, ours, baseline, unit) {
	const ratio = `${(median(ours) / median(baseline)).toFixed(2)}×`;
	return { what, ours: spread(ours, unit), baseline: spread(baseline, unit), ratio };
}
