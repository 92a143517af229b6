/** The process of a workflow's script: it runs only the text that the user has allowed, and ends with pi. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { newestLines } from "../../extension/workflows/workflows.ts";

const host = fileURLToPath(new URL("../../extension/workflows/host.mjs", import.meta.url));
const text = 'console.log("It ran.");\n';

/** The way in which a script starts: by the user, or by pi with the recorded imports. */
interface Start {
	importsFile?: string;
	imports?: Record<string, string>;
}

/** A script that the user has allowed, at a path that may change before the script starts. */
function allowed(t: TestContext, script = text): { path: string; root: string; start: (more?: Start) => ChildProcess } {
	const root = realpathSync(mkdtempSync(join(tmpdir(), "psn-host-")));
	t.after(() => rmSync(root, { recursive: true, force: true }));
	const path = join(root, "script.mjs");
	writeFileSync(path, script);
	const sha256 = createHash("sha256").update(script).digest("hex");
	const start = (more: Start = {}) => {
		const child = spawn(process.execPath, ["--import", host, path], { stdio: "pipe" });
		child.stdin.on("error", () => undefined);
		child.stdin.write(`${JSON.stringify({ script: pathToFileURL(path).href, sha256, ...more, place: {} })}\n`);
		return child;
	};
	return { path, root, start };
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

describe("the imports of a script that pi starts again", () => {
	const script = 'import "./lib/a.mts";\nimport "old";\nif (process.env.LATE) await import("./late.mjs");\n';
	const files = {
		"lib/a.mts": 'import b from "./b.json" with { type: "json" };\nconst c: string = b.c;\nconsole.log(c);\n',
		"lib/b.json": '{ "c": "ä" }\n',
		"late.mjs": 'console.log("late");\n',
		"node_modules/old/package.json": '{ "name": "old", "main": "./index.js" }\n',
		"node_modules/old/index.js": 'require("./more.js");\n',
		"node_modules/old/more.js": "// A comment.\n",
	};

	/** A script that the user has started once, and the recorded imports. */
	async function started(t: TestContext) {
		const { root, start } = allowed(t, script);
		for (const [name, content] of Object.entries(files)) {
			mkdirSync(dirname(join(root, name)), { recursive: true });
			writeFileSync(join(root, name), content);
		}
		const importsFile = join(root, "imports.jsonl");
		writeFileSync(importsFile, "of an earlier start\n");
		assert.deepEqual(await endOf(start({ importsFile })), { code: 0, output: "ä\n" });
		const lines = readFileSync(importsFile, "utf8").trim().split("\n");
		const recorded = lines.map((line): { path: string; sha256: string } => JSON.parse(line));
		const imports = Object.fromEntries(recorded.map(({ path, sha256 }) => [path, sha256]));
		return { root, imports, again: () => endOf(start({ importsFile, imports })) };
	}

	it("are recorded with their hashes when the user starts it", async (t) => {
		const { root, imports, again } = await started(t);
		const expected = ["lib/a.mts", "lib/b.json", "node_modules/old/index.js", "node_modules/old/more.js"];
		assert.deepEqual(
			Object.keys(imports).sort(),
			expected.map((name) => join(root, name)),
		);
		for (const [path, sha256] of Object.entries(imports)) {
			assert.equal(createHash("sha256").update(readFileSync(path)).digest("hex"), sha256, path);
		}
		assert.deepEqual(await again(), { code: 0, output: "ä\n" });
	});

	for (const name of ["lib/a.mts", "lib/b.json", "node_modules/old/more.js"]) {
		it(`are refused after a change: ${name}`, async (t) => {
			const { root, again } = await started(t);
			writeFileSync(join(root, name), name.endsWith("json") ? '{ "c": "changed" }' : 'console.log("changed");\n');
			const { code, output } = await again();
			assert.equal(code, 1);
			assert.ok(output.includes(`Error: ${join(root, name)} has changed since you started the script. `), output);
			assert.doesNotMatch(output, /^changed$/m);
		});
	}

	it("are refused if they are new", async (t) => {
		const { root, imports, again } = await started(t);
		process.env.LATE = "1";
		t.after(() => delete process.env.LATE);
		assert.ok(!(join(root, "late.mjs") in imports));
		const { code, output } = await again();
		assert.equal(code, 1);
		assert.ok(output.includes(`${join(root, "late.mjs")} was not imported when you started the script. `), output);
		assert.doesNotMatch(output, /^late$/m);
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
