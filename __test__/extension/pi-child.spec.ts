/** A child in real pi: its model's requests, and its restrictions. */

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	newestPi,
	packageDir,
	piVersions,
	type RpcSession,
	runOf,
	Stage,
	say,
	startRpc,
} from "../support/pi.ts";
import { shell } from "../support/warden.ts";

/** A fact that only a model with the project's context knows. */
const context = "Numbers in this project are written in base seven.";

/** Text that a shell, pi's command line or its file references would change. */
const task = '@README.md -p --help "$HOME"\n  second line, 日本語, `tick`\t\\n';

/** A tool that leaves a mark, activated against all rules, and a tool that calls it. */
const painter = `import { writeFileSync } from "node:fs";
const parameters = { type: "object", properties: {} };
const tool = (name, execute) => ({ name, label: name, description: name, promptSnippet: name, parameters, execute });
const answer = (text) => ({ content: [{ type: "text", text }], details: {} });
export default (pi) => {
	pi.registerTool(tool("paint", async () => {
		writeFileSync(process.env.HOME + "/painted", "");
		return answer("painted");
	}));
	pi.registerTool(tool("dip", async (id, params, signal, onUpdate, ctx) => {
		return answer("dipped: " + JSON.stringify(await ctx.executeTool("paint", {})));
	}));
	pi.on("session_start", () => pi.setActiveTools([...pi.getActiveTools(), "paint"]));
};
`;

/** Calls the tool named in the task, allowed or not, and reports the result. */
function use({ toolAnswers, userText }: ModelRequest) {
	const [answer] = toolAnswers;
	return [answer ? say(`It gave: ${answer.text}`) : call(userText.split(" ")[1] ?? "", {})];
}

