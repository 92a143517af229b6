/** Background runs in print and JSON mode: pi stays until they have ended and the model has read their results. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
	backgroundStage,
	call,
	deliveryCount,
	hang,
	type ModelRequest,
	PiProcess,
	parent,
	piVersions,
	resultsIn,
	runJson,
	runPrint,
	type Stage,
	say,
	spawn,
} from "../support/pi.ts";

for (const version of piVersions) {
	describe(`background runs without a user in pi ${version}`, () => {
		// The print modes share one world: the last pi lists the runs of the others.
		let stage: Stage;
		before(async () => {
			// Two may end far enough apart to be delivered separately.
			const Background = ({ wholeUserText }: ModelRequest) => [
				say(`Heard ${resultsIn(wholeUserText).sort().join(", ")}`),
			];
			const hangs = () => [say("So far."), hang()];
			stage = await backgroundStage({ version, children: { Background, hang: hangs } });
		});
		after(() => stage.close());

		test("print mode: the last answer has used both results", async () => {
			const { code, stdout, stderr } = await runPrint(
				stage.world,
				spawn({ task: "say one" }, { task: "say two", label: "second", cleanup: "delete" }),
			);
			assert.deepEqual([code, stdout, stderr], [0, "Heard success: one, success: two\n", ""]);
		});

		test("JSON mode: several rounds, until the model spawns no more runs", async () => {
			const Background = ({ userText, toolAnswers }: ModelRequest) => {
				const results = resultsIn(userText).join(", ");
				if (!results.includes("more")) return [say(`Heard ${results}`)];
				return [toolAnswers.length > 0 ? say("Spawned again.") : call("sessions_spawn", { task: "say enough" })];
			};
			const stage = await backgroundStage({ version, children: { ...parent(), Background } });
			try {
				const { code, log } = await runJson(stage.world, spawn({ task: "say more" }));
				assert.deepEqual([code, log.answer, log.noise], [0, "Heard success: enough", []]);
				const last = stage.server.requests.filter(({ isParent }) => isParent).at(-1);
				assert.equal(deliveryCount(last), 2);
				const announcements = log.events.filter((event) =>
					JSON.stringify(event.entry ?? "").includes("subagent-announcement"),
				);
				assert.equal(announcements.length, 2, "each result is one entry");
				assert.equal(log.events.filter(({ type }) => type === "agent_settled").length, 1, "pi settles only once");
			} finally {
				await stage.close();
			}
		});

		test("a signal ends the wait at once, and the next pi in the session reports the interrupted runs", async () => {
			for (const [signal, ends] of [["SIGTERM", [143, null]] as const, ["SIGINT", [null, "SIGINT"]] as const]) {
				const from = stage.server.requests.length;
				const pi = new PiProcess(stage.world, ["-p", spawn({ task: "hang" })], {}, "ignore");
				await stage.server.waitFor(({ index, userText }) => index >= from && userText.startsWith("hang"));
				const spawned = await stage.server.waitFor(({ index, toolAnswers }) => index >= from && toolAnswers.length > 0);
				await spawned.ended;
				pi.kill(signal);
				const { code, signal: by } = await pi.finished;
				assert.deepEqual([code, by], ends);
			}
			// The greeting first, then the list.
			const next = await runPrint(stage.world, "/subagents list all", { args: ["--continue", "Hello?"] });
			assert.equal(next.code, 0);
			const requests = stage.server.requests.filter(({ isParent }) => isParent);
			assert.equal(deliveryCount(requests.at(-1)), 1);
			const messages = JSON.stringify(requests.at(-1)?.messages);
			assert.match(
				messages,
				/Background run \w{8} \(agent explorer\) has ended\. Task: `hang`\\nStatus: unknown\\nResult: \(not available\)/,
			);
			// The list, and the answer: told before the prompt, or after it.
			assert.match(
				next.stdout,
				/^✓ #4 {2}\w{8} · explorer · `say one` · completed .*\n✓ #3 {2}\w{8} · explorer "second" · completed [\s\S]*\n(Yes\.|Heard unknown: nothing)\n$/m,
			);
		});
	});
}
