/** The model's session tools over its own runs, in real pi: list, read, send and stop. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	announcementsIn,
	backgroundStage,
	call,
	delegate,
	eventually,
	hang,
	type ModelRequest,
	makeGate,
	parent,
	piVersions,
	type RpcSession,
	type Stage,
	say,
	says,
	spawn,
	startRpc,
	until,
} from "../support/pi.ts";

/** Has the model call a tool. */
function use(tool: string, params: object): string {
	return `Use ${JSON.stringify({ tool, params })}`;
}

const uses = {
	Use: ({ userText, toolAnswers }: ModelRequest) => {
		const { tool, params } = JSON.parse(userText.slice("Use ".length));
		return toolAnswers.length === 0 ? [call(tool, params)] : [say("Used.")];
	},
};

async function sessionFile(rpc: RpcSession): Promise<string> {
	const { data } = await rpc.send({ type: "get_state" });
	return (data as { sessionFile: string }).sessionFile;
}

/** Waits until the model has read a message, and rests. */
async function untilRead(rpc: RpcSession, text: string, from = 0): Promise<void> {
	await rpc.log.waitFor(says(text), 15_000, from);
	await rpc.log.waitFor(({ type }) => type === "agent_settled", 15_000, rpc.log.events.findLastIndex(says(text)));
}

/** Calls a tool, and returns the result that the model reads. */
async function used(rpc: RpcSession, tool: string, params: object) {
	const before = rpc.log.toolEnds(tool).length;
	await rpc.prompt(use(tool, params));
	const end = rpc.log.toolEnds(tool)[before] ?? assert.fail(`${tool} was not called`);
	const { content } = end.result as { content: { text: string }[] };
	return { isError: end.isError, answer: JSON.parse(content[0]?.text ?? "") };
}

/** Returns the ids of the sessions in a message to the model. */
function runIds({ answer }: { answer: { sessions: { runId: string }[] } }): string[] {
	return answer.sessions.map(({ runId }) => runId);
}

for (const version of piVersions) {
	describe(`session tools in pi ${version}`, () => {
		let stage: Stage;

		async function open(children: Parameters<typeof backgroundStage>[0] = {}): Promise<RpcSession> {
			stage = await backgroundStage({ version, ...children });
			return startRpc(stage.world);
		}

		test("read and continue foreground and background runs, each delivered once", async (t) => {
			const rpc = await open({ children: { ...parent(), ...uses } });
			t.after(() => stage.close());
			await rpc.prompt(delegate({ agent: "explorer", task: "say three files" }));
			await rpc.prompt(spawn({ task: "say four tests", label: "tests" }));
			await untilRead(rpc, "Heard success");

			const list = await used(rpc, "sessions_list", {});
			assert.deepEqual(
				list.answer.sessions.map(({ agent, label, state, foreground }: Record<string, unknown>) => [
					agent,
					label,
					state,
					foreground,
				]),
				[
					["explorer", "tests", "completed", undefined],
					["explorer", undefined, "completed", true],
				],
			);
			const [background = "", foreground = ""] = runIds(list);

			const history = await used(rpc, "sessions_history", { sessionKey: "tests" });
			assert.match(JSON.stringify(history.answer.messages), /say four tests.*four tests/);

			const reply = await used(rpc, "sessions_send", {
				sessionKey: background,
				message: "say five tests",
				timeoutSeconds: 60,
			});
			assert.deepEqual([reply.isError, reply.answer.status], [false, "ok"]);
			assert.match(reply.answer.reply, /five tests/);
			const file = await sessionFile(rpc);
			assert.equal(announcementsIn(file).length, 1, "the reply is not announced again");

			const from = rpc.log.events.length;
			const sent = await used(rpc, "sessions_send", { sessionKey: foreground, message: "say six files" });
			assert.deepEqual([sent.isError, sent.answer.status], [false, "accepted"]);
			await untilRead(rpc, "Heard success", from);
			await eventually(() => announcementsIn(file).length === 2, "the announcement of the continued run");
			assert.deepEqual(runIds(await used(rpc, "sessions_list", {})).sort(), [background, foreground].sort());

			// A reply in the session is not delivered again when it is reopened.
			await rpc.close();
			const again = startRpc(stage.world, { args: ["--session", file] });
			const listed = await used(again, "sessions_list", {});
			assert.deepEqual(runIds(listed).sort(), [background, foreground].sort());
			assert.equal(announcementsIn(file).length, 2);
			await again.close();
		});

		test("steer and stop an active run, and list the candidates for a wrong name", async (t) => {
			const gate = makeGate();
			const work = { long: ({ userText }: ModelRequest) => [until(gate.opened), say(userText)], stuck: () => [hang()] };
			const rpc = await open({ children: { ...parent(), ...uses, ...work } });
			t.after(() => stage.close());
			await rpc.prompt(spawn({ task: "stuck", label: "stuck" }));
			const wrong = await used(rpc, "sessions_stop", { sessionKey: "stick" });
			assert.equal(wrong.isError, true);
			assert.match(wrong.answer.error, /`stick`; did you mean `stuck`\?/);
			const stopped = await used(rpc, "sessions_stop", { sessionKey: "stuck" });
			assert.deepEqual([stopped.isError, stopped.answer.status], [false, "stopped"]);
			const [run] = (await used(rpc, "sessions_list", { activeMinutes: 5 })).answer.sessions;
			assert.equal(run.state, "aborted");
			gate.open();
			await rpc.close();
		});
	});
}
