/** The process of a workflow's script: it runs only the text that the user has allowed, and ends with pi. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { newestLines } from "../../extension/workflows/workflows.ts";

const host = fileURLToPath(new URL("../../extension/workflows/host.mjs", import.meta.url));
const text = 'console.log("It ran.");\n';

/** A script that the user has allowed, at a path that may change before the script starts. */
function allowed(t: TestContext): { path: string; start: () => ChildProcess } {
	const root = realpathSync(mkdtempSync(join(tmpdir(), "psn-host-")));
	t.after(() => rmSync(root, { recursive: true, force: true }));
	const path = join(root, "script.mjs");
	writeFileSync(path, text);
	const sha256 = createHash("sha256").update(text).digest("hex");
	const start = () => {
		const child = spawn(process.execPath, ["--import", host, path], { stdio: "pipe" });
		child.stdin.on("error", () => undefined);
		child.stdin.write(`${JSON.stringify({ script: pathToFileURL(path).href, sha256, place: {} })}\n`);
		return child;
	};
	return { path, start };
}

/** Resolves with the exit code and the output. */
async function endOf(child: ChildProcess): Promise<{ code: number | null; output: string }> {
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (data) => (output += data));
	const [code] = await once(child, "close");
	return { code, output };
}

describe("the process of a script", () => {
	it("runs the allowed text", async (t) => {
		assert.deepEqual(await endOf(allowed(t).start()), { code: 0, output: "It ran.\n" });
	});

	it("runs no other text", async (t) => {
		const { path, start } = allowed(t);
		writeFileSync(path, text.replace("It ran", "Something else ran"));
		const { code, output } = await endOf(start());
		assert.equal(code, 1);
		assert.match(output, /^Error: the script has changed since you allowed it\n/);
	});

	it("follows no link in place of the script, even to the same text", async (t) => {
		const { path, start } = allowed(t);
		const elsewhere = path.replace("script.mjs", "elsewhere.mjs");
		renameSync(path, elsewhere);
		symlinkSync(elsewhere, path);
		const { code, output } = await endOf(start());
		assert.equal(code, 1);
		assert.match(output, /^Error: the script has been replaced since you allowed it\n/);
	});
});

describe("the output of a script", () => {
	const seen = (...pieces: string[]) => {
		const output = newestLines(8);
		for (const piece of pieces) output.add(piece);
		return output.text();
	};

	it("is kept as a whole up to the limit", () => {
		assert.equal(seen("one\n", "two\n"), "one\ntwo\n");
	});

	it("begins at the start of a line after the limit", () => {
		assert.equal(seen("one\n", "two\n", "three\n"), "three\n");
		assert.equal(seen("one\ntwo\nthree"), "three");
	});

	it("never begins inside a line that is longer than the limit", () => {
		assert.equal(seen("token=abcdefgh"), "");
		assert.equal(seen("token=abc", "defgh", "ijkl\nend\n"), "end\n");
		assert.equal(seen("token=abcdefgh", "ij", "\nend"), "end");
	});
});
