/** Questions of a child's extensions go to the parent's user. A child whose parent has no user gets a reply at once. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
	delegate,
	lastEnd,
	piVersions,
	type RpcSession,
	runJson,
	runOf,
	Stage,
	startRpc,
	survivors,
	textOf,
	type UiAnswer,
	type UiRequest,
} from "../support/pi.ts";

/** Asks in every possible way before the child's model is, and reports the result to the model. */
const asking = `export default (pi) => {
	pi.on("before_agent_start", async ({ systemPrompt }, { ui }) => {
		const answers = {
			select: await ui.select("Which colour?", ["red", "green"]),
			confirm: await ui.confirm("Really?", "It cannot be undone."),
			input: await ui.input("Which name?", "a name"),
			editor: await ui.editor("Which words?", "first line"),
		};
		ui.notify("No question.");
		return { systemPrompt: systemPrompt + "\\nAnswers: " + JSON.stringify(answers) };
	});
};
`;

const request = { agent: "explorer", task: "say done" };

/** Returns the answers that the last child got. */
function answersIn(stage: Stage): Record<string, unknown> {
	const child = stage.server.requests.findLast(({ isChild }) => isChild) ?? assert.fail("no child has sent a request");
	return JSON.parse(/^Answers: (.*)$/m.exec(child.systemText)?.[1] ?? "null");
}

for (const version of piVersions) {
	describe(`questions of a child in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let user: (request: UiRequest) => UiAnswer | undefined;

		before(async () => {
			stage = await Stage.open({ version });
			stage.configure({ inheritExtensions: [stage.world.writeAgentDir("asking.ts", asking)] });
			rpc = startRpc(stage.world, { answer: (asked) => user(asked) });
		});

		after(() => stage.close());

		function dialogs(from: number): UiRequest[] {
			return rpc.uiRequests.slice(from).filter(({ method }) => method !== "notify");
		}

		test("reach the parent's user with the name of the agent, and return with the answer", async () => {
			const from = rpc.uiRequests.length;
			user = ({ method }) =>
				method === "confirm" ? { confirmed: true } : { value: method === "select" ? "green" : "x\ny" };
			await rpc.prompt(delegate(request));
			assert.deepEqual([textOf(lastEnd(rpc.log)), lastEnd(rpc.log).isError], ["done", false]);
			assert.deepEqual(answersIn(stage), { select: "green", confirm: true, input: "x\ny", editor: "x\ny" });
			assert.deepEqual(
				dialogs(from).map(({ method, title, message, options, placeholder, prefill }) => {
					return [method, title, message ?? options ?? placeholder ?? prefill];
				}),
				[
					["select", "explorer asks: Which colour?", ["red", "green"]],
					["confirm", "explorer asks: Really?", "It cannot be undone."],
					["input", "explorer asks: Which name?", "a name"],
					["editor", "explorer asks: Which words?", "first line"],
				],
			);
		});

		test("return cancelled when the user cancels", async () => {
			user = () => ({ cancelled: true });
			await rpc.prompt(delegate(request));
			assert.equal(textOf(lastEnd(rpc.log)), "done");
			assert.deepEqual(answersIn(stage), { confirm: false });
		});

		test("come one at a time from several children at once", async () => {
			const [open, counts]: [UiRequest[], number[]] = [[], []];
			user = (asked) => {
				open.push(asked);
				counts.push(open.length);
				setImmediate(() => {
					open.splice(open.indexOf(asked), 1);
					rpc.pi.child.stdin?.write(
						`${JSON.stringify({ type: "extension_ui_response", id: asked.id, cancelled: true })}\n`,
					);
				});
				return undefined;
			};
			await rpc.prompt(delegate(request, request, request));
			assert.deepEqual([counts.length, Math.max(...counts)], [12, 1]);
		});

		test("do not delay an aborted run", async () => {
			const [asked, events] = [rpc.uiRequests.length, rpc.log.events.length];
			user = () => undefined;
			await rpc.send({ type: "prompt", message: delegate(request) });
			await rpc.log.waitFor(
				({ type, method }) => type === "extension_ui_request" && method === "select",
				undefined,
				events,
			);
			await rpc.send({ type: "abort" });
			await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, events);
			assert.equal(runOf(lastEnd(rpc.log)).outcome, "aborted");
			assert.equal(dialogs(asked).length, 1);
			assert.equal(survivors(stage.world.mark).length, 1, "only pi remains");
		});

		test("are cancelled at once without a user", async () => {
			const { code, log } = await runJson(stage.world, delegate(request));
			assert.equal(code, 0);
			assert.equal(textOf(lastEnd(log)), "done");
			assert.deepEqual(answersIn(stage), { confirm: false });
		});
	});
}
