/** Children that repeat themselves, in real pi: they get a warning, and are ended if it does not help. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { call, delegate, detailsOf, lastEnd, piVersions, Stage, say, startRpc, textOf } from "../support/pi.ts";

const again = () => [say("I look again."), call("read", { path: "README.md" })];

for (const version of piVersions) {
	describe(`loops in pi ${version}`, () => {
		let stage: Stage;

		before(async () => {
			stage = await Stage.open({
				version,
				children: {
					listens: again,
					stuck: again,
					// The next step of a child whose newest message is the warning.
					You: (request) => (request.wholeUserText.includes("stuck") ? again() : [say("I was told.")]),
				},
			});
		});

		after(() => stage.close());

		test("a warned child may still answer, and a child that continues is ended", async () => {
			const rpc = startRpc(stage.world);
			await rpc.prompt(delegate({ agent: "explorer", task: "listens" }));
			const end = lastEnd(rpc.log);
			assert.equal(end.isError, false, textOf(end));
			assert.match(textOf(end), /I was told\./);
			// A scripted model is faster than the message: it may continue for a turn or two.
			assert.match(
				String(detailsOf(end).results[0]?.diagnostics),
				/repeated `read README\.md` \d+ times.* got a warning/,
			);

			await rpc.prompt(delegate({ agent: "explorer", task: "stuck" }));
			const ended = lastEnd(rpc.log);
			assert.equal(ended.isError, true);
			assert.match(textOf(ended), /`loop\.stopAfter` reached: the child repeated `read README\.md` \d+ times/);
			assert.match(textOf(ended), /partial output:\n```text\nI look again\./);
			const asked = stage.server.requests.filter(
				(request) => request.isChild && request.wholeUserText.includes("stuck"),
			);
			assert.ok(asked.length >= 8, `${asked.length} requests`);
			assert.ok(asked.some((request) => request.wholeUserText.includes("You have repeated")));
		});
	});
}
