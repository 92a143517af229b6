/** Runs that ask the program that started them. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";

import type { DeliveryMessage, Question } from "../../native.js";
import { backgroundScene, Here } from "./conversation.ts";
import { inTime, until } from "./scene.ts";

/** The record that our guard in the child prints before the first turn. */
const key = "pi-subagent-ask:0b7e3c1a-8f1d-4f0e-9d5e-2f6a1c3b4d5e";
const asks = [
	{ ask: "input", title: key },
	{ ask: "select", title: `${key} Which colour?`, options: ["red", "green"] },
	{ say: "I heard {answer}." },
];

function open(t: TestContext, ask = "parent") {
	const scene = backgroundScene(t, asks);
	scene.write("agent/agents/asks.md", `---\nname: asks\nreadonly: true\ntools: read\nask: ${ask}\n---\nAsk.\n`);
	const here = Here.open(scene);
	return {
		here,
		started: (...more: Parameters<Here["started"]>) => here.started({ agent: "asks", ...more[0] }, more[1]),
	};
}

const announcesNothing = { announce: { mode: "never" } };
const kept = { runTimeoutSeconds: 60, config: { ...announcesNothing, background: { onExit: "keep" } } };

/** The question of a message, which has nothing else. */
function questionOf({ questions, runs, deliveryIds }: DeliveryMessage) {
	const [question, ...more] = questions;
	assert.deepEqual([runs, more, deliveryIds.length], [[], [], 1]);
	return question ?? assert.fail("the message has no question");
}

describe("a run that asks the conversation", () => {
	it("is answered by continuing it, and a program that waits for its runs learns of the question", async (t) => {
		const { here, started } = open(t);
		const { runId, childSessionKey } = await started({ task: "paint\nit", label: "colours", config: announcesNothing });
		assert.equal(await inTime(here.session.settledOrAsked(), "the question"), true);
		const { endsMs, ...question } = questionOf(await here.receive());
		assert.deepEqual(question, {
			...{ runId, sessionKey: childSessionKey, agent: "asks", label: "colours", task: "paint" },
			...{ question: "Which colour?", options: ["red", "green"] },
		});
		assert.ok(endsMs > Date.now() && endsMs <= Date.now() + 600_000);
		const { status, error } = await here.session.continueRun(runId, "green");
		assert.equal(status, "accepted", error);
		assert.equal(await inTime(here.session.settledOrAsked(), "the end of the run"), false);
		assert.match((await here.receive()).text, /I heard green\./);
		assert.equal(here.messages.length, 2);
	});

	it("is answered by a faster person, and left to the conversation by a person who rejects it", async (t) => {
		const { here, started } = open(t);
		const questions: Question[] = [];
		const ask = (answer: () => Promise<{ value?: string }>) => ({
			ask: (question: Question) => {
				questions.push(question);
				return answer();
			},
		});
		const away = await started(
			{ config: announcesNothing },
			ask(() => Promise.reject(new Error("nobody"))),
		);
		const asked = await here.receive();
		assert.equal(questionOf(asked).runId, away.runId);
		assert.deepEqual([questions[0]?.forConversation, questions[0]?.heading], [true, "asks asks the conversation"]);
		await here.session.continueRun(away.runId, "green");
		assert.match((await here.receive()).text, /I heard green\./);

		await started(
			{ config: announcesNothing },
			ask(() => Promise.resolve({ value: "red" })),
		);
		await until(
			() => here.messages.some(({ text }) => text.includes("I heard red.")),
			"the result of the answered run",
		);
		await started(
			{ config: announcesNothing },
			ask(() => Promise.resolve({})),
		);
		await until(
			() => here.messages.some(({ text }) => text.includes("I heard cancelled.")),
			"the result of the run with the rejected question",
		);
	});

	it("is delivered and answered if a host process hosts it", async (t) => {
		const { here, started } = open(t);
		const { runId } = await started(kept);
		assert.equal(questionOf(await here.receive()).runId, runId);
		await here.execute(`send ${runId} green`);
		assert.match((await here.receive()).text, /I heard green\./);
		assert.equal(here.messages.length, 2);
	});
});

describe("a run in a host process that asks the user", () => {
	it("is declined at once, because there is no user", async (t) => {
		const { here, started } = open(t, "true");
		await started(kept, { ask: () => assert.fail("the question reached this pi") });
		assert.match((await here.receive()).text, /I heard cancelled\./);
	});
});
