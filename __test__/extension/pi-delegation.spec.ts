/** One delegation in real pi, in each of its modes, with the package loaded in each way that users load it. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { after, before, describe, test } from "node:test";

import type { RunDetails } from "../../native.js";
import {
	call,
	childUsage,
	delegate,
	detailsOf,
	type JsonResult,
	lastEnd,
	type ModelRequest,
	makeGate,
	newestPi,
	parentUsage,
	piCommand,
	piVersions,
	runJson,
	runOf,
	runPrint,
	Stage,
	say,
	startRpc,
	startTui,
	type ToolUpdate,
	textOf,
	until,
} from "../support/pi.ts";

const request = { agent: "explorer", task: "look around" };
const answer = "Folder: .git/ README.md; title: # A project";

/** The sum of the looking child's two turns: pi counts cached tokens separately. */
const spent = {
	input: 2 * (childUsage.input - childUsage.cached),
	output: 2 * childUsage.output,
	cacheRead: 2 * childUsage.cached,
	cacheWrite: 0,
};

/** Dollars for `spent` by the world's price list. */
const cost = (spent.input * 3 + spent.output * 15 + spent.cacheRead * 0.3) / 1_000_000;

/** Records the process that loads it. */
const witness = `import { writeFileSync } from "node:fs";
export default () => {
	const { execPath, argv, env } = process;
	if (env.PI_SUBAGENT_CHILD) writeFileSync(env.HOME + "/child.json", JSON.stringify({ execPath, script: argv[1], argv, env }));
};
`;

interface Witness {
	execPath: string;
	script: string;
	argv: string[];
	env: Record<string, string>;
}

/** Values that depend on the machine, or are checked separately. */
const notCompared = {
	sandbox: undefined,
	supervision: undefined,
	resources: undefined,
	diagnostics: undefined,
	displayItems: undefined,
	runId: undefined,
};

