/** Agents that a project defines: who is asked in which mode of real pi, and how often. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import {
	delegate,
	detailsOf,
	lastEnd,
	onStage,
	piVersions,
	type RpcSession,
	runPrint,
	type Stage,
	startRpc,
	startTui,
	textOf,
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
		test("is refused in print mode, where nobody can be asked", async () => {
			await onStage({ version }, async (stage) => {
				writeScout(stage);
				const { stdout } = await runPrint(stage.world, request);
				assert.match(stdout, /The child says: agent `scout` is defined by the project .*`deny`/);
				assert.equal(stage.childRequests().length, 0);
				stage.configure({ nonInteractivePolicy: "allow" });
				assert.match((await runPrint(stage.world, request)).stdout, /The child says: hello/);
			});
		});

		test("is asked about once per definition over RPC", async () => {
			await onStage({ version }, async (stage) => {
				const path = writeScout(stage);
				let confirmed = false;
				const rpc = startRpc(stage.world, { answer: () => ({ confirmed }) });
				await rpc.prompt(request);
				const [question] = questions(rpc);
				assert.match(question?.title ?? "", /scout/);
				assert.ok(question?.message?.includes(path));
				assert.match(question?.message ?? "", /Scouts around/);
				const refused = lastEnd(rpc.log);
				assert.deepEqual([refused.isError, detailsOf(refused).error?.code], [true, "SUBAGENT_DISABLED"]);
				assert.match(textOf(refused), /the user did not allow it/);
				assert.equal(stage.childRequests().length, 0);

				confirmed = true;
				await rpc.prompt(request);
				assert.equal(questions(rpc).length, 2, "a no is not remembered");
				assert.equal(textOf(lastEnd(rpc.log)), "hello");
				await rpc.prompt(request);
				assert.equal(questions(rpc).length, 2, "a yes is remembered");
				writeScout(stage, "You scout elsewhere.");
				await rpc.prompt(request);
				assert.equal(questions(rpc).length, 3, "a changed definition is asked about again");
				await rpc.close();
			});
		});

		test("is asked about once when one message calls it three times", async () => {
			await onStage({ version }, async (stage) => {
				writeScout(stage);
				const rpc = startRpc(stage.world, { answer: () => ({ confirmed: true }) });
				const calls = ["one", "two", "three"].map((word) => ({ agent: "scout", task: `say ${word}` }));
				await rpc.prompt(delegate(...calls));
				assert.match(rpc.log.answer, /one \| two \| three/);
				assert.equal(questions(rpc).length, 1);
				await rpc.close();
			});
		});

		test("is neither run nor refused when the call is aborted while the question is open", async () => {
			await onStage({ version }, async (stage) => {
				writeScout(stage);
				const rpc = startRpc(stage.world, { answer: () => undefined });
				await rpc.send({ type: "prompt", message: request });
				await rpc.log.waitFor(({ type, method }) => type === "extension_ui_request" && method === "confirm");
				await rpc.send({ type: "abort" });
				await rpc.log.waitFor(({ type }) => type === "agent_settled");
				assert.match(textOf(lastEnd(rpc.log)), /cancelled by user/);
				assert.equal(stage.childRequests().length, 0);
				await rpc.close();
			});
		});

		test("is asked about in the terminal: by a line first, which takes no keys, and not again after a yes", async () => {
			await onStage({ version }, async (stage) => {
				writeScout(stage);
				const tui = await startTui(stage.world, { prompt: request });
				const line = "? Run the project's agent scout? · alt+a answers";
				await tui.waitFor(line);
				await tui.type("y yes");
				await tui.waitFor(/^y yes$/m);
				await delay(2_500);
				assert.doesNotMatch(await tui.screen(), /Yes, run it/, "it does not open over what is typed");
				await tui.press("Enter");
				await tui.waitFor("Steering: y yes");
				// Nobody types any more: it opens, and Enter approves nothing.
				const opened = await tui.waitFor("→ No, do not run it");
				assert.match(opened, /file: \S+\/\.pi\/agents\/scout\.md/);
				await delay(700);
				await tui.press("Enter");
				const refused = await tui.waitFor("the user did not allow");
				assert.match(refused, /✗ subagent scout/);
				assert.doesNotMatch(refused, /alt\+a/);
				assert.ok(!stage.server.requests.some(({ isChild }) => isChild));
				await tui.waitFor("Yes.");
				await tui.type(request);
				await tui.press("Enter");
				await tui.waitFor(line);
				await tui.press("M-a");
				await tui.waitFor("→ No, do not run it");
				await tui.press("Down", "Enter");
				await tui.waitFor("The child says: hello");
				await tui.close();

				const again = await startTui(stage.world, { prompt: request });
				const screen = await again.waitFor("The child says: hello");
				assert.doesNotMatch(screen, /Run the project's agent/);
				writeScout(stage, "You scout elsewhere.");
				await again.type(request);
				await again.press("Enter");
				await again.waitFor(line);
				await again.type("/subagents answer ");
				await again.press("Enter");
				const changed = await again.waitFor("The file has changed since you allowed it:");
				assert.match(changed, /│ - You scout\. +│\n.*│ \+ You scout elsewhere\. +│/);
				await again.press("Escape");
				await again.waitFor("did not allow");
				await again.close();
			});
		});
	});
}
