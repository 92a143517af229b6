/**
 * Plays every fault in real pi, with this package and with the extension that pi ships as an example, and writes the
 * table of `docs/faults.md`.
 *
 * Usage: <Node for pi> main.ts [words of the faults to play; then the table is only printed]
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newestPi, packageDir } from "../../__test__/support/pi.ts";
import { runMain, SetupProblem } from "../../scripts/lib/problem.mjs";
import { dim, note } from "../../scripts/lib/progress.mjs";
import { type Played, play, type Way } from "./play.ts";
import { type Row, rows } from "./scenarios.ts";

const ways: Way[] = ["this package", "pi's example"];
const page = join(packageDir, "docs/faults.md");

/** For two cores. Each scenario mostly waits. */
const atOnce = 2;

const filters = process.argv.slice(2);
const chosen = rows.filter(({ fault }) => filters.every((word) => fault.includes(word)));

await runMain(async () => {
	if (chosen.length === 0) {
		const faults = rows.map(({ fault }) => fault).join("\n");
		throw new SetupProblem(`No fault contains: ${filters.join(" ")}`, `Known faults:\n${faults}`);
	}
	const table = tableOf(await playAll());
	if (filters.length > 0) {
		process.stdout.write(`${table}\n`);
		return 0;
	}
	const text = readFileSync(page, "utf8").replace(/^\| Fault[\s\S]*?\n(?=\n)/m, () => `${table}\n`);
	writeFileSync(page, text.replace(/in pi \d+\.\d+\.\d+/, `in pi ${newestPi}`));
	note(`docs/faults.md has ${chosen.length} faults, played in pi ${newestPi}.`);
	return 0;
});

/** Plays the chosen faults with both. Returns their rows, in order. */
async function playAll(): Promise<string[]> {
	const lines: string[] = [];
	const waiting = chosen.entries();
	let done = 0;
	await Promise.all(
		Array.from({ length: atOnce }, async () => {
			for (const [index, row] of waiting) {
				const cells: string[] = [];
				for (const way of ways) cells.push(cell(row, await play(way, row)));
				lines[index] = `| ${[row.fault, row.expected, ...cells].join(" | ")} |`;
				done += 1;
				note(dim(`${done} of ${chosen.length}: ${row.fault}`));
			}
		}),
	);
	return lines;
}

function tableOf(lines: string[]): string {
	const sides = ways.map((way) => way[0]?.toUpperCase() + way.slice(1));
	return [`| Fault | Expected result | ${sides.join(" | ")} |`, "|---|---|---|---|", ...lines].join("\n");
}

function cell(row: Row, played: Played): string {
	const figure = row.figure ? [row.figure(played)] : [];
	if (row.passed(played)) return ["yes", ...figure].join(", ");
	return `**no**: ${[row.observed?.(played) ?? ending(played), ...figure].join(", ")}`;
}

/** Describes how the call ended. */
function ending({ ended, piEnded, isError, text, survivors }: Played): string {
	const more = survivors > 0 ? `; ${survivors === 1 ? "1 process survives" : `${survivors} processes survive`}` : "";
	if (piEnded) return `pi itself ends${more}`;
	if (!ended) return `the call does not end within 20 s${more}`;
	const firstLine = text.split("\n").find((line) => line.trim()) ?? "";
	return `${isError ? "a failure" : "a success"}: \`${firstLine.replaceAll("|", "/").replaceAll("`", "'").slice(0, 60)}\`${more}`;
}
