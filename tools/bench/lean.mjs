/** Measures the cost of booting a child, against a plain start of pi. */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { baseline, median, piOf, report, spread } from "./run.mjs";
import { times } from "./table.mjs";

/**
 * @typedef {import("./table.mjs").Row} Row
 * @typedef {import("./table.mjs").Section} Section
 * @typedef {import("./run.mjs").Setting} Setting
 * @typedef {import("../../benchmark/boot-cost.mjs").BootCost} BootCost
 */

/** The maximum ratio to the baseline. If a child cost more than pi itself, users would avoid running ten of them. */
const maxRatio = 1;

/** The time limit. Each boot takes one or two seconds, more on a busy machine. */
const longestMs = 600_000;

/** @param {Setting} setting @returns {Promise<Section>} */
export async function lean(setting) {
	const rounds = setting.quick ? 1 : 5;
	const about =
		`Booting pi in RPC mode until it answers \`get_state\`, in a home with ten extensions, twenty skills, twenty prompts,\n` +
		`five themes and two MCP servers: ${rounds} boots of a run's child and of a plain pi (baseline), in turn: medians and ranges. Processor time\n` +
		"and memory (PSS) include all processes of the pi, with its MCP servers, 0.4 s after the answer. The first rows show the steps that\n" +
		"no option makes faster: the start of Node, and the modules of pi's program. Linux only.";
	const title = "What a child costs to boot";
	if (process.platform !== "linux") return { title, about, rows: [] };

	const { node, program } = piOf(setting);
	const folder = mkdtempSync(join(setting.folder, "lean-"));
	const command = [...baseline("lean"), node, program, folder, String(rounds), setting.quick ? "cold" : "warm"];
	const found = await step("booting pi in several ways", () => report(command, { limitMs: longestMs }));
	if (!found) throw new SetupProblem(`${command.join(" ")} does not end.`, "It was ended.");
	const { byHand, ...others } = found.ways;
	/** @type {Record<string, [what: string, isPromised?: true]>} */
	const ways = {
		sandboxed: ["sandboxed child", true],
		child: ["child without a sandbox"],
		coldCache: ["sandboxed child that finds no compiled code"],
		unguarded: ["sandboxed child without the guard of its tools"],
		byHandInBareHome: ["pi by hand in a home with nothing"],
	};
	const rows = Object.entries(ways).flatMap(([name, [what, isPromised]]) =>
		wayRows(what, others[name], byHand, isPromised ?? false),
	);
	return { title, about, rows: [...stepRows(found.steps), ...rows] };
}

/**
 * Returns a row for each step of a boot that only Node and pi's program can make faster.
 *
 * @param {Record<"node" | "modules" | "uncompiled", number[]>} steps
 * @returns {Row[]}
 */
function stepRows({ node, modules, uncompiled }) {
	const ms = (/** @type {number[]} */ values) => spread(values, (value) => `${value.toFixed(0)} ms`);
	return [
		{ what: "a boot begins: Node starts and ends", ours: ms(node) },
		{ what: "the same, and pi's modules are loaded (`--version`)", ours: ms(modules) },
		{ what: "the same without pi's compile cache", ours: ms(uncompiled) },
	];
}

/**
 * @param {string} what
 * @param {BootCost[]} ours
 * @param {BootCost[]} theirs
 * @param {boolean} isPromised
 * @returns {Row[]}
 */
function wayRows(what, ours, theirs, isPromised) {
	/** @type {(name: string, key: keyof BootCost, unit: string, digits?: number) => Row} */
	const row = (name, key, unit, digits = 0) => {
		const owns = ours.map((cost) => cost[key]);
		const others = theirs.map((cost) => cost[key]);
		const own = median(owns);
		const other = median(others);
		const word = (/** @type {number} */ value) => `${value.toFixed(digits)} ${unit}`;
		return {
			what: `${what}: ${name}`,
			ours: spread(owns, word),
			baseline: spread(others, word),
			ratio: times(own / other),
			...(isPromised ? { target: `≤ ${maxRatio}×`, reached: own / other <= maxRatio } : {}),
		};
	};
	return [row("first answer", "ms", "ms"), row("processor time", "cpuMs", "ms"), row("memory", "pssMib", "MiB", 1)];
}
