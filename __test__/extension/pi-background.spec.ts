/** Background runs in real pi with a client: their ends reach the conversation, once each, whatever happens to either. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
	announcementsIn,
	backgroundStage,
	type Children,
	eventually,
	hang,
	type ModelRequest,
	makeGate,
	type PiEvent,
	packageDir,
	parent,
	piVersions,
	type RpcSession,
	type Stage,
	say,
	says,
	spawn,
	startRpc,
	timesTold,
	until,
} from "../support/pi.ts";

/** Shows in a status line how many runs there are: when one has ended, that is in the store. */
const example = join(packageDir, "examples/subagent-events");
/** A command that loads everything again. */
const reloads = `export default (pi) => {
	pi.registerCommand("again", { description: "Loads everything again", handler: async (_args, context) => await context.reload() });
};
`;
/** Kills its pi as soon as a run has ended. */
const dies = `export default (pi) => {
	if (process.env.DIES_WITH_THE_FIRST_RUN) pi.events.on("subagent:ended", () => process.kill(process.pid, "SIGKILL"));
};
`;
/** How long an end may take to be told: two seconds for others to join it, and a turn. */
const toldMs = 15_000;

async function onStage(version: string, children: Children, work: (stage: Stage) => Promise<void>): Promise<void> {
	const stage = await backgroundStage({ version, children, extensions: [example] });
	try {
		await work(stage);
	} finally {
		await stage.close();
	}
}

const isSettled = ({ type }: PiEvent) => type === "agent_settled";

/** The session's file; pi may not have written it yet. */
async function sessionFile(rpc: RpcSession): Promise<string> {
	const { data } = await rpc.send({ type: "get_state" });
	return (data as { sessionFile: string }).sessionFile;
}

/** Waits until the status line of the example tells of so many runs. Returns where in the log to look on. */
async function showsRuns(rpc: RpcSession, count: number, from = 0): Promise<number> {
	const shows = ({ method, statusKey, statusText }: PiEvent) => {
		if (method !== "setStatus" || statusKey !== "subagent-events") return false;
		return count === 0 ? statusText === undefined : String(statusText).startsWith(`${count} in the background`);
	};
	return rpc.log.events.indexOf(await rpc.log.waitFor(shows, 30_000, from)) + 1;
}

function lastRequest(stage: Stage): ModelRequest | undefined {
	return stage.server.requests.filter(({ isParent }) => isParent).at(-1);
}

