#!/usr/bin/env node
/**
 * Measures speed and memory against the usual way, and writes `benchmark/RESULTS.md` and the files made from it: the
 * plots, `docs/speed.md` and `benchmark/results.json`.
 *
 * `--only collector,memory` measures some sections and only prints them; with `--write` it also replaces them in the
 * page. `--quick` runs every section on very little data and shows no figures, to check that the benchmarks still work.
 * `--draw` measures nothing; it makes the plots and the quoted figures again from the page. If a section fails, its
 * error is printed at the end, the other sections are still written, and the exit code is 1.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newestPi, root, setupDir } from "../scripts/lib/places.mjs";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";
import { coreFeatures, endRunning, runQuietly } from "../scripts/lib/programs.mjs";
import { note, step } from "../scripts/lib/progress.mjs";
import { setUp } from "../scripts/setup.mjs";
import { ahead } from "./bench/ahead.mjs";
import { collector } from "./bench/collector.mjs";
import { disk } from "./bench/disk.mjs";
import { early } from "./bench/early.mjs";
import { addon, memory, start } from "./bench/host.mjs";
import { importing } from "./bench/import.mjs";
import { launchers } from "./bench/launchers.mjs";
import { lean } from "./bench/lean.mjs";
import { log } from "./bench/log.mjs";
import { loop } from "./bench/loop.mjs";
import { endReports } from "./bench/run.mjs";
import { scale } from "./bench/scale.mjs";
import { screen } from "./bench/screen.mjs";
import { page, renewed } from "./bench/table.mjs";
import { hostileTexts, sanitizer, truncator } from "./bench/text.mjs";
import { thousand } from "./bench/thousand.mjs";
import { tree } from "./bench/tree.mjs";
import { trees } from "./bench/trees.mjs";
import { builds, rings, warden } from "./bench/warden.mjs";
import { draw, source } from "./plots/files.mjs";

/** @type {Record<string, (setting: import("./bench/run.mjs").Setting) => Promise<import("./bench/table.mjs").Section>>} */
const sections = {
	...{
		collector,
		sanitizer,
		hostile: hostileTexts,
		truncator,
		log,
		addon,
		start,
		memory,
		loop,
		warden,
		rings,
		builds,
		tree,
		trees,
		disk,
	},
	...{ scale, thousand, early, ahead, lean, import: importing, screen, launchers },
};

const withAddon = [
	...["addon", "start", "loop", "warden", "rings", "builds", "tree", "trees", "scale", "early", "ahead", "lean"],
	...["thousand", "screen", "launchers"],
];
const withPi = ["early", "ahead", "lean", "import", "screen"];

/**
 * The programs in `crates/…/benches`, and the sections that run them.
 *
 * @type {Record<string, { crate: string, sections: string[] }>}
 */
const programs = {
	events: { crate: "pi-events", sections: ["collector", "memory", "loop", "scale", "thousand", "launchers"] },
	text: { crate: "sanitizer", sections: ["sanitizer", "hostile", "truncator"] },
	children: { crate: "supervisor", sections: ["log", "warden", "rings", "builds"] },
	trees: { crate: "worktree", sections: ["trees"] },
	entries: { crate: "files", sections: ["disk"] },
	definitions: { crate: "agents", sections: ["disk"] },
	records: { crate: "store", sections: ["disk"] },
};

await runMain(async () => {
	const { values } = parseArgs({
		options: {
			...{ quick: { type: "boolean" }, only: { type: "string" }, write: { type: "boolean" } },
			draw: { type: "boolean" },
		},
	});
	if (values.draw) {
		draw();
		note(`Made the plots and docs/speed.md from ${source}.`);
		return 0;
	}
	const isQuick = values.quick ?? false;
	const names = values.only?.split(",") ?? Object.keys(sections);
	const unknown = names.find((name) => !(name in sections));
	if (unknown) throw new SetupProblem(`Unknown section: ${unknown}.`, `Sections: ${Object.keys(sections)}`);
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
		const paths = await step("the native programs (cargo)", () => buildPrograms(names, isQuick));
		const setting = { programs: paths, folder, quick: isQuick, ...(program ? { pi: { node, program } } : {}) };
		const began = performance.now();
		const { found, failed } = await measureAll(names, setting);
		const durationMs = performance.now() - began;
		if (!isQuick)
			report(found, failed, { durationMs, isWhole: !values.only, isWritten: !values.only || values.write === true });
		note(`${found.length} of ${names.length} sections measured.`);
		for (const { name, message } of failed) note(`\n✗ ${name}: ${message}`);
		return failed.length > 0 ? 1 : 0;
	} finally {
		clean();
	}
});

