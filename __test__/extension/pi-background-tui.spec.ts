/** Background runs as a user sees and commands them: the message in the transcript, Escape, `/stop` and `/subagents`. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import {
	backgroundStage,
	deliveryCount,
	hang,
	type ModelRequest,
	makeGate,
	type PiEvent,
	parent,
	piVersions,
	say,
	spawn,
	startRpc,
	startTui,
	type Tui,
	until,
} from "../support/pi.ts";

async function enter(tui: Tui, text: string): Promise<void> {
	await tui.type(text);
	await tui.waitFor(text);
	await tui.press("Enter");
}

for (const version of piVersions) {
	describe(`background runs in the terminal of pi ${version}`, () => {
		test("draw their end, keep it over Escape, and draw it again when the session is opened", async () => {
			let [work, hold] = [makeGate(), Promise.resolve()];
			const children = {
				...parent(async () => [until(hold), say("Spawned.")]),
				work: ({ userText }: ModelRequest) => [until(work.opened), say(`# Report\n\nOn **${userText}**.`)],
			};
			const stage = await backgroundStage({ version, children });
			try {
				const tui = await startTui(stage.world, { prompt: spawn({ task: "work a", label: "loader" }) });
				await tui.waitFor("Spawned.");
				work.open();
				const drawn = await tui.waitFor("Heard success: ");
				assert.match(drawn, /→ background explorer · started · loader · \w{8} · work a/);
				assert.match(drawn, / ✓ loader · explorer · [\d.]+s\n {3}Report\n {3}On work a\.\n/);
				await tui.press("C-o");
				await tui.waitFor(/agent:explorer:subagent:[\w-]{36}\n {3}session [~…]\S*\/session\.jsonl/);
				await tui.press("C-o");

				// Escape empties pi's queues and ends the turn; the news is there, and no turn.
				work = makeGate();
				const workGate = makeGate();
				hold = workGate.opened;
				await enter(tui, spawn({ task: "work b", label: "second" }));
				const asked = await stage.server.waitFor(({ userText }) => userText === "work b");
				await tui.waitFor(/[●◐] second/);
				// The turn that is held: the model has the answer of its call.
				await stage.server.waitFor(
					({ userText, toolAnswers }) => userText.includes('"second"') && toolAnswers.length > 0,
				);
				work.open();
				await asked.ended;
				await tui.waitFor((screen) => !/[●◐] second/.test(screen));
				const requests = stage.server.requests.length;
				await tui.press("Escape");
				await tui.waitFor(/ ✓ second · explorer · [\d.]+s\n {3}Report/);
				assert.equal(stage.server.requests.length, requests, "no turn starts");
				await enter(tui, "Hello?");
				await tui.waitFor("Yes.");
				assert.equal(deliveryCount(stage.server.requests.at(-1)), 2);
				await tui.press("C-c", "C-c");
				assert.equal(await tui.ended(), 0);
				await tui.close();

				const again = await startTui(stage.world, { args: ["--continue"], rows: 50 });
				const screen = await again.waitFor(/ ✓ loader · explorer · [\s\S]* ✓ second · explorer · [\s\S]*Yes\./);
				assert.equal(screen.split("✓ second · explorer").length, 2, "the result is shown once");
				await again.close();
			} finally {
				await stage.close();
			}
		});

		test("are listed, stopped and continued by the same commands for a client", async () => {
			const children = { wait: () => [say("I wait."), hang()] };
			const stage = await backgroundStage({ version, children });
			try {
				const rpc = startRpc(stage.world);
				assert.match(await rpc.notices("/stop"), /nothing is running/);
				await rpc.prompt(spawn({ task: "wait", label: "a" }, { task: "wait", label: "b" }));
				const atWork = () => stage.server.requests.filter(({ isParent }) => !isParent).length;
				await eventually(() => atWork() === 2, "the requests of both children");
				const list = await rpc.notices("/subagents list");
				assert.match(list, /^[●◐] #2 {2}\w{8} · explorer "a" · [\s\S]*^[●◐] #1 {2}\w{8} · explorer "b" · /m);
				assert.equal(
					(await rpc.notices("/subagents")).split("\n").length,
					list.split("\n").length,
					"`/subagents` without arguments lists the runs",
				);
				assert.match(await rpc.notices("/subagents info nobody"), /^✗ there is no run `nobody`$/m);
				const stopped = await rpc.notices("/subagents stop a");
				assert.match(stopped, /^✓ stopped \w{8} \(explorer "a"\) and everything it had started$/m);
				const from = rpc.log.events.length;
				const turns = () => stage.server.requests.filter(({ isParent }) => isParent).length;
				const before = turns();
				assert.match(await rpc.notices("/stop"), /stopped 1 background run/);
				// The end of a stopped run is delivered and starts no turn.
				const appended = ({ message }: PiEvent) => JSON.stringify(message ?? "").includes('"aborted"');
				await rpc.log.waitFor(appended, 15_000, from);
				assert.equal(turns(), before);
				const finalList = await rpc.notices("/subagents list");
				assert.match(
					finalList,
					/^⚠ #2 {2}\w{8} · explorer "a" · stopped [\s\S]*^⚠ #1 {2}\w{8} · explorer "b" · stopped /m,
				);
				await rpc.close();
			} finally {
				await stage.close();
			}
		});
	});
}
