#!/usr/bin/env node
/**
 * Builds the warden and puts it next to the addon at the root of the clone, linked in the best way that this machine
 * supports. `--target aarch64-unknown-linux-gnu` builds it for another platform, like `napi build --target` does for
 * the addon.
 */

import { parseArgs } from "node:util";

import { runMain } from "./lib/problem.mjs";
import { note } from "./lib/progress.mjs";
import { hasWarden, hostTarget, kindsFor, linkWarden } from "./lib/warden.mjs";

await runMain(async () => {
	const { values } = parseArgs({ options: { target: { type: "string" } } });
	const target = values.target ?? hostTarget();
	if (hasWarden(target)) await linkWarden(kindsFor(target));
	else note(`There is no warden for ${target}: the warden needs Linux.`);
	return 0;
});
