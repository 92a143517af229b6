/**
 * The part of real pi that works if its Node cannot connect, as in Wine: it loads the extension, and the addon answers.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { onStage, piVersions, runPrint } from "../support/pi.ts";

const limitMs = 600_000;

for (const version of piVersions) {
	test(`pi ${version}: the extension is loaded, and its doctor answers`, async (t) => {
		await onStage({ version }, async ({ world }) => {
			const { code, stdout, stderr } = await runPrint(world, "/subagents doctor", { limitMs });
			t.diagnostic(stdout);
			assert.equal(code, 0, stderr);
			assert.match(stdout, /^✓ addon +pi-subagent-native \S+ on windows x86_64$/m);
			assert.match(stdout, /^✓ child command +pi \d/m);
		});
	});
}
