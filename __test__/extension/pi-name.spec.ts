/** The name of the extension in pi's list of loaded extensions, without its path in the package. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { onStage, packageDir, piVersions, type StageOptions, startTui } from "../support/pi.ts";

/** Puts the package where pi puts those from the registry. */
function install(agentDir: string): void {
	const folder = join(agentDir, "npm", "node_modules", "pi-subagent-native");
	mkdirSync(folder, { recursive: true });
	const addons = readdirSync(packageDir).filter((name) => name.endsWith(".node"));
	for (const name of ["package.json", "native.js", "extensions", "prompts", ...addons]) {
		cpSync(join(packageDir, name), join(folder, name), { recursive: true });
	}
}

const settings = { quietStartup: false };
/** After the name of a package from the registry pi puts the name of the extension in it. */
const ways: [way: string, shown: string, options: StageOptions][] = [
	["for a session", "pi-subagent-native", { load: "argument", settings }],
	["from a folder", "pi-subagent-native", { load: "install", settings }],
	[
		"from the registry",
		"pi-subagent-native:pi-subagent-native",
		{ load: "none", settings: { ...settings, packages: ["npm:pi-subagent-native"] } },
	],
];

for (const version of piVersions) {
	describe(`the list of extensions of pi ${version}`, () => {
		for (const [way, shown, options] of ways) {
			test(`names the package that was loaded ${way}`, async () => {
				await onStage({ version, ...options }, async ({ world }) => {
					if (options.load === "none") install(world.agentDir);
					const tui = await startTui(world);
					const screen = await tui.waitFor("[Extensions]");
					assert.ok(screen.includes(`[Extensions]\n  ${shown}\n`), screen);
					assert.doesNotMatch(screen, /failed|could not be loaded/i);
					await tui.close();
				});
			});
		}
	});
}
