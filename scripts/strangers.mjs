#!/usr/bin/env node
/**
 * Measures the sanitizer on what others have written.
 *
 * `--gitleaks DIR`, `--yaml DIR` (kingfisher, noseyparker): copies of these repositories. Makes secrets from their rules,
 * places them bare and under names, and says how many go, how many of their own false positives stay, and how many
 * texts show a part of a secret while they arrive. `--texts FILE` keeps the texts, `--failed FILE` what went wrong.
 *
 * `--changes DIR…`: prints every change in the text files of these folders, one a line, for judging.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { gitleaksInnocent, gitleaksShapes, yamlShapes } from "../benchmark/strangers/rules.mjs";
import { texts } from "../benchmark/strangers/texts.mjs";
import { root } from "./lib/places.mjs";
import { runMain, SetupProblem } from "./lib/problem.mjs";

await runMain(async () => {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			...{ gitleaks: { type: "string" }, yaml: { type: "string", multiple: true }, changes: { type: "boolean" } },
			...{ texts: { type: "string" }, failed: { type: "string" }, engine: { type: "string" } },
		},
	});
	if (values.changes) {
		process.stdout.write(engine(values.engine, ["changes", ...positionals]));
		return;
	}
	if (!values.gitleaks && !values.yaml) {
		throw new SetupProblem("There are no rules to measure with.", "Name a copy: --gitleaks DIR or --yaml DIR.");
	}
	const shapes = [
		...(values.gitleaks ? gitleaksShapes(values.gitleaks) : []),
		...(values.yaml ?? []).flatMap((folder) => yamlShapes(folder)),
	];
	const all = texts(shapes, values.gitleaks ? gitleaksInnocent(values.gitleaks) : []);
	const folder = mkdtempSync(join(tmpdir(), "strangers-"));
	try {
		const file = values.texts ?? join(folder, "texts.jsonl");
		writeFileSync(file, all.map((text) => `${JSON.stringify(text)}\n`).join(""));
		const { failed, ...figures } = JSON.parse(engine(values.engine, ["figures", file]));
		if (values.failed) writeFileSync(values.failed, JSON.stringify(failed, null, "\t"));
		const recognizable = shapes.filter((shape) => shape.recognizable).length;
		process.stdout.write(`${JSON.stringify({ shapes: shapes.length, recognizable, ...figures }, null, "\t")}\n`);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

/** Runs the native side. @param {string | undefined} program @param {string[]} args */
function engine(program, args) {
	const cargo = ["bench", "--quiet", "--no-default-features", "--bench", "engine", "--"];
	const [file, rest] = program ? [program, args] : ["cargo", [...cargo, ...args]];
	return execFileSync(file, rest, {
		...{ cwd: root, encoding: "utf8", maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "inherit"] },
	});
}
