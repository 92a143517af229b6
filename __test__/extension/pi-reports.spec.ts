/** The answers of `/subagents …` in a terminal of 24 rows: each is on the screen when the command has been carried out. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { backgroundStage, deliveryCount, spawn } from "../support/background.ts";
import { eventually } from "../support/eventually.ts";
import { call, piVersions, type Stage, say, startTui, type Tui, usage } from "../support/pi.ts";

const AGENTS = ["alpha", "beta", "delta", "epsilon", "gamma", "kappa", "omega", "sigma", "theta", "zeta"];
const RUNS = 9;
const TASK = "walk through all of the modules and name each one that starts a child process";

for (const version of piVersions) {
	describe(`answers on a low screen in pi ${version}`, () => {
		let stage: Stage;
		let tui: Tui;

		before(async () => {
			const walk = ({ toolAnswers }: { toolAnswers: readonly unknown[] }) =>
				toolAnswers.length === 0
					? [usage({ input: 1_400, output: 45 }), call("ls", { path: "." })]
					: [usage({ input: 2_000, output: 60 }), say("Done.")];
			stage = await backgroundStage({ version, children: { walk } });
			for (const name of AGENTS)
				stage.world.writeAgentDir(`agents/${name}.md`, `---\nname: ${name}\ndescription: ${name}\n---\n${name}.\n`);
			stage.world.writeAgentDir("agents/broken.md", "---\nname: broken\nreadonly: perhaps\n---\nBroken.\n");
			stage.world.write("README.md", "Read me.\n");
			const calls = Array.from({ length: RUNS }, (_, index) => ({ task: TASK, label: `walk ${index + 1}` }));
			tui = await startTui(stage.world, { columns: 80, rows: 24, prompt: spawn(...calls) });
			// An announcement that comes later would move an answer up.
			const heard = () => deliveryCount(stage.server.requests.filter(({ isChild }) => !isChild).at(-1));
			await eventually(() => heard() === RUNS, "all announcements");
			await tui.waitFor((screen) => screen.includes("Heard") && !screen.includes("Working"));
		});

		after(async () => {
			await tui.close();
			await stage.close();
		});

		/** Types a command and returns the screen with its whole answer. */
		async function answer(command: string, end: RegExp): Promise<string> {
			await tui.submitCommand("subagents", command);
			return await tui.waitFor(end);
		}

		test("agents: a line each, then the problems, and how to see more", async () => {
			const screen = await answer("agents", /✗ \S+broken\.md:3:[\s\S]*`\/subagents agents NAME` shows/);
			assert.match(screen, /^ ✓ zeta {2,}read, .*$/m);
			// Each agent has one row.
			assert.match(screen, /^ ✓ sigma .*\n ✓ theta .*\n ✓ zeta /m);
			assert.match(screen, /^ · researcher {2,}unavailable: its tools are missing$/m);
		});

		test("agents NAME: its tools, model, rights and state", async () => {
			const screen = await answer("agents explorer", /✓ state +available/);
			for (const fact of [/^ Agent explorer$/m, /model +scripted\//, /tools +read, grep/, /rights +builtin, readonly/])
				assert.match(screen, fact);
		});

		test("agents NAME: a slip of the finger gets the nearest name", async () => {
			await answer("agents explorre", /✗ there is no agent `explorre`; did you mean `explorer`\?/);
		});

		test("agents NAME is completed", async () => {
			await tui.typeCommand("subagents");
			await tui.type(" agents zet");
			await tui.waitFor(/→ zeta +zeta/);
			await tui.press("Tab");
			await tui.waitFor(/^\/subagents agents zeta$/m);
			await tui.press("C-u");
		});

		test("list: one row for each run, the newest last", async () => {
			const screen = await answer("list", /^ ✓ #1 {2}/m);
			const rows = screen.split("\n").filter((line) => /^ ✓ #\d {2}\w{8} · explorer "walk \d" · completed/.test(line));
			assert.deepEqual(
				rows.map((row) => Number(row.slice(4, 5))),
				[9, 8, 7, 6, 5, 4, 3, 2, 1],
			);
			assert.match(screen, /^ Runs: 9 ended, \$0\.\d+$/m);
			assert.doesNotMatch(screen, /agent:explorer/);
		});

		test("list all: the same, with the session", async () => {
			const screen = await answer("list all", /^ ✓ #1 {2}.*\n(?: +.*\n)?\n/m);
			assert.match(screen, /^ +session \w+$/m);
			assert.doesNotMatch(screen, /agent:explorer/);
		});

		test("info: state, task and costs last; paths and keys only on request", async () => {
			const screen = await answer("info 1", /--paths` shows its paths and keys$/m);
			const lines = screen.slice(screen.indexOf("✓ state"));
			assert.match(lines, /^✓ state +completed .*\n +task +walk through[\s\S]+ usage +2 turns, .*est\. \$/);
			assert.doesNotMatch(screen, /session key|transcript/);
			const more = await answer("info 1 --paths", /^ transcript +\S+[\s\S]*session\.jsonl$/m);
			assert.match(more, /session key +agent:explorer:subagent:/);
			await answer("info 1 --path", /✗ `info` has no flag `--path`, only `--paths`/);
		});

		test("log: the newest lines", async () => {
			await answer("log 1 tools", /^ assistant +Done\.$/m);
		});

		test("doctor: the problems, and their number in the last line", async () => {
			const screen = await answer("doctor", /^ ✗ \d+ error.*$/m);
			assert.match(screen, /✗ agents +\S+broken\.md:3:/);
		});

		test("help: every subcommand", async () => {
			const screen = await answer("help", /`last`$/m);
			assert.match(screen, /^ {3}list \[all\] [\s\S]*^ {3}doctor /m);
		});
	});
}