for (const version of piVersions) {
	describe(`background runs in pi ${version}`, () => {
		test("start a turn when pi is idle, join one where it would rest, and start none after an abort", async () => {
			let [first, second, hold] = [makeGate(), makeGate(), Promise.resolve()];
			const children = {
				...parent(async () => [until(hold), say("Spawned.")]),
				first: ({ userText }: ModelRequest) => [until(first.opened), say(userText)],
				second: ({ userText }: ModelRequest) => [until(second.opened), say(userText)],
			};
			await onStage(version, children, async (stage) => {
				const rpc = startRpc(stage.world);
				await rpc.prompt(spawn({ task: "first", label: "a" }));
				const [receipt] = rpc.log.toolEnds("sessions_spawn");
				assert.equal(receipt?.isError, false);
				let from = rpc.log.events.length;
				first.open();
				await rpc.log.waitFor(says("Heard success: first"), toldMs, from);
				await rpc.log.waitFor(isSettled, toldMs, from);
				assert.equal(timesTold(lastRequest(stage)), 1);

				// While the model works: in the same run of pi, after its answer.
				let release = makeGate();
				hold = release.opened;
				from = rpc.log.events.length;
				await rpc.send({ type: "prompt", message: spawn({ task: "second" }, { task: "say it" }) });
				const both = await showsRuns(rpc, 2, from);
				second.open();
				await showsRuns(rpc, 0, both);
				// Nothing but time shows that no message follows.
				await delay(500);
				assert.equal(announcementsIn(await sessionFile(rpc)).length, 1, "it waits for the model");
				release.open();
				await rpc.log.waitFor(says("Heard success: "), toldMs, from);
				await rpc.log.waitFor(isSettled, toldMs, from);
				const since = rpc.log.events.slice(from);
				assert.ok(since.findIndex(isSettled) > since.findIndex(says("Heard")), "without coming to rest before");
				assert.equal(timesTold(lastRequest(stage)), 3);

				// After an abort: it stands in the session, and the model reads it with the next prompt.
				release = makeGate();
				hold = release.opened;
				from = rpc.log.events.length;
				await rpc.send({ type: "prompt", message: spawn({ task: "say four" }) });
				await showsRuns(rpc, 0, await showsRuns(rpc, 1, from));
				await rpc.send({ type: "abort" });
				await rpc.log.waitFor(isSettled, toldMs, from);
				const file = await sessionFile(rpc);
				await eventually(() => announcementsIn(file).flatMap(({ runIds }) => runIds).length === 4, "it is told");
				const requests = stage.server.requests.length;
				await rpc.prompt("Hello?");
				assert.equal(stage.server.requests.length, requests + 1, "no turn but the prompt's");
				assert.equal(timesTold(lastRequest(stage)), 4);
				const ids = announcementsIn(file).flatMap(({ deliveryIds }) => deliveryIds);
				assert.equal(new Set(ids).size, 4);
				await rpc.close();
			});
		});

		test("wait for a session that is closed, and are told when it is opened again", async () => {
			let gate = makeGate();
			const wait = ({ userText }: ModelRequest) => [until(gate.opened), say(userText)];
			await onStage(version, { wait }, async (stage) => {
				stage.world.writeAgentDir("extensions/again.js", reloads);
				const rpc = startRpc(stage.world);
				await rpc.prompt(spawn({ task: "wait" }));
				const file = await sessionFile(rpc);
				await rpc.send({ type: "new_session" });
				await rpc.prompt("Hello?");
				gate.open();
				await stage.childRequests().at(-1)?.over;
				assert.equal(timesTold(lastRequest(stage)), 0);
				const from = rpc.log.events.length;
				await rpc.send({ type: "switch_session", sessionPath: file });
				await rpc.log.waitFor(says("Heard success: wait"), toldMs, from);
				await rpc.log.waitFor(isSettled, toldMs, from);
				assert.equal(timesTold(lastRequest(stage)), 1);
				await rpc.close();
				const again = startRpc(stage.world, { args: ["--session", file] });
				await again.prompt("Hello?");
				assert.equal(timesTold(lastRequest(stage)), 1, "not again");

				// A reload replaces the extension in the middle of a run.
				gate = makeGate();
				const before = again.log.events.length;
				await again.prompt(spawn({ task: "wait once more" }));
				await again.send({ type: "prompt", message: "/again" });
				gate.open();
				await again.log.waitFor(says("Heard success: wait once more"), toldMs, before);
				assert.equal(timesTold(lastRequest(stage)), 2);
				await again.close();
			});
		});

		test("outlast SIGKILL to pi, before they are told and after", async () => {
			const gate = makeGate();
			const children = {
				wait: ({ userText }: ModelRequest) => [until(gate.opened), say(userText)],
				hang: () => [say("So far."), hang()],
			};
			await onStage(version, children, async (stage) => {
				stage.world.writeAgentDir("extensions/dies.js", dies);
				const killed = startRpc(stage.world, { env: { DIES_WITH_THE_FIRST_RUN: "1" } });
				await killed.prompt(spawn({ task: "wait for one" }, { task: "hang" }));
				const file = await sessionFile(killed);
				await showsRuns(killed, 2);
				// The other run keeps the first one's end waiting for company: it is in the store and not yet told.
				gate.open();
				await killed.pi.finished;
				assert.deepEqual(announcementsIn(file), []);

				const second = startRpc(stage.world, { args: ["--session", file] });
				await eventually(() => announcementsIn(file).flatMap(({ runIds }) => runIds).length === 2, "both are told");
				second.pi.kill("SIGKILL");
				await second.pi.finished;

				const third = startRpc(stage.world, { args: ["--session", file] });
				await third.prompt("Hello?");
				const told = lastRequest(stage);
				assert.equal(timesTold(told), 2, "once each");
				const words = JSON.stringify(told?.messages);
				for (const status of ["success", "unknown"]) assert.ok(words.includes(`Status: ${status}`), status);
				await third.close();
				assert.equal(new Set(announcementsIn(file).flatMap(({ deliveryIds }) => deliveryIds)).size, 2);
				assert.ok(existsSync(join(stage.world.home, "subagent-journal.tsv")), "the example has noted what has ended");
			});
		});
	});
}
