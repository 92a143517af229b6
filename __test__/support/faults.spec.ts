/** Checks that the table of faults matches the scenarios, and plays one of them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { play } from "../../benchmark/faults/play.ts";
import { rows } from "../../benchmark/faults/scenarios.ts";
import { packageDir } from "./versions.ts";

const page = readFileSync(join(packageDir, "docs/faults.md"), "utf8");
const table = [...page.matchAll(/^\| (.*) \| (.*) \| (.*) \| (.*) \|$/gm)].slice(1).map(([, ...cells]) => cells);

test("the table has every scenario in order, and this package passes each one", () => {
	const stale = "run npm run faults";
	assert.deepEqual(
		table.map(([fault, expected]) => [fault, expected]),
		rows.map(({ fault, expected }) => [fault, expected]),
		stale,
	);
	for (const [fault, , ours = ""] of table) assert.match(ours, /^yes/, `${fault}: ${stale}`);
});

test("a scenario is played in real pi, and a different result is detected", async () => {
	const [row] = rows.filter(({ child }) => child === "complains");
	assert.ok(row);
	const [kept, broken] = await Promise.all([
		play("this package", row),
		play("this package", { ...row, child: "answers" }),
	]);
	assert.ok(row.passed(kept), kept.text);
	assert.ok(!row.passed(broken), broken.text);
});
