/** Children of real pi that a launcher starts elsewhere: a stand-in that joins its words for a shell, as `ssh` does. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
	delegate,
	lastEnd,
	onStage,
	packageDir,
	piCommand,
	piVersions,
	runJson,
	runOf,
	runPrint,
	textOf,
} from "../support/pi.ts";

for (const version of piVersions) {
	test(`pi ${version} starts elsewhere with the guard and the prompt, in both protocols, and brings its session back`, async () => {
		await onStage({ version }, async (stage) => {
			const far = join(stage.world.home, "far");
			const launcher = {
				command: ["/bin/sh", join(packageDir, "tests/support/far.sh"), "sh", far, "{argv}"],
				piCommand: piCommand(version),
				cwd: far,
				quote: "sh",
				env: ["PI_CODING_AGENT_DIR"],
				fetch: ["/bin/sh", "-c", `cat '${far}/home/{session}'`],
			};
			for (const protocol of ["rpc", "json"]) {
				stage.configure({ launchers: { far: launcher }, launcher: "far", protocol });
				const first = protocol === "rpc";
				if (!first) writeFileSync(join(far, "README.md"), "# Far away\n");
				const { log } = await runJson(
					stage.world,
					delegate({ agent: "explorer", task: first ? "say hello" : "look around" }),
				);
				const end = lastEnd(log);
				const run = runOf(end);
				assert.match(
					textOf(end),
					first ? /^hello/ : /Folder: .*home.*; title: # Far away/,
					`${protocol}: ${run.error}`,
				);
				assert.match(run.sandbox?.reason ?? "", /`far` starts the child elsewhere/);
				assert.ok(run.usage.cost >= 0 && run.sessionFile, JSON.stringify(run));
			}
			for (const child of stage.childRequests()) {
				assert.ok(!child.tools.some((tool) => JSON.stringify(tool).includes('"bash"')), "nothing holds a shell there");
			}
			const { stdout } = await runPrint(stage.world, "/subagents doctor");
			assert.match(stdout, new RegExp(`\`far\`: pi ${version.replaceAll(".", "\\.")} with our guard in`), stdout);
			assert.deepEqual(readdirSync(join(far, "home", ".pi-subagent")).length, 2, "one session for each run");
		});
	});

	for (const days of [-3, 400]) {
		test(`pi ${version} elsewhere whose clock is ${days} days off answers, and times and order are those of here`, async () => {
			await onStage({ version }, async (stage) => {
				const far = join(stage.world.home, "far");
				const [node, script] = piCommand(version);
				const skew = join(stage.world.home, "skew.cjs");
				writeFileSync(
					skew,
					`const by = ${days} * 86400000; const now = Date.now; Date.now = () => now() + by;
					globalThis.Date = new Proxy(Date, { construct: (D, args) => (args.length ? new D(...args) : new D(D.now())) });`,
				);
				const launcher = {
					command: ["/bin/sh", join(packageDir, "tests/support/far.sh"), "words", far, "{argv}"],
					...{ piCommand: [node, "--require", skew, script], cwd: far, env: ["PI_CODING_AGENT_DIR"] },
					fetch: ["/bin/sh", "-c", `cat '${far}/home/{session}'`],
				};
				stage.configure({ launchers: { far: launcher }, launcher: "far" });
				const began = Date.now();
				const { log } = await runJson(stage.world, delegate({ agent: "explorer", task: "say hello" }));
				const took = Date.now() - began;
				const run = runOf(lastEnd(log));
				assert.match(textOf(lastEnd(log)), /^hello/, run.error);
				assert.ok(run.durationMs > 0 && run.durationMs <= took, `${run.durationMs} of ${took} ms`);
				const session = readFileSync(run.sessionFile ?? "", "utf8");
				const said = Date.parse(JSON.parse(session.split("\n", 1)[0] ?? "").timestamp);
				assert.ok(Math.abs(said - began - days * 86_400_000) < 3_600_000, `the clock there: ${new Date(said)}`);
			});
		});
	}
}
