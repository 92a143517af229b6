/** The demo: each act is seen, in a pipe and at 80 columns. What an act proves the demo itself checks, and fails otherwise. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { newestPi, packageDir, piCommand } from "../support/pi.ts";

test("the demo plays its four acts and leaves nothing", { skip: process.platform !== "linux" }, () => {
	const [node] = piCommand(newestPi);
	const quiet = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--disable-warning=ExperimentalWarning"];
	const demo = spawnSync(node, [...quiet, join(packageDir, "scripts/demo/main.ts")], {
		cwd: packageDir,
		encoding: "utf8",
		timeout: 170_000,
	});
	assert.equal(demo.status, 0, demo.stderr + demo.stdout);
	for (const words of [
		/1 of 4[\s\S]*✗ \[3\] explorer[\s\S]*2 of 3 have answered/,
		/2 of 4[\s\S]*I go on meanwhile\.\n[\s\S]*the result has arrived[\s\S]*src\/run\/outcome\/retry\.rs/,
		/3 of 4[\s\S]*written-by-the-demo\.txt does not exist/,
		/4 of 4[\s\S]*sleep 300[\s\S]*kill -9 \d+\n {2}✓ 0 left/,
	]) {
		assert.match(demo.stdout, words);
	}
	assert.equal(existsSync(join(packageDir, "written-by-the-demo.txt")), false);
	assert.equal(demo.stdout.includes("\x1b"), false, "a pipe gets no colours");
	const wide = demo.stdout.split("\n").filter((line) => [...line].length > 80);
	assert.deepEqual(wide, [], "a terminal has 80 columns");
});
