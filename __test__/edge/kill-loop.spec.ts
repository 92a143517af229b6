/** Background runs while their host is killed again and again. `npm run test:kill` does so for longer. */

import assert from "node:assert/strict";
import { it } from "node:test";

import { killLoop } from "./kill-loop.ts";
import { killPlace } from "./kills.ts";

it("each accepted run is delivered exactly once for any moment of a host's death", async (t) => {
	const figures = await killLoop({ times: 25, seed: 1, ...killPlace(t) });
	t.diagnostic(JSON.stringify(figures));
	assert.ok(figures.accepted > 0);
});
