/** The oldest supported Node: the addon loads, both ways, and answers. Plain JavaScript, because that Node strips no types. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const promised = [
	"startRun",
	"collectOutput",
	"collectOutputFile",
	"sanitizeOutput",
	"inspectOutput",
	"truncateOutput",
	"truncateHead",
	"truncateTail",
	"discoverAgents",
	"loadConfig",
	"doctor",
	"describeTools",
];

const required = createRequire(import.meta.url)("../../index.js");
const imported = await import("../../index.js");

for (const [way, addon] of Object.entries({ require: required, import: imported })) {
	test(`every promised function is there by ${way}`, () => {
		const missing = promised.filter((name) => typeof addon[name] !== "function");
		assert.deepEqual(missing, []);
	});
}

test("a call answers", async () => {
	assert.equal(await required.sanitizeOutput("nothing to hide"), "nothing to hide");
});
