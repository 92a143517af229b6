/** Children of real pi that a launcher starts elsewhere: a stand-in that joins its words for a shell, as `ssh` does. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
	delegate,
	lastEnd,
	packageDir,
	piCommand,
	piVersions,
	type RpcSession,
	runOf,
	Stage,
	startRpc,
	textOf,
} from "../support/pi.ts";

for (const version of piVersions) {
	describe(`a remote child of pi ${version}`, () => {
		// A launcher counts from the next call on, so one pi does for all.
		let stage: Stage;
		let rpc: RpcSession;
		before(async () => {
			stage = await Stage.open({ version });
			rpc = startRpc(stage.world);
		});
		after(async () => {
			await rpc.close();
			await stage.close();
		});

		/** A launcher that starts pi in this directory; `how` is how it takes its words. */
		const launcherTo = (far: string, how: string) => ({
			command: ["/bin/sh", join(packageDir, "tests/support/far.sh"), how, far, "{argv}"],
			...{ piCommand: piCommand(version), cwd: far, env: ["PI_CODING_AGENT_DIR"] },
			fetch: ["/bin/sh", "-c", `cat '${far}/home/{session}'`],
		});

		async function ended(task: string) {
			await rpc.prompt(delegate({ agent: "explorer", task }));
			const end = lastEnd(rpc.log);
			return { text: textOf(end), run: runOf(end) };
		}

		test("starts with the guard and the prompt, in both protocols, and brings its session back", async () => {
			const far = join(stage.world.home, "far");
			const launcher = { ...launcherTo(far, "sh"), quote: "sh" };
			for (const protocol of ["rpc", "json"]) {
				stage.configure({ launchers: { far: launcher }, launcher: "far", protocol });
				const first = protocol === "rpc";
				if (!first) writeFileSync(join(far, "README.md"), "# Far away\n");
				const { text, run } = await ended(first ? "say hello" : "look around");
				assert.match(text, first ? /^hello/ : /Folder: .*home.*; title: # Far away/, `${protocol}: ${run.error}`);
				assert.match(run.sandbox?.reason ?? "", /`far` starts the child on another machine/);
				assert.ok(run.usage.cost >= 0 && run.sessionFile, JSON.stringify(run));
			}
			for (const child of stage.childRequests()) {
				assert.ok(
					!child.tools.some((tool) => JSON.stringify(tool).includes('"bash"')),
					"the remote child has no shell",
				);
			}
			const report = await rpc.notices("/subagents doctor");
			assert.match(report, new RegExp(`\`far\`: pi ${version.replaceAll(".", "\\.")} with our guard in`), report);
			assert.deepEqual(readdirSync(join(far, "home", ".pi-subagent")).length, 2, "each run has one session");
		});

		for (const days of [-3, 400]) {
			test(`answers with a remote clock ${days} days off, and uses local times and order`, async () => {
				const far = join(stage.world.home, `far${days}`);
				const [node, script] = piCommand(version);
				const skew = join(stage.world.home, `skew${days}.cjs`);
				writeFileSync(
					skew,
					`const by = ${days} * 86400000; const now = Date.now; Date.now = () => now() + by;
					globalThis.Date = new Proxy(Date, { construct: (D, args) => (args.length ? new D(...args) : new D(D.now())) });`,
				);
				const launcher = { ...launcherTo(far, "words"), piCommand: [node, "--require", skew, script] };
				stage.configure({ launchers: { far: launcher }, launcher: "far" });
				const began = Date.now();
				const { text, run } = await ended("say hello");
				const took = Date.now() - began;
				assert.match(text, /^hello/, run.error);
				assert.ok(run.durationMs > 0 && run.durationMs <= took, `${run.durationMs} of ${took} ms`);
				const session = readFileSync(run.sessionFile ?? "", "utf8");
				const startedAt = Date.parse(JSON.parse(session.split("\n", 1)[0] ?? "").timestamp);
				assert.ok(
					Math.abs(startedAt - began - days * 86_400_000) < 3_600_000,
					`the remote clock shows ${new Date(startedAt)}`,
				);
			});
		}
	});
}
