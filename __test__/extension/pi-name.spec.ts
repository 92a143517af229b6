/** What pi calls the extension where it lists what it has loaded. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { onStage, packageDir, piVersions, startTui } from "../support/pi.ts";

/** Puts the package where pi puts those from the registry. */
function install(agentDir: string): void {
	const folder = join(agentDir, "npm", "node_modules", "pi-subagent-native");
	mkdirSync(folder, { recursive: true });
	const addons = readdirSync(packageDir).filter((name) => name.endsWith(".node"));
	for (const name of ["package.json", "index.js", "extensions", "prompts", ...addons]) {
		cpSync(join(packageDir, name), join(folder, name), { recursive: true });
	}
}

for (const version of piVersions) {
	describe(`the list of extensions of pi ${version}`, () => {
		test("has the package's name, and nothing of where in it the module lies", async () => {
			const settings = { quietStartup: false, packages: ["npm:pi-subagent-native"] };
			await onStage({ version, load: "none", settings }, async ({ world }) => {
				install(world.agentDir);
				const tui = await startTui(world);
				const screen = await tui.waitFor("[Extensions]");
				assert.match(screen, /\[Extensions\]\n +pi-subagent-native\n/);
				assert.doesNotMatch(screen, /⚠|failed|could not be loaded/i);
				await tui.close();
			});
		});
	});
}
