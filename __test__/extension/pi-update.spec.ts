/** A package that is updated while pi runs it. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { bundle } from "../../scripts/lib/bundle.mjs";
import { delegate, onStage, packageDir, piVersions, startTui } from "../support/pi.ts";

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		test("continues with the loaded code, and reports that a restart is needed", async () => {
			await onStage({ version, load: "none" }, async ({ world }) => {
				const folder = join(world.home, "package");
				mkdirSync(folder);
				const addons = readdirSync(packageDir).filter((name) => name.endsWith(".node") || name.endsWith("-warden"));
				for (const name of ["package.json", "native.js", "extensions", "prompts", ...addons]) {
					cpSync(join(packageDir, name), join(folder, name), { recursive: true });
				}
				const tui = await startTui(world, { args: ["-e", folder], prompt: "Are you there?" });
				// By then it has started up whole.
				await tui.waitFor("Yes.");
				const module = join(folder, bundle);
				const [first = ""] = readFileSync(module, "utf8").split("\n", 1);
				const next = 'export default () => { throw new Error("the new code"); };';
				writeFileSync(module, `${first.replace(/ \d\S* /, " 99.0.0 ")}\n${next}\n`);
				await tui.submitCommand("reload");
				const screen = await tui.waitFor("Reloaded");
				assert.match(screen, /this pi still runs \d\S*, while 99\.0\.0 is installed; restart pi to use it/);
				assert.doesNotMatch(screen, /the new code/);
				await tui.type(delegate({ agent: "explorer", task: "say still here" }));
				await tui.press("Enter");
				await tui.waitFor("The child says: still here");
				await tui.close();
			});
		});
	});
}