for (const version of piVersions) {
	describe(`a child of pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;

		before(async () => {
			const settings = { defaultModel: "scripted-thinker", defaultThinkingLevel: "high" };
			stage = await Stage.open({ version, load: "install", settings, children: { use } });
			stage.world.write("AGENTS.md", `# Rules\n\n${context}\n`);
			stage.world.writeAgentDir(
				"skills/knots/SKILL.md",
				"---\nname: knots\ndescription: Ties bowlines and other knots\n---\nTie.\n",
			);
			stage.world.writeAgentDir(
				"agents/thinker.md",
				"---\nname: thinker\ndescription: Thinks\ntools: []\nthinking: low\ncontext: none\n---\nYou only think.\n",
			);
			rpc = startRpc(stage.world);
		});

		after(() => stage.close());

		async function ask(agent: string, task: string): Promise<ModelRequest[]> {
			const from = stage.server.requests.length;
			await rpc.prompt(delegate({ agent, task }));
			return stage.childRequests(from);
		}

		test("gets its task unchanged, its agent's prompt, the project's context, its tools, our model and level", async () => {
			const [request] = await ask("explorer", task);
			assert.ok(request);
			assert.equal(request.userText, task);
			assert.match(request.systemText, /You find code and explain how it works/);
			assert.ok(request.systemText.includes(context));
			assert.deepEqual(request.toolNames.toSorted(), [...shell, "find", "grep", "ls", "read"]);
			assert.deepEqual([request.model, request.reasoning], ["scripted-thinker", "high"]);
			for (const absent of [/Delegating to sub-agents/, /subagent tool/, /knots/]) {
				assert.doesNotMatch(request.systemText, absent);
			}
			const [parent] = stage.parentRequests();
			assert.match(parent?.systemText ?? "", /knots/, "only the parent sees the skill");
			const { sandbox, diagnostics = [] } = runOf(lastEnd(rpc.log));
			assert.equal(sandbox?.enforced, shell.length > 0);
			assert.equal(/`bash` was dropped/.test(diagnostics.join("\n")), shell.length === 0);
		});

		test("gets no context and all skills if the configuration says so", async () => {
			stage.configure({ inheritContext: "none", inheritSkills: true });
			try {
				const [request] = await ask("explorer", "say hello");
				assert.ok(!request?.systemText.includes(context));
				assert.match(request?.systemText ?? "", /knots/);
			} finally {
				stage.configure({});
			}
		});

		test("follows its agent's own settings, and runs without tools if the agent has none on purpose", async () => {
			const [request] = await ask("thinker", "say hello");
			assert.deepEqual(request?.toolNames, []);
			assert.equal(request?.reasoning, "low");
			assert.match(request?.systemText ?? "", /You only think\./);
			assert.ok(!request?.systemText.includes(context));
			assert.equal(runOf(lastEnd(rpc.log)).output, "hello");
		});

		test("needs no compiler, nor does its host: no file of theirs can be replaced by others", async () => {
			stage.configure({ sandbox: "off" });
			try {
				await ask("explorer", "say hello");
				assert.equal(runOf(lastEnd(rpc.log)).sandbox?.enforced, false, "the child has the same directory");
				assert.deepEqual(readdirSync(join(stage.world.tmp, "jiti")), []);
			} finally {
				stage.configure({});
			}
		});

		test("cannot delegate although it loads every extension of the user", async () => {
			stage.configure({ inheritExtensions: "all" });
			try {
				const [request, second] = await ask("explorer", "use subagent");
				assert.deepEqual(request?.toolNames.toSorted(), [...shell, "find", "grep", "ls", "read"]);
				assert.doesNotMatch(request?.systemText ?? "", /Delegating to sub-agents/);
				assert.match(second?.toolAnswers[0]?.text ?? "", /subagent/);
				assert.equal(runOf(lastEnd(rpc.log)).outcome, "completed");
			} finally {
				stage.configure({});
			}
		});

		test("keeps its budget although it loads every extension of the user", async () => {
			stage.configure({ inheritExtensions: "all", budget: { maxTurns: 1 } });
			try {
				await ask("explorer", "say hello");
				assert.equal(runOf(lastEnd(rpc.log)).output, "hello");
				const requests = await ask("explorer", "use read");
				assert.deepEqual([runOf(lastEnd(rpc.log)).outcome, requests.length], ["budget", 1]);
			} finally {
				stage.configure({});
			}
		});

		test("cannot use an inherited extension's tool that its list does not name", async () => {
			stage.configure({ inheritExtensions: [stage.world.writeAgentDir("painter.ts", painter)] });
			try {
				const [request, second] = await ask("explorer", "use paint");
				assert.ok(!request?.toolNames.includes("paint"));
				assert.match(second?.toolAnswers[0]?.text ?? "", /paint/);
				assert.equal(existsSync(`${stage.world.home}/painted`), false);
			} finally {
				stage.configure({});
			}
		});
	});

	describe(`the guard in pi ${version}`, () => {
		test("is the only registration, and blocks the registrations of others", async () => {
			const stage = await Stage.open({ version, load: "none", children: { use } });
			try {
				const { world } = stage;
				const rpc = startRpc(world, {
					args: ["-e", packageDir, "-e", world.writeAgentDir("painter.ts", painter)],
					env: { PI_SUBAGENT_CHILD: "1", PI_SUBAGENT_TOOLS: "read,dip" },
				});
				const { data } = await rpc.send({ type: "get_commands" });
				const { commands } = data as { commands: { name: string }[] };
				assert.ok(!commands.some(({ name }) => name === "subagents"));
				await rpc.prompt("use paint");
				assert.ok(stage.server.requests[0]?.toolNames.includes("paint"), "the tool is available without the guard");
				assert.ok(!stage.server.requests[0]?.toolNames.includes("subagent"));
				assert.match(
					rpc.log.answer,
					/It gave: Tool `paint` is not allowed in this sub-agent\. Allowed tools: read, dip/,
				);
				// pi has let one tool call another since 1.x.
				if (version === newestPi) {
					await rpc.prompt("use dip");
					assert.match(rpc.log.answer, /dipped: .*`paint` is not allowed/);
				}
				assert.equal(existsSync(`${world.home}/painted`), false);
				await rpc.close();
			} finally {
				await stage.close();
			}
		});
	});
}
