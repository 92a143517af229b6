/**
 * Other extensions and prompts with the names of ours: real pi takes one of them, and the user gets a notice about it.
 */

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";

import { onStage, piCommand, piVersions, runPrint, type Stage, startTui } from "../support/pi.ts";

/** Installs pi's example of a sub-agent tool as its README says. */
function installExample({ world }: Stage): void {
	const example = join(dirname(piCommand(world.version)[1]), "..", "..", "examples", "extensions", "subagent");
	for (const file of ["index.ts", "agents.ts"]) {
		cpSync(join(example, file), join(world.agentDir, "extensions", "subagent", file));
	}
	cpSync(join(example, "prompts"), join(world.agentDir, "prompts"), { recursive: true });
}

/** An extension with a tool of one of our names, and a command of one. */
const rival = `export default (pi) => {
	pi.registerTool({
		name: "sessions_list", label: "Mine", description: "Lists mine", parameters: { type: "object", properties: {} },
		execute: async () => ({ content: [{ type: "text", text: "mine" }], details: {} }),
	});
	pi.registerCommand("subagents", { description: "Mine", handler: async () => {} });
};
`;

for (const version of piVersions) {
	describe(`names used by others, pi ${version}`, () => {
		test("pi's example and its prompts are named at the start and by the doctor, with what to remove", async () => {
			await onStage({ version, load: "install" }, async (stage) => {
				installExample(stage);
				const { stdout, stderr } = await runPrint(stage.world, "/subagents doctor");
				const tool = "`subagent` comes from another extension, `~/.pi/agent/extensions/subagent/index.ts`,";
				const prompts =
					"`/implement`, `/implement-and-review`, `/scout-and-plan` come from `~/.pi/agent/prompts/implement.md`,";
				for (const shown of [stdout, stderr]) {
					assert.ok(shown.includes(tool), shown);
					assert.ok(shown.includes(prompts), shown);
					assert.match(shown, /remove .*extensions\/subagent/i);
					assert.ok(shown.includes("implement-and-review.md") && shown.includes("scout-and-plan.md"), shown);
				}
				assert.match(stdout, /^⚠ .*`subagent` comes from another/m);
				const asked = await runPrint(stage.world, "Hello?");
				const [request] = stage.server.requests.slice(-1);
				assert.doesNotMatch(request?.systemText ?? "", /Delegating to sub-agents/, asked.stderr);
			});
		});

		test("a notice is shown once in the terminal", async () => {
			await onStage({ version, load: "install" }, async (stage) => {
				installExample(stage);
				const tui = await startTui(stage.world);
				await tui.waitFor("from another extension");
				await tui.type("Hello?");
				await tui.waitFor("Hello?");
				await tui.press("Enter");
				await tui.waitFor("Yes.");
				const shown = (await tui.scrollback()).replaceAll(/\s+/g, " ");
				assert.equal(shown.split("`subagent` comes from another extension").length, 2, shown);
				await tui.close();
			});
		});

		test("a tool and a command with other names of ours are reported, too", async () => {
			await onStage({ version, load: "install" }, async (stage) => {
				const path = stage.world.writeAgentDir("extensions/mine.ts", rival);
				const { stderr } = await runPrint(stage.world, "Hello?");
				assert.match(stderr, /`sessions_list` comes from another extension, `~\/\.pi\/agent\/extensions\/mine\.ts`/);
				assert.match(stderr, /`\/subagents:\d`/, path);
			});
		});

		test("nothing is reported if ours are used, or if the user has disabled ours", async () => {
			await onStage({ version, load: "install" }, async (stage) => {
				const { stdout, stderr } = await runPrint(stage.world, "/subagents doctor");
				assert.doesNotMatch(stdout + stderr, /not from this package|this package's is/);
			});
			await onStage({ version }, async (stage) => {
				// The command line comes first.
				installExample(stage);
				const { stdout, stderr } = await runPrint(stage.world, "/subagents doctor", {
					args: ["--no-prompt-templates"],
				});
				assert.doesNotMatch(stdout + stderr, /not from this package|this package's is/);
			});
		});
	});
}
