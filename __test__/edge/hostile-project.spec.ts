/** Files of a hostile repository that could waste the time of a user who opens it. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";

import { describeTools, loadConfig } from "../../native.js";

/** Far above the time of a bounded read, far below the 40 seconds that it took before. */
const LIMIT_MS = 5_000;

it("a hostile project does not delay a run", async (t) => {
	const root = mkdtempSync(join(tmpdir(), "psn-hostile-"));
	t.after(() => rmSync(root, { recursive: true, force: true }));
	const agents = join(root, "project/.pi/agents");
	mkdirSync(agents, { recursive: true });
	const keys = Array.from({ length: 110_000 }, (_, key) => `"${key.toString(16)}":1`).join(",");
	writeFileSync(join(root, "project/.pi/subagents.json"), `{"subagents":{${keys}}}`);
	for (const target of ["/proc/kmsg", "/dev/zero"])
		symlinkSync(target, join(agents, `${target.slice(5)}.md`.replace("/", "-")));
	const options = { cwd: join(root, "project"), agentDir: join(root, "agent") };
	const begun = performance.now();
	const { broken } = await loadConfig(options);
	assert.match(broken?.message ?? "", /more than 65536 bytes/);
	const { notices } = await describeTools(options);
	assert.ok(notices.length <= 3, notices.join("\n"));
	assert.ok(performance.now() - begun < LIMIT_MS);
});
