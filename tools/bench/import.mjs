/** Measures the time that the extension adds to each start of pi, against an extension that does nothing. */

import { mkdtempSync, statSync } from "node:fs";
import { join } from "node:path";
import { bundle, freshenBundle } from "../../scripts/lib/bundle.mjs";
import { newestPi, root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { baseline, median, piOf, report } from "./run.mjs";

/** The maximum difference to an empty extension, in ms. */
const maxMs = 5;

/** @param {import("./run.mjs").Setting} setting @returns {Promise<import("./table.mjs").Section>} */
export async function importing(setting) {
	const rounds = setting.quick ? 1 : 15;
	const { node, program } = piOf(setting);
	await freshenBundle();
	const folder = mkdtempSync(join(setting.folder, "import-"));
	const command = [...baseline("extension-import"), node, program, folder, String(rounds)];
	const found = await step("importing the extension", () => report(command));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	const ours = median(found.ours);
	const empty = median(found.empty);
	const text = (/** @type {number[]} */ ms) => `${median(ms)} ms, ${Math.min(...ms)} to ${Math.max(...ms)} ms`;
	const { size } = statSync(join(root, bundle));
	const about =
		`pi ${newestPi} imports this package's module, and an empty extension (baseline), in turn: median and range of ${rounds} starts, by\n` +
		"pi's own count in whole milliseconds. Each is the first extension of its pi, so both times include pi's loader.";
	return {
		title: "What importing the extension costs",
		about,
		rows: [
			{ what: "pi imports the module", ours: text(found.ours), baseline: text(found.empty) },
			{
				what: "more than an empty one",
				ours: `${ours - empty} ms`,
				target: `≤ ${maxMs} ms`,
				reached: ours - empty <= maxMs,
			},
			{ what: "size of the module", ours: `${Math.round(size / 1000)} kB` },
		],
	};
}
