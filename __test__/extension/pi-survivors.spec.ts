/** A child of real pi whose `bash` starts a process that escapes: no process remains after any end of the run. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
	call,
	delegate,
	endAll,
	hang,
	lastEnd,
	type ModelRequest,
	makeGate,
	onStage,
	type PiEvent,
	piVersions,
	type RpcSession,
	runOf,
	type Stage,
	type StageOptions,
	type Step,
	say,
	startRpc,
	startTui,
	survivors,
	until,
} from "../support/pi.ts";

/** The escaping process: it leaves the session of the shell that starts it, and holds the shell's output. */
const stray = "sleep 301";

/** The time that the last process of a tree has to exit, including pi's grace period. */
const goneMs = 5_000;

/** The time limit for the start of pi, of its child and of the child's shell. */
const upMs = 30_000;

const pollEveryMs = 20;

/** A child that lets something get away and then does what `next` says. */
function letting(next: () => Step[]): (request: ModelRequest) => Step[] {
	return ({ toolAnswers }) => (toolAnswers.length > 0 ? next() : [call("bash", { command: `setsid ${stray} &` })]);
}

const children = {
	leave: letting(() => [say("It sleeps.")]),
	stay: letting(() => [say("It sleeps."), hang()]),
};

const leaving = delegate({ agent: "doer", task: "leave" });
const staying = delegate({ agent: "doer", task: "stay" });

/** A stage with an agent that has `bash`. */
async function onStreet(options: StageOptions, work: (stage: Stage) => Promise<void>): Promise<void> {
	await onStage({ children, ...options }, async (stage) => {
		stage.configure({ allowWrite: true, graceMs: 500 });
		stage.world.writeAgentDir("agents/doer.md", "---\nname: doer\ndescription: Does\ntools: bash\n---\nDo.\n");
		try {
			await work(stage);
		} finally {
			// Not politely: a test that fails has left them to themselves.
			await endAll(stage.world.mark, 0);
		}
	});
}

function commands(stage: Stage): string[] {
	return survivors(stage.world.mark).map(({ command }) => command);
}

/** Waits until the processes of a stage are as they should be. */
async function eventually(stage: Stage, holds: (commands: string[]) => boolean, limitMs: number): Promise<void> {
	const deadline = performance.now() + limitMs;
	while (!holds(commands(stage))) {
		assert.ok(performance.now() < deadline, `these processes still run: ${commands(stage).join("\n")}`);
		await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
	}
}

/**
 * Checks that at once only pi itself remains of a tree. Its warden, which has reported it, may take a moment to exit on
 * a busy machine.
 */
async function onlyPi(stage: Stage): Promise<void> {
	const remaining = commands(stage).filter((command) => !/^\S*pi-subagent-warden( |$)/.test(command));
	assert.equal(remaining.length, 1, `only pi itself remains, not:\n${remaining.join("\n")}`);
	await eventually(stage, (running) => running.length === 1, goneMs);
}

const isOut = (commands: string[]) => commands.includes(stray);

/** A pi in RPC mode whose child lets something get away. */
async function letStay(stage: Stage, rpc: RpcSession): Promise<void> {
	const from = rpc.log.events.length;
	await rpc.send({ type: "prompt", message: staying });
	await rpc.log.waitFor(showsSleep, upMs, from);
	assert.ok(isOut(commands(stage)));
}

/** Kills pi, and waits for its end. */
async function killPi({ pi }: RpcSession): Promise<void> {
	pi.kill("SIGKILL");
	await pi.finished;
}

const showsSleep = (event: PiEvent) => JSON.stringify(event.partialResult ?? "").includes("It sleeps.");

const skip = process.platform !== "linux" && "looks into /proc";

