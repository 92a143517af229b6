/** Mistakes in the options of a program: thrown at once, with the place, the value and the expected value. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { inspect } from "node:util";

import { collect, defineAgent, OptionsError, openSession, run, sanitize, truncate, workflow } from "../../index.js";

const task = { agent: "explorer", task: "look around" };
// biome-ignore lint/suspicious/noExplicitAny: the types refuse these options
const any = (value: unknown) => value as any;

const folder = mkdtempSync(join(tmpdir(), "psn-edge-"));
const session = openSession({ id: "options", cwd: folder, agentDir: folder });
after(async () => {
	await session.close();
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

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
		"agent.isolation",
		/none, auto, private/,
	],
	"an agent with a wrong value of another field": [
		() => defineAgent(any({ name: "scout", prompt: "Look.", timeoutMs: "soon" })),
		"agent.timeoutMs",
		/^whole milliseconds from 0/,
	],
	"an unknown field of an agent": [
		() => defineAgent(any({ name: "scout", prompt: "Look.", colour: "red" })),
		"agent.colour",
		/not an agent field/,
	],
	"a name of an agent with a space": [
		() => defineAgent({ name: "my scout", prompt: "Look." }),
		"agent.name",
		/letters, digits/,
	],
	"a word in place of true": [
		() => defineAgent(any({ name: "scout", prompt: "Look.", readonly: "yes" })),
		"agent.readonly",
		/true or false/,
	],
	"tools of an agent as a text": [
		() => run(any({ ...task, agent: { name: "scout", prompt: "Look.", tools: "read" } })),
		"agent.tools",
		/a list of texts/,
	],
	"a function in an agent": [
		() => defineAgent({ name: "scout", prompt: "Look.", maxTurns: () => 5 }),
		"agent.maxTurns",
		/a function has no form in JSON/,
	],
	"an agent that is switched off": [
		() => defineAgent({ name: "scout", prompt: "Look.", enabled: false }),
		"agent.enabled",
		/^no such field in code: `enabled` switches the agent off$/,
	],
	"skills of an agent as a text": [
		() => defineAgent({ name: "scout", prompt: "Look.", skills: "review, debug" }),
		"agent.skills",
		/true, false, or a list of texts/,
	],
	"extensions of an agent as a text": [
		() => defineAgent({ name: "scout", prompt: "Look.", extensions: "/x.js" }),
		"agent.extensions",
		/true, false, or a list of texts/,
	],
	"forbidden tools of an agent as a text": [
		() => defineAgent({ name: "scout", prompt: "Look.", disallowedTools: "bash" }),
		"agent.disallowedTools",
		/a list of texts/,
	],
	...Object.fromEntries(
		["maxCost", "maxTurns", "timeoutMs", "idleTimeoutMs", "loopStopAfter", "outputSchema"].flatMap((name) =>
			[Number.NaN, Number.POSITIVE_INFINITY, null].map((value) => [
				`a limit of an agent that is ${value}: ${name}`,
				[
					() => defineAgent({ name: "scout", prompt: "Look.", [name]: value }),
					`agent.${name}`,
					value === null ? /a value, or no such field/ : /a finite number/,
				],
			]),
		),
	),
	"a number within a setting that JSON does not have": [
		() => run({ ...task, config: { agents: { scout: { tools: ["read"], maxCost: Number.NaN } } } }),
		"config.agents.scout.maxCost",
		/a finite number/,
	],
	"an unknown setting": [() => run({ ...task, config: { bogus: 1 } }), "config.bogus", /`bogus` is not a known key/],
	"a wrong setting": [
		() => run({ ...task, config: { maxConcurrent: "x" } }),
		"config.maxConcurrent",
		/^a whole number/,
	],
	"a wrong setting in a group": [
		() => openSession({ id: "options", config: { retry: { maxAttempts: -1 } } }),
		"config.retry.maxAttempts",
		/^a whole number/,
	],
	"a configuration that contains itself": [
		() => {
			const config: Record<string, unknown> = {};
			config.config = config;
			run({ ...task, config });
		},
		"config.config",
		/JSON can represent: it contains itself/,
	],
	"an invalid regular expression in a schema": [
		() => run({ ...task, schema: { type: "object", properties: { a: { type: "string", pattern: "(" } } } }),
		"schema",
		/`pattern` at `#\/properties\/a` is `\(`; expected a regular expression/,
	],
	"a regular expression that only JavaScript refuses": [
		() => run({ ...task, schema: { type: "array", items: { pattern: "a{2,1}" } } }),
		"schema",
		/pattern at `#\/items` is invalid: .*out of order/,
	],
	"an invalid regular expression for names": [
		() => run({ ...task, schema: { type: "object", patternProperties: { "\\q": {} } } }),
		"schema",
		/pattern at `#` is invalid: .*escape/,
	],
	"a choice of no schema": [
		() => run({ ...task, schema: { type: "object", properties: { a: { anyOf: [] } } } }),
		"schema",
		/`anyOf` at `#\/properties\/a` is `\[\]`; expected a list of at least one schema/,
	],
	"a workflow without an id": [() => workflow("", {}, () => {}), "id", /not blank/],
	"a workflow without options": [
		() => workflow(...(any(["a"]) as Parameters<typeof workflow>)),
		"options",
		/an object/,
	],
	"a workflow without a script": [() => workflow("a", {}, any(undefined)), "script", /a function/],
	"no tasks": [() => run.parallel([]), "tasks", /at least one entry/],
	"a mistake in the third task": [
		() => run.parallel([task, task, any({ ...task, agnet: "x" })]),
		"tasks[2].agnet",
		/no option of this name/,
	],
	"a concurrency of 0": [() => run.parallel([task], { concurrency: 0 }), "options.concurrency", /from 1/],
	"a chain that begins with a function": [() => run.chain(any([() => task])), "steps[0]", /no step comes before/],
	"a type that JSON Schema does not have": [
		() => run({ ...task, schema: { properties: { day: { type: "date" } } } }),
		"schema",
		/`type` at `#\/properties\/day` is `date`/,
	],
	"a schema that contains itself": [
		() => {
			const schema: Record<string, unknown> = { type: "object" };
			schema.properties = { schema };
			run({ ...task, schema });
		},
		"schema",
		/circular structure to JSON\. Use/,
	],
	"an unknown option of a background run": [() => session.spawn(any({ ...task, cwd: "/" })), "cwd", /no option/],
	"an agent in code in the background": [
		() => session.spawn(any({ ...task, agent: { name: "scout", prompt: "Look." } })),
		"agent",
		/the name of an agent in a file: .* does not know an agent in code\. Write the agent into .*, or start it with `run`/,
	],
	"a blank message": [() => session.send("1a2b3c4d", ""), "message", /not blank/],
	"a run that is no text": [() => session.stop(any(5)), "run", /not blank/],
	"an unknown option of a history": [
		() => session.history("1a2b3c4d", any({ limit: 5 })),
		"options.limit",
		/entries, tools/,
	],
	"a history of nothing": [() => session.history("1a2b3c4d", { entries: 0 }), "options.entries", /from 1/],
	"a negative wait": [() => session.settled(-1), "timeoutMs", /milliseconds/],
	"an unknown option of a sanitizer": [
		() => sanitize("a", any({ secret: ["a"] })),
		"options.secret",
		/secrets, authJson, homes, homePaths, allow/,
	],
	"a secret that is no list": [
		() => sanitize("a", any({ secrets: "hunter2222" })),
		"options.secrets",
		/a list of texts/,
	],
	"credentials that are no JSON": [
		() => sanitize("a", { authJson: '{"anthropic":{"key":"hunter2222"}' }),
		"options.authJson",
		/a JSON object/,
	],
	"credentials that are a list": [() => sanitize("a", { authJson: "[]" }), "options.authJson", /a JSON object/],
	"a number to sanitize": [() => sanitize(any(5)), "text", /a text/],
	"an unknown limit of a text": [() => truncate("a", any({ maxByte: 5 })), "limits.maxByte", /maxBytes/],
	"a negative limit of a text": [() => truncate("a", { maxBytes: -1 }), "limits.maxBytes", /from 0/],
	"an unknown end of a text": [() => truncate("a", any({ keep: "start" })), "limits.keep", /ends, head, tail/],
	"a number as a stream": [() => collect(any(5)), "source", /\{ file: path \}/],
	"a session without an id": [() => openSession(any({})), "id", /not blank/],
};

for (const [name, [call, path, expected]] of Object.entries(mistakes)) {
	it(`${name} is refused before anything starts`, () => {
		assert.throws(call, (error) => {
			assert.ok(error instanceof OptionsError, String(error));
			assert.equal(error.path, path);
			assert.match(error.expected, expected);
			assert.doesNotMatch(error.message, /hunter/, "no secret is shown");
			assert.ok(error.message.includes(path) && error.message.includes(error.expected), error.message);
			return true;
		});
	});
}

it("accepts regular expressions and names that only look wrong", () => {
	const schema = {
		type: "object",
		properties: { pattern: { type: "string", pattern: "^[()]+\\p{L}$" }, anyOf: { enum: [{ pattern: "(" }] } },
		"x-note": { pattern: "(" },
	};
	const agent = { name: "研究员.v2", prompt: "Look.", tools: [], disallowedTools: ["bash"], maxTurns: 3 };
	const task = run({ agent, task: "look around", schema, cwd: folder, agentDir: folder, signal: AbortSignal.abort() });
	assert.match(task.id, /^\w{8}$/);
});

for (const secret of ["hunter2", "swordfish", "1234567890", "/home/x/key.pem", "https://example.com/token", ""]) {
	it(`refuses a secret that the engine does not replace, without showing it: ${JSON.stringify(secret)}`, async () => {
		await assert.rejects(sanitize(`it is ${secret}`, { secrets: ["correct-horse", secret] }), (error) => {
			assert.ok(error instanceof OptionsError, String(error));
			assert.equal(error.path, "options.secrets[1]");
			assert.match(error.message, /is a text of \d+ bytes; expected a secret of at least 8 bytes/);
			assert.ok(secret === "" || !inspect(error).includes(secret));
			return true;
		});
	});
}

it("replaces every secret that it accepts", async () => {
	const secrets = ["correct-horse", "hunter22", "multi line\nsecret", " padded-secret ", "пароль"];
	const text = await sanitize(secrets.map((secret) => `it is ${secret} .`).join("\n"), { secrets });
	assert.equal(text, secrets.map((secret) => `it is ${secret.replace(secret.trim(), "[REDACTED]")} .`).join("\n"));
	assert.equal(await sanitize("hunter2222", { authJson: '{"a":{"key":"hunter2222"}}' }), "[REDACTED]");
});

it("refuses a stream whose pieces are no texts or bytes", async () => {
	const numbers = async function* () {
		yield 5;
	};
	await assert.rejects(collect(any(numbers())), (error) => {
		assert.ok(error instanceof OptionsError, String(error));
		assert.equal(error.message, "`source` is 5; expected a stream of texts or bytes");
		return true;
	});
});

it("does not print the value of an option with an uncaught error", () => {
	const agent = any({ prompt: "long" });
	assert.throws(
		() => run({ ...task, agent: { agent } as never }),
		(error) => {
			assert.ok(error instanceof OptionsError, String(error));
			return error.path === "agent.name" && !inspect(error).includes("value:");
		},
	);
});