/**
 * Measures sections one after the other. If one fails, the others are still measured.
 *
 * @param {string[]} names
 * @param {import("./bench/run.mjs").Setting} setting
 */
async function measureAll(names, setting) {
	/** @type {import("./bench/table.mjs").Section[]} */
	const found = [];
	/** @type {{ name: string, message: string }[]} */
	const failed = [];
	for (const name of names) {
		try {
			found.push(await sections[name](setting));
		} catch (error) {
			const message = error instanceof SetupProblem ? error.message : error instanceof Error ? error.stack : undefined;
			failed.push({ name, message: message ?? String(error) });
			note(`✗ ${name} failed; the other sections are still measured.`);
		}
	}
	return { found, failed };
}

/**
 * Prints the results, and writes them into the page if wanted. If a section failed, the page says so instead of showing
 * old figures.
 *
 * @param {import("./bench/table.mjs").Section[]} found
 * @param {{ name: string }[]} failed
 * @param {{ durationMs: number, isWhole: boolean, isWritten: boolean }} how
 */
function report(found, failed, { durationMs, isWhole, isWritten }) {
	const text = page(
		found,
		failed.map(({ name }) => name),
		durationMs,
	);
	process.stdout.write(`\n${text}\n`);
	const promised = found.flatMap(({ rows }) => rows).filter(({ reached }) => reached !== undefined);
	note(`${promised.filter(({ reached }) => reached).length} of ${promised.length} targets reached.`);
	const results = join(root, source);
	if (!isWritten) {
		note("benchmark/RESULTS.md is unchanged, because not all sections were measured. Use --write to update it.");
		return;
	}
	writeFileSync(results, isWhole ? text : renewed(readFileSync(results, "utf8"), found));
	// A failed section is missing from the page, so plots of it would be stale.
	if (failed.length > 0) {
		note(`Wrote ${source}. The plots are unchanged, because sections failed.`);
		return;
	}
	draw();
	note(`Wrote ${source}, docs/speed.md and the plots.`);
}

/**
 * Builds the programs that the sections need, and returns their paths. The quick form builds without optimization and
 * with the features of the Rust tests, because that build usually exists already.
 *
 * @param {string[]} names of the sections
 * @param {boolean} isQuick
 * @returns {Promise<Record<string, string>>}
 */
async function buildPrograms(names, isQuick) {
	const needed = Object.keys(programs).filter((name) => programs[name].sections.some((one) => names.includes(one)));
	if (needed.length === 0) return {};
	// All crates are named in either case, so that each dependency is compiled once for all sections.
	const crates = Object.values(programs).flatMap(({ crate }) => ["--package", crate]);
	const how = isQuick ? ["build", "--workspace", ...coreFeatures] : ["bench", "--no-run", ...crates];
	const benches = needed.flatMap((name) => ["--bench", name]);
	/** @type {import("../scripts/lib/programs.mjs").Command} */
	const command = ["cargo", ...how, "--quiet", "--locked", ...benches];
	const output = await runQuietly("cargo", [...command, "--message-format=json-render-diagnostics"]);
	const artifacts = output.split("\n").filter((line) => line.startsWith('{"reason":"compiler-artifact"'));
	const built = artifacts.map((line) => JSON.parse(line)).filter(({ target }) => target.kind.includes("bench"));
	const paths = Object.fromEntries(built.map(({ target, executable }) => [target.name, executable]));
	const missing = needed.find((name) => !paths[name]);
	if (missing) throw new SetupProblem(`cargo printed no path of the program ${missing}.`, command.join(" "));
	return paths;
}
