/** Background runs in real pi with a client: each end reaches the conversation once, for any fate of either. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
	announcementsIn,
	backgroundStage,
	deliveryCount,
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
	until,
} from "../support/pi.ts";

/** Shows in a status line how many runs there are: when one has ended, that is in the store. */
const example = join(packageDir, "examples/subagent-events");
/** A command that loads everything again. */
const reloads = `export default (pi) => {
	pi.registerCommand("again", { description: "Loads everything again", handler: async (_args, context) => await context.reload() });
};
`;
/** A command after which its pi is killed as soon as a run has ended. */
const dies = `export default (pi) => {
	const handler = async () => { pi.events.on("subagent:ended", () => process.kill(process.pid, "SIGKILL")); };
	pi.registerCommand("die", { description: "Dies with the next run", handler });
};
`;
/** The time limit of a delivery: two seconds for others to join it, and a turn. */
const deliveryLimitMs = 15_000;

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
		// One pi after the other in one world; each test goes on in a session of its own.
		const [first, second] = [makeGate(), makeGate()];
		let waitGate = makeGate();
		let hold = Promise.resolve();
		let stage: Stage;
		let rpc: RpcSession;
		before(async () => {
			const children = {
				...parent(async () => [until(hold), say("Spawned.")]),
				first: ({ userText }: ModelRequest) => [until(first.opened), say(userText)],
				second: ({ userText }: ModelRequest) => [until(second.opened), say(userText)],
				wait: ({ userText }: ModelRequest) => [until(waitGate.opened), say(userText)],
				hang: () => [say("So far."), hang()],
			};
			stage = await backgroundStage({ version, children, extensions: [example] });
			stage.world.writeAgentDir("extensions/again.js", reloads);
			stage.world.writeAgentDir("extensions/dies.js", dies);
			rpc = startRpc(stage.world);
		});
		after(() => stage.close());

		test("start a turn of an idle pi, join an active turn before its end, and start none after an abort", async () => {
			await rpc.prompt(spawn({ task: "first", label: "a" }));
			const [receipt] = rpc.log.toolEnds("sessions_spawn");
			assert.equal(receipt?.isError, false);
			let from = rpc.log.events.length;
			first.open();
			await rpc.log.waitFor(says("Heard success: first"), deliveryLimitMs, from);
			await rpc.log.waitFor(isSettled, deliveryLimitMs, from);
			assert.equal(deliveryCount(lastRequest(stage)), 1);

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
			assert.equal(announcementsIn(await sessionFile(rpc)).length, 1, "the second message waits for the model");
			release.open();
			await rpc.log.waitFor(says("Heard success: "), deliveryLimitMs, from);
			await rpc.log.waitFor(isSettled, deliveryLimitMs, from);
			const since = rpc.log.events.slice(from);
			assert.ok(since.findIndex(isSettled) > since.findIndex(says("Heard")), "pi reports the result before it settles");
			assert.equal(deliveryCount(lastRequest(stage)), 3);

			// After an abort: it stands in the session, and the model reads it with the next prompt.
			release = makeGate();
			hold = release.opened;
			from = rpc.log.events.length;
			await rpc.send({ type: "prompt", message: spawn({ task: "say four" }) });
			await showsRuns(rpc, 0, await showsRuns(rpc, 1, from));
			await rpc.send({ type: "abort" });
			await rpc.log.waitFor(isSettled, deliveryLimitMs, from);
			hold = Promise.resolve();
			const file = await sessionFile(rpc);
			await eventually(
				() => announcementsIn(file).flatMap(({ runIds }) => runIds).length === 4,
				"the announcement of the fourth run",
			);
			const requests = stage.server.requests.length;
			await rpc.prompt("Hello?");
			assert.equal(stage.server.requests.length, requests + 1, "only the prompt starts a turn");
			assert.equal(deliveryCount(lastRequest(stage)), 4);
			const ids = announcementsIn(file).flatMap(({ deliveryIds }) => deliveryIds);
			assert.equal(new Set(ids).size, 4);
		});

		test("wait for a closed session, and are delivered when it is reopened", async () => {
			await rpc.send({ type: "new_session" });
			await rpc.prompt(spawn({ task: "wait" }));
			const file = await sessionFile(rpc);
			await rpc.send({ type: "new_session" });
			await rpc.prompt("Hello?");
			const child = await stage.server.waitFor(({ isChild, userText }) => isChild && userText.startsWith("wait"));
			waitGate.open();
			await child.ended;
			assert.equal(deliveryCount(lastRequest(stage)), 0);
			const from = rpc.log.events.length;
			await rpc.send({ type: "switch_session", sessionPath: file });
			await rpc.log.waitFor(says("Heard success: wait"), deliveryLimitMs, from);
			await rpc.log.waitFor(isSettled, deliveryLimitMs, from);
			assert.equal(deliveryCount(lastRequest(stage)), 1);
			await rpc.close();
			rpc = startRpc(stage.world, { args: ["--session", file] });
			await rpc.prompt("Hello?");
			assert.equal(deliveryCount(lastRequest(stage)), 1, "the result is not delivered again");

			// A reload replaces the extension in the middle of a run.
			waitGate = makeGate();
			const before = rpc.log.events.length;
			await rpc.prompt(spawn({ task: "wait once more" }));
			await rpc.send({ type: "prompt", message: "/again" });
			waitGate.open();
			await rpc.log.waitFor(says("Heard success: wait once more"), deliveryLimitMs, before);
			await rpc.log.waitFor(isSettled, deliveryLimitMs, before);
			assert.equal(deliveryCount(lastRequest(stage)), 2);
		});

		test("survive SIGKILL to pi, before and after their delivery", async () => {
			waitGate = makeGate();
			await rpc.send({ type: "new_session" });
			const from = rpc.log.events.length;
			await rpc.prompt(spawn({ task: "wait for one" }, { task: "hang" }));
			const file = await sessionFile(rpc);
			await showsRuns(rpc, 2, from);
			await rpc.send({ type: "prompt", message: "/die" });
			// The other run keeps the first one's end waiting for company: it is in the store and not yet told.
			waitGate.open();
			await rpc.pi.finished;
			assert.deepEqual(announcementsIn(file), []);

			const again = startRpc(stage.world, { args: ["--session", file] });
			await eventually(
				() => announcementsIn(file).flatMap(({ runIds }) => runIds).length === 2,
				"the announcements of both runs",
			);
			again.pi.kill("SIGKILL");
			await again.pi.finished;

			const third = startRpc(stage.world, { args: ["--session", file] });
			await third.prompt("Hello?");
			const request = lastRequest(stage);
			assert.equal(deliveryCount(request), 2, "each result is delivered once");
			const words = JSON.stringify(request?.messages);
			for (const status of ["success", "unknown"]) assert.ok(words.includes(`Status: ${status}`), status);
			await third.close();
			const announced = announcementsIn(file);
			assert.equal(new Set(announced.flatMap(({ deliveryIds }) => deliveryIds)).size, 2);
			const journal = readFileSync(join(stage.world.home, "subagent-journal.tsv"), "utf8");
			const ended = announced.flatMap(({ runIds }) => runIds);
			assert.ok(
				ended.some((id) => journal.includes(id)),
				"the example has recorded the ended runs",
			);
		});
	});
}
