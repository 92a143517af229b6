/**
 * Messages that the host sends by itself into the work of a child, and that arrive behind its answer. pi takes another turn
 * for each; the run does not need its reply.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { ToolResult } from "../../index.js";
import { inTime, shape, single, textOf } from "./scene.ts";
import { gate, playing, toldOf, untilTold, updateWith } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];

/** The same call four times, and an answer that ends once the child has got a message. */
const repeatsAndAnswers = [
	{ steered: [{ say: "Hello." }] },
	{ repeat: [{ call: "read", args: { path: "x" } }], times: 4 },
	{ stream: "The finding" },
	gate("sent"),
	{ say: " is complete." },
];

const config = { loop: { warnAfter: 4, stopAfter: 0 } };

describe("a message of the host behind the answer", () => {
	it("leaves the answer as it is", async (t) => {
		const scene = playing(t, repeatsAndAnswers, { config });
		const running = scene.run();
		await untilTold(scene, "steering");
		scene.open("sent");
		const result = await running;
		assert.deepEqual([shape(result), single(result).output], [completed, "The finding is complete."]);
		assert.equal(toldOf(scene, "steering").length, 1);
	});

	it("leaves the answer as it is that begins while another run reaches 80 % of the session's budget", async (t) => {
		const crosses = [gate("working"), { say: "Crossed.", usage: { cost: 0.75 } }];
		const answers = [
			{ steered: [{ say: "Hello." }] },
			{ call: "read", args: { path: "x" }, usage: { cost: 0.1 } },
			gate("sent"),
			{ say: "The finding is complete." },
		];
		const scene = playing(t, [{ when: "cross", do: crosses, else: answers }], {
			sessionId: "late",
			config: { sessionBudget: { maxCost: 1 } },
		});
		const onUpdate = ({ details }: ToolResult) => {
			if (details.streaming?.turnCount === 1) scene.open("working");
		};
		const runs = [scene.run({ task: "cross it" }), scene.run({}, onUpdate)];
		assert.match(String(await untilTold(scene, "steering")), /all runs of this session \(\$0\.8500 of \$1\.0000\)/);
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

	it("does not make the run fail that reaches its budget with the answer", async (t) => {
		const last = { say: " is complete.", usage: { cost: 0.5 } };
		const scenario = [{ steered: [{ say: "Hello.", usage: { cost: 1 } }] }, ...repeatsAndAnswers.slice(1, -1), last];
		const scene = playing(t, scenario, { config: { ...config, budget: { maxCost: 0.5 } } });
		const running = scene.run();
		await untilTold(scene, "steering");
		scene.open("sent");
		const result = await running;
		assert.deepEqual([shape(result), single(result).output], [completed, "The finding is complete."]);
	});

	it("does not keep the caller's own message from its reply", async (t) => {
		const scene = playing(t, repeatsAndAnswers, { config });
		const [shown, onUpdate] = updateWith((update) => textOf(update).includes("The finding"));
		const handle = scene.start({}, onUpdate);
		await inTime(shown, "the answer under way");
		await untilTold(scene, "steering");
		assert.equal(handle.steer("And the rest?"), true);
		await untilTold(scene, "steering", 2);
		scene.open("sent");
		assert.equal(single(await inTime(handle.result(), "the result")).output, "Hello.");
	});
});
