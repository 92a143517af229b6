/** One delegation in real pi, with limits that hold where the whole of it is emulated. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { delegate, detailsOf, lastEnd, onStage, piVersions, runJson, runOf, textOf } from "../support/pi.ts";

const limitMs = 600_000;

for (const version of piVersions) {
	test(`pi ${version} on ${process.platform} ${process.arch}: a child works and answers`, async (t) => {
		await onStage({ version }, async ({ world }) => {
			const calls = [
				{ agent: "explorer", task: "look around" },
				{ agent: "nobody", task: "look around" },
			];
			const { log, code } = await runJson(world, delegate(...calls), { limitMs });
			assert.equal(code, 0);
			const ends = log.toolEnds("subagent");
			const answered = ends.find(({ isError }) => !isError) ?? assert.fail(ends.map(textOf).join("\n"));
			assert.equal(textOf(answered), "Folder: .git/ README.md; title: # A project");
			const run = runOf(answered);
			assert.deepEqual([run.outcome, run.exitCode, run.usage.turns], ["completed", 0, 2]);
			const refused = ends.find(({ isError }) => isError) ?? lastEnd(log);
			assert.equal(detailsOf(refused).error?.code, "UNKNOWN_AGENT");
			t.diagnostic(
				JSON.stringify({ sandbox: run.sandbox, supervision: run.supervision, diagnostics: run.diagnostics }),
			);
		});
	});
}
