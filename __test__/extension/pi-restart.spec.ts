/** Background runs that a restart of real pi interrupts: `background.onRestart` tells, asks or resumes. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
	backgroundStage,
	hang,
	type ModelRequest,
	piVersions,
	type Stage,
	say,
	spawn,
	startTui,
} from "../support/pi.ts";

for (const version of piVersions) {
	describe(`an interrupted run in pi ${version}`, () => {
		let stage: Stage;
		let isWorking = true;
		before(async () => {
			const work = () => (isWorking ? [say("I begin."), hang()] : [say("Finished.")]);
			stage = await backgroundStage({
				version,
				children: {
					work,
					pi: ({ userText }: ModelRequest) => [say(`Resumed: ${userText}`)],
					Hello: () => [say("Yes.")],
				},
			});
		});
		after(() => stage.close());

		/** Starts a run, kills pi, and opens the session again. */
		async function restarted(onRestart: string) {
			stage.configure({ background: { onRestart } });
			isWorking = true;
			const first = await startTui(stage.world, { prompt: spawn({ task: "work" }) });
			await first.waitFor(/Spawned\./);
			await first.waitFor(/I begin\./);
			await first.close();
			isWorking = false;
			return await startTui(stage.world, { args: ["--continue"] });
		}

		test("is only reported with `tell`", async () => {
			const again = await restarted("tell");
			await again.waitFor(/interrupted/);
			await again.press("M-r");
			await again.waitFor("No interrupted run was offered. `/subagents resume` continues an ended run");
			await again.type("Hello");
			await again.press("Enter");
			await again.waitFor(/Yes\./);
			assert.ok(stage.server.requests.every(({ userText }) => !userText.startsWith("pi was restarted")));
			await again.close();
		});

		test("is resumed after one key with `ask`", async () => {
			const again = await restarted("ask");
			await again.waitFor(/1 run was interrupted by a restart: alt\+r resumes it/);
			await again.press("M-r");
			await again.waitFor(/resumed \w{8}/);
			await again.waitFor(/Resumed: pi was restarted/);
			await again.close();
		});

		test("is resumed by itself with `resume`", async () => {
			const again = await restarted("resume");
			await again.waitFor(/resumed \w{8}/);
			await again.waitFor(/Resumed: pi was restarted/);
			await again.close();
		});
	});
}
