/** Scripts that `/subagents workflow` runs in the background of real pi: consent, output, errors, stop, and the end of pi. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import {
	backgroundStage,
	eventually,
	hang,
	type ModelRequest,
	packageDir,
	piVersions,
	type RpcSession,
	runPrint,
	type Stage,
	say,
	startRpc,
	startTui,
} from "../support/pi.ts";

const yes = () => ({ confirmed: true });

const asked = ({ uiRequests }: RpcSession) => uiRequests.filter(({ method }) => method === "confirm");

/** Resolves with the first notice that matches. */
async function notice({ uiRequests }: RpcSession, what: RegExp): Promise<string> {
	const found = () => uiRequests.map(({ message }) => message ?? "").find((message) => what.test(message));
	await eventually(() => found() !== undefined, `a notice with ${what}`);
	return found() ?? "";
}

/** Resolves with the first request of a child after the first `from` requests. */
async function childRequest(stage: Stage, from: number): Promise<ModelRequest> {
	await eventually(() => stage.childRequests(from).length > 0, "a request of a child");
	return stage.childRequests(from)[0] ?? assert.fail();
}

const greeting = `import { run } from "pi-subagent-native";

interface Greeting { word: string }
const greetings: Greeting[] = [{ word: "one" }, { word: "two" }];
const results = await run.parallel(greetings.map(({ word }) => ({ agent: "explorer", task: "say " + word })));
for (const result of results) console.log(result.ok ? result.text : result.error.message);
`;

const waiting = `import { run } from "pi-subagent-native";
console.log("It begins.");
await run({ agent: "explorer", task: "hang" });
`;

const long = `import { workflow } from "pi-subagent-native";
await workflow("long", {}, async (wf) => {
	const first = await wf.run({ key: "first", agent: "explorer", task: "say one" });
	console.log("first: " + first.text);
	wf.phase("second");
	const second = await wf.run({ key: "second", agent: "explorer", task: "work" });
	console.log("second: " + second.text);
});
`;

/** True while the second run has no answer. */
let isWorking = true;

