/** Scripts of pi's `codemode` that delegate with `subagent_run`: fan-out, errors, data, abort, and the end of the script. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
	backgroundStage,
	call,
	eventually,
	fail,
	hang,
	type ModelRequest,
	newestPi,
	type PiEvent,
	piVersions,
	type RpcSession,
	type Stage,
	say,
	startRpc,
	startTui,
	usage,
} from "../support/pi.ts";

const opening = "Script ";
const switchedOn = { defaultTools: ["+codemode"] };

/** Makes the scripted model call `codemode` with the rest of the prompt, and repeat the result. */
const Script = ({ userText, toolAnswers }: ModelRequest) => [
	usage({ input: 100, output: 10, cached: 0 }),
	toolAnswers.length > 0
		? say(`The script says: ${toolAnswers.at(-1)?.text}`)
		: call("codemode", { code: userText.slice(opening.length) }),
];

/** True while the child `work` has no answer. */
let isWorking = true;

const children = {
	Script,
	work: () => [isWorking ? hang() : say("It did not continue.")],
	The: ({ messages }: ModelRequest) => [say(`It continues: ${JSON.stringify(messages).includes('"work"')}`)],
	broken: () => [fail(400)],
	count: () => [say("I have counted."), call("submit_result", { files: ["a.ts", "b.ts"] })],
	long: () => [say("x".repeat(100_000))],
};

interface Delegated {
	status: string;
	report: string;
	data?: unknown;
	runId: string;
	cost: number;
}

/** Returns the value that the script of the last `codemode` call has returned. */
function returned(events: readonly PiEvent[]): unknown {
	const end = events.findLast(({ type, toolName }) => type === "tool_execution_end" && toolName === "codemode");
	const { content } = (end?.result ?? assert.fail("no script has ended")) as { content: { text: string }[] };
	const text = content.map((part) => part.text).join("");
	const value = /^Script completed\nWall time .*\nOutput:\n([\s\S]*)$/.exec(text)?.[1] ?? assert.fail(text);
	return JSON.parse(value);
}

