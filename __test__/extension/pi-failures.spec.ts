/** Runs that fail in real pi: the messages for the model, the session and the screen. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import {
	delegate,
	detailsOf,
	fail,
	finish,
	lastEnd,
	newestPi,
	onStage,
	piVersions,
	type RpcSession,
	runOf,
	runPrint,
	Stage,
	say,
	startRpc,
	startTui,
	survivors,
	textOf,
	usage,
} from "../support/pi.ts";
import { delegating, warden } from "../support/warden.ts";

/** A tool result as pi keeps it in the session. */
interface ToolEntry {
	type: string;
	message?: {
		role: string;
		toolName?: string;
		isError: boolean;
		details: { error?: { code: string } };
		usage?: unknown;
	};
}

/** Returns the session file's entry of the last call. */
function lastEntry(file: string): NonNullable<ToolEntry["message"]> {
	const entries = readFileSync(file, "utf8").trim().split("\n");
	const messages = entries.map((line) => (JSON.parse(line) as ToolEntry).message);
	const found = messages.findLast((message) => message?.role === "toolResult" && message.toolName === "subagent");
	if (!found) throw new Error("the session has no result of subagent");
	return found;
}

for (const version of piVersions) {
	describe(`failures in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let session: string;

		before(async () => {
			stage = await Stage.open({
				version,
				settings: { retry: { enabled: true, maxRetries: 1, baseDelayMs: 10 } },
				children: {
					refuse: () => [fail(401, { body: { error: { message: "no such key" } } })],
					cut: () => [usage({ output: 9 }), say("Half an answ"), finish("length")],
					mute: () => [usage({ output: 0 }), finish("stop")],
				},
			});
			rpc = startRpc(stage.world);
			const { data } = await rpc.send({ type: "get_state" });
			session = (data as { sessionFile: string }).sessionFile;
		});

		after(() => stage.close());

		async function ask(call: Record<string, unknown>) {
			await rpc.prompt(delegate(call));
			return lastEnd(rpc.log);
		}

		test("an unknown agent is an error with the existing agents, and starts nothing", async () => {
			const from = stage.server.requests.length;
			const end = await ask({ agent: "explorr", task: "look around" });
			assert.equal(end.isError, true);
			assert.equal(detailsOf(end).error?.code, "UNKNOWN_AGENT");
			assert.deepEqual(detailsOf(end).results, []);
			assert.match(
				textOf(end),
				/^Unknown agent `explorr`\. Available agents: explorer, researcher, reviewer, implementer, tester.*\bexplorer\b.*\?/,
			);
			assert.equal(stage.childRequests(from).length, 0);
			const entry = lastEntry(session);
			assert.deepEqual([entry.isError, entry.details.error?.code], [true, "UNKNOWN_AGENT"]);
		});

		test("incomplete or unknown arguments start nothing, and the model reads the reason", async () => {
			const from = stage.server.requests.length;
			const calls: [call: Record<string, unknown>, words: RegExp][] = [
				[{ agent: "explorer", task: "" }, /^`task` is empty\./],
				[{ agent: "explorer", task: " \n" }, /^`task` is empty\./],
				[{ agent: "explorer" }, /^`task` is missing\./],
				[{ agent: "explorer", task: "look around", effort: "high" }, /^`effort` is not a parameter of `subagent`\./],
			];
			for (const [call, words] of calls) {
				const end = await ask(call);
				assert.equal(end.isError, true, JSON.stringify(call));
				assert.match(textOf(end), words);
			}
			assert.equal(stage.childRequests(from).length, 0);
		});

		test("a provider that fails is a failure although the child exits with 0", async () => {
			const end = await ask({ agent: "explorer", task: "fail now" });
			assert.equal(end.isError, true);
			const run = runOf(end);
			assert.deepEqual([run.outcome, run.exitCode], ["failed", 1]);
			assert.equal(detailsOf(end).error?.code, "SUBAGENT_FAILED");
			assert.match(textOf(end), /explorer failed with exit code 1[\s\S]*scripted error 500[\s\S]*session: /);
			assert.ok(existsSync(run.sessionFile ?? ""));
			const entry = lastEntry(session);
			assert.deepEqual([entry.isError, entry.details.error?.code], [true, "SUBAGENT_FAILED"]);
			// The parent's model gets the error, and continues.
			assert.match(rpc.log.answer, /The child says: explorer failed/);
		});

		test("a refused key and an empty answer are failures with their known causes", async () => {
			assert.match(textOf(await ask({ agent: "explorer", task: "refuse it" })), /no such key/);
			const mute = await ask({ agent: "explorer", task: "mute" });
			assert.match(
				textOf(mute),
				/gave no answer \(last event: `\w+`; stop reason: `stop`; tool executions completed: 0\)/,
			);
			assert.equal(mute.isError, true);
		});

		test("an answer at the model's output limit is kept and says that it was cut", async () => {
			const end = await ask({ agent: "explorer", task: "cut it" });
			assert.equal(end.isError, false);
			assert.match(textOf(end), /^Half an answ[\s\S]*output limit/);
			assert.equal(runOf(end).stopReason, "length");
		});

		test("an abort over RPC ends a child that hangs, and the result says so", async () => {
			const from = rpc.log.events.length;
			await rpc.send({ type: "prompt", message: delegate({ agent: "explorer", task: "hang" }) });
			await rpc.log.waitFor((event) => JSON.stringify(event.partialResult ?? "").includes("I begin."), 20_000, from);
			assert.equal(survivors(stage.world.mark).length, delegating, "the host, its child and the child's warden run");
			await rpc.send({ type: "abort" });
			await rpc.log.waitFor(({ type }) => type === "agent_settled", 20_000, from);
			assert.equal(survivors(stage.world.mark).length, 1, "the child has ended before the result arrives");
			const end = lastEnd(rpc.log);
			const run = runOf(end);
			assert.deepEqual([run.outcome, run.exitCode, end.isError], ["aborted", 130, true]);
			assert.match(textOf(end), /cancelled by user[\s\S]*I begin\./);
			assert.ok(existsSync(run.sessionFile ?? ""));
		});

		// The addon writes the message about an end from outside, for any pi. The abort above shows that in each version.
		if (version === newestPi) {
			test("a child killed by another process is distinguished from a failed child", async () => {
				const from = rpc.log.events.length;
				await rpc.send({ type: "prompt", message: delegate({ agent: "explorer", task: "hang" }) });
				await rpc.log.waitFor((event) => JSON.stringify(event.partialResult ?? "").includes("I begin."), 20_000, from);
				const others = survivors(stage.world.mark).filter(({ pid }) => pid !== rpc.pi.pid);
				const child = others.find(({ command }) => !command.startsWith(warden));
				process.kill(child?.pid ?? assert.fail("no child was started"), "SIGKILL");
				await rpc.log.waitFor(({ type }) => type === "agent_settled", 20_000, from);
				const run = runOf(lastEnd(rpc.log));
				assert.deepEqual([run.outcome, run.exitCode, run.signal], ["failed", 137, "SIGKILL"]);
				assert.match(textOf(lastEnd(rpc.log)), /SIGKILL[\s\S]*I begin\./);
			});

			test("limits end a child that hangs and name their setting", async () => {
				stage.configure({ idleTimeoutMs: 4_000 });
				try {
					const end = await ask({ agent: "explorer", task: "hang" });
					const run = runOf(end);
					assert.deepEqual([run.outcome, run.exitCode, run.timeoutReason], ["idle_timeout", 124, "idle"]);
					assert.equal(detailsOf(end).error?.code, "SUBAGENT_TIMEOUT");
					assert.match(textOf(end), /4000 ms.*`idleTimeoutMs`[\s\S]*I begin\./);
				} finally {
					stage.configure({});
				}
			});
		}

		test("print mode continues after a failure", async () => {
			const { code, stdout } = await runPrint(stage.world, delegate({ agent: "nobody", task: "look" }));
			assert.equal(code, 0);
			assert.match(stdout, /^The child says: Unknown agent `nobody`\./);
		});
	});

	test(`Escape in pi ${version} ends a child that hangs, and the card says so`, async () => {
		await onStage({ version }, async (stage) => {
			const tui = await startTui(stage.world, { prompt: delegate({ agent: "explorer", task: "hang" }) });
			await tui.waitFor("I begin.");
			assert.equal(survivors(stage.world.mark).length, delegating, "pi, its child and the child's warden run");
			await tui.press("Escape");
			await tui.waitFor(/⚠ subagent explorer · \S+ · stopped/);
			assert.equal(survivors(stage.world.mark).length, 1, "the child has ended");
			await tui.close();
		});
	});
}
