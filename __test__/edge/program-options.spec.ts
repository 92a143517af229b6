/** Mistakes in the options of a program: thrown at once, with the place, the value and the expected value. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { defineAgent, OptionsError, openSession, run } from "../../index.js";

const task = { agent: "explorer", task: "look around" };
// biome-ignore lint/suspicious/noExplicitAny: the types refuse these options
const any = (value: unknown) => value as any;

const mistakes: Record<string, [() => unknown, path: string, expected: RegExp]> = {
	"an unknown option": [() => run(any({ ...task, timeout: 5 })), "timeout", /no option of this name; .*timeoutMs/],
	"a missing task": [() => run(any({ agent: "explorer" })), "task", /not blank/],
	"a blank task": [() => run({ ...task, task: " " }), "task", /not blank/],
	"a time limit as text": [
		() => run(any({ ...task, timeoutMs: "5s" })),
		"timeoutMs",
		/milliseconds from 1 to 604800000/,
	],
	"a budget of nothing": [() => run({ ...task, budget: { maxCost: 0 } }), "budget.maxCost", /above 0/],
	"an unknown limit": [() => run(any({ ...task, budget: { usd: 1 } })), "budget.usd", /maxCost, maxTokens, maxTurns/],
	"a model without a provider": [() => run({ ...task, model: "sonnet" }), "model", /provider\/id/],
	"an unknown thinking level": [() => run(any({ ...task, thinking: "much" })), "thinking", /medium/],
	"a controller as signal": [() => run(any({ ...task, signal: new AbortController() })), "signal", /AbortSignal/],
	"a schema that is none": [() => run({ ...task, schema: { type: "object", $ref: "#/nowhere" } }), "schema", /nowhere/],
	"an empty schema": [() => run({ ...task, schema: {} }), "schema", /it is empty/],
	"a library without JSON Schema": [
		() => run(any({ ...task, schema: { "~standard": { version: 1, vendor: "odd", validate() {} } } })),
		"schema",
		/toStandardJsonSchema/,
	],
	"an agent without a prompt": [() => run(any({ ...task, agent: { name: "scout" } })), "agent.prompt", /not blank/],
	"an agent with a wrong value": [
		() => defineAgent(any({ name: "scout", prompt: "Look.", isolation: "sometimes" })),
		"agent",
		/sometimes/,
	],
	"no tasks": [() => run.parallel([]), "tasks", /at least one entry/],
	"a mistake in the third task": [
		() => run.parallel([task, task, any({ ...task, agnet: "x" })]),
		"tasks[2].agnet",
		/no option of this name/,
	],
	"a concurrency of 0": [() => run.parallel([task], { concurrency: 0 }), "options.concurrency", /from 1/],
	"a chain that begins with a function": [() => run.chain(any([() => task])), "steps[0]", /no step comes before/],
	"a session without an id": [() => openSession(any({})), "id", /not blank/],
};

for (const [name, [call, path, expected]] of Object.entries(mistakes)) {
	it(`${name} is refused before anything starts`, () => {
		assert.throws(call, (error) => {
			assert.ok(error instanceof OptionsError, String(error));
			assert.equal(error.path, path);
			assert.match(error.expected, expected);
			assert.ok(error.message.includes(path) && error.message.includes(error.expected), error.message);
			return true;
		});
	});
}
