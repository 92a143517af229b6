/** Set-ups in which real pi must not delegate, or cannot: it runs on, and says why. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
	delegate,
	detailsOf,
	lastEnd,
	onStage,
	packageDir,
	piVersions,
	runJson,
	runPrint,
	startTui,
	textOf,
} from "../support/pi.ts";

const request = delegate({ agent: "explorer", task: "say hello" });

/** The package without its native addon, as after an install without optional dependencies. */
function packageWithoutAddon(root: string): string {
	const folder = join(root, "package");
	mkdirSync(folder);
	for (const name of ["index.js", "package.json", "extensions", "agents"]) {
		cpSync(join(packageDir, name), join(folder, name), { recursive: true });
	}
	return folder;
}

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		test("refuses each call while a configuration file is broken, and names file and line", async () => {
			await onStage({ version }, async (stage) => {
				stage.world.writeAgentDir("subagents.json", '{ "subagents": {\n\t"maxDepth": 1,\n\toops\n} }\n');
				const { code, log, stderr } = await runJson(stage.world, request);
				assert.equal(code, 0);
				assert.equal(stderr.split("~/.pi/agent/subagents.json:3:").length, 2, `said once at start: ${stderr}`);
				const end = lastEnd(log);
				assert.deepEqual([end.isError, detailsOf(end).error?.code], [true, "SUBAGENTS_DISABLED"]);
				assert.match(textOf(end), /subagents\.json:3:2/);
				assert.equal(stage.childRequests().length, 0);
				// A repaired file counts at once.
				stage.configure({});
				assert.equal(textOf(lastEnd((await runJson(stage.world, request)).log)), "hello");
			});
		});

		test("runs on defaults where values are wrong, and says which", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ maxDepht: 1, timeoutMs: "soon" });
				const { log, stderr } = await runJson(stage.world, request);
				assert.match(stderr, /`maxDepht` is not a known key; did you mean `maxDepth`/);
				assert.match(stderr, /`timeoutMs` is `"soon"`; expected/);
				assert.equal(textOf(lastEnd(log)), "hello");
			});
		});

		test("has neither tool nor policy where it is switched off", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ enabled: false });
				const { code, stdout, stderr } = await runPrint(stage.world, "Hello?");
				assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "Yes.\n", stderr: "" });
				const [asked] = stage.server.requests;
				assert.ok(!asked?.toolNames.includes("subagent"));
				assert.doesNotMatch(asked?.systemText ?? "", /subagent|Delegating/i);
				assert.match((await runPrint(stage.world, "/subagents doctor")).stdout, /⚠ .*`subagents.enabled` is false/);
			});
		});

		test("keeps the policy out of the prompt where only that is switched off", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ injectDelegationPolicy: false });
				await runPrint(stage.world, "Hello?");
				const [asked] = stage.server.requests;
				assert.ok(asked?.toolNames.includes("subagent"));
				assert.doesNotMatch(asked?.systemText ?? "", /Delegating to sub-agents/);
			});
		});

		test("does not delegate where it is too deep itself", async () => {
			await onStage({ version }, async (stage) => {
				const { log } = await runJson(stage.world, request, { env: { PI_SUBAGENT_DEPTH: "1" } });
				const end = lastEnd(log);
				assert.equal(end.isError, true);
				const { mode, error, results } = detailsOf(end);
				assert.deepEqual([mode, error?.code, results], ["management", "SUBAGENT_DEPTH_EXCEEDED", []]);
				assert.match(textOf(end), /depth 1 has reached its limit 1/);
			});
		});

		test("runs on without the addon; the tool, the command and the screen say what is missing", async () => {
			await onStage({ version, load: "none" }, async (stage) => {
				const args = ["-e", packageWithoutAddon(stage.world.root)];
				const { code, log, stderr } = await runJson(stage.world, request, { args });
				assert.equal(code, 0);
				assert.match(stderr, /native addon of pi-subagent-native could not be loaded \(linux-x64/);
				const end = lastEnd(log);
				assert.equal(end.isError, true);
				assert.match(
					textOf(end),
					/could not be loaded \(linux-x64, glibc, Node [\d.]+\): its package pi-subagent-native-linux-x64-gnu is not installed\. Install the package again with `pi install npm:pi-subagent-native`, with optional dependencies allowed\.$/,
				);
				assert.doesNotMatch(textOf(end) + stderr, /npm install|npm i\b|node_modules/, "one remedy, and pi's");
				assert.match(log.answer, /The child says: the native addon/);

				const doctor = await runPrint(stage.world, "/subagents doctor", { args });
				assert.equal(doctor.code, 0);
				assert.match(doctor.stdout, /✗ the native addon of pi-subagent-native could not be loaded/);

				const tui = await startTui(stage.world, { args, prompt: request });
				const screen = await tui.waitFor("The child says:");
				assert.match(screen, /Warning: pi-subagent-native: the native addon/);
				assert.match(screen, /✗ subagent\n/);
				await tui.close();
			});
		});
	});
}
