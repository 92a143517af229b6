#!/usr/bin/env node
/**
 * Measures the sanitizer with texts and rules of other projects.
 *
 * `--gitleaks DIR`, `--yaml DIR` (kingfisher, noseyparker): copies of these repositories. Makes secrets from their
 * rules, puts them into texts bare and after names, and prints three figures: the number of removed secrets, the number
 * of their own false positives that stay, and the number of texts that show a part of a secret while they arrive.
 * `--texts FILE` keeps the texts and `--failed FILE` the failures. `--write` writes the figures of gitleaks into
 * `benchmark/redaction/figures.json`, which pages quote.
 *
 * `--changes DIR…`: prints every change in the text files of these folders, one per line, for a review. Manual pages
 * are unpacked for it.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

import { gitleaksInnocent, gitleaksShapes, yamlShapes } from "../benchmark/redaction/rules.mjs";
import { texts } from "../benchmark/redaction/texts.mjs";
import { root } from "../scripts/lib/places.mjs";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";

await runMain(async () => {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			...{ gitleaks: { type: "string" }, yaml: { type: "string", multiple: true }, changes: { type: "boolean" } },
			...{ texts: { type: "string" }, failed: { type: "string" }, program: { type: "string" } },
			write: { type: "boolean" },
		},
	});
	if (values.changes) {
		const folder = mkdtempSync(join(tmpdir(), "redaction-"));
		try {
			for (const path of positionals) unpackPages(path, folder);
			const changes = run(values.program, ["changes", ...positionals.map((path) => resolve(path)), folder]);
			process.stdout.write(changes.replaceAll(folder, ""));
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
		return;
	}
	if (!values.gitleaks && !values.yaml) {
		throw new SetupProblem("The rules are missing.", "Pass a copy of them: --gitleaks DIR or --yaml DIR.");
	}
	const version = versionOf(values.gitleaks);
	if (values.write && (!version.commit || values.yaml)) {
		throw new SetupProblem("--write only works for a clone of gitleaks.", "Use --gitleaks DIR --write without --yaml.");
	}
	const shapes = [
		...(values.gitleaks ? gitleaksShapes(values.gitleaks) : []),
		...(values.yaml ?? []).flatMap((folder) => yamlShapes(folder)),
	];
	const all = texts(shapes, values.gitleaks ? gitleaksInnocent(values.gitleaks) : []);
	const folder = mkdtempSync(join(tmpdir(), "redaction-"));
	try {
		const file = resolve(values.texts ?? join(folder, "texts.jsonl"));
		writeFileSync(file, all.map((text) => `${JSON.stringify(text)}\n`).join(""));
		const { failed, ...figures } = JSON.parse(run(values.program, ["figures", file]));
		if (values.failed) writeFileSync(values.failed, JSON.stringify(failed, null, "\t"));
		const recognizable = shapes.filter((shape) => shape.recognizable).length;
		const measured = `${JSON.stringify({ ...version, shapes: shapes.length, recognizable, ...figures }, null, "\t")}\n`;
		process.stdout.write(measured);
		if (values.write) writeFileSync(join(root, "benchmark/redaction/figures.json"), measured);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

/**
 * Returns the commit of a clone and its date, or nothing if the folder is not a clone. @param {string | undefined}
 * folder
 */
function versionOf(folder) {
	if (!folder || !existsSync(join(folder, ".git"))) return {};
	const log = execFileSync("git", ["-C", folder, "log", "-1", "--format=%H %cs"], { encoding: "utf8" });
	const [commit, date] = log.trim().split(" ");
	return { commit, date };
}

/**
 * Unpacks the manual pages below a path into a folder, each as a text with the same path. @param {string} path @param
 * {string} folder
 */
function unpackPages(path, folder) {
	for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
		const page = join(resolve(entry.parentPath), entry.name);
		if (!entry.isFile() || !/\/man\d\w*\/[^/]+\.gz$/.test(page)) continue;
		const target = join(folder, page.replace(/\.gz$/, ""));
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, gunzipSync(readFileSync(page)));
	}
}

/** Runs `crates/sanitizer/benches/text`, or a built copy of it. @param {string | undefined} program @param {string[]} args */
function run(program, args) {
	const cargo = ["bench", "--quiet", "--package", "sanitizer", "--bench", "text", "--"];
	const [file, rest] = program ? [program, args] : ["cargo", [...cargo, ...args]];
	return execFileSync(file, rest, {
		...{ cwd: root, encoding: "utf8", maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "inherit"] },
	});
}
