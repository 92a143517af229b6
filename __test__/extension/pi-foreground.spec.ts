/** Runs that a call waits for are reached as any others: by `/subagents`, while the call goes on. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
	backgroundStage,
	call,
	detailsOf,
	hang,
	type ModelRequest,
	makeGate,
	type PiEvent,
	piVersions,
	say,
	startRpc,
	until,
} from "../support/pi.ts";

for (const version of piVersions) {
	describe(`runs that a call of pi ${version} waits for`, () => {
		test("are listed and reported, accept a message, and one is stopped while the other ends", async () => {
			const gate = makeGate();
			const tasks = [
				{ agent: "explorer", task: "wait for it" },
				{ agent: "reviewer", task: "hold on" },
			];
			const both = ({ toolAnswers }: ModelRequest) =>
				toolAnswers.length > 0 ? [say("Both are over.")] : [call("subagent_parallel", { tasks })];
			const wait = ({ toolAnswers }: ModelRequest) =>
				toolAnswers.length > 0
					? [until(gate.opened), say("It is done.")]
					: [say("I look."), call("read", { path: "README.md" })];
			const hold = () => [say("I hold."), hang()];
			const stage = await backgroundStage({ version, children: { both, wait, hold } });
			try {
				const rpc = startRpc(stage.world);
				await rpc.send({ type: "prompt", message: "both of them" });
				const listed = /^● #2 .* · running .*\n● #1 .* · running .* · a call waits for it$/m;
				const list = await rpc.untilNotice("/subagents list", listed);
				const idOf = (agent: string) =>
					new RegExp(`^● #\\d {2}(\\w{8}) · ${agent} · \`[wh]\\w+ \\w+.* · running`, "m").exec(list)?.[1];
				const [explorer, reviewer] = [idOf("explorer"), idOf("reviewer")];
				assert.ok(explorer && reviewer, list);
				assert.match(await rpc.notices(`/subagents info ${explorer}`), /a call waits for it/);
				await rpc.untilNotice(`/subagents log ${explorer}`, /I look\./);
				const sent = await rpc.notices(`/subagents send ${explorer} Be brief.`);
				assert.match(sent, /^→ sent to \w{8} \(explorer\), which reads it before its next turn$/m);
				const stopped = await rpc.notices(`/subagents stop ${reviewer}`);
				assert.match(stopped, /^✓ stopped \w{8} \(reviewer\) and everything it had started$/m);
				assert.equal(
					rpc.log.events.filter(({ type }) => type === "tool_execution_end").length,
					0,
					"the call continues",
				);
				assert.match(await rpc.notices("/subagents stop nobody"), /there is no run `nobody`/);

				gate.open();
				await rpc.log.waitFor(({ type }: PiEvent) => type === "agent_settled");
				const end = rpc.log.toolEnds("subagent_parallel").at(-1) ?? assert.fail("the call has not ended");
				const outcomes = detailsOf(end).results.map(({ agent, outcome }) => ({ agent, outcome }));
				assert.deepEqual(outcomes, [
					{ agent: "explorer", outcome: "completed" },
					{ agent: "reviewer", outcome: "aborted" },
				]);
				const wasReceived = stage.childRequests().some(({ userText }) => userText === "Be brief.");
				assert.ok(wasReceived, "the child has read the message");
				assert.doesNotMatch(await rpc.notices("/subagents list"), /a call waits for it/);
				assert.equal(stage.server.requests.filter(({ isParent }) => isParent).length, 2, "no result was announced");
				await rpc.close();
			} finally {
				await stage.close();
			}
		});
	});
}
