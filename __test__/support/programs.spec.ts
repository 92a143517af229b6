/** Programs that the scripts start. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import { run } from "../../scripts/lib/programs.mjs";

/** Runs a script in Node and returns its exit code, or the reason there is none, and its output. */
async function play(script: string, silenceMs: number) {
	const output: Buffer[] = [];
	const onOutput = (chunk: Buffer) => output.push(chunk);
	const result = await run([process.execPath, "-e", script], { onOutput, silenceMs });
	return { result, output: Buffer.concat(output).toString() };
}

describe("a program of the scripts", () => {
	test("is ended after a silence, and the processes that ran are named", {
		skip: process.platform === "win32",
	}, async () => {
		const waits = "setInterval(() => {}, 1000); 'the one that waits'";
		const script = `
			const args = ["-e", ${JSON.stringify(waits)}];
			const child = require("node:child_process").spawn(process.execPath, args, { stdio: "inherit" });
			process.once("SIGTERM", () => child.kill("SIGKILL") && process.exit(3));
			console.log("started");
		`;
		const { result, output } = await play(script, 2_000);
		assert.equal(result, "no output for 2.0 s");
		assert.match(output, /^started\n\nThese processes ran when it was ended:\n {4}age, process, parent, command\n/);
		assert.match(output, /the one that waits/);
	});

	test("has its own exit code if it ends", async () => {
		const { result, output } = await play("console.log('done'); process.exitCode = 3", 60_000);
		assert.deepEqual({ result, output }, { result: 3, output: "done\n" });
	});
});

test("a test file that does not exit after its tests fails with its name", (t) => {
	const folder = mkdtempSync(join(tmpdir(), "psn-files-"));
	t.after(() => rmSync(folder, { recursive: true, force: true }));
	const file = join(folder, "waits.spec.mjs");
	writeFileSync(file, 'import { test } from "node:test";\ntest("passes", () => void setInterval(() => {}, 1000));\n');
	const prepared = `--import=${new URL("../../scripts/lib/test-file.mjs", import.meta.url)}`;
	const { NODE_TEST_CONTEXT: _, ...env } = process.env;
	const { status, stdout } = spawnSync(process.execPath, [prepared, "--test", "--test-reporter=spec", file], {
		env: { ...env, TEST_EXIT_MS: "100" },
		encoding: "utf8",
		timeout: 120_000,
	});
	assert.equal(status, 1);
	assert.match(stdout, /✔ passes[\s\S]*waits\.spec\.mjs does not exit after its tests\. It keeps open: .*Timeout/);
});
