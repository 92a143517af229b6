/** Questions of a child in the terminal: typed text stays, and no answer is given by accident. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { backgroundStage, delegate, eventually, piVersions, type Stage, spawn, startTui } from "../support/pi.ts";

/** Asks before the child's model is, and reports the result to the model. Its task gives the waiting time. */
const asking = `export default (pi) => {
	pi.on("before_agent_start", async ({ systemPrompt, prompt }, { ui }) => {
		const [, word, limit] = /^say done (\\w+) ?(\\d*)/.exec(prompt) ?? [];
		if (!word) return undefined;
		const timeout = limit ? { timeout: Number(limit) } : {};
		const answer = await ui.confirm("Delete " + word + "?", "It cannot be undone.", timeout);
		return { systemPrompt: systemPrompt + "\\nAnswer to " + word + ": " + answer };
	});
};
`;

const guardMs = 700;

/** Returns the answers that the children got, by the word of their question. */
function answers(stage: Stage): Record<string, string> {
	const matches = stage
		.childRequests()
		.flatMap(({ systemText }) => [...systemText.matchAll(/^Answer to (\w+): (\w+)/gm)]);
	return Object.fromEntries(matches.map(([, word, answer]) => [word, answer]));
}

const task = (word: string, limit = "") => ({ agent: "explorer", task: `say done ${word} ${limit}`.trim() });

for (const version of piVersions) {
	describe(`questions of a child in the terminal of pi ${version}`, () => {
		async function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
			const stage = await backgroundStage({ version });
			stage.configure({ inheritExtensions: [stage.world.writeAgentDir("asking.ts", asking)] });
			try {
				await work(stage);
			} finally {
				await stage.close();
			}
		}

		test("wait in order while the user types, and each is answered separately", async () => {
			await onStage(async (stage) => {
				const tui = await startTui(stage.world, { prompt: delegate(task("alpha"), task("beta")) });
				const lines = await tui.waitFor(/\? explorer asks: Delete \w+\? · alt\+a answers\n \? explorer asks: Delete/);
				const [first = "", second = ""] = [...lines.matchAll(/^ \? explorer asks: Delete (\w+)\?/gm)].map(
					([, word]) => word,
				);
				await tui.type("no, yes");
				await tui.press("Left", "Left");
				await tui.type("y");
				await delay(2_500);
				assert.match(await tui.screen(), /^no, yyes$/m);
				assert.doesNotMatch(await tui.screen(), /cannot be undone/);

				await tui.press("M-a");
				const opened = await tui.waitFor("It cannot be undone.");
				assert.match(opened, /subagent explorer .*\n {3}say done alpha\n {3}\? explorer asks: Delete alpha\?\n/);
				assert.match(opened, new RegExp(`explorer asks ─.*Delete ${first}\\?.*→ No.*Yes`, "s"));
				// Letters are not for the question: it goes, and they are in the editor.
				await tui.type("!");
				await tui.waitFor(/^no, yy!es$/m);
				assert.doesNotMatch(await tui.screen(), /cannot be undone/);
				await tui.press("M-a");
				await tui.waitFor("→ No");
				await tui.chooseLast("Yes");
				await tui.press("Enter");
				await eventually(() => answers(stage)[first] === "true", "the first answer");
				await tui.press("C-u", "C-k");
				await tui.waitFor(new RegExp(`│ Delete ${second}\\? .*→ No`, "s"));
				await delay(guardMs);
				await tui.press("Enter");
				await tui.waitFor("The child says: done");
				assert.deepEqual(answers(stage), { [first]: "true", [second]: "false" });
				await tui.close();
			});
		});

		test("pass Enter and earlier keys to the editor right after they open", async () => {
			await onStage(async (stage) => {
				const tui = await startTui(stage.world, { prompt: delegate(task("alpha")) });
				await tui.waitFor("It cannot be undone.");
				await tui.type("yes");
				const typed = await tui.waitFor(/^yes$/m);
				assert.doesNotMatch(typed, /cannot be undone/);
				assert.match(typed, /\? explorer asks: Delete alpha\? · alt\+a answers/);
				await tui.press("Enter");
				await tui.waitFor("Steering: yes");
				assert.deepEqual(answers(stage), {});
				await tui.press("Escape");
				await tui.waitFor(/⚠ subagent explorer · \S+ · stopped/);
				assert.doesNotMatch(await tui.screen(), /alt\+a|cannot be undone/, "the question disappears with its run");
				await tui.close();
			});
		});

		test("are declined without an answer, and closed if they were open", async () => {
			await onStage(async (stage) => {
				const tui = await startTui(stage.world, { prompt: delegate(task("alpha", "4000")) });
				await tui.waitFor("It cannot be undone.");
				const ended = await tui.waitFor("The child says: done");
				assert.doesNotMatch(ended, /alt\+a|cannot be undone/);
				assert.deepEqual(answers(stage), { alpha: "false" });
				await tui.close();
			});
		});

		test("of a background run survive a reload, and disappear when the run is stopped", async () => {
			await onStage(async (stage) => {
				const [alpha, beta] = [task("alpha"), task("beta")].map((call) => ({
					task: call.task,
					label: call.task.slice(-5),
				}));
				const tui = await startTui(stage.world, { prompt: spawn({ ...alpha, label: "cleanup" }) });
				await tui.waitFor(" ? cleanup (explorer) asks: Delete alpha? · alt+a answers");
				await tui.submitCommand("reload");
				await tui.waitFor(/Reloaded/);
				await tui.waitFor(" ? cleanup (explorer) asks: Delete alpha? · alt+a answers");
				await tui.press("M-a");
				await tui.waitFor("→ No");
				await tui.chooseLast("Yes");
				await tui.press("Enter");
				await tui.waitFor("Heard success");
				assert.deepEqual(answers(stage), { alpha: "true" });

				await tui.type(spawn({ ...beta, label: "tidy" }));
				await tui.press("Enter");
				await tui.waitFor("tidy (explorer) asks: Delete beta?");
				// From the panel it is opened above that, which is there again afterwards.
				await tui.submitCommand("subagents");
				// The question stands above the editor too; the keys are the panel's.
				const opened = await tui.waitFor(/o question/);
				assert.match(opened, /\? tidy \(explorer\) asks: Delete beta\?/);
				await tui.type("o");
				await tui.waitFor("→ No");
				await tui.chooseLast("Yes");
				await tui.press("Enter");
				const panel = await tui.waitFor((screen) => screen.includes("Sub-agents") && !screen.includes("beta?"));
				assert.match(panel, /tidy/);
				await tui.press("q");
				await eventually(() => answers(stage).beta === "true", "the second answer");

				await tui.type(spawn({ task: "say done gamma", label: "sweep" }));
				await tui.press("Enter");
				await tui.waitFor("sweep (explorer) asks: Delete gamma?");
				await tui.submitCommand("stop");
				await tui.waitFor((screen) => !screen.includes("sweep (explorer) asks"));
				assert.deepEqual(answers(stage), { alpha: "true", beta: "true" });
				await tui.close();
			});
		});
	});
}
