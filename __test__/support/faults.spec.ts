/** The table of faults, side by side, is of the scenarios that there are; one of them is played. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { play } from "../../benchmark/faults/play.ts";
import { rows } from "../../benchmark/faults/scenarios.ts";
import { packageDir } from "./versions.ts";

const page = readFileSync(join(packageDir, "docs/faults.md"), "utf8");
const table = [...page.matchAll(/^\| (.*) \| (.*) \| (.*) \| (.*) \|$/gm)].slice(1).map(([, ...cells]) => cells);

test("the table has every scenario in its order, and this package keeps each promise", () => {
	const stale = "run npm run faults";
	assert.deepEqual(
		table.map(([fault, should]) => [fault, should]),
		rows.map(({ fault, should }) => [fault, should]),
		stale,
	);
	for (const [fault, , ours = ""] of table) assert.match(ours, /^yes/, `${fault}: ${stale}`);
});

test("a scenario is played in real pi, and a promise that is not kept is seen", async () => {
	const [row] = rows.filter(({ child }) => child === "complains");
	assert.ok(row);
	const [kept, broken] = await Promise.all([
		play("this package", row),
		play("this package", { ...row, child: "answers" }),
	]);
	assert.ok(row.did(kept), kept.text);
	assert.ok(!row.did(broken), broken.text);
});
