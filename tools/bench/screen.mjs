/** Measures the cost of this package for pi's interface: while nothing runs, and while a card shows an arriving answer. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newestPi, piOverride, root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { probe } from "../../scripts/lib/programs.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { median, piOf, report, spread } from "./run.mjs";
import { times } from "./table.mjs";

/** The maximum share of a core while nothing runs, in percent, and the maximum ratio of a live card to pi's own text. */
const max = { idlePercent: 0.3, card: 1.2 };

/** The time limit. */
const longestMs = 600_000;

/** @param {import("./run.mjs").Setting} setting @returns {Promise<import("./table.mjs").Section>} */
export async function screen(setting) {
	const { idle, rounds, text } = setting.quick ? { idle: 1, rounds: 1, text: 1 } : { idle: 20, rounds: 3, text: 6 };
	const about =
		`pi ${newestPi} in a terminal of 120 by 40. While nothing runs: its use of the processor during ${idle} seconds after a delegation.\n` +
		"Baseline: pi with an empty extension, in the same seconds. A live card: the processor time of pi and of this package in it, while an\n" +
		`answer arrives for ${text} seconds in twenty deltas per second. Baseline: the same text from pi's own model, ${rounds} times in turn.\n` +
		"Linux only; needs tmux.";
	const title = "What pi's interface pays";
	if (process.platform !== "linux") return { title, about, rows: [] };
	if (!probe("tmux", ["-V"]))
		throw new SetupProblem("tmux was not found.", "This section runs pi in a terminal of its own.");

	const { node, program } = piOf(setting);
	const empty = join(mkdtempSync(join(setting.folder, "screen-")), "empty.ts");
	writeFileSync(empty, "export default function () {}\n");
	const command = [node, join(root, "benchmark", "screen.ts"), ...[empty, idle, rounds, text].map(String)];
	const env = { PI_TEST_NODE: node, [piOverride(newestPi)]: program };
	const found = await step("pi's interface", () => report(command, { limitMs: longestMs, env }));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	const { ours, bare } = found.idle;
	const percent = (/** @type {{ cpuMs: number }} */ { cpuMs }) => cpuMs / (idle * 10);
	const perSecond = (/** @type {{ wakeUps: number }} */ { wakeUps }) => `${(wakeUps / idle).toFixed(1)}/s`;
	const ms = (/** @type {number[]} */ values) => spread(values, (value) => `${value.toFixed(0)} ms`);
	const ratio = median(found.live.card) / median(found.live.own);
	return {
		title,
		about,
		rows: [
			{
				what: "nothing runs: share of a core",
				ours: `${percent(ours).toFixed(2)} %`,
				baseline: `${percent(bare).toFixed(2)} %`,
				target: `≤ ${max.idlePercent} %`,
				reached: percent(ours) <= max.idlePercent,
			},
			{
				what: "nothing runs: wake-ups of pi's own thread",
				ours: perSecond(ours),
				baseline: perSecond(bare),
				target: "≤ 1/s",
				reached: ours.wakeUps <= idle,
			},
			{
				what: "a live card: processor time",
				ours: ms(found.live.card),
				baseline: ms(found.live.own),
				ratio: times(ratio),
				target: `≤ ${max.card}×`,
				reached: ratio <= max.card,
			},
		],
	};
}