for (const version of piVersions) {
	describe(`pi ${version}`, { skip }, () => {
		test("no process survives the end of a run, an abort or SIGKILL to pi", async () => {
			await onStreet({ version }, async (stage) => {
				const rpc = startRpc(stage.world);
				await rpc.prompt(leaving);
				assert.equal(runOf(lastEnd(rpc.log)).outcome, "completed");
				await onlyPi(stage);

				await letStay(stage, rpc);
				const from = rpc.log.events.length;
				await rpc.send({ type: "abort" });
				await rpc.log.waitFor(({ type }) => type === "agent_settled", upMs, from);
				assert.equal(runOf(lastEnd(rpc.log)).outcome, "aborted");
				await onlyPi(stage);

				await letStay(stage, rpc);
				await killPi(rpc);
				await eventually(stage, (remaining) => remaining.length === 0, goneMs);
			});
		});

		test("no process survives a quit during a run", async () => {
			await onStreet({ version }, async (stage) => {
				const tui = await startTui(stage.world, { prompt: staying });
				await tui.waitFor("It sleeps.");
				assert.ok(isOut(commands(stage)));
				await tui.press("C-c", "C-c");
				assert.equal(await tui.ended(), 0);
				await eventually(stage, (remaining) => remaining.length === 0, goneMs);
				await tui.close();
			});
		});

		test("no process survives a closed terminal", async () => {
			await onStreet({ version }, async (stage) => {
				const tui = await startTui(stage.world, { prompt: staying });
				await tui.waitFor("It sleeps.");
				assert.ok(isOut(commands(stage)));
				// Proves that nothing is left.
				await tui.close();
			});
		});

		test("a run continues over a reload and still ends with pi", async () => {
			const gate = makeGate();
			const wait = letting(() => [say("It sleeps."), until(gate.opened), say(" Done.")]);
			await onStreet({ version, children: { ...children, wait } }, async (stage) => {
				// pi refuses its own `/reload` during an answer. A user's extension may reload.
				stage.world.writeAgentDir("extensions/again.js", again);
				const rpc = startRpc(stage.world);
				await rpc.send({ type: "prompt", message: delegate({ agent: "doer", task: "wait" }) });
				await rpc.log.waitFor(showsSleep, upMs);
				await reload(rpc);
				assert.ok(isOut(commands(stage)), "the run continues");
				gate.open();
				await rpc.log.waitFor(({ type }) => type === "agent_settled");
				const run = runOf(lastEnd(rpc.log));
				assert.deepEqual([run.outcome, run.output], ["completed", "It sleeps. Done."]);
				await onlyPi(stage);

				await letStay(stage, rpc);
				await reload(rpc);
				assert.ok(isOut(commands(stage)), "the run continues");
				await rpc.close();
				await eventually(stage, (remaining) => remaining.length === 0, goneMs);
			});
		});
	});
}

// A limit that applies to any pi.
test("with only a process group a process survives the run's own end and SIGKILL", {
	skip,
}, async () => {
	await onStreet({ env: { PI_SUBAGENT_WARDEN: "" } }, async (stage) => {
		const rpc = startRpc(stage.world);
		await rpc.prompt(leaving);
		assert.ok(isOut(commands(stage)));
		const remaining = survivors(stage.world.mark).filter(({ command }) => command === stray);
		for (const { pid } of remaining) process.kill(pid, "SIGKILL");
		await eventually(stage, (commands) => !isOut(commands), goneMs);

		await letStay(stage, rpc);
		await killPi(rpc);
		// The child may have left by itself, because its input has ended.
		assert.ok(isOut(commands(stage)), "the escaped process remains");
	});
});

/** An extension with a command that reloads pi, and reports the result: pi refuses in the middle of a run. */
const again = `export default (pi) => {
	pi.on("session_start", ({ reason }, context) => context.ui.notify("session " + reason));
	pi.registerCommand("again", {
		description: "Loads everything again",
		handler: async (_args, context) => {
			try {
				await context.reload();
			} catch (error) {
				context.ui.notify("refused: " + error.message);
			}
		},
	});
};
`;

/** Reloads, and waits until pi has done so or has refused. */
async function reload(rpc: RpcSession): Promise<void> {
	const from = rpc.log.events.length;
	await rpc.send({ type: "prompt", message: "/again" });
	await rpc.log.waitFor(({ message }) => /^(session reload|refused: )/.test(String(message)), upMs, from);
}
