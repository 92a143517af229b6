/** Several agents in one call, in real pi: side by side, and one after another. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { RunDetails } from "../../native.js";
import {
	call,
	childUsage,
	detailsOf,
	fail,
	hang,
	type ModelRequest,
	makeGate,
	newestPi,
	parentUsage,
	piVersions,
	type RpcSession,
	Stage,
	type Step,
	say,
	startRpc,
	survivors,
	type ToolEnd,
	textOf,
	until,
	usage,
} from "../support/pi.ts";

interface Task {
	agent: string;
	task: string;
	cwd?: string;
}

/** The parent's calls for each word of a prompt. */
const tools = {
	parallel: { name: "subagent_parallel", list: "tasks" },
	chain: { name: "subagent_chain", list: "steps" },
};
type Kind = keyof typeof tools;

function parent(kind: Kind): (request: ModelRequest) => Step[] {
	const { name, list } = tools[kind];
	return (request) => {
		if (request.toolAnswers.length > 0) return [usage(parentUsage), say("Done.")];
		return [usage(parentUsage), call(name, { [list]: JSON.parse(request.userText.slice(kind.length)) })];
	};
}

for (const version of piVersions) {
	describe(`several agents in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let late: ReturnType<typeof makeGate>;
		// The first call of the session, which several tests look at.
		let met: ToolEnd;
		let updates: (RunDetails & { tasks?: { agent: string; state: string }[] })[];
		let tokens: Record<string, number>;
		/** Decisions of the addon are the same in each version of pi. */
		const once = { skip: version !== newestPi && "one pi is as good as another" };

		before(async () => {
			const [a, b] = [makeGate(), makeGate()];
			late = makeGate();
			stage = await Stage.open({
				version,
				children: {
					parallel: parent("parallel"),
					chain: parent("chain"),
					refuse: () => [fail(401, { body: { error: { message: "no such key" } } })],
					here: ({ toolAnswers }) => (toolAnswers[0] ? [say(toolAnswers[0].text)] : [call("ls", { path: "." })]),
					// Neither ends before both have begun.
					a: () => {
						a.open();
						return [usage(childUsage), until(b.opened), say("A met B.")];
					},
					b: () => {
						b.open();
						return [usage(childUsage), until(a.opened), say("B met A.")];
					},
					stay: () => [say("I begin."), hang()],
					wait: () => [until(late.opened), say("I waited.")],
				},
			});
			rpc = startRpc(stage.world);
			met = await ask("parallel", [
				{ agent: "explorer", task: "a" },
				{ agent: "reviewer", task: "b" },
			]);
			updates = rpc.log.events.flatMap(({ type, partialResult }) =>
				type === "tool_execution_update" ? [(partialResult as { details: (typeof updates)[number] }).details] : [],
			);
			const { data } = await rpc.send({ type: "get_session_stats" });
			tokens = (data as { tokens: Record<string, number> }).tokens;
		});

		after(() => stage.close());

		async function ask(kind: Kind, tasks: Partial<Task>[]): Promise<ToolEnd> {
			await rpc.prompt(`${kind} ${JSON.stringify(tasks)}`);
			return rpc.log.toolEnds(tools[kind].name).at(-1) ?? assert.fail("the call has not ended");
		}

		function outcomes(end: ToolEnd): (string | undefined)[][] {
			return detailsOf(end).results.map(({ agent, outcome, output }) => [agent, outcome, output]);
		}

		test("work in parallel, and answer in the order of their tasks", () => {
			assert.equal(met.isError, false);
			assert.equal(detailsOf(met).mode, "parallel");
			assert.deepEqual(outcomes(met), [
				["explorer", "completed", "A met B."],
				["reviewer", "completed", "B met A."],
			]);
			assert.match(
				textOf(met),
				/explorer ✓ · run \w{8} · [\s\S]*A met B\.[\s\S]*reviewer ✓ · run \w{8} · [\s\S]*B met A\./,
			);
		});

		test("updates show the state of each task, without repetition", () => {
			assert.ok(updates.length > 0);
			for (const { mode, results, tasks } of updates) {
				assert.deepEqual([mode, results], ["parallel", []]);
				assert.deepEqual(
					tasks?.map(({ agent }) => agent),
					["explorer", "reviewer"],
				);
			}
			assert.deepEqual(
				updates.at(-1)?.tasks?.map(({ state }) => state),
				["completed", "completed"],
			);
		});

		test("the session's totals include what all of them spent", () => {
			const each = childUsage.input - childUsage.cached;
			assert.equal(tokens.input, 2 * parentUsage.input + 2 * each);
			assert.equal(tokens.output, 2 * parentUsage.output + 2 * childUsage.output);
			assert.deepEqual(
				detailsOf(met).results.map(({ usage: spent }) => spent.input),
				[each, each],
			);
		});

		test("start in order if not all can start, each in its own directory", once, async () => {
			for (const name of ["left", "right"]) {
				mkdirSync(join(stage.world.cwd, name), { recursive: true });
				writeFileSync(join(stage.world.cwd, name, `${name}.txt`), name);
			}
			const from = stage.server.requests.length;
			const [agent, task] = ["explorer", "here"];
			const tasks = [
				...Array.from({ length: 5 }, (_, index) => ({ agent, task: `wait ${index}` })),
				{ agent, cwd: "left", task },
				{ agent, cwd: join(stage.world.cwd, "right"), task },
				{ agent, task },
			];
			const asked = () => stage.server.requests.slice(from).filter((request) => request.isChild);
			const ending = ask("parallel", tasks);
			await stage.server.waitFor(() => asked().length === 4);
			const first = asked().map(({ userText }) => userText);
			assert.deepEqual(first.sort(), ["wait 0", "wait 1", "wait 2", "wait 3"]);
			late.open();
			const end = await ending;
			assert.equal(end.isError, false);
			const answers = outcomes(end).map(([, , output]) => output?.trim());
			assert.deepEqual(answers.slice(0, 7), [...Array(5).fill("I waited."), "left.txt", "right.txt"]);
			assert.match(answers[7] ?? "", /README\.md/);
		});

		test("a failed task is named and does not prevent the other answers", async () => {
			const end = await ask("parallel", [
				{ agent: "explorer", task: "say one" },
				{ agent: "tester", task: "refuse" },
				{ agent: "explorer", task: "say two" },
			]);
			assert.equal(end.isError, false, "partial success is a success");
			assert.equal(detailsOf(end).error?.code, "SUBAGENT_FAILED");
			const found = outcomes(end).map(([agent, outcome]) => `${agent} ${outcome}`);
			assert.deepEqual(found, ["explorer completed", "tester failed", "explorer completed"]);
			assert.match(
				textOf(end),
				/explorer ✓ · [\s\S]*one[\s\S]*tester ✗ SUBAGENT_FAILED · [\s\S]*explorer ✓ · [\s\S]*two/,
			);
		});

		test("a chain passes on each answer and the first task, and leaves literal braces", async () => {
			const from = stage.server.requests.length;
			const end = await ask("chain", [
				{ agent: "explorer", task: "say forty-two" },
				{ agent: "reviewer", task: "say `{task}` gave {previous}, not {{previous}} or {other}" },
			]);
			assert.equal(end.isError, false);
			assert.equal(detailsOf(end).mode, "chain");
			const answer = "`say forty-two` gave \n```text\nforty-two\n```\n, not {previous} or {other}";
			assert.deepEqual(outcomes(end), [
				["explorer", "completed", "forty-two"],
				["reviewer", "completed", answer],
			]);
			assert.ok(textOf(end).includes(answer));
			const asked = stage.server.requests.slice(from).filter((request) => request.isChild);
			assert.deepEqual(
				asked.map(({ userText }) => userText),
				["say forty-two", `say ${answer}`],
			);
		});

		test("a chain ends with the failed step, and keeps the earlier answers", once, async () => {
			const from = stage.server.requests.length;
			const end = await ask("chain", [
				{ agent: "explorer", task: "say what was found" },
				{ agent: "tester", task: "refuse {previous}" },
				{ agent: "reviewer", task: "say never" },
			]);
			assert.equal(detailsOf(end).error?.code, "SUBAGENT_FAILED");
			assert.deepEqual(
				outcomes(end).map(([, outcome]) => outcome),
				["completed", "failed", "skipped"],
			);
			assert.match(textOf(end), /what was found/);
			assert.match(textOf(end), /tester/);
			assert.ok(!stage.server.requests.slice(from).some(({ userText }) => userText === "say never"));
		});

		test("nothing starts if one of them cannot", async () => {
			const good = { agent: "explorer", task: "say one" };
			for (const kind of ["parallel", "chain"] as const) {
				for (const bad of [
					{ agent: "explorr", task: "say two" },
					{ agent: "explorer", task: "say two", cwd: "nowhere" },
				]) {
					const from = stage.server.requests.length;
					const end = await ask(kind, [good, bad]);
					assert.equal(end.isError, true);
					assert.match(textOf(end), bad.cwd ? /nowhere/ : /explorr[\s\S]*explorer/);
					assert.ok(!stage.server.requests.slice(from).some((request) => request.isChild), "no child sends a request");
				}
			}
		});

		test("a list that is too long or empty, and entries with mistakes, start nothing", async () => {
			const good = { agent: "explorer", task: "say one" };
			const lists: [tasks: Partial<Task>[], words: RegExp][] = [
				[[], /^`(tasks|steps)` is empty/],
				[Array(9).fill(good), /(at most|more than) 8 items/],
				[[{ ...good, ...{ effort: "high" } }], /^(task|step) 1: `effort` is not a parameter/],
				[[good, { agent: "explorer" }], /^(task|step) 2: `task` is missing/],
			];
			for (const [tasks, words] of lists) {
				for (const kind of ["parallel", "chain"] as const) {
					const end = await ask(kind, tasks);
					assert.equal(end.isError, true);
					assert.match(textOf(end), words);
				}
			}
		});

		test("an abort ends all of them", async () => {
			const from = rpc.log.events.length;
			const tasks = [
				{ agent: "explorer", task: "stay" },
				{ agent: "reviewer", task: "stay" },
			];
			const asked = stage.server.requests.length;
			await rpc.send({ type: "prompt", message: `parallel ${JSON.stringify(tasks)}` });
			const working = () => stage.server.requests.slice(asked).filter(({ userText }) => userText === "stay").length;
			await stage.server.waitFor(() => working() === 2);
			await rpc.send({ type: "abort" });
			await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, from);
			const end = rpc.log.toolEnds("subagent_parallel").at(-1) ?? assert.fail("the call has not ended");
			assert.equal(end.isError, true);
			assert.deepEqual(
				outcomes(end).map(([, outcome]) => outcome),
				["aborted", "aborted"],
			);
			assert.equal(survivors(stage.world.mark).length, 1, "only pi remains");
		});
	});
}
