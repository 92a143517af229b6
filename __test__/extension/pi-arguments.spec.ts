/** Calls of models that know other harnesses, in real pi: the calls that run, and the answers to mistakes. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { call, type ModelRequest, piVersions, type RpcSession, Stage, say, startRpc, textOf } from "../support/pi.ts";

const task = { agent: "explorer", task: "say hello" };

/** Has the model call a tool. */
const children = {
	Use: ({ userText, toolAnswers }: ModelRequest) => {
		const { tool, args } = JSON.parse(userText.slice("Use ".length));
		return toolAnswers.length === 0 ? [call(tool, args)] : [say("Used.")];
	},
};

for (const version of piVersions) {
	describe(`arguments of calls in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;

		before(async () => {
			stage = await Stage.open({ version, children });
			rpc = startRpc(stage.world);
		});
		after(async () => {
			await rpc.close();
			await stage.close();
		});

		/** The requests of children after the first `from` requests. */
		function childRequests(from: number): ModelRequest[] {
			return stage.server.requests.slice(from).filter(({ isChild }) => isChild);
		}

		/** Calls a tool, and returns its answer. */
		async function used(tool: string, args: object): Promise<{ isError: boolean; text: string }> {
			const earlier = rpc.log.toolEnds(tool).length;
			await rpc.prompt(`Use ${JSON.stringify({ tool, args })}`);
			const end = rpc.log.toolEnds(tool)[earlier] ?? assert.fail(`${tool} was not called`);
			return { isError: end.isError, text: textOf(end) };
		}

		const understood: [says: string, tool: string, args: object, answer: RegExp][] = [
			[
				"a list as text",
				"subagent_parallel",
				{ tasks: JSON.stringify([task, task]) },
				/\[2\/2\] explorer ✓[\s\S]*hello/,
			],
			["one entry without a list", "subagent_parallel", { tasks: task }, /\[1\/1\] explorer ✓[\s\S]*hello/],
			["an entry as text", "subagent_chain", { steps: [JSON.stringify(task)] }, /^hello/],
			["Claude Code's names", "subagent", { subagent_type: "explorer", description: "Greet", prompt: "say hi" }, /^hi/],
			["lists of pi's example that are empty", "subagent", { ...task, tasks: [], chain: [], cwd: "" }, /^hello/],
			["numbers as text and empty values", "sessions_list", { limit: "5", activeMinutes: "" }, /^\{.*"sessions":\[/],
		];
		for (const [says, tool, args, answer] of understood) {
			test(`${tool} understands ${says}`, async () => {
				const { isError, text } = await used(tool, args);
				assert.deepEqual([isError, answer.test(text)], [false, true], text);
			});
		}

		const explained: [says: string, tool: string, args: object, words: RegExp][] = [
			[
				"an entry that is text",
				"subagent_parallel",
				{ tasks: ["say hello"] },
				/^task 1 is `say hello`; expected \{ agent,/,
			],
			["a list that is no JSON", "subagent_parallel", { tasks: "say hello" }, /`tasks` is text that is not JSON/],
			["a negative number", "sessions_list", { limit: -3 }, /`limit` is -3; expected a whole number, 0 or more/],
			["the tasks of pi's example", "subagent", { tasks: [task] }, /use `subagent_parallel`/],
			["the chain of pi's example", "subagent", { chain: [task] }, /use `subagent_chain` with `steps`/],
			["the scope of pi's example", "subagent", { ...task, agentScope: "both" }, /`agents_list` lists them/],
			["a background run of Claude Code", "subagent", { ...task, run_in_background: true }, /use `sessions_spawn`/],
		];
		for (const [says, tool, args, words] of explained) {
			test(`${tool} explains ${says}`, async () => {
				const from = stage.server.requests.length;
				const { isError, text } = await used(tool, args);
				assert.deepEqual([isError, words.test(text)], [true, true], text);
				assert.match(text, new RegExp(`\\nThe tool did not run\\. Expected: ${tool}\\(\\{ `));
				assert.equal(childRequests(from).length, 0);
			});
		}

		const chosen = { ...task, model: "thinker", thinking: "high" };
		const calls: [tool: string, of: (task: object) => object][] = [
			["subagent", (task) => task],
			["subagent_parallel", (task) => ({ tasks: [task] })],
			["subagent_chain", (task) => ({ steps: [task, { agent: "explorer", task: "say bye" }] })],
		];
		for (const [tool, of] of calls) {
			test(`${tool} runs a task with the model and the thinking level of the call`, async () => {
				const from = stage.server.requests.length;
				const { isError, text } = await used(tool, of(chosen));
				assert.equal(isError, false, text);
				const [child] = childRequests(from);
				assert.deepEqual([child?.model, child?.reasoning], ["scripted-thinker", "high"]);
			});

			test(`${tool} skips an unknown model and level, and says so`, async () => {
				const from = stage.server.requests.length;
				const { isError, text } = await used(tool, of({ ...task, model: "scripted-thinkr", thinking: "hard" }));
				assert.equal(isError, false, text);
				assert.match(text, /`model` was skipped: .*did you mean `scripted-thinker`\?; the default is used/);
				assert.match(text, /`thinking` was skipped: `hard` is not one of off, .*; the default is used/);
				assert.equal(childRequests(from)[0]?.model, "scripted-model");
			});
		}

		test("subagent runs its task in the directory of the call", async () => {
			const folder = join(stage.world.cwd, "lib");
			mkdirSync(folder);
			writeFileSync(join(folder, "README.md"), "# The library\n");
			const { text } = await used("subagent", { agent: "explorer", task: "look around", cwd: "lib" });
			assert.match(text, /title: # The library/);
			const missing = await used("subagent", { ...task, cwd: "no/such" });
			assert.equal(missing.isError, true);
			assert.match(missing.text, /no\/such/);
		});

		// Last, because the result of the run interrupts other prompts.
		test("sessions_spawn understands options that are empty", async () => {
			const empty = { cleanup: "", outputSchema: {}, model: null, label: " ", runTimeoutSeconds: "60" };
			const { isError, text } = await used("sessions_spawn", { task: "say hello", ...empty });
			const { status, warnings } = JSON.parse(text);
			assert.deepEqual([isError, status, warnings], [false, "accepted", undefined], text);
		});
	});
}
