/** Background runs while their host is killed again and again. `npm run test:kill` does so for longer. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";

import { assertNothingLeft } from "../support/survivors.ts";
import { killLoop } from "./kill-loop.ts";

it("each accepted run is delivered exactly once for any moment of a host's death", async (t) => {
	const [root, mark] = [realpathSync(mkdtempSync(join(tmpdir(), "psn-kill-"))), randomUUID()];
	t.after(async () => {
		await assertNothingLeft(mark);
		rmSync(root, { recursive: true, force: true, maxRetries: 5 });
	});
	const figures = await killLoop({ times: 25, seed: 1, root, mark });
	t.diagnostic(JSON.stringify(figures));
	assert.ok(figures.accepted > 0);
});
