/** Measures the cost of a launcher for a run, with engines that are unpacked here. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { pathWith } from "../../scripts/lib/programs.mjs";
import { note, step } from "../../scripts/lib/progress.mjs";
import { withEngine } from "../engines/main.mjs";
import { Missing } from "../engines/missing.mjs";
import { isUnpacked } from "../engines/packages.mjs";
import { programsOf } from "../engines/programs.mjs";
import { baseline, median, report, spread } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 */

/** The maximum memory of a remote run on its host. */
const maxMib = 1;

/** The engines and their names in the table. */
const engines = { slurm: "Slurm", openssh: "OpenSSH" };

/** The time limit. Slurm takes a second for some jobs, and there may be hundreds. */
const longestMs = 900_000;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function launchers(setting) {
	const title = "Runs through a launcher";
	const runs = setting.quick ? 4 : 200;
	const atOnce = setting.quick ? 2 : 50;
	const rounds = setting.quick ? 1 : 5;
	/** @type {Row[]} */
	const rows = [];
	/** @type {string[]} */
	const skipped = [];
	for (const [name, word] of /** @type {["slurm" | "openssh", string][]} */ (Object.entries(engines))) {
		if (process.platform !== "linux" || !isUnpacked(name)) {
			skipped.push(`${word} is not unpacked here. Run \`npm run test:engines -- ${name}\``);
			continue;
		}
		const found = await withEngine(name, (running, place) =>
			measure(setting, { name, word, running, place }, { runs, atOnce, rounds }),
		);
		if (found instanceof Missing) skipped.push(`${word}: ${found.message}`);
		else rows.push(...found);
	}
	for (const reason of skipped) note(`Skipped: ${reason}`);
	const about =
		"A child that answers at once, started with `startRun` through the guide's launcher. The engine and its servers run on the same\n" +
		"machine, so both columns include their time. The baseline is the launcher alone with `true` as its child, or the same local\n" +
		`run. ${rounds} runs one after the other, in turn; ${runs} runs, ${atOnce} at a time; memory while ${atOnce} children wait. Linux only.` +
		skipped.map((reason) => `\nSkipped: ${reason}.`).join("");
	return { title, about, rows };
}

/**
 * @param {Setting} setting
 * @param {{ name: "slurm" | "openssh", word: string, running: import("../engines/main.mjs").Running, place: string }} engine
 * @param {{ runs: number, atOnce: number, rounds: number }} size
 * @returns {Promise<Row[]>}
 */
async function measure({ programs: { events }, folder }, { name, word, running, place }, { runs, atOnce, rounds }) {
	const file = join(mkdtempSync(join(folder, `${name}-`)), "launcher.json");
	writeFileSync(file, JSON.stringify(running.launcher));
	const env = { PATH: pathWith(programsOf(place)), ...running.env };
	const [node = "", script = ""] = baseline("launchers");
	/** @type {(purpose: string, launcher: string, count: number, width: number) => Promise<any>} */
	const host = async (purpose, launcher, count, width) => {
		const argv = [node, "--expose-gc", script, purpose, folder, events, launcher, String(count), String(width)];
		const found = await report([...(running.within ?? []), ...argv], { limitMs: longestMs, env });
		if (!found) throw new SetupProblem(`${argv.join(" ")} does not end.`, "It was ended.");
		return found;
	};
	/** @type {Record<"far" | "alone" | "here", number[]>} */
	const one = { far: [], alone: [], here: [] };
	await step(`${word}: one run after the other`, async () => {
		for (let round = 0; round < rounds; round++) {
			one.far.push((await host("one", file, 1, 1)).ms);
			one.alone.push((await host("alone", file, 1, 1)).ms);
			one.here.push((await host("one", "local", 1, 1)).ms);
		}
	});
	const width = name === "slurm" ? atOnce : Math.min(atOnce, 10);
	const many = await step(`${word}: ${runs} runs, ${width} at a time`, () => host("many", file, runs, width));
	const alone = await step(`${word} alone: ${runs}, ${width} at a time`, () => host("alone", file, runs, width));
	const memory = await step(`${word}: memory of ${width} runs`, () => host("memory", file, width, width));
	return tableOf({ word, runs, width }, { one, many, alone, memory });
}

/**
 * @param {{ word: string, runs: number, width: number }} how
 * @param {{ one: Record<"far" | "alone" | "here", number[]>, many: any, alone: any, memory: any }} found
 * @returns {Row[]}
 */
function tableOf({ word, runs, width }, { one, many, alone, memory }) {
	const ms = (/** @type {number} */ value) => `${value.toFixed(0)} ms`;
	const seconds = (/** @type {number} */ value) => `${(value / 1000).toFixed(1)} s`;
	const mib = (/** @type {number} */ value) => `${value.toFixed(2)} MiB`;
	const ratio = (/** @type {number[]} */ ours, /** @type {number[]} */ theirs) => times(median(ours) / median(theirs));
	const hostMib = memory.hostMib + memory.wardenMib;
	return [
		{
			what: `${word}: one run, beside the launcher alone`,
			ours: spread(one.far, ms),
			baseline: spread(one.alone, ms),
			ratio: ratio(one.far, one.alone),
		},
		{
			what: `${word}: one run, beside the same run here`,
			ours: spread(one.far, ms),
			baseline: spread(one.here, ms),
			ratio: ratio(one.far, one.here),
		},
		{
			what: `${word}: ${runs} runs, ${width} at a time: results`,
			ours: String(many.answers),
			target: String(runs),
			reached: many.answers === runs,
		},
		{
			what: `${word}: ${runs} runs, ${width} at a time: time, beside the launcher alone`,
			ours: seconds(many.ms),
			baseline: seconds(alone.ms),
			ratio: times(many.ms / alone.ms),
		},
		{ what: `${word}: processor time of the host, by run`, ours: `${many.hostMs.toFixed(1)} ms` },
		{
			what: `${word}: memory of the host and its warden, by run`,
			ours: mib(hostMib),
			target: `< ${maxMib} MiB`,
			reached: hostMib < maxMib,
		},
		{ what: `${word}: memory of the launcher's own program, by run`, ours: mib(memory.launcherMib) },
	];
}
