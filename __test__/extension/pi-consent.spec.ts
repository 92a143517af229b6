/** Agents that a project defines: who is asked in which mode of real pi, and how often. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import {
	call,
	delegate,
	detailsOf,
	lastEnd,
	type ModelRequest,
	type PiEvent,
	piVersions,
	type RpcSession,
	runPrint,
	Stage,
	say,
	startRpc,
	startTui,
	textOf,
	type UiAnswer,
	type UiRequest,
} from "../support/pi.ts";

const request = delegate({ agent: "scout", task: "say hello" });

function writeScout(stage: Stage, prompt = "You scout."): string {
	return stage.world.write(".pi/agents/scout.md", `---\nname: scout\ndescription: Scouts around\n---\n${prompt}\n`);
}

function questions({ uiRequests }: RpcSession): UiRequest[] {
	return uiRequests.filter(({ method }) => method === "confirm");
}

for (const version of piVersions) {
	describe(`a project's agent in pi ${version}`, () => {
		// One agent directory for all: a consent in one pi counts in the next.
		let stage: Stage;
		before(async () => {
			const Forbid = () => {
				stage.configure({});
				return [say("Forbidden.")];
			};
			const task = { agent: "scout", task: "say hello" };
			const ways = [
				call("subagent", task),
				call("subagent_parallel", { tasks: [task, { ...task, task: "say it again" }] }),
				call("subagent_chain", { steps: [task] }),
				call("sessions_spawn", { agentId: task.agent, task: task.task }),
			];
			const Every = ({ toolAnswers }: ModelRequest) => {
				const next = ways[toolAnswers.length];
				return next ? [next] : [say(toolAnswers.map(({ text }) => text).join(" | "))];
			};
			stage = await Stage.open({ version, children: { Forbid, Every } });
			writeScout(stage);
		});
		after(() => stage.close());

		const children = () => stage.server.requests.filter(({ isChild }) => isChild).length;

		test("is refused in print mode, which has no user", async () => {
			stage.configure({ nonInteractivePolicy: "allow" });
			// Three prompts, one after the other.
			const { stdout } = await runPrint(stage.world, request, { args: [request, "Forbid it"] });
			assert.match(stdout, /The child says: agent `scout` is defined by the project .*`deny`/);
			const answered = stage.server.requests.find(({ toolAnswers }) => toolAnswers.length > 0);
			assert.match(answered?.toolAnswers[0]?.text ?? "", /^hello/, "the allowed agent runs");
			assert.equal(children(), 1);
		});

		test("is confirmed in the terminal: first by a line, which takes no keys, and again after a change", async () => {
			const before = children();
			const tui = await startTui(stage.world, { prompt: request });
			const line = "? Run the project's agent scout? · alt+a answers";
			await tui.waitFor(line);
			await tui.type("y yes");
			await tui.waitFor(/^y yes$/m);
			await delay(2_500);
			assert.doesNotMatch(await tui.screen(), /Yes, run it/, "the question does not open while the user types");
			await tui.press("Enter");
			await tui.waitFor("Steering: y yes");
			// The user has stopped typing: the dialog opens, and Enter approves nothing.
			const opened = await tui.waitFor("→ No, do not run it");
			assert.match(opened, /file: \S+\/\.pi\/agents\/scout\.md/);
			await delay(700);
			await tui.press("Enter");
			const refused = await tui.waitFor("you did not allow it");
			assert.match(refused, /✗ subagent scout/);
			assert.doesNotMatch(refused, /alt\+a/);
			assert.equal(children(), before);
			await tui.waitFor("Yes.");
			// The model is refused without another question; the person's own command asks again.
			await tui.type(request);
			await tui.press("Enter");
			await tui.waitFor((screen) => (screen.match(/✗ subagent scout/g) ?? []).length === 2);
			assert.doesNotMatch(await tui.screen(), /alt\+a/);
			await tui.submitCommand("subagents", "run scout say that I came by command");
			await tui.waitFor(line);
			await tui.press("M-a");
			await tui.waitFor("→ No, do not run it");
			await tui.chooseLast("Yes, run it");
			await tui.press("Enter");
			await tui.waitFor("that I came by command");
			await tui.type(request);
			await tui.press("Enter");
			await tui.waitFor("The child says: hello");

			writeScout(stage, "You scout elsewhere.");
			await tui.type(request);
			await tui.press("Enter");
			await tui.waitFor(line);
			await tui.submitCommand("subagents", "answer");
			await tui.waitFor(/file has changed since you allowed it: +│\n│ - You scout\. +│\n│ \+ You scout elsewhere\. +│/);
			await tui.press("Escape");
			await tui.waitFor(/✓ subagent scout[\s\S]*✗ subagent scout[\s\S]*you have not\s+answered/);
			await tui.close();
		});

		test("is shown exactly in a small terminal, and allowed only after its end was on the screen", async () => {
			const prompt = Array.from({ length: 60 }, (_, index) => `${index + 1}. Look there.`).join("\n");
			const check = "check: 'API_KEY=abcd1234efgh5678ijkl;./x.sh npm test\u2800\u2800; ./y.sh'\n";
			const setup = `setup: npm ci && ./prepare.sh ${"with a long list of words ".repeat(5)}\n`;
			const fields = check + setup;
			const text = `---\nname: scout\ndescription: Scouts around\n${fields}---\n${prompt}\n`;
			stage.world.write(".pi/agents/scout.md", text);
			const before = children();
			const tui = await startTui(stage.world, { prompt: request, columns: 80, rows: 24 });
			await tui.waitFor("? Run the project's agent scout? · alt+a answers");
			await tui.press("M-a");
			const top = await tui.waitFor(/lines 1 to \d+ of \d\d+ · pageUp\/pageDown\/end/);
			const shown = top.replace(/ *│\n│ */g, " ");
			assert.ok(shown.includes("check: API_KEY=abcd1234efgh5678ijkl;./x.sh npm test<U+2800 x2>; ./y.sh"), top);
			assert.match(
				top,
				/since you allowed it: .*\n│ [-+] /,
				"the first page has the first changes since the file was allowed",
			);
			await tui.chooseLast("Yes, run it");
			await tui.press("Enter");
			await tui.waitFor("Scroll to the end first: pageDown or end");
			assert.equal(children(), before);
			await tui.press("PageDown");
			await tui.waitFor(/│ lines 1\d to/);
			await tui.press("End");
			await tui.waitFor("| 60. Look there.");
			await tui.press("Enter");
			await tui.waitFor("The child says: hello");
			assert.ok(children() > before);
			await tui.close();
		});

		describe("is confirmed over RPC", () => {
			let rpc: RpcSession;
			let answer: UiAnswer | undefined;
			before(() => {
				rpc = startRpc(stage.world, { answer: () => answer });
			});
			after(() => rpc.close());

			test("is not confirmed again after a yes in another pi", async () => {
				writeScout(stage);
				await rpc.prompt(request);
				assert.equal(textOf(lastEnd(rpc.log)), "hello");
				assert.deepEqual(questions(rpc), []);
			});

			test("is neither run nor refused if the call is aborted while the question is open", async () => {
				writeScout(stage, "You scout by wire.");
				const [from, before] = [rpc.log.events.length, children()];
				await rpc.send({ type: "prompt", message: request });
				const isQuestion = ({ type, method }: PiEvent) => type === "extension_ui_request" && method === "confirm";
				await rpc.log.waitFor(isQuestion, undefined, from);
				await rpc.send({ type: "abort" });
				await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, from);
				assert.match(textOf(lastEnd(rpc.log)), /cancelled by user/);
				assert.equal(children(), before);
			});

			test("is confirmed once per definition, also if one message calls it three times", async () => {
				const path = writeScout(stage, "You scout for three.");
				const [before, asked] = [children(), questions(rpc).length];
				answer = { confirmed: false };
				await rpc.prompt(request);
				const question = questions(rpc).at(-1);
				assert.match(question?.title ?? "", /scout/);
				assert.ok(question?.message?.includes(path));
				assert.match(question?.message ?? "", /Scouts around/);
				const refused = lastEnd(rpc.log);
				assert.deepEqual([refused.isError, detailsOf(refused).error?.code], [true, "SUBAGENT_DISABLED"]);
				assert.match(textOf(refused), /the user did not allow it/);
				assert.equal(children(), before);
				await rpc.prompt("Every way to start it");
				assert.equal(rpc.log.answer.match(/the user did not allow it/g)?.length, 4, rpc.log.answer);
				assert.equal(questions(rpc).length, asked + 1, "a no counts for every way to start the agent");
				assert.equal(children(), before);

				writeScout(stage, "You scout for three and more.");
				answer = { confirmed: true };
				const calls = ["one", "two", "three"].map((word) => ({ agent: "scout", task: `say ${word}` }));
				await rpc.prompt(delegate(...calls));
				assert.match(rpc.log.answer, /one \| two \| three/);
				assert.equal(questions(rpc).length, asked + 2, "a changed file is asked about, and one confirmation is enough");
				await rpc.prompt(request);
				assert.equal(textOf(lastEnd(rpc.log)), "hello");
				assert.equal(questions(rpc).length, asked + 2, "a confirmation is remembered");
				answer = { confirmed: false };
				writeScout(stage, "You scout elsewhere.");
				await rpc.prompt(request);
				assert.equal(questions(rpc).length, asked + 3, "a changed definition needs a new confirmation");
			});
		});
	});
}
