/** A provider whose quota is used up, in real pi: the card shows the wait, and `/subagents resume` ends it. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { call, eventually, fail, type ModelRequest, piVersions, Stage, say, startTui } from "../support/pi.ts";

const usedUp = { body: { error: { message: "insufficient_quota: You exceeded your current quota." } } };
const tasks = Array.from({ length: 8 }, (_, index) => ({ agent: "explorer", task: `part ${index}` }));

for (const version of piVersions) {
	describe(`a used-up quota in pi ${version}`, () => {
		let stage: Stage;
		let isUsedUp = true;
		before(async () => {
			const child = ({ userText }: ModelRequest) => (isUsedUp ? [fail(402, usedUp)] : [say(`Answer: ${userText}`)]);
			stage = await Stage.open({
				version,
				children: {
					several: ({ toolAnswers }: ModelRequest) =>
						toolAnswers.length > 0 ? [say("All is done.")] : [call("subagent_parallel", { tasks })],
					part: child,
					// The prompt of a continued session.
					The: child,
				},
			});
			stage.configure({ maxConcurrent: 2, parallelConcurrency: 2, earlyBoot: "off", bootAhead: 0 });
		});
		after(() => stage.close());

		test("lets no further child start, and a resume lets all tasks finish", async () => {
			const tui = await startTui(stage.world, { prompt: "several" });
			const waiting = await tui.waitFor(/8 waiting for quota/);
			assert.match(waiting, /↻ explorer .*waiting for quota, next try in 1\dm/);
			const refused = () => stage.childRequests().filter(({ userText }) => userText.startsWith("part")).length;
			assert.equal(refused(), 2, "only active children have asked the provider");
			// One task tries in vain.
			await tui.submitCommand("subagents", "resume last");
			await eventually(() => stage.childRequests().length === 3, "the third request of the children");
			await tui.waitFor(/8 waiting for quota/);
			isUsedUp = false;
			await tui.submitCommand("subagents", "resume last");
			const done = await tui.waitFor(/All is done\./);
			assert.match(done, /8 completed/);
			assert.match(done, /tries its provider's quota now/);
			await tui.close();
		});
	});
}
