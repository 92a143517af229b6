/** The log of real pi: one file per process where the variable asks for it, and none otherwise. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { delegate, onStage, piVersions, runJson, runPrint, type Stage, say } from "../support/pi.ts";

const request = delegate({ agent: "explorer", task: "say your environment" });

/** Writes down the environment of each pi that loads it. */
const witness = `import { appendFileSync } from "node:fs";
export default () => appendFileSync(process.env.HOME + "/environments", JSON.stringify(process.env) + "\\n");
`;

function logs({ world }: Stage): string[] {
	const folder = join(world.agentDir, "subagents", "logs");
	return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		test("writes each reason into a private file that doctor names, and children do not get the variable", async () => {
			const secret = "made-up-secret-0815-of-the-log";
			const env = { PI_SUBAGENT_LOG: "debug", DEPLOY_TOKEN: secret };
			const children = { say: () => [say(`It is ${secret}.`)] };
			await onStage({ version, env, children }, async (stage) => {
				stage.configure({ sandbox: "off", inheritExtensions: [stage.world.writeAgentDir("witness.ts", witness)] });
				const { code, stderr } = await runJson(stage.world, request, {
					args: [delegate({ agent: "nobody", task: "say your environment" }), "/subagents doctor"],
				});
				assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
				const [file = "", ...others] = logs(stage);
				assert.deepEqual(others, [], "each process has one log file");
				assert.equal(statSync(file).mode & 0o777, 0o600);
				const text = readFileSync(file, "utf8");
				for (const line of [
					/ agent: the agent is found from=builtin/,
					/ run: the model is chosen model="scripted\/scripted-model" from=/,
					/ sandbox: nothing restrains the child reason="it is switched off/,
					/ child: the child has started run=\w{8} pid=\d+ /,
					/ early: the run takes a child that was booted early run=/,
					/run\{id=\w{8} agent=explorer\}:attempt\{number=1\}:child\{pid=\d+\}: child: the child has ended outcome=Settled/,
					/ run: the run has ended outcome=completed/,
					/ agent: the call is refused reason=.*nobody/,
				]) {
					assert.match(text, line);
				}
				assert.ok(!text.includes(secret) && !text.includes("say your environment"), text);
				const environments = readFileSync(join(stage.world.home, "environments"), "utf8").trim().split("\n");
				const seen = environments.map((line) => JSON.parse(line) as Record<string, string>);
				const ofChildren = seen.filter(({ PI_SUBAGENT_CHILD }) => PI_SUBAGENT_CHILD === "1");
				assert.ok(ofChildren.length > 0);
				assert.deepEqual([...new Set(ofChildren.map(({ PI_SUBAGENT_LOG }) => PI_SUBAGENT_LOG))], [undefined]);

				const { stdout } = await runPrint(stage.world, "/subagents doctor");
				const mine = logs(stage).find((path) => path !== file) ?? "";
				assert.ok(stdout.includes(`\`PI_SUBAGENT_LOG=debug\` writes ~${mine.slice(stage.world.home.length)}`), stdout);
			});
		});

		test("writes no file without the variable, and explains a wrong filter", async () => {
			await onStage({ version }, async (stage) => {
				const { stdout } = await runPrint(stage.world, request, { args: ["/subagents doctor"] });
				assert.match(stdout, /· log +off; start pi with `PI_SUBAGENT_LOG=debug`/);
				assert.deepEqual(logs(stage), []);
			});
			await onStage({ version, env: { PI_SUBAGENT_LOG: "info,quue=debug" } }, async (stage) => {
				const { code, stderr } = await runPrint(stage.world, request);
				assert.equal(code, 0);
				assert.match(
					stderr,
					/`PI_SUBAGENT_LOG=info,quue=debug`: `quue` is not a component that logs; did you mean `queue`\?/,
				);
				assert.deepEqual(logs(stage), []);
			});
		});
	});
}
