/** Tests consider a process a part of their tree. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { markVariable } from "./survivors.ts";
import { identities, Tree } from "./tree.ts";
import { allows } from "./warden.ts";

test("a process of another pid namespace with the victim's number and start does not count", async (t) => {
	if (process.platform !== "linux" || !allows("pid-ns")) return t.skip("no pid namespaces here");
	const root = mkdtempSync(join(tmpdir(), "psn-tree-"));
	const tree = new Tree(join(root, "tree"), root);
	const env = { ...process.env, [markVariable]: root };
	const own = spawn("sh", ["-c", `${Tree.script(tree.folder, ["plain"])}\nwait`], { env, stdio: "ignore" });
	const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
	const words = [...user, "--pid", "--fork", "--kill-child", "sh", "-c", "echo $$; exec sleep 60"];
	const stranger = spawn("unshare", words, { stdio: ["ignore", "pipe", "ignore"] });
	try {
		const [output] = await once(stranger.stdout, "data");
		assert.equal(String(output), "1\n", "the process has the number 1 in its namespace");
		const children = readFileSync(`/proc/${stranger.pid}/task/${stranger.pid}/children`, "utf8");
		const pid = Number(children.trim());
		await tree.up();
		const there = tree.remaining().length;
		appendFileSync(join(tree.folder, "victims"), `bare ${identities(String(pid)).at(-1)}\n`);
		assert.ok(!tree.remaining().some((other) => other.pid === pid), "the foreign process does not belong to the tree");
		assert.equal(tree.remaining().length, there);
	} finally {
		stranger.kill("SIGKILL");
		await tree.end();
		own.kill("SIGKILL");
		rmSync(root, { recursive: true, force: true });
	}
});