for (const version of piVersions) {
	describe(`the script of a workflow in pi ${version}`, () => {
		let stage: Stage;
		before(async () => {
			const work = () => (isWorking ? [say("I begin."), hang()] : [say("It began again.")]);
			const The = () => (isWorking ? [say("I continue."), hang()] : [say("It continues.")]);
			const Review = ({ userText }: ModelRequest) => [say(`Nothing to add (${userText})`)];
			stage = await backgroundStage({ version, children: { Review, work, The } });
			stage.world.write("greet.ts", greeting);
			stage.world.write("scripts/wait.mjs", waiting);
		});
		after(() => stage.close());

		test("is shown whole before it runs, and its output arrives in the chat", async () => {
			const screen = await startTui(stage.world);
			await screen.waitFor("scripted-model");
			await screen.submitCommand("subagents", "workflow greet.ts");
			// The question opens without another key.
			const question = await screen.waitFor("→ No, do not run it");
			assert.match(question, /It runs as a program with all of your rights/);
			for (const line of greeting.trim().split("\n").filter(Boolean)) {
				assert.ok(question.replace(/ *│\n│ */g, " ").includes(line.slice(0, 60)), `${line}\n${question}`);
			}
			await screen.press("Down", "Enter");
			await screen.waitFor(/started the workflow greet\.ts/);
			await screen.waitFor(/✓ the workflow greet\.ts has ended after [\s\S]*one\s+two/);
			await screen.close();
		});

		test("is not asked about again until it changes; then the question has the changes", async () => {
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow greet.ts");
			await notice(rpc, /greet\.ts has ended[\s\S]*one\n.*two/);
			assert.equal(asked(rpc).length, 0);
			stage.world.write("greet.ts", greeting.replace('"two"', '"three"'));
			await rpc.notices("/subagents workflow ./greet.ts");
			await notice(rpc, /greet\.ts has ended[\s\S]*one\n.*three/);
			const [question] = asked(rpc);
			assert.match(question?.message ?? "", /changed since you allowed it:\n- .*"two".*\n\+ .*"three"/);
			assert.match(await rpc.notices("/subagents list"), /✓ #\d {2}\w{8} · explorer · `say three` · completed/);
			await rpc.close();
		});

		test("does not run after a no, without a user, or if it is no script", async () => {
			stage.world.write("other.ts", 'console.log("It ran.");');
			const rpc = startRpc(stage.world, { answer: () => ({ confirmed: false }) });
			assert.match(await rpc.notices("/subagents workflow other.ts"), /`other\.ts` was not started: you said no/);
			assert.match(await rpc.notices("/subagents workflow README.md"), /is not a script: its name must end with/);
			assert.match(await rpc.notices("/subagents workflow missing.ts"), /there is no file .*missing\.ts/);
			await rpc.close();
			const { stdout } = await runPrint(stage.world, "/subagents workflow other.ts");
			assert.match(stdout, /may not run: `nonInteractivePolicy` does not allow programs of a project/);
		});

		test("runs as the documentation prints it", async () => {
			const page = readFileSync(join(packageDir, "docs", "codemode.md"), "utf8");
			stage.world.write("review.ts", /^```ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "");
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow review.ts");
			const ended = await notice(rpc, /review\.ts has ended/);
			assert.match(ended, /src\/a\.ts Nothing to add \(Review src\/a\.ts\.\)\n.*src\/b\.ts Nothing to add/);
			await rpc.close();
		});

		test("fails with its error, and keeps the output before it", async () => {
			stage.world.write("fail.ts", 'console.log("So far."); throw new Error("It went wrong.");');
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow fail.ts");
			const failed = await notice(rpc, /the workflow fail\.ts failed/);
			assert.match(failed, /✗ .*failed after .* \(exit code 1\)[\s\S]*So far\.[\s\S]*It went wrong\./);
			await rpc.close();
		});

		test("is ended by name, with its run", async () => {
			const rpc = startRpc(stage.world, { answer: yes });
			const from = stage.server.requests.length;
			await rpc.notices("/subagents workflow scripts/wait.mjs");
			const hanging = await childRequest(stage, from);
			assert.match(
				await rpc.notices("/subagents stop wait.mjs"),
				/stopped the workflow wait\.mjs after [\s\S]*It begins\.\s+`\/subagents workflow scripts\/wait\.mjs` runs it again/,
			);
			assert.equal(await hanging.ended, true);
			assert.match(await rpc.notices("/subagents stop wait.mjs"), /there is no run `wait\.mjs`/);
			await rpc.close();
		});

		test("ends with pi, even if pi is killed", async () => {
			const from = stage.server.requests.length;
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow scripts/wait.mjs");
			const hanging = await childRequest(stage, from);
			rpc.pi.child.kill("SIGKILL");
			await rpc.pi.finished;
			assert.equal(await hanging.ended, true);
			await stage.world.assertNothingLeft();
		});

		test("continues after pi was killed, and pays only for the missing runs", async () => {
			stage.world.write("long.ts", long);
			isWorking = true;
			const from = stage.server.requests.length;
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow long.ts");
			await eventually(
				() => stage.childRequests(from).some(({ userText }) => userText === "work"),
				"the second run works",
			);
			assert.match(
				await rpc.notices("/subagents list"),
				/● workflow long · long\.ts · running · phase second · runs: 1 running, 1 completed/,
			);
			rpc.pi.child.kill("SIGKILL");
			await rpc.pi.finished;
			await stage.world.assertNothingLeft();
			isWorking = false;
			const again = startRpc(stage.world, { answer: yes });
			await notice(again, /continues the workflow long, which ended with an earlier pi/);
			assert.match(await notice(again, /long\.ts has ended/), /first: one\n.*second: It continues\./);
			assert.equal(asked(again).length, 0, "the text was allowed before");
			const paid = stage.childRequests(from).filter(({ userText }) => userText === "say one");
			assert.equal(paid.length, 1);
			const tree = await again.notices("/subagents workflow");
			assert.match(
				tree,
				/✓ workflow long · long\.ts · completed · runs: 2 completed[^\n]*\n\s+✓ \w{8} · first · explorer · completed/,
			);
			await again.close();
		});

		test("continues after a change only when the user starts it; a stopped one is continued by name", async () => {
			stage.world.write("other-long.ts", long.replace('"long"', '"other"'));
			isWorking = true;
			const from = stage.server.requests.length;
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow other-long.ts");
			await eventually(
				() => stage.childRequests(from).some(({ userText }) => userText === "work"),
				"the second run works",
			);
			rpc.pi.child.kill("SIGKILL");
			await rpc.pi.finished;
			stage.world.write("other-long.ts", `${long.replace('"long"', '"other"')}// Changed.\n`);
			const again = startRpc(stage.world, { answer: yes });
			await notice(
				again,
				/the workflow other ended with an earlier pi, and `\S*other-long\.ts` has changed since you allowed it\. `\/subagents workflow other-long\.ts` continues it/,
			);
			await again.notices("/subagents workflow other-long.ts");
			assert.equal(asked(again).length, 1);
			await again.untilNotice("/subagents list", /● workflow other · other-long\.ts · running/);
			assert.match(
				await again.notices("/subagents stop other"),
				/stopped the workflow other-long\.ts[\s\S]*`\/subagents resume other` continues it/,
			);
			assert.match(
				await again.notices("/subagents list"),
				/· 1 stopped or failed workflow; `\/subagents workflow` lists them/,
			);
			await again.close();
			isWorking = false;
			const last = startRpc(stage.world, { answer: yes });
			assert.match(await last.notices("/subagents workflow"), /⚠ workflow other · other-long\.ts · stopped/);
			await last.notices("/subagents resume other");
			assert.match(await notice(last, /other-long\.ts has ended/), /first: one/);
			const listed = await last.notices("/subagents list");
			assert.doesNotMatch(listed, /aborted|stopped|interrupted/, "its key has completed since");
			for (const command of ["resume", "stop"]) {
				assert.match(
					await last.notices(`/subagents ${command} other-long.ts`),
					/the workflow other has completed: 2 runs[^\n]*\n\s+`\/subagents workflow other-long\.ts` runs it again/,
				);
			}
			assert.match(
				await last.notices("/subagents info other"),
				/✓ workflow other · [^\n]*\n\s+✓ \w{8} · first · explorer · completed[\s\S]*discard --yes other/,
			);
			assert.match(await last.notices("/subagents discard --yes other"), /removed the workflow other with 2 results/);
			assert.match(await last.notices("/subagents info other"), /there is no run `other`/);
			assert.equal(
				last.uiRequests.filter(({ message }) => /continues the workflow other/.test(message ?? "")).length,
				0,
			);
			await last.close();
		});

		test("continues after a change of an import only when the user starts it", async () => {
			const importing = long.replace('"long"', '"importing"').replace('"say one"', '"say " + word');
			stage.world.write("lib/word.ts", 'export const word: string = "one";\n');
			stage.world.write("importing.ts", `import { word } from "./lib/word.ts";\n${importing}`);
			isWorking = true;
			const from = stage.server.requests.length;
			const rpc = startRpc(stage.world, { answer: yes });
			await rpc.notices("/subagents workflow importing.ts");
			await eventually(
				() => stage.childRequests(from).some(({ userText }) => userText === "work"),
				"the second run works",
			);
			rpc.pi.child.kill("SIGKILL");
			await rpc.pi.finished;
			isWorking = false;
			stage.world.write("lib/word.ts", 'export const word: string = "one"; // Changed.\n');
			const again = startRpc(stage.world, { answer: yes });
			await notice(
				again,
				/the workflow importing ended with an earlier pi, and `\S*word\.ts`, which it imports, has changed since you started it\. `\/subagents workflow importing\.ts` continues it/,
			);
			await again.notices("/subagents resume importing");
			assert.match(await notice(again, /importing\.ts has ended/), /first: one/);
			assert.equal(asked(again).length, 0, "the script itself has not changed");
			await again.notices("/subagents discard --yes importing");
			await again.close();
		});

		test("has its name completed", async () => {
			const screen = await startTui(stage.world);
			await screen.waitFor("scripted-model");
			await screen.typeCommand("subagents");
			await screen.type(" workflow scr");
			await screen.waitFor(/→ scripts\//);
			await screen.press("Tab");
			await screen.waitFor(/workflow scripts\//);
			await screen.close();
		});

		test("is one line of the widget and a row of the panel, from which it is stopped and continued", async () => {
			isWorking = true;
			stage.world.write("long.ts", `${long.replace('"long"', '"panel"')}console.log("  indented");\n`);
			const from = stage.server.requests.length;
			const screen = await startTui(stage.world);
			await screen.waitFor("scripted-model");
			await screen.submitCommand("subagents", "workflow long.ts");
			await screen.waitFor("→ No, do not run it");
			await screen.press("End");
			await screen.chooseLast("Yes");
			await screen.press("Enter");
			await screen.waitFor(/started the workflow long\.ts/);
			await screen.waitFor(/● panel .*second · 1 running, 1 completed · .*begin\./);
			await childRequest(stage, from + 1);
			await screen.submitCommand("subagents");
			await screen.waitFor(/● - panel .*second · 1 running, 1 completed/);
			await screen.waitFor(/✓ +\d* +first [\s\S]*● +\d* +second/);
			await screen.press("g", "s");
			await screen.waitFor("s again stops the workflow and all of its runs; other keys cancel: “panel”");
			await screen.press("s");
			await screen.waitFor(/⚠ - panel .*stopped · 1 completed, 1 without a result/);
			isWorking = false;
			await screen.press("r");
			const done = await screen.waitFor(/✓ - panel .*completed · 2 completed/);
			assert.doesNotMatch(done, /without a result|⚠/);
			await screen.press("Escape");
			await screen.waitFor(/✓ the workflow long\.ts has ended[\s\S]*\n\s+second: [^\n]*\n {3,}\s+indented/);
			await screen.close();
		});
	});
}