for (const version of piVersions) {
	describe(`pi ${version}, loaded with -e`, () => {
		let stage: Stage;

		before(async () => {
			stage = await Stage.open({ version });
		});

		after(() => stage.close());

		test("print mode prints the parent's answer and nothing else", async () => {
			const { code, stdout, stderr } = await runPrint(stage.world, delegate(request));
			assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: `The child says: ${answer}\n`, stderr: "" });
		});

		test("the terminal shows the card, and the child's spend in pi's own totals", async () => {
			const tui = await startTui(stage.world, { prompt: delegate(request) });
			const screen = await tui.waitFor("The child says:");
			assert.match(screen, /✓ subagent explorer · \d\.\ds/);
			assert.match(screen, /2 turns · ↑800 ↓80 R1\.2k · \$0\.0040/);
			// Parent 4000 in, 60 out; child 800 in, 80 out.
			await tui.waitFor(/↑4\.8k ↓140 R1\.2k/);
			await tui.close();
		});
	});

	describe(`pi ${version}, installed from a folder`, () => {
		let stage: Stage;
		/** One pi in JSON mode, in which a child waits until it is seen, and then one looks around. */
		let json: JsonResult;
		const seen = makeGate();

		before(async () => {
			const wait = ({ toolAnswers }: ModelRequest) =>
				toolAnswers.length === 0 ? [say("I wait."), call("ls", { path: "." })] : [until(seen.opened), say("Seen.")];
			stage = await Stage.open({ version, load: "install", children: { wait } });
			// The sandbox would refuse the witness's file.
			const inheritExtensions = [stage.world.writeAgentDir("witness.ts", witness)];
			stage.configure({ sandbox: "off", inheritExtensions });
			json = await runJson(stage.world, delegate(request), {
				args: [delegate({ agent: "explorer", task: "wait until seen" })],
				onEvent: (event) => {
					if (event.type === "tool_execution_update" && showsCall((event as ToolUpdate).partialResult)) seen.open();
				},
			});
		});

		after(() => stage.close());

		test("JSON mode prints updates and a whole result", async () => {
			const { code, log, stderr } = json;
			assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
			const end = lastEnd(log);
			assert.equal(textOf(end), answer);
			const { runId } = detailsOf(end);
			assert.equal(
				end.result.content[0]?.text,
				`${answer}\n\n[run ${runId}]`,
				"the text ends with the run ID for the session tools",
			);
			assert.equal(end.isError, false);
			const run = runOf(end);
			assert.deepEqual(
				{ ...run, durationMs: 0, sessionFile: "", ...notCompared },
				{
					agent: "explorer",
					task: "look around",
					exitCode: 0,
					outcome: "completed",
					attempts: 1,
					durationMs: 0,
					sessionFile: "",
					output: answer,
					model: "scripted/scripted-model",
					stopReason: "stop",
					usage: { ...spent, cost: run.usage.cost, turns: 2 },
					context: { tokens: 1040, window: 200_000, percent: 0.52 },
					...notCompared,
				},
			);
			if (process.platform === "linux") {
				assert.match(run.supervision ?? "", /^warden/);
				assert.ok(
					run.resources && run.resources.peakRssBytes > 50e6 && run.resources.cpuMs > 50,
					"the reported resources match a pi process",
				);
			}
			assert.deepEqual(run.displayItems, [
				{ type: "text", text: "I look." },
				{ type: "toolCall", name: "ls", args: { path: "." } },
				{ type: "toolCall", name: "read", args: { path: "README.md" } },
				{ type: "text", text: answer },
			]);
			assert.ok(Math.abs(run.usage.cost - cost) < 1e-9, `${run.usage.cost}`);
		});

		test("an update comes while the child works, and the last one before the result", () => {
			const [end] = json.log.toolEnds("subagent");
			const ofCall = json.log.toolUpdates("subagent").filter(({ toolCallId }) => toolCallId === end?.toolCallId);
			const updates = ofCall.map(({ partialResult }) => partialResult);
			for (const { details } of updates) assert.deepEqual((details as RunDetails).results, []);
			assert.ok(updates.some(showsCall));
			assert.equal(updates.at(-1)?.content[0]?.text, "Seen.");
		});

		test("the child is the hosting pi, started by the contract, and cleans up after itself", () => {
			const { log } = json;
			const run = runOf(lastEnd(log));
			const child = JSON.parse(readFileSync(`${stage.world.home}/child.json`, "utf8")) as Witness;
			const [node, script] = piCommand(version);
			assert.equal(child.execPath, realNode(node));
			assert.equal(child.script, script);
			assert.ok(!child.argv.some((argument) => argument.includes("look around")), "no argument contains the task");
			const { runId } = detailsOf(lastEnd(log));
			assert.match(runId ?? "", /^[0-9a-f]{8}$/);
			const { PI_SUBAGENT_CHILD, PI_SUBAGENT_DEPTH, PI_SUBAGENT_MAX_DEPTH, PI_SUBAGENT_RUN_ID } = child.env;
			assert.deepEqual([PI_SUBAGENT_CHILD, PI_SUBAGENT_DEPTH, PI_SUBAGENT_MAX_DEPTH], ["1", "1", "1"]);
			assert.equal(PI_SUBAGENT_RUN_ID, runId);
			assert.equal(child.argv.includes("--no-mcp"), version === newestPi);

			const session = run.sessionFile ?? "";
			const folder = dirname(session);
			assert.equal(folder.endsWith(`/${runId}`), true);
			assert.deepEqual(readdirSync(folder), ["session.jsonl"], "the prompt and the guard are removed");
			assert.equal(statSync(folder).mode & 0o777, 0o700);
			const parentSession = readdirSync(dirname(dirname(folder))).find((name) => name.endsWith(".jsonl"));
			assert.ok(parentSession && existsSync(`${dirname(dirname(folder))}/${parentSession}`));
		});

		test("pi opens the child's session, and in a new one over RPC the totals include the child", async () => {
			const { sessionFile } = runOf(lastEnd(json.log));
			const rpc = startRpc(stage.world, { args: ["--session", sessionFile ?? ""] });
			const { data: kept } = await rpc.send({ type: "get_messages" });
			const { messages } = kept as { messages: { role: string; content: { text?: string }[] | string }[] };
			const roles = messages.map(({ role }) => role).filter((role) => role !== "system");
			assert.deepEqual(roles, ["user", "assistant", "toolResult", "toolResult", "assistant"]);
			assert.match(JSON.stringify(messages.at(-1)), /title: # A project/);

			await rpc.send({ type: "new_session" });
			await rpc.prompt(delegate(request));
			assert.match(rpc.log.answer, /The child says: Folder/);
			const { data } = await rpc.send({ type: "get_session_stats" });
			const stats = data as { tokens: Record<string, number>; cost: number };
			assert.equal(stats.tokens.input, 2 * parentUsage.input + spent.input);
			assert.equal(stats.tokens.output, 2 * parentUsage.output + spent.output);
			assert.equal(stats.tokens.cacheRead, spent.cacheRead);
			assert.equal((await rpc.close()).code, 0);
		});
	});
}

/** Returns true if an update has the child's text and the call that came with it. */
function showsCall({ content, details }: ToolUpdate["partialResult"]): boolean {
	const items = (details as RunDetails).streaming?.displayItems ?? [];
	return content[0]?.text === "I wait." && items.some((item) => item.type === "toolCall" && item.name === "ls");
}

/** Returns the real path of a command, which may be a link. */
function realNode(node: string): string {
	return execFileSync(node, ["-p", "process.execPath"], { encoding: "utf8" }).trim();
}
