/** Any end of a session of real pi ends the children in it: no process stays, and pi does not crash. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
	backgroundStage,
	call,
	delegate,
	eventually,
	hang,
	lastEnd,
	makeGate,
	onStage,
	type PiEvent,
	piVersions,
	runOf,
	Stage,
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

/** The time limit of pi's end on a busy machine. Its child is first asked to exit. */
const endLimitMs = 20_000;

function processes(stage: Stage): number {
	return survivors(stage.world.mark).length;
}

async function send(tui: Tui, text: string): Promise<void> {
	await tui.type(text);
	await tui.press("Enter");
}

const showsBegin = (event: PiEvent) => JSON.stringify(event.partialResult ?? "").includes("I begin.");

/** Quits like a user in a hurry. The exit code must be the one of a normal end. */
async function quit(tui: Tui): Promise<void> {
	await tui.press("C-c", "C-c");
	assert.equal(await tui.ended(endLimitMs), 0);
}

/** Returns the terminal's content after pi has exited, as one line. */
async function outputOf(tui: Tui): Promise<string> {
	return (await tui.scrollback()).replaceAll(/\s+/g, " ");
}

/** A pi in JSON mode whose child hangs. */
async function startHanging(stage: Stage) {
	const session = startJson(stage.world, hanging);
	await session.log.waitFor(showsBegin);
	assert.equal(processes(stage), delegating, "pi, its child and the child's warden run");
	return session;
}

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		describe("in one terminal", () => {
			const gate = makeGate();
			const wait = () => [say("I wait."), until(gate.opened), say(" Done.")];
			let stage: Stage;
			let tui: Tui;
			before(async () => {
				stage = await Stage.open({ version, children: { wait } });
				tui = await startTui(stage.world, { prompt: delegate({ agent: "explorer", task: "wait for it" }) });
			});
			after(() => stage.close());

			test("continues a run after a refused /reload, and delegates and draws after an accepted one", async () => {
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
			});

			test("ends a run with its session on /new, and delegates in the next; a closed terminal ends that run", async () => {
				await send(tui, hanging);
				await tui.waitFor("I begin.");
				await send(tui, "/new");
				await tui.waitFor("New session started");
				assert.equal(processes(stage), 1, "the child of the old session has ended");
				await send(tui, hanging);
				await tui.waitFor("I begin.");
				assert.equal(processes(stage), delegating);
				// Proves that nothing is left.
				await tui.close();
			});
		});

		describe("in one conversation", () => {
			const wait = () => [say("I wait."), hang()];
			const Continue = () => [say("I have gone on.")];
			let stage: Stage;
			/** The command in the last line that a pi has left, and the run that goes on. */
			let resumeCommand = "";
			let detachedId = "";
			before(async () => {
				stage = await backgroundStage({ version, children: { wait, Continue } });
			});
			after(() => stage.close());

			test("prints which background run ended with it and how to continue", async () => {
				// So narrow that the terminal would break the line in its command.
				const prompt = spawn({ task: "wait for it", label: "loader" });
				const tui = await startTui(stage.world, { columns: 98, prompt });
				await tui.waitFor(/[●◐] loader .* I wait\./);
				await quit(tui);
				await stage.world.assertNothingLeft(endLimitMs);
				const output = await outputOf(tui);
				const line = /1 background run ended with pi: (\w{8}) \(explorer "loader"\)\. .*`(\/subagents resume (\w{8}))`/;
				const [whole, id, resume = "", named] = line.exec(output) ?? [];
				assert.ok(whole, output);
				assert.equal(id, named);
				assert.equal(output.split("ended with pi").length, 2, "the line is printed once");
				await tui.close();
				resumeCommand = resume;
			});

			test("prints which background run continues without it", async () => {
				const tui = await startTui(stage.world, { args: ["--continue"] });
				await tui.waitFor(/⚠ loader · explorer · .* · interrupted/);
				await send(tui, resumeCommand);
				await tui.waitFor(/→ resumed/);
				await tui.waitFor("Heard success: ");
				stage.configure({ background: { onExit: "keep" } });
				await send(tui, spawn({ task: "wait for it", label: "detached", runTimeoutSeconds: 600 }));
				await tui.waitFor(/[●◐] detached .* I wait\./);
				await quit(tui);
				const output = await outputOf(tui);
				const line =
					/1 background run continues without pi: (\w{8}) \(explorer "detached"\)\. .*`(\/subagents list all)`/;
				const [whole, id = "", list = ""] = line.exec(output) ?? [];
				assert.ok(whole, output);
				assert.doesNotMatch(output, /ended with pi/, "no resumed run is reported as ended with pi");
				detachedId = id;
				resumeCommand = list;
			});

			test("finds that run by the printed command; quits on two Ctrl+C during a run", async () => {
				const tui = await startTui(stage.world, { args: ["--continue"] });
				await tui.waitFor(/[●◐] detached .* I wait\./);
				await send(tui, resumeCommand);
				await tui.waitFor(new RegExp(`${detachedId} · explorer "detached" · running`));
				await send(tui, `/subagents stop ${detachedId}`);
				await tui.waitFor(/⚠ detached · explorer .* stopped/);
				await send(tui, hanging);
				await tui.waitFor("I begin.");
				await quit(tui);
				await stage.world.assertNothingLeft(endLimitMs);
				assert.doesNotMatch(await tui.screen(), /Error|at .*\.ts:\d+/);
				assert.doesNotMatch(await tui.scrollback(), /(ended with|without) pi/, "no background run was active");
				await tui.close();
			});
		});

		test("ends its child on SIGTERM and on SIGHUP", async () => {
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
			});
		});

		test("ends its child on SIGINT, which Ctrl+C sends to a headless pi", async () => {
			await onStage({ version }, async (stage) => {
				const { pi, finished } = await startHanging(stage);
				pi.kill("SIGINT");
				await finished;
				await stage.world.assertNothingLeft(endLimitMs);
			});
		});

		test("ends the processes of a child's tool on an abort, and its child at the end of its input", async () => {
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
				assert.equal(processes(stage), 1, "only pi itself remains");

				await rpc.send({ type: "prompt", message: hanging });
				await rpc.log.waitFor(showsBegin);
				const { code, stderr } = await rpc.close();
				assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
				await stage.world.assertNothingLeft(endLimitMs);
			});
		});
	});
}

/** Waits until a command runs in the stage's world. */
async function waitForProcess(stage: Stage, command: string): Promise<void> {
	const isThere = () => survivors(stage.world.mark).some((process) => process.command.startsWith(command));
	await eventually(isThere, command);
}
