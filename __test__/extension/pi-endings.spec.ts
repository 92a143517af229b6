/** Whatever ends a session of real pi ends the children in it: no process stays, and pi does not crash. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
	backgroundStage,
	call,
	delegate,
	eventually,
	hang,
	lastEnd,
	makeGate,
	onStage,
	piVersions,
	runOf,
	type Stage,
	say,
	spawn,
	startJson,
	startRpc,
	startTui,
	survivors,
	type Tui,
	until,
} from "../support/pi.ts";
import { delegating } from "../support/warden.ts";

const hanging = delegate({ agent: "explorer", task: "hang" });

/** How long the end of pi may take, on a machine that has other things to do: its child is asked politely first. */
const endLimitMs = 20_000;

function processes(stage: Stage): number {
	return survivors(stage.world.mark).length;
}

async function send(tui: Tui, text: string): Promise<void> {
	await tui.type(text);
	await tui.press("Enter");
}

/** A pi in JSON mode whose child hangs. */
async function startHanging(stage: Stage) {
	const session = startJson(stage.world, hanging);
	await session.log.waitFor((event) => JSON.stringify(event.partialResult ?? "").includes("I begin."));
	assert.equal(processes(stage), delegating, "pi, its child and what guards that one");
	return session;
}

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		test("goes on with a run when /reload is refused, and delegates and draws after one that is not", async () => {
			const gate = makeGate();
			const wait = () => [say("I wait."), until(gate.opened), say(" Done.")];
			await onStage({ version, children: { wait } }, async (stage) => {
				const tui = await startTui(stage.world, { prompt: delegate({ agent: "explorer", task: "wait for it" }) });
				await tui.waitFor("I wait.");
				await send(tui, "/reload");
				await tui.waitFor("Wait for the current response");
				gate.open();
				await tui.waitFor("The child says: I wait. Done.");
				await send(tui, "/reload");
				const reloaded = await tui.waitFor("Reloaded");
				assert.match(reloaded, /✓ subagent explorer · \S+\n {3}wait for it\n {3}I wait\. Done\.\n {3}1 turn/);
				await send(tui, delegate({ agent: "explorer", task: "say again" }));
				await tui.waitFor("The child says: again");
				await tui.close();
			});
		});

		test("ends a run with its session on /new, and delegates in the next; a closed terminal ends that one", async () => {
			await onStage({ version }, async (stage) => {
				const tui = await startTui(stage.world, { prompt: hanging });
				await tui.waitFor("I begin.");
				await send(tui, "/new");
				await tui.waitFor("New session started");
				assert.equal(processes(stage), 1, "the child of the old session is gone");
				await send(tui, hanging);
				await tui.waitFor("I begin.");
				assert.equal(processes(stage), delegating);
				// Proves that nothing is left.
				await tui.close();
			});
		});

		test("quits on Ctrl+C twice in the middle of a run", async () => {
			await onStage({ version }, async (stage) => {
				const tui = await startTui(stage.world, { prompt: hanging });
				await tui.waitFor("I begin.");
				await tui.press("C-c");
				await tui.press("C-c");
				assert.equal(await tui.ended(endLimitMs), 0);
				await stage.world.assertNothingLeft(endLimitMs);
				assert.doesNotMatch(await tui.screen(), /Error|at .*\.ts:\d+/);
				await tui.close();
			});
		});

		test("leaves a line that says which background run ended with it and how to go on, and that works", async () => {
			const wait = () => [say("I wait."), hang()];
			const Continue = () => [say("I have gone on.")];
			const stage = await backgroundStage({ version, children: { wait, Continue } });
			try {
				// So narrow that the terminal would break the line in its command.
				const prompt = spawn({ task: "wait for it", label: "loader" });
				const tui = await startTui(stage.world, { columns: 98, prompt });
				await tui.waitFor(/[●◐] loader .* I wait\./);
				await tui.press("C-c");
				await tui.press("C-c");
				assert.equal(await tui.ended(endLimitMs), 0);
				await stage.world.assertNothingLeft(endLimitMs);
				const left = (await tui.scrollback()).replaceAll(/\s+/g, " ");
				const line = /1 background run ended with pi: (\w{8}) \(explorer "loader"\)\. .*`(\/subagents resume (\w{8}))`/;
				const [whole, id, resume = "", named] = line.exec(left) ?? [];
				assert.ok(whole, left);
				assert.equal(id, named);
				assert.equal(left.split("ended with pi").length, 2, "once");
				await tui.close();

				const again = await startTui(stage.world, { args: ["--continue"] });
				await again.waitFor(/⚠ loader · explorer · .* · interrupted/);
				await send(again, resume);
				await again.waitFor(/✓ resumed/);
				await again.waitFor("Heard success: ");
				await again.press("C-c");
				await again.press("C-c");
				assert.equal(await again.ended(endLimitMs), 0);
				assert.doesNotMatch(await again.scrollback(), /ended with pi/, "nothing was under way");
				await again.close();
			} finally {
				await stage.close();
			}
		});

		test("leaves a line that says which background run goes on without it, and the command in it finds that", async () => {
			const wait = () => [say("I wait."), hang()];
			const stage = await backgroundStage({ version, children: { wait } });
			try {
				stage.configure({ background: { onExit: "keep" } });
				const prompt = spawn({ task: "wait for it", label: "loader", runTimeoutSeconds: 600 });
				const tui = await startTui(stage.world, { prompt });
				await tui.waitFor(/[●◐] loader .* I wait\./);
				await tui.press("C-c");
				await tui.press("C-c");
				assert.equal(await tui.ended(endLimitMs), 0);
				const left = (await tui.scrollback()).replaceAll(/\s+/g, " ");
				const line = /1 background run goes on without pi: (\w{8}) \(explorer "loader"\)\. .*`(\/subagents list all)`/;
				const [whole, id = "", list = ""] = line.exec(left) ?? [];
				assert.ok(whole, left);
				assert.doesNotMatch(left, /ended with pi/);

				const again = await startTui(stage.world, { args: ["--continue"] });
				await again.waitFor(/[●◐] loader .* I wait\./);
				await send(again, list);
				await again.waitFor(new RegExp(`${id} · explorer "loader" · running`));
				await send(again, `/subagents stop ${id}`);
				await again.waitFor(/✓ stopped/);
				await again.press("C-c");
				await again.press("C-c");
				assert.equal(await again.ended(endLimitMs), 0);
				assert.doesNotMatch(await again.scrollback(), /without pi/, "nothing goes on");
				await again.close();
				await tui.close();
			} finally {
				await stage.close();
			}
		});

		test("takes its child along on SIGTERM, on SIGHUP and at the end of its input", async () => {
			await onStage({ version }, async (stage) => {
				for (const [signal, code] of [
					["SIGTERM", 143],
					["SIGHUP", 129],
				] as const) {
					const { pi, finished } = await startHanging(stage);
					pi.kill(signal);
					assert.equal((await finished).code, code);
					await stage.world.assertNothingLeft(endLimitMs);
				}
				const rpc = startRpc(stage.world);
				await rpc.send({ type: "prompt", message: hanging });
				await rpc.log.waitFor((event) => JSON.stringify(event.partialResult ?? "").includes("I begin."));
				const { code, stderr } = await rpc.close();
				assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
				await stage.world.assertNothingLeft(endLimitMs);
			});
		});

		test("takes its child along on SIGINT, which Ctrl+C sends to a headless pi", async () => {
			await onStage({ version }, async (stage) => {
				const { pi, finished } = await startHanging(stage);
				pi.kill("SIGINT");
				await finished;
				await stage.world.assertNothingLeft(endLimitMs);
			});
		});

		test("takes along what a child's tool has started", async () => {
			const sleep = () => [say("I sleep."), call("bash", { command: "sleep 600 & sleep 601" })];
			await onStage({ version, children: { sleep } }, async (stage) => {
				stage.configure({ allowWrite: true });
				stage.world.writeAgentDir("agents/doer.md", "---\nname: doer\ndescription: Does\ntools: bash\n---\nDo.\n");
				const rpc = startRpc(stage.world);
				await rpc.send({ type: "prompt", message: delegate({ agent: "doer", task: "sleep" }) });
				await waitForProcess(stage, "sleep 600");
				await rpc.send({ type: "abort" });
				await rpc.log.waitFor(({ type }) => type === "agent_settled");
				assert.equal(runOf(lastEnd(rpc.log)).outcome, "aborted");
				assert.equal(processes(stage), 1, "only pi itself");
				await rpc.close();
			});
		});
	});
}

/** Waits until a command runs in the stage's world. */
async function waitForProcess(stage: Stage, command: string): Promise<void> {
	const isThere = () => survivors(stage.world.mark).some((process) => process.command.startsWith(command));
	await eventually(isThere, command);
}
