/** The order of a test run's steps. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { runLanes } from "../../scripts/lib/lanes.mjs";

/** Steps by lane and name; one whose name begins with `bad` fails. Says what happened, in its order. */
async function play(steps: string[], { keepGoing = false, before = async (_: string) => {} } = {}) {
	const happened: string[] = [];
	const rows = await runLanes(
		steps.map((step) => ({ lane: step.split(" ")[0] ?? "", name: step })),
		{
			keepGoing,
			run: async ({ name }) => {
				await before(name);
				return name.includes("bad") ? { why: "exit code 1", output: [] } : { output: [Buffer.from(name)] };
			},
			started: ({ name }) => void happened.push(`+ ${name}`),
			ended: ({ name }, output) => void happened.push(`- ${name}${output.length > 0 ? "" : ", silent"}`),
		},
	);
	return { happened, states: rows.map(({ name, state }) => [name, state]) };
}

describe("the steps of a test run", () => {
	test("run one after the other in a lane, in parallel across lanes, and are listed in order", async () => {
		const { promise: b1Started, resolve } = Promise.withResolvers<void>();
		const { happened, states } = await play(["a 1", "a 2", "b 1"], {
			// The first lane waits for the second: they must run at the same time.
			before: async (name) => (name === "b 1" ? resolve() : await b1Started),
		});
		assert.deepEqual(happened.slice(0, 2), ["+ a 1", "+ b 1"]);
		assert.ok(happened.indexOf("- a 1") < happened.indexOf("+ a 2"));
		assert.deepEqual(states, [
			["a 1", "passed"],
			["a 2", "passed"],
			["b 1", "passed"],
		]);
	});

	test("do not start after a failure, and running steps complete", async () => {
		const { promise: failed, resolve } = Promise.withResolvers<void>();
		const { states } = await play(["a bad", "a 2", "b 1", "b 2"], {
			before: async (name) => {
				if (name === "a bad") setImmediate(resolve);
				else await failed;
			},
		});
		assert.deepEqual(states, [
			["a bad", "failed"],
			["a 2", "not run"],
			["b 1", "passed"],
			["b 2", "not run"],
		]);
	});

	test("all run if a failure does not stop the run", async () => {
		const { states, happened } = await play(["a bad", "a 2"], { keepGoing: true });
		assert.deepEqual(states, [
			["a bad", "failed"],
			["a 2", "passed"],
		]);
		assert.ok(happened.includes("- a bad, silent"));
	});
});
