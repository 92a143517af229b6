/** Calls that are moved to the background while they wait, and runs that a person starts, in real pi. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
	announcementsIn,
	backgroundStage,
	delegate,
	detailsOf,
	eventually,
	makeGate,
	type PiEvent,
	piVersions,
	type RpcSession,
	say,
	says,
	startRpc,
	startTui,
	textOf,
	until,
} from "../support/pi.ts";

async function sessionFile(rpc: RpcSession): Promise<string> {
	const { data } = await rpc.send({ type: "get_state" });
	return (data as { sessionFile: string }).sessionFile;
}

const waits = { agent: "explorer", task: "wait for it" };

for (const version of piVersions) {
	describe(`calls of pi ${version} that are moved to the background`, () => {
		test("end at once, and their results are delivered once, after any end of the turn", async () => {
			const gate = makeGate();
			const stage = await backgroundStage({
				version,
				children: { wait: () => [until(gate.opened), say("It is done.")] },
			});
			try {
				const rpc = startRpc(stage.world);
				assert.match(await rpc.notices("/subagents background"), /no call waits for a sub-agent/);
				await rpc.send({ type: "prompt", message: delegate(waits, waits) });
				await rpc.untilNotice("/subagents list", /^● #2 .*running[\s\S]*^● #1 .*running/m);
				const moved = await rpc.notices("/subagents background");
				assert.equal(moved.match(/^→ \w{8} \(explorer\) continues in the background/gm)?.length, 2, moved);
				await rpc.log.waitFor(({ type }: PiEvent) => type === "agent_settled");
				const ends = rpc.log.toolEnds("subagent");
				assert.deepEqual(
					ends.map((end) => [end.isError, detailsOf(end).results[0]?.outcome]),
					[
						[false, "background"],
						[false, "background"],
					],
				);
				for (const end of ends) assert.match(textOf(end), /moved this to the background.*will arrive as a message/s);
				// Later events of the turn no longer reach them.
				await rpc.send({ type: "abort" });
				const list = await rpc.notices("/subagents list");
				assert.match(list, /^● #2 .*running[\s\S]*^● #1 .*running/m);
				assert.doesNotMatch(list, /a call waits for it/);
				gate.open();
				await rpc.log.waitFor(says("Heard success: It is done., success: It is done."));
				const file = await sessionFile(rpc);
				await eventually(() => announcementsIn(file).length === 1, "the announcement in the session");
				assert.equal(new Set(announcementsIn(file).flatMap(({ deliveryIds }) => deliveryIds)).size, 2);
				await rpc.close();
			} finally {
				await stage.close();
			}
		});

		test("say so on their card, by a key", async () => {
			const gate = makeGate();
			const stage = await backgroundStage({
				version,
				children: { wait: () => [until(gate.opened), say("It is done.")] },
			});
			try {
				const tui = await startTui(stage.world, { prompt: delegate(waits) });
				await tui.waitFor(/subagent explorer[\s\S]*wait for it/);
				await eventually(() => stage.childRequests().length > 0, "the request of the child");
				await tui.press("M-g");
				const seen = await tui.waitFor(/→ subagent explorer.*started/);
				assert.match(
					seen,
					/→ \w{8} \(explorer\) continues in the background *\n/,
					"only the card says that its result arrives",
				);
				gate.open();
				await tui.waitFor("Heard success: It is done.");
				await tui.close();
			} finally {
				await stage.close();
			}
		});

		test("are moved from the panel, and a foreground run shows its transcript", async () => {
			const gate = makeGate();
			const wait = () => [say("I look."), until(gate.opened), say("It is done.")];
			const stage = await backgroundStage({ version, children: { wait } });
			try {
				const tui = await startTui(stage.world, { prompt: delegate(waits) });
				await eventually(() => stage.childRequests().length > 0, "the request of the child");
				await tui.submitCommand("subagents");
				await tui.waitFor(/wait for it[\s\S]*b background/);
				await tui.press("b");
				await tui.waitFor("continues in the background");
				await tui.press("Escape");
				await tui.waitFor(/→ subagent explorer.*started/);
				await tui.submitCommand("subagents", "run --wait explorer wait again");
				await tui.waitFor(/wait again[\s\S]*I look\.[\s\S]*(?:back|keys)/);
				gate.open();
				await tui.waitFor("It is done.");
				await tui.press("q");
				await tui.waitFor("Sub-agents");
				await tui.press("q");
				await tui.waitFor(/Heard success/);
				await tui.close();
			} finally {
				await stage.close();
			}
		});

		test("a person starts an agent without a turn, while pi is idle and while it works", async () => {
			const gate = makeGate();
			const stage = await backgroundStage({
				version,
				children: { wait: () => [until(gate.opened), say("It is done.")] },
			});
			try {
				const rpc = startRpc(stage.world);
				assert.match(await rpc.notices("/subagents run explorer"), /the task for `explorer` is missing/);
				assert.match(await rpc.notices("/subagents run explorr look"), /Unknown agent `explorr`.*explorer/s);
				const started = await rpc.notices("/subagents run explorer say one");
				assert.match(started, /^→ started \w{8} \(explorer\) in the background: its result arrives as a message$/m);
				await rpc.log.waitFor(says("Heard success: one"));
				await rpc.send({ type: "prompt", message: delegate(waits) });
				await rpc.untilNotice("/subagents list", /a call waits for it/);
				assert.match(await rpc.notices("/subagents run explorer say two"), /^→ started/m);
				gate.open();
				await rpc.log.waitFor(says("Heard success: two"), 30_000);
				await rpc.close();
			} finally {
				await stage.close();
			}
		});
	});
}
