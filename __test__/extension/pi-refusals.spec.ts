/** Set-ups in which real pi must not delegate, or cannot: it runs on, and says why. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
	delegate,
	detailsOf,
	lastEnd,
	newestPi,
	onStage,
	packageDir,
	piVersions,
	runJson,
	runPrint,
	say,
	startTui,
	textOf,
} from "../support/pi.ts";

const request = delegate({ agent: "explorer", task: "say hello" });

/** The package without its native addon, as after an install without optional dependencies. */
function packageWithoutAddon(root: string): string {
	const folder = join(root, "package");
	mkdirSync(folder);
	for (const name of ["native.js", "package.json", "extensions", "agents"]) {
		cpSync(join(packageDir, name), join(folder, name), { recursive: true });
	}
	return folder;
}

// A pi without a user takes several prompts, one after the other: those among its `args` come first.

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		test("refuses each call while a configuration file is broken, and names file and line", async () => {
			let repair = () => {};
			const Repair = () => {
				repair();
				return [say("Repaired.")];
			};
			await onStage({ version, children: { Repair } }, async (stage) => {
				stage.world.writeAgentDir("subagents.json", '{ "subagents": {\n\t"maxDepth": 1,\n\toops\n} }\n');
				repair = () => stage.configure({});
				const { code, log, stderr } = await runJson(stage.world, request, { args: [request, "Repair it"] });
				assert.equal(code, 0);
				assert.equal(
					stderr.split("~/.pi/agent/subagents.json:3:").length,
					2,
					`the mistake is reported once at the start: ${stderr}`,
				);
				const [refused, run] = log.toolEnds("subagent");
				assert.ok(refused && run);
				assert.deepEqual([refused.isError, detailsOf(refused).error?.code], [true, "SUBAGENTS_DISABLED"]);
				assert.match(textOf(refused), /subagents\.json:3:2/);
				assert.equal(textOf(run), "hello", "a repaired file applies at once");
				assert.equal(stage.server.requests.filter(({ isChild }) => isChild).length, 1);
			});
		});

		test("runs on defaults for wrong values, and names them; a disabled policy is not in the prompt", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ modle: "x", graceMs: "soon", injectDelegationPolicy: false });
				const { log, stderr } = await runJson(stage.world, request);
				assert.match(stderr, /`modle` is not a known key; did you mean `model`/);
				assert.match(stderr, /`graceMs` is `"soon"`; expected/);
				assert.equal(textOf(lastEnd(log)), "hello");
				const [asked] = stage.server.requests;
				assert.ok(asked?.toolNames.includes("subagent"));
				assert.doesNotMatch(asked?.systemText ?? "", /Delegating to sub-agents/);
			});
		});

		test("has neither tool nor policy if it is disabled", async () => {
			await onStage({ version }, async (stage) => {
				stage.configure({ enabled: false });
				const { code, stdout, stderr } = await runPrint(stage.world, "Hello?", { args: ["/subagents doctor"] });
				assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
				// The report, line by line, and the answer: nothing else.
				assert.match(stdout, /^Sub-agents: .*\n\n(?:[✓⚠✗· ] .*\n)+Yes\.\n$/);
				assert.match(stdout, /^⚠ .*`subagents.enabled` is false/m);
				const [asked] = stage.server.requests;
				assert.ok(!asked?.toolNames.includes("subagent"));
				assert.doesNotMatch(asked?.systemText ?? "", /subagent|Delegating/i);
			});
		});

		test("works without the addon; the tool, the command and the screen report its absence", async () => {
			await onStage({ version, load: "none" }, async (stage) => {
				const args = ["-e", packageWithoutAddon(stage.world.root)];
				const asked = { args: [...args, request] };
				const { code, log, stderr } = await runJson(stage.world, "/subagents doctor", asked);
				assert.equal(code, 0);
				assert.match(stderr, /native addon of pi-subagent-native could not be loaded \(linux-x64/);
				const end = lastEnd(log);
				assert.equal(end.isError, true);
				assert.match(
					textOf(end),
					/could not be loaded \(linux-x64, glibc, Node [\d.]+\): its package pi-subagent-native-linux-x64-gnu is not installed\. Install the package again with `pi install npm:pi-subagent-native`, with optional dependencies allowed\.$/,
				);
				assert.doesNotMatch(
					textOf(end) + stderr,
					/npm install|npm i\b|node_modules/,
					"the message names only pi's own fix",
				);
				assert.match(log.answer, /The child says: the native addon/);

				const report = JSON.stringify(log.events.at(-1)?.entry);
				assert.match(report, /✗ the native addon of pi-subagent-native could not be loaded/);

				const tui = await startTui(stage.world, { args, prompt: request });
				const screen = await tui.waitFor("The child says:");
				assert.match(screen, /Warning: pi-subagent-native: the native addon/);
				assert.match(screen, /✗ subagent\n/);
				await tui.close();
			});
		});
	});
}

// The addon's treatment of its environment is the same in each version of pi.
test("a pi beyond the maximum depth does not delegate", async () => {
	await onStage({ version: newestPi }, async (stage) => {
		const { log } = await runJson(stage.world, request, { env: { PI_SUBAGENT_DEPTH: "1" } });
		const end = lastEnd(log);
		assert.equal(end.isError, true);
		const { mode, error, results } = detailsOf(end);
		assert.deepEqual([mode, error?.code, results], ["management", "SUBAGENT_DEPTH_EXCEEDED", []]);
		assert.match(textOf(end), /depth 1 has reached its limit 1/);
	});
});
