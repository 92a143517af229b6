/** Scripts of `/subagents workflow` in real pi when something else happens: several pis, a stop, a failure, a policy, the end of pi. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import {
	backgroundStage,
	eventually,
	hang,
	type ModelRequest,
	piVersions,
	type RpcSession,
	type Stage,
	say,
	startRpc,
	startTui,
} from "../support/pi.ts";

const yes = () => ({ confirmed: true });

const messages = ({ uiRequests }: RpcSession) => uiRequests.map(({ message }) => message ?? "");

/** Resolves with the first notice that matches. */
async function notice(rpc: RpcSession, what: RegExp): Promise<string> {
	const found = () => messages(rpc).find((message) => what.test(message));
	await eventually(() => found() !== undefined, `a notice with ${what}`);
	return found() ?? "";
}

/** A workflow with two runs: the first ends at once, and the second works until the test lets it end. */
const long = (id: string) => `import { workflow } from "pi-subagent-native";
await workflow("${id}", {}, async (wf) => {
	await wf.run({ key: "first", agent: "explorer", task: "say one" });
	const second = await wf.run({ key: "second", agent: "explorer", task: "work" });
	console.log("second: " + second.text);
});
`;

/** A script that ignores a request to end, with a program that keeps its output open. Its second start ends at once. */
const stubborn = `import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { workflow } from "pi-subagent-native";
const isFirst = !existsSync("stubborn.pids");
if (isFirst) {
	process.on("SIGTERM", () => {});
	const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 600_000)"], { stdio: "inherit", detached: true });
	writeFileSync("stubborn.pids", process.pid + " " + child.pid);
}
await workflow("stubborn", {}, async () => isFirst && new Promise(() => setInterval(() => {}, 1_000)));
`;

const secret = `sk-ant-api03-${"Ab3".repeat(31)}`;

const leak = `import { workflow } from "pi-subagent-native";
await workflow("leak", {}, async () => { throw new Error("refused: ${secret}"); });
`;

const crash = `import { workflow } from "pi-subagent-native";
await workflow("crash", {}, async (wf) => {
	await wf.run({ key: "first", agent: "explorer", task: "say one" });
	process.exit(3);
});
`;

/** True while the child \`work\` has no answer. */
let isWorking = true;

