/** The workflow prompts that come with the package, in real pi. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";

import { packageDir, piVersions, type RpcSession, Stage, startRpc } from "../support/pi.ts";

const { describeTools, discoverAgents } = createRequire(import.meta.url)(
	`${packageDir}/native.js`,
) as typeof import("../../native.js");

const workflows = ["implement", "implement-and-review", "scout-and-plan"];

interface Command {
	name: string;
	description?: string;
	source: string;
}

for (const version of piVersions) {
	for (const load of ["argument", "install"] as const) {
		describe(`workflow prompts in pi ${version}, loaded by ${load}`, () => {
			let stage: Stage;
			let rpc: RpcSession;

			before(async () => {
				stage = await Stage.open({ version, load });
				rpc = startRpc(stage.world);
			});

			after(() => stage.close());

			test("are commands with a description", async () => {
				const { data } = await rpc.send({ type: "get_commands" });
				const prompts = (data as { commands: Command[] }).commands.filter(({ source }) => source === "prompt");
				assert.deepEqual(prompts.map(({ name }) => name).sort(), workflows);
				for (const { name, description = "" } of prompts) assert.match(description, /^Sub-agents \w+/, name);
			});

			for (const workflow of workflows) {
				test(`/${workflow} tells the model the goal, and nothing that does not exist`, async () => {
					const where = { cwd: stage.world.cwd, agentDir: stage.world.agentDir };
					const [{ tools }, { agents }] = await Promise.all([describeTools(where), discoverAgents(where)]);
					const runnable = agents.filter((agent) => agent.runnable).map(({ name }) => name);
					const known = new Set([...tools.map(({ name }) => name), ...runnable]);

					const goal = "Add a flag `--dry-run` to every command, also to $1";
					const prompt = await expanded(stage, rpc, `/${workflow} ${goal}`);
					assert.ok(prompt.startsWith(`Goal: ${goal}\n`), prompt);
					const named = [...prompt.slice(goal.length).matchAll(/(?<=`)[a-z_]+(?=`)/g)].map(([name]) => name);
					assert.ok(named.includes("subagent_chain") && named.includes("implementer"), prompt);
					for (const name of named) assert.ok(known.has(name), `there is no ${name}`);
					assert.ok(
						prompt.includes("{task}") && prompt.includes("{previous}"),
						"the placeholders of the chain are unchanged",
					);

					const without = await expanded(stage, rpc, `/${workflow}`);
					assert.ok(without.startsWith("Goal: what I asked for last\n"), without);
				});
			}
		});
	}
}

/** Returns the model's prompt when the user types a command. */
async function expanded(stage: Stage, rpc: RpcSession, typed: string): Promise<string> {
	const from = stage.server.requests.length;
	await rpc.prompt(typed);
	return stage.server.requests[from]?.userText ?? assert.fail("the model got no request");
}