describe(`a script of codemode in pi ${newestPi}`, () => {
	let stage: Stage;

	before(async () => {
		stage = await backgroundStage({ children, settings: switchedOn });
	});

	after(() => stage.close());

	test("runs three tasks at once, and gets their reports, run ids and costs", async () => {
		const rpc = startRpc(stage.world);
		const events = await rpc.prompt(`${opening}
			const words = ["one", "two", "three"];
			return await Promise.all(words.map((word) => tools.subagent_run({ agent: "explorer", task: "say " + word })));`);
		const results = returned(events) as Delegated[];
		assert.deepEqual(
			results.map(({ status, report }) => `${status}: ${report}`),
			["completed: one", "completed: two", "completed: three"],
		);
		const list = await rpc.notices("/subagents list");
		for (const { runId, cost } of results) {
			assert.ok(cost > 0, `${cost}`);
			assert.match(list, new RegExp(`✓ #\\d {2}${runId} · explorer · \`say \\w+\` · completed`));
		}
		const messages = events.map(({ message }) => message as { role?: string; usage?: { cost: { total: number } } });
		const total = messages.findLast((message) => message?.role === "toolResult")?.usage?.cost.total ?? 0;
		const sum = results.reduce((costs, { cost }) => costs + cost, 0);
		assert.ok(Math.abs(total - sum) < 1e-9, `the usage of the call is that of its runs: ${total}, ${sum}`);
		await rpc.close();
	});

	test("catches the error of a run with its code, and continues", async () => {
		const rpc = startRpc(stage.world);
		const events = await rpc.prompt(`${opening}
			const errors = [];
			for (const [agent, task] of [["nobody", "look"], ["explorer", "broken"]]) {
				try { await tools.subagent_run({ agent, task }); } catch (error) { errors.push(error.message); }
			}
			const last = await tools.subagent_run({ agent: "explorer", task: "say I continue." });
			return [...errors, last.report];`);
		const [unknown, failed, last] = returned(events) as string[];
		assert.match(unknown ?? "", /^UNKNOWN_AGENT: .*nobody/);
		assert.match(failed ?? "", /^SUBAGENT_FAILED: .*400/s);
		assert.equal(last, "I continue.");
		await rpc.close();
	});

	test("gets the submitted value of a run with a schema, and the whole text of a long report", async () => {
		const rpc = startRpc(stage.world);
		const events = await rpc.prompt(`${opening}
			const schema = { type: "object", properties: { files: { type: "array", items: { type: "string" } } }, required: ["files"] };
			const { data } = await tools.subagent_run({ agent: "explorer", task: "count", schema });
			const { report } = await tools.subagent_run({ agent: "explorer", task: "long" });
			return { data, length: report.length };`);
		assert.deepEqual(returned(events), { data: { files: ["a.ts", "b.ts"] }, length: 100_000 });
		await rpc.close();
	});

	test("shows its runs in widget and list while they work, and Esc ends them", async () => {
		const screen = await startTui(stage.world, {
			prompt: `${opening}return await tools.subagent_run({ agent: "explorer", task: "hang" });`,
		});
		await screen.waitFor(/explorer.*I begin\./);
		await screen.press("Escape");
		await screen.waitFor(/SUBAGENT_ABORTED|aborted/i);
		await stage.childRequests().at(-1)?.ended;
		await screen.submitUntil("subagents", "list", /explorer · `hang` · stopped/);
		await screen.close();
	});

	test("gets the stored result of a key at no cost, also after a restart of pi, and runs a changed task again", async () => {
		const script = (task: string) => `${opening}
			return await tools.subagent_run({ agent: "explorer", task: ${JSON.stringify(task)}, key: "greeting" });`;
		const requests = async (rpc: RpcSession, task: string) => {
			const from = stage.server.requests.length;
			const { report, cost } = returned(await rpc.prompt(script(task))) as Delegated;
			return { report, isFree: cost === 0, requests: stage.childRequests(from).filter(isOfChild).length };
		};
		const isOfChild = ({ isChild }: ModelRequest) => isChild;
		const rpc = startRpc(stage.world);
		assert.deepEqual(await requests(rpc, "say Hello."), { report: "Hello.", isFree: false, requests: 1 });
		assert.deepEqual(await requests(rpc, "say Hello."), { report: "Hello.", isFree: true, requests: 0 });
		await rpc.close();
		const again = startRpc(stage.world, { args: ["--continue"] });
		assert.deepEqual(await requests(again, "say Hello."), { report: "Hello.", isFree: true, requests: 0 });
		assert.deepEqual(await requests(again, "say Bye."), { report: "Bye.", isFree: false, requests: 1 });
		await again.close();
	});

	test("is not continued after a restart of pi; its interrupted run continues under the same key", async () => {
		isWorking = true;
		const script = `${opening}return await tools.subagent_run({ agent: "explorer", task: "work", key: "work" });`;
		const rpc = startRpc(stage.world);
		const from = stage.server.requests.length;
		await rpc.send({ type: "prompt", message: script });
		await eventually(() => stage.childRequests(from).some(({ userText }) => userText === "work"), "the child works");
		rpc.pi.child.kill("SIGKILL");
		await rpc.pi.finished;
		isWorking = false;
		const again = startRpc(stage.world, { args: ["--continue"] });
		await again.untilNotice("/subagents list", /explorer · `work` · interrupted/);
		const { report, runId } = returned(await again.prompt(script)) as Delegated;
		assert.equal(report, "It continues: true");
		assert.match(await again.notices("/subagents list"), new RegExp(`✓ #1 {2}${runId} · explorer · .* · completed`));
		await again.close();
	});

	test("aborts the runs that it has not awaited when it ends", async () => {
		const rpc = startRpc(stage.world);
		const from = stage.server.requests.length;
		const events = await rpc.prompt(`${opening}
			tools.subagent_run({ agent: "explorer", task: "hang" });
			return await tools.subagent_run({ agent: "explorer", task: "say The end." });`);
		assert.equal((returned(events) as Delegated).report, "The end.");
		const hanging = stage.childRequests(from).filter(({ userText }) => userText === "hang");
		await Promise.all(hanging.map(({ ended }) => ended));
		await rpc.untilNotice("/subagents list", /explorer · `hang` · stopped/);
		await rpc.close();
	});
});

for (const version of piVersions) {
	describe(`without codemode in pi ${version}`, () => {
		test("no request mentions the tool for scripts, and delegation works", async () => {
			const stage = await backgroundStage({ version, children });
			try {
				const rpc = startRpc(stage.world);
				await rpc.prompt("Hello?");
				const [request] = stage.server.requests;
				assert.match(JSON.stringify(request?.tools), /"subagent"/);
				assert.doesNotMatch(`${JSON.stringify(request?.tools)}${request?.systemText}`, /subagent_run/);
				assert.doesNotMatch(JSON.stringify(request?.tools), /codemode/i);
				await rpc.prompt('Delegate [{"agent":"explorer","task":"say Yes."}]');
				assert.equal(rpc.log.toolEnds("subagent").at(-1)?.isError, false);
				assert.deepEqual(
					rpc.uiRequests.map(({ message }) => message).filter((text) => /failed/.test(text ?? "")),
					[],
				);
				await rpc.close();
			} finally {
				await stage.close();
			}
		});
	});
}
