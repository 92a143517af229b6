/** Settings of single agents in real pi: models by any of their names, logins, skills by name, further directories. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
	call,
	delegate,
	detailsOf,
	lastEnd,
	type ModelRequest,
	onStage,
	piVersions,
	runJson,
	runOf,
	runPrint,
	type Stage,
	say,
	textOf,
} from "../support/pi.ts";

const request = (agent: string) => delegate({ agent, task: "say hello" });

async function ended(stage: Stage, agent = "explorer") {
	const { log } = await runJson(stage.world, request(agent));
	return lastEnd(log);
}

function skill(stage: Stage, name: string): void {
	const text = `---\nname: ${name}\ndescription: What ${name} is for.\n---\nDo it.\n`;
	stage.world.writeAgentDir(`skills/${name}/SKILL.md`, text);
}

for (const version of piVersions) {
	describe(`settings of agents in pi ${version}`, () => {
		test("name a model as pi does, with a thinking level behind it", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ agents: { explorer: { model: "thinker:high" } } });
				const end = await ended(stage);
				assert.equal(textOf(end), "hello");
				assert.equal(runOf(end).model, "scripted/scripted-thinker");
				const [child] = stage.childRequests();
				assert.deepEqual([child?.model, child?.reasoning], ["scripted-thinker", "high"]);
			});
		});

		test("refuse a model without a login before the start, and say what to do", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ agents: { explorer: { model: "sonnet" }, tester: { model: "anthropic/sonnet" } } });
				for (const agent of ["explorer", "tester"]) {
					const end = await ended(stage, agent);
					assert.equal(detailsOf(end).error?.code, "INVALID_INPUT", textOf(end));
					assert.match(textOf(end), /sonnet/);
					assert.ok(textOf(end).includes(`agents.${agent}`), textOf(end));
				}
				const end = await ended(stage, "tester");
				assert.match(textOf(end), /`\/login anthropic`, or set .*ANTHROPIC_API_KEY/);
				assert.equal(stage.childRequests().length, 0);
				for (const command of ["agents", "doctor"]) {
					const { stdout } = await runPrint(stage.world, `/subagents ${command}`);
					assert.match(stdout, /agents\.tester.* needs a login for `anthropic`, .*ANTHROPIC_API_KEY/, command);
				}
				// One that the child is given its key for is tried.
				stage.configure({ agents: { explorer: { model: "scripted-thinkr" } } });
				const unknown = textOf(await ended(stage));
				assert.match(unknown, /not found.*did you mean `scripted-thinker`/s);
			});
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

		test("let only the named skills reach a child", async () => {
			await onStage({ version }, async (stage) => {
				for (const name of ["alpha", "beta"]) skill(stage, name);
				stage.configure({ agents: { explorer: { skills: ["alpha", "betta"] } } });
				const end = await ended(stage);
				assert.equal(textOf(end), "hello");
				const text = stage.childRequests()[0]?.systemText ?? "";
				assert.ok(text.includes("What alpha is for.") && !text.includes("What beta is for."), text);
				const told = runOf(end).diagnostics ?? [];
				assert.ok(
					told.some((line) => line.includes("`betta`; did you mean `beta`?")),
					told.join("\n"),
				);
			});
		});

		test("find agents in further directories, with the names of Claude Code's models", async () => {
			await onStage({ version }, async (stage) => {
				const folder = join(stage.world.home, ".claude", "agents");
				mkdirSync(folder, { recursive: true });
				const text =
					"---\nname: mine\ndescription: From elsewhere.\ntools: Read, Grep\nmodel: thinker\ncolor: blue\n---\nBe.\n";
				writeFileSync(join(folder, "mine.md"), text);
				stage.world.writeAgentDir("TOOLS.md", "Use the tools with care.\n");
				stage.configure({ agentDirs: ["~/.claude/agents"] });
				const end = await ended(stage, "mine");
				assert.equal(textOf(end), "hello");
				const [child] = stage.childRequests();
				assert.equal(child?.model, "scripted-thinker");
				assert.ok(child?.systemText.includes("Use the tools with care."));
				assert.ok(JSON.stringify(stage.parentRequests()[0]?.tools).includes("mine (cannot write here)"));
			});
		});
	});
}
