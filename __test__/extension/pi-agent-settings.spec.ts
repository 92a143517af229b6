/** Settings of single agents in real pi: models by any of their names, logins, skills by name, further directories. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
	call,
	delegate,
	detailsOf,
	lastEnd,
	type ModelRequest,
	onStage,
	piVersions,
	type RpcSession,
	runJson,
	runOf,
	Stage,
	say,
	startRpc,
	textOf,
} from "../support/pi.ts";

const request = (agent: string) => delegate({ agent, task: "say hello" });

function skill(stage: Stage, name: string): void {
	const text = `---\nname: ${name}\ndescription: What ${name} is for.\n---\nDo it.\n`;
	stage.world.writeAgentDir(`skills/${name}/SKILL.md`, text);
}

for (const version of piVersions) {
	describe(`settings of agents in pi ${version}`, () => {
		// Settings count from the next call on, so one pi does for most of these.
		let stage: Stage;
		let rpc: RpcSession;
		before(async () => {
			stage = await Stage.open({ version });
			for (const name of ["alpha", "beta"]) skill(stage, name);
			rpc = startRpc(stage.world);
		});
		after(async () => {
			await rpc.close();
			await stage.close();
		});

		async function ended(agent = "explorer") {
			await rpc.prompt(request(agent));
			return lastEnd(rpc.log);
		}

		test("name a model as pi does, with a thinking level behind it", async () => {
			stage.configure({ agents: { explorer: { model: "thinker:high" } } });
			const end = await ended();
			assert.equal(textOf(end), "hello");
			assert.equal(runOf(end).model, "scripted/scripted-thinker");
			const child = stage.childRequests().at(-1);
			assert.deepEqual([child?.model, child?.reasoning], ["scripted-thinker", "high"]);
		});

		test("refuse a model without a login before the start, and say what to do", async () => {
			const from = stage.server.requests.length;
			stage.configure({ agents: { tester: { model: "anthropic/sonnet" } } });
			const end = await ended("tester");
			assert.equal(detailsOf(end).error?.code, "INVALID_INPUT", textOf(end));
			assert.equal(textOf(end), "model `anthropic/sonnet` has no login: run `/login anthropic`");
			assert.equal(stage.childRequests(from).length, 0);
			for (const command of ["agents", "doctor"])
				assert.ok((await rpc.notices(`/subagents ${command}`)).includes(textOf(end)), command);
			assert.match(
				await rpc.notices("/subagents doctor"),
				/or set .*ANTHROPIC_API_KEY.*, or remove `agents\.tester\.model`/,
			);
			// A model whose key is passed to the child is tried.
			stage.configure({ agents: { explorer: { model: "scriptd/scripted-thinker" } } });
			assert.match(textOf(await ended()), /not found.*did you mean `scripted\/scripted-thinker`/s);
		});

		test("let an alias without a login, or without a model, give way to the session's model", async () => {
			for (const [alias, reason] of [
				["sonnet", "has no login here"],
				["nothing-like-it", "is not available here"],
			]) {
				stage.configure({ agents: { explorer: { model: alias } } });
				const end = await ended();
				assert.equal(textOf(end), "hello");
				const note = runOf(end).diagnostics?.find((line) => line.includes(`model \`${alias}\``)) ?? "";
				assert.ok(note.includes(reason ?? "") && note.includes("so `scripted/"), note);
				assert.ok((await rpc.notices("/subagents agents")).includes(note), "the list of agents says so, too");
			}
		});

		test("let only the named skills reach a child", async () => {
			stage.configure({ agents: { explorer: { skills: ["alpha", "betta"] } } });
			const end = await ended();
			assert.equal(textOf(end), "hello");
			const text = stage.childRequests().at(-1)?.systemText ?? "";
			assert.ok(text.includes("What alpha is for.") && !text.includes("What beta is for."), text);
			const notes = runOf(end).diagnostics ?? [];
			assert.ok(
				notes.some((line) => line.includes("`betta`; did you mean `beta`?")),
				notes.join("\n"),
			);
		});

		test("let the conversation name a model for a background run as pi does", async () => {
			// As the other tools call it, which pi's check of the arguments alone would refuse.
			const spawned = { task: "say hello", model: "thinker", agent: "Explore" };
			const children = {
				Spawn: ({ toolAnswers }: ModelRequest) =>
					toolAnswers.length === 0 ? [call("sessions_spawn", spawned)] : [say(toolAnswers[0]?.text ?? "")],
			};
			await onStage({ version, children }, async (stage) => {
				stage.configure({ allowAgents: ["Explore"] });
				const { log } = await runJson(stage.world, "Spawn it");
				const [end] = log.toolEnds("sessions_spawn");
				assert.ok(end);
				const { content } = end.result as { content: { text: string }[] };
				const receipt = JSON.parse(content[0]?.text ?? "");
				assert.deepEqual([receipt.status, receipt.warnings], ["accepted", undefined], JSON.stringify(receipt));
				assert.match(receipt.childSessionKey, /^agent:explorer:/);
				const child = stage.server.requests.find(({ isChild }) => isChild);
				assert.equal(child?.model, "scripted-thinker");
			});
		});

		test("find agents in further directories, with the names of Claude Code's models", async () => {
			// A session tells its model of the agents that are there when it starts.
			await onStage({ version }, async (stage) => {
				const folder = join(stage.world.home, ".claude", "agents");
				mkdirSync(folder, { recursive: true });
				const text =
					"---\nname: mine\ndescription: From elsewhere.\ntools: Read, Grep\nmodel: thinker\ncolor: blue\n---\nBe.\n";
				writeFileSync(join(folder, "mine.md"), text);
				stage.world.writeAgentDir("TOOLS.md", "Use the tools with care.\n");
				stage.configure({ agentDirs: ["~/.claude/agents"] });
				const { log } = await runJson(stage.world, request("mine"));
				const end = lastEnd(log);
				assert.equal(textOf(end), "hello");
				const [child] = stage.childRequests();
				assert.equal(child?.model, "scripted-thinker");
				assert.ok(child?.systemText.includes("Use the tools with care."));
				assert.ok(JSON.stringify(stage.parentRequests()[0]?.tools).includes("mine (cannot write here)"));
			});
		});
	});
}
