import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { underWay } from "../../scripts/lib/progress.mjs";
import { packageDir } from "./versions.ts";

let folder: string;

before(() => {
	folder = mkdtempSync(join(tmpdir(), "psn-setup-"));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Runs a script of the clone on a machine with Node and npm, and otherwise only the given programs: name and output.
 */
function onMachineWith(
	name: string,
	programs: Record<string, string>,
	script: string[],
	clone = packageDir,
): { code: number; text: string } {
	const path = join(folder, name);
	mkdirSync(path);
	symlinkSync(process.execPath, join(path, "node"));
	for (const [program, output] of Object.entries({ npm: "11.0.0", ...programs })) {
		writeFileSync(join(path, program), `#!/bin/sh\necho '${output}'\n`);
		chmodSync(join(path, program), 0o755);
	}
	const [file = "", ...args] = script;
	const { status, stdout, stderr } = spawnSync(process.execPath, [join(clone, file), ...args], {
		env: { PATH: path, HOME: path },
		encoding: "utf8",
		timeout: 120_000,
	});
	return { code: status ?? -1, text: stdout + stderr };
}

test("everything that a machine lacks is named at once, with its fix", () => {
	const { code, text } = onMachineWith("bare", {}, ["scripts/setup.mjs"]);
	assert.equal(code, 1);
	for (const words of [/Rust is missing/, /rustup\.rs/, /C compiler \(cc\) is missing/, /tar is missing/]) {
		assert.match(text, words);
	}
	assert.doesNotMatch(text, /at .*\.mjs:\d+/, "a problem that a user can fix shows no stack");
});

test("a Rust that is too old is named with the required version", () => {
	const programs = { cargo: "cargo 1.70.0", rustc: "rustc 1.70.0", cc: "cc 12", tar: "tar 1" };
	const { code, text } = onMachineWith("old", programs, ["tools/demo.mjs"]);
	assert.equal(code, 1);
	assert.match(text, /Rust is too old: rustc 1\.70\.0; 1\.88 or newer/);
	assert.match(text, /rustup update/);
});

test("an unknown option of the demo is refused before anything is installed", () => {
	const { code, text } = onMachineWith("option", {}, ["tools/demo.mjs", "--lvie"]);
	assert.equal(code, 1);
	assert.match(text, /Unknown option of the demo: --lvie/);
	assert.match(text, /--live/);
});

test("a fresh clone announces the set-up and its duration, and a prepared clone does not", () => {
	const clone = join(folder, "clone");
	for (const part of ["scripts", "package.json", "package-lock.json"]) {
		cpSync(join(packageDir, part), join(clone, part), { recursive: true });
	}
	const programs = { cargo: "cargo 1.99.0", rustc: "rustc 1.99.0", cc: "cc 12", tar: "tar 1" };
	const plan = /^Setting up, once: npm packages, .*\nOn two cores that takes three to five minutes\..*\n/;
	// The npm of this machine installs nothing, so that both end at the first thing that is missing.
	assert.match(onMachineWith("fresh", programs, ["scripts/setup.mjs"], clone).text, plan);
	mkdirSync(join(clone, ".setup"), { recursive: true });
	writeFileSync(join(clone, "pi-subagent-native.any.node"), "");
	const again = onMachineWith("again", programs, ["scripts/setup.mjs"], clone).text;
	assert.ok(again.length > 0);
	assert.doesNotMatch(again, /Setting up, once/);
});

test("a running step stays in one line of its terminal, with its clock", () => {
	const what = "the native addon (npm run build:addon; the first build takes a few minutes)";
	for (const columns of [20, 80, 200]) {
		const line = underWay(what, 83_400, columns);
		assert.ok(line.length < columns && line.endsWith(" 83 s"), line);
		assert.equal(line.includes(what), columns > 90, line);
	}
});
