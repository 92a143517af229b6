/** An agent that may ask, in real pi: its question reaches the parent's user, and the answer its model. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import {
	call,
	delegate,
	detailsOf,
	lastEnd,
	type ModelRequest,
	packageDir,
	piVersions,
	type RpcSession,
	runJson,
	Stage,
	say,
	startRpc,
	textOf,
	type UiAnswer,
	type UiRequest,
} from "../support/pi.ts";

const definition = (ask: boolean) =>
	`---\nname: asks\ndescription: Asks.\nreadonly: true\ntools: read\nask: ${ask}\n---\nAsk what you cannot know.\n`;

/** A child that asks once and reports the answer. */
const asking =
	(question: Record<string, unknown>) =>
	({ toolAnswers }: ModelRequest) =>
		toolAnswers.length === 0 ? [call("ask", question)] : [say(`I heard: ${toolAnswers.at(-1)?.text}`)];

const children = {
	which: asking({ question: "Which colour?", options: ["red", "green"] }),
	what: asking({ question: "What name?" }),
	wrong: asking({ question: "", options: "none" }),
};

for (const version of piVersions) {
	describe(`an agent that may ask in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let user: (request: UiRequest) => UiAnswer | undefined;

		before(async () => {
			stage = await Stage.open({ version, children });
			stage.world.writeAgentDir("agents/asks.md", definition(true));
			rpc = startRpc(stage.world, { answer: (asked) => user(asked) });
		});

		after(() => stage.close());

		async function resultOf(task: string): Promise<string> {
			await rpc.prompt(delegate({ agent: "asks", task }));
			return textOf(lastEnd(rpc.log));
		}

		test("gets the option that the user chooses, or the user's own words", async () => {
			const seen: unknown[] = [];
			user = (request) => {
				seen.push([request.method, request.title, request.options]);
				return { value: request.method === "select" ? "green" : "Ada" };
			};
			assert.match(await resultOf("which"), /^I heard: The user answers: green/);
			assert.match(await resultOf("what"), /^I heard: The user answers: Ada/);
			assert.deepEqual(seen, [
				["select", "asks asks: Which colour?", ["red", "green"]],
				["input", "asks asks: What name?", undefined],
			]);
		});

		test("learns that no one answered when the user declines", async () => {
			user = () => ({ cancelled: true });
			assert.match(await resultOf("which"), /No one answered\. Do not ask this again/);
		});

		test("gets pi's error for an incomplete question", async () => {
			user = () => assert.fail("the child asked no question");
			assert.match(await resultOf("wrong"), /I heard: .*(?:question|options)/s);
		});

		test("asks once even if its child loads this package", async () => {
			stage.configure({ inheritExtensions: [join(packageDir, "extensions/pi-subagent-native/index.js")] });
			const titles: unknown[] = [];
			user = ({ title }) => {
				titles.push(title);
				return { value: "red" };
			};
			assert.match(await resultOf("which"), /^I heard: The user answers: red/);
			assert.deepEqual(titles, ["asks asks: Which colour?"]);
			stage.configure({});
		});

		test("learns that no one answered without a user", async () => {
			const { log } = await runJson(stage.world, delegate({ agent: "asks", task: "which" }));
			assert.match(textOf(lastEnd(log)), /No one answered\. Do not ask this again/);
		});

		test("has no ask tool if answers cannot be sent, and the result says so", async () => {
			stage.configure({ protocol: "json" });
			await rpc.prompt(delegate({ agent: "asks", task: "say done" }));
			const end = lastEnd(rpc.log);
			assert.match(
				String(detailsOf(end).results[0]?.diagnostics),
				/`ask` was dropped: a child with `protocol: "json"` cannot ask/,
			);
			stage.configure({});
		});

		test("is the only agent with the ask tool", async () => {
			stage.world.writeAgentDir("agents/asks.md", definition(false));
			user = () => assert.fail("the child asked no question");
			assert.match(await resultOf("which"), /I heard: .*(?:not found|not allowed)/is);
		});
	});
}
