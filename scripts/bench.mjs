#!/usr/bin/env node
/**
 * Measures what is promised about speed and memory, side by side with the usual way, and writes `benchmark/RESULTS.md`.
 * `--quick` takes smaller data and only prints; `--only collector,memory` measures some sections and only prints, unless
 * `--write` renews them in the page.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { collector } from "./lib/bench-collector.mjs";
import { early } from "./lib/bench-early.mjs";
import { addon, memory, start } from "./lib/bench-host.mjs";
import { lean } from "./lib/bench-lean.mjs";
import { loop } from "./lib/bench-loop.mjs";
import { endReports } from "./lib/bench-run.mjs";
import { scale } from "./lib/bench-scale.mjs";
import { page, renewed } from "./lib/bench-table.mjs";
import { hostileTexts, sanitizer, truncator } from "./lib/bench-text.mjs";
import { tree } from "./lib/bench-tree.mjs";
import { warden } from "./lib/bench-warden.mjs";
import { newestPi, root, setupDir } from "./lib/places.mjs";
import { runMain, SetupProblem } from "./lib/problem.mjs";
import { endRunning, runQuietly } from "./lib/programs.mjs";
import { note, step } from "./lib/progress.mjs";
import { setUp } from "./setup.mjs";

/** @type {Record<string, (setting: import("./lib/bench-run.mjs").Setting) => Promise<import("./lib/bench-table.mjs").Section>>} */
const sections = {
	...{ collector, sanitizer, hostile: hostileTexts, truncator, addon, start, memory, loop, warden, tree },
	...{ scale, early, lean },
};

const withAddon = ["addon", "start", "loop", "warden", "tree", "scale", "early", "lean"];
const withPi = ["early", "lean"];

await runMain(async () => {
	const { values } = parseArgs({
		options: { quick: { type: "boolean" }, only: { type: "string" }, write: { type: "boolean" } },
	});
	const names = values.only?.split(",") ?? Object.keys(sections);
	const unknown = names.find((name) => !(name in sections));
	if (unknown) throw new SetupProblem(`There is no section ${unknown}.`, `There are: ${Object.keys(sections)}`);
	if (process.platform === "win32") {
		throw new SetupProblem("The benchmarks run on Linux and macOS only.", "They need a shell's pipes.");
	}
	const needsPi = names.some((name) => withPi.includes(name));
	const needsAddon = names.some((name) => withAddon.includes(name));
	const { node, pi } = await setUp({ pi: needsPi ? [newestPi] : [], addon: needsAddon });
	const program = pi[newestPi];

	mkdirSync(setupDir, { recursive: true });
	const folder = mkdtempSync(join(setupDir, "bench-"));
	const clean = () => {
		endReports();
		rmSync(folder, { recursive: true, force: true });
	};
	const interrupted = () => {
		endRunning();
		clean();
		process.exit(130);
	};
	process.once("SIGINT", interrupted);
	process.once("SIGTERM", interrupted);
	try {
		const engine = await step("the native program (cargo bench --no-run)", buildEngine);
		const found = [];
		const setting = { engine, folder, quick: values.quick ?? false, ...(program ? { pi: { node, program } } : {}) };
		for (const name of names) found.push(await sections[name](setting));
		const text = page(found);
		process.stdout.write(`\n${text}\n`);
		const promised = found.flatMap(({ rows }) => rows).filter(({ reached }) => reached !== undefined);
		note(`${promised.filter(({ reached }) => reached).length} of ${promised.length} targets reached.`);
		const results = join(root, "benchmark", "RESULTS.md");
		if (values.quick || (values.only && !values.write)) {
			note("benchmark/RESULTS.md stays as it is: that was not everything.");
		} else {
			writeFileSync(results, values.only ? renewed(readFileSync(results, "utf8"), found) : text);
			note("Written to benchmark/RESULTS.md.");
		}
		return 0;
	} finally {
		clean();
	}
});

/** Builds the native side without the napi edge, and returns the path of the program. */
async function buildEngine() {
	/** @type {import("./lib/programs.mjs").Command} */
	const command = ["cargo", "bench", "--no-run", "--no-default-features", "--bench", "engine"];
	const output = await runQuietly("cargo bench --no-run", [...command, "--message-format=json-render-diagnostics"]);
	const path = [...output.matchAll(/"executable":("(?:[^"\\]|\\.)*")/g)].at(-1)?.[1];
	if (!path) throw new SetupProblem("cargo names no program.", command.join(" "));
	return /** @type {string} */ (JSON.parse(path));
}
