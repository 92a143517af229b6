/** Runs with keys, and scripts of runs that survive the end of their process. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import { type RunOptions as NativeOptions, startRun, type ToolResult } from "../../native.js";
import { inTime, Scene, single } from "./scene.ts";

/** A scene whose children count their requests and answer with the number of the request. */
function counting(t: TestContext, change: Partial<NativeOptions> = {}): Scene {
	return new Scene(t, `begin; echo x >> $here/requests; said "Answer $(wc -l < $here/requests | tr -d ' ')"; settled`, change);
}

const requests = (scene: Scene) => (scene.exists("requests") ? scene.read("requests").split("\n").length - 1 : 0);

const keyed = (scene: Scene, key: string, change: Partial<NativeOptions> = {}): Promise<ToolResult> =>
	inTime(startRun({ ...scene.options, config: { sandbox: "off", protocol: "json" }, workflow: { id: "w", key }, ...change }).result(), key);

describe("a run with a key", () => {
	it("gives its stored result again, without a child and without cost", async (t) => {
		const scene = counting(t);
		const first = await keyed(scene, "a");
		assert.equal(single(first).output, "Answer 1");
		assert.equal(single(first).reused, undefined);
		const again = await keyed(scene, "a");
		assert.deepEqual([single(again).output, single(again).reused, again.usage], ["Answer 1", true, undefined]);
		assert.equal(single(again).usage.cost, 0.3, "the usage of the stored run");
		assert.equal(requests(scene), 1);
		assert.equal(single(await keyed(scene, "b")).output, "Answer 2", "another key has its own run");
	});
});