for (const version of piVersions) {
	describe(`the script of a workflow in pi ${version}`, () => {
		let stage: Stage;
		before(async () => {
			const work = () => (isWorking ? [say("I begin."), hang()] : [say("It began again.")]);
			const The = () => [say("It continues.")];
			stage = await backgroundStage({ version, children: { work, The } });
		});
		after(() => stage.close());

		/** Starts a script in a new pi, until its second run works. */
		async function working(id: string): Promise<RpcSession> {
			isWorking = true;
			stage.world.write(`${id}.ts`, long(id));
			const from = stage.server.requests.length;
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices(`/subagents workflow ${id}.ts`);
			const works = ({ userText }: ModelRequest) => userText === "work";
			await eventually(() => stage.childRequests(from).some(works), "the second run works");
			return rpc;
		}

		async function kill({ pi }: RpcSession): Promise<void> {
			pi.child.kill("SIGKILL");
			await pi.finished;
			await stage.world.assertNothingLeft();
		}

		test("is continued by one of two pis that start at the same time", async () => {
			await kill(await working("twice"));
			isWorking = false;
			const both = [startRpc(stage.world), startRpc(stage.world)];
			await eventually(
				() => both.some((rpc) => messages(rpc).some((text) => /twice\.ts has ended/.test(text))),
				"its end",
			);
			// Each pi has looked for workflows once it answers.
			for (const rpc of both) await rpc.notices("/subagents workflow");
			const all = both.flatMap(messages).join("\n");
			assert.equal(all.match(/continues the workflow twice/g)?.length, 1, all);
			assert.doesNotMatch(all, /failed|already runs/);
			for (const rpc of both) await rpc.close();
		});

		test("is stopped from another pi, and is not continued", async () => {
			const rpc = await working("remote");
			const other = startRpc(stage.world);
			assert.match(await other.notices("/subagents stop remote"), /stopped the workflow `?remote`? and its runs/);
			await notice(rpc, /stopped the workflow remote\.ts after/);
			assert.match(await other.notices("/subagents workflow"), /⚠ workflow remote · remote\.ts · stopped/);
			await rpc.close();
			await other.close();
		});

		test("does not start twice in one pi", async () => {
			const rpc = await working("once");
			const again = await rpc.notices("/subagents workflow once.ts");
			assert.match(again, /✗ the workflow once\.ts runs already\. `\/subagents stop once\.ts` ends it$/);
			await rpc.notices("/subagents stop once");
			await rpc.close();
		});

		test("is not started again by the next pi after a failure", async () => {
			stage.world.write("crash.ts", crash);
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow crash.ts");
			await notice(rpc, /the workflow crash\.ts failed after .* \(exit code 3\)/);
			await rpc.close();
			const next = startRpc(stage.world);
			assert.match(await next.notices("/subagents workflow"), /⚠ workflow crash · crash\.ts · stopped/);
			assert.doesNotMatch(messages(next).join("\n"), /the workflow crash/);
			await next.close();
		});

		test("has no secret of its error in any message", async () => {
			stage.world.write("leak.ts", leak);
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow leak.ts");
			assert.match(await notice(rpc, /the workflow leak\.ts failed/), /refused: /);
			assert.match(await rpc.notices("/subagents workflow"), /✗ workflow leak · leak\.ts · failed[\s\S]*refused: /);
			const shown = rpc.uiRequests.filter(({ method }) => method === "notify").map(({ message }) => message);
			assert.ok(!shown.join("\n").includes(secret), shown.join("\n"));
			await rpc.close();
		});

		test("is not continued after consent if a policy forbids it", async () => {
			await kill(await working("denied"));
			stage.configure({ projectAgentPolicy: "deny" });
			const rpc = startRpc(stage.world, { answer: yes });
			await notice(
				rpc,
				/the workflow denied ended with an earlier pi, and `[^`]*denied\.ts` may not run: `projectAgentPolicy` does not allow programs of a project/,
			);
			const refused = await rpc.notices("/subagents workflow denied.ts");
			assert.match(refused, /`denied\.ts` may not run: `projectAgentPolicy` does not allow programs of a project/);
			await rpc.close();
			stage.configure({ projectAgentPolicy: "confirm" });
			const last = startRpc(stage.world);
			await notice(last, /continues the workflow denied/);
			await last.notices("/subagents stop denied");
			await last.close();
		});

		test("that ignores the end of pi is killed, also if its program keeps the output open", async () => {
			stage.world.write("stubborn.mjs", stubborn);
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow stubborn.mjs");
			await rpc.untilNotice("/subagents list", /● workflow stubborn · stubborn\.mjs · running/);
			const pids = readFileSync(join(stage.world.cwd, "stubborn.pids"), "utf8").split(" ").map(Number);
			const [script = 0, program = 0] = pids;
			try {
				await rpc.close();
				assert.throws(() => process.kill(script, 0), /ESRCH/);
			} finally {
				process.kill(program, "SIGKILL");
			}
			const next = startRpc(stage.world);
			await notice(next, /the workflow stubborn\.mjs has ended/);
			await next.close();
		});

		test("that the end of pi interrupts is named on the terminal", async () => {
			isWorking = true;
			stage.world.write("quit.ts", long("quit"));
			const screen = await startTui(stage.world);
			await screen.waitFor("scripted-model");
			const from = stage.server.requests.length;
			await screen.submitCommand("subagents", "workflow quit.ts");
			await screen.waitFor("Run the workflow quit.ts?");
			await screen.press("M-a");
			await screen.waitFor("→ No, do not run it");
			await screen.press("Down", "Enter");
			await eventually(
				() => stage.childRequests(from).some(({ userText }) => userText === "work"),
				"the second run works",
			);
			await screen.press("C-c", "C-c");
			assert.equal(await screen.ended(20_000), 0);
			const output = (await screen.scrollback()).replaceAll(/\s+/g, " ");
			assert.match(output, /1 workflow ended with pi: quit\.ts\. The next pi of this project continues it/);
			await screen.close();
		});
	});
}
