/**
 * Messages that the host sends by itself into the work of a child, and that arrive behind its answer. pi takes another turn
 * for each; the run does not need its reply.
 */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import { inTime, type Scene, shape, single } from "./scene.ts";
import { gate, playing, untilRecorded } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];

/**
 * Two runs of a session: one uses a tool and then answers, once it has got a message. The other reaches 80 % of the
 * session's budget in between, so that the host sends the message.
 */
function late(t: TestContext, { answer = 0.1, reply = 0.1 } = {}): Scene {
	const crosses = [gate("working"), { say: "Crossed.", usage: { cost: 0.75 } }];
	const answers = [
		{ steered: [{ say: "Hello.", usage: { cost: reply } }] },
		{ call: "read", args: { path: "x" }, usage: { cost: 0.1 } },
		{ write: "{env.HERE}/working" },
		gate("sent"),
		{ say: "The finding is complete.", usage: { cost: answer } },
	];
	return playing(t, [{ when: "cross", do: crosses, else: answers }], {
		sessionId: t.name,
		config: { sessionBudget: { maxCost: 1 } },
	});
}

describe("a message of the host after the answer", () => {
	for (const [label, costs] of Object.entries({
		"does not change the answer": {},
		"does not fail a run whose reply would exceed the budget": { reply: 1 },
		"does not fail a run that exceeds the budget with its answer": { answer: 0.5 },
	})) {
		it(label, async (t) => {
			const scene = late(t, costs);
			const runs = [scene.run({ task: "cross it" }), scene.run()];
			assert.match(
				String(await untilRecorded(scene, "steering")),
				/all runs of this session \(\$0\.8500 of \$1\.0000\)/,
			);
			scene.open("sent");
			const results = await Promise.all(runs);
			assert.deepEqual(
				results.map((result) => [shape(result), single(result).output]),
				[
					[completed, "Crossed."],
					[completed, "The finding is complete."],
				],
			);
		});
	}

	it("does not prevent the reply to the caller's own message", async (t) => {
		const scene = late(t, { answer: 0.01, reply: 0.01 });
		const handle = scene.start();
		await scene.run({ task: "cross it" });
		await untilRecorded(scene, "steering");
		assert.equal(handle.steer("And the rest?"), true);
		await untilRecorded(scene, "steering", 2);
		scene.open("sent");
		assert.equal(single(await inTime(handle.result(), "the result")).output, "Hello.");
	});
});
