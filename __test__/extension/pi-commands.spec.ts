/** `/subagents` in each mode of real pi. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { piVersions, runJson, runPrint, Stage, startRpc, startTui } from "../support/pi.ts";

for (const version of piVersions) {
	describe(`/subagents in pi ${version}`, () => {
		let stage: Stage;

		before(async () => {
			stage = await Stage.open({ version });
			stage.world.writeAgentDir("agents/scout.md", "---\nname: scout\ndescription: Scouts\n---\nScout.\n");
			stage.world.writeAgentDir("agents/tester.md", "---\nname: tester\ndescription: My tester\n---\nTest.\n");
			stage.world.writeAgentDir("agents/broken.md", "---\nname: x\nreadonly: perhaps\n---\nBroken.\n");
		});

		after(async () => {
			await stage.close();
			assert.equal(stage.server.requests.length, 0, "no command reaches the model");
		});

		test("print mode: agents on standard output", async () => {
			const { code, stdout } = await runPrint(stage.world, "/subagents agents");
			assert.equal(code, 0);
			assert.match(stdout, /^Sub-agents: 7 agents, 1 unavailable\n/);
			assert.match(stdout, /✓ explorer +read, grep, find, ls(?:, bash)?\n/);
			assert.match(stdout, /· researcher +unavailable: its tools are missing\n/);
			assert.match(stdout, /· researcher: needs one of web_search/);
			assert.match(stdout, /✓ scout +read, .* · `allowWrite` is off\n/);
			assert.match(stdout, /· tester +\(builtin\): hidden by the user agent of the same name\n/);
			assert.match(
				stdout,
				/✗ \S*\/\.pi\/agent\/agents\/broken\.md:3:\d+: `readonly` is `perhaps`; expected `true` or `false`\n/,
			);
		});

		test("print mode: suggests subcommands for a wrong one", async () => {
			const { code, stdout } = await runPrint(stage.world, "/subagents agent");
			assert.equal(code, 0);
			assert.match(
				stdout,
				/✗ there is no subcommand `agent`; did you mean `agents`\?\n +list, info, .*; `\/subagents help` describes them/,
			);
		});

		test("JSON mode: one entry, with its plain text", async () => {
			const { code, log } = await runJson(stage.world, "/subagents agents");
			assert.equal(code, 0);
			assert.deepEqual(log.noise, []);
			const appended = log.events.find(({ type }) => type === "entry_appended");
			const entry = appended?.entry as { customType: string; data: { text: string } } | undefined;
			assert.equal(entry?.customType, "subagents-report");
			assert.match(entry.data.text, /^Sub-agents: 7 agents, 1 unavailable\n[\s\S]*✓ scout/);
		});

		test("RPC: a notification", async () => {
			const rpc = startRpc(stage.world);
			const { success } = await rpc.send({ type: "prompt", message: "/subagents doctor" });
			assert.equal(success, true);
			const notice = rpc.uiRequests.find(
				({ method, message }) => method === "notify" && message?.startsWith("Sub-agents:"),
			);
			assert.match(notice?.message ?? "", /✓ addon +pi-subagent-native \d/);
			assert.match(
				notice?.message ?? "",
				new RegExp(`✓ child command +pi ${version} \\(the hosting pi\\): .*cli\\.js`),
			);
			await rpc.close();
		});

		test("the terminal: completed with Tab, drawn in the transcript, kept in a narrow window", async () => {
			const tui = await startTui(stage.world, { rows: 50 });
			await tui.waitFor("scripted-model");
			await tui.typeCommand("subagents");
			await tui.type(" ");
			const list = await tui.waitFor(/list \[all\] +this session's[\s\S]*stop <id\|#\|all> +ends a run/);
			assert.ok(list.split("\n").every((line) => line.length <= 120));
			await tui.type("do");
			await tui.waitFor((screen) => screen.includes("→ doctor") && !screen.includes("stop <id"));
			await tui.press("Tab");
			await tui.waitFor("/subagents doctor");
			await tui.press("Enter");
			await tui.waitFor(/Sub-agents: 1 error[\s\S]*✓ child command[\s\S]*\S sandbox/);
			await tui.resize(60, 50);
			const narrow = await tui.waitFor(
				(screen) => /\S sandbox {2}/.test(screen) && screen.split("\n").every((line) => line.length <= 60),
			);
			assert.match(narrow, /✓ child command/);
			await tui.close();
		});
	});
}
