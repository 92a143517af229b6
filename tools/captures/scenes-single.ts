/** Scenes with one run in each state. */

import { fail, makeGate } from "../../__test__/support/steps.ts";
import { list, read, turns } from "./model.ts";
import type { Scene } from "./scene.ts";
import { EXPAND, find, found, noMistake, outOfCredit, review } from "./tasks.ts";

export const singleScenes: readonly Scene[] = [
	{
		name: "single",
		pictures: {
			"single-running": "Running: the last tool calls in pi's short form, the current text, the time and the usage.",
			"single-running-expanded": "The same, expanded: the whole task, and every tool call with the text before it.",
			"single-done": "Completed: the start of the answer.",
			"single-done-expanded":
				"The same, expanded: the task, the tool calls, the answer as Markdown, the usage and the child's session.",
		},
		narrow: ["single-running"],
		play() {
			const rest = makeGate();
			const beginning = found.slice(0, 80);
			const end = found.slice(80);
			return {
				calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
				children: {
					[find]: turns(
						{ text: "First the lay of the land.", calls: [list("."), read("src/config.ts", 40)] },
						{ text: "Who calls it?", calls: [list("src"), read("src/main.ts")] },
						{ text: beginning, more: { after: rest.opened, text: end } },
					),
				},
				async drive(screen) {
					await screen.sees(/src\/config\.ts reads/);
					await screen.take("single-running");
					await screen.press(EXPAND);
					await screen.sees(/First the lay/);
					await screen.take("single-running-expanded");
					await screen.press(EXPAND);
					rest.open();
					await screen.sees(/✓ subagent/);
					await screen.take("single-done");
					await screen.press(EXPAND);
					await screen.sees(/session [~…]/);
					await screen.take("single-done-expanded");
				},
			};
		},
	},
	{
		name: "single-keys",
		pictures: { "single-keys": "After five seconds: the keys that stop the call or move it to the background." },
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
			children: {
				[find]: turns(
					{ text: "First the lay of the land.", calls: [list("."), read("src/config.ts", 40)] },
					{ text: "Who calls it?", more: { after: new Promise(() => {}), text: "" } },
				),
			},
			async drive(screen) {
				await screen.sees(/esc\w* stop/);
				await screen.take("single-keys");
				await screen.press("Escape");
				await screen.sees(/⚠ subagent/);
			},
		}),
	},
	{
		name: "single-unchanged",
		pictures: { "single-unchanged": "The answer says that it wrote, and nothing was written: `allowWrite` is off." },
		writers: ["worker"],
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "worker", task: "Add a retry to src/main.ts." } }],
			children: {
				Add: turns(
					{ text: "", calls: [{ name: "write", args: { path: "src/main.ts", content: "retry(start);" } }] },
					{ text: "I added a retry to `src/main.ts`. It waits a second before each attempt." },
				),
			},
			async drive(screen) {
				await screen.sees(/⚠ subagent/);
				await screen.take("single-unchanged");
			},
		}),
	},
	{
		name: "single-queued",
		pictures: {
			"single-queued": "Two calls, but only one child may run at a time. The second call waits for the slot.",
		},
		config: { maxConcurrent: 1 },
		// The call waits at a question until the other call has the only slot.
		projectAgents: ["reviewer"],
		play() {
			const rest = makeGate();
			return {
				calls: [
					{ tool: "subagent", args: { agent: "explorer", task: find } },
					{ tool: "subagent", args: { agent: "reviewer", task: review } },
				],
				children: {
					[find]: turns(
						{ text: "First the lay of the land.", calls: [list(".")] },
						{ text: found, after: rest.opened },
					),
					[review]: turns({ text: noMistake }),
				},
				async drive(screen) {
					await screen.sees(/ls \.[\s\S]*1 turn/);
					await screen.sees(/\? Run the project's agent reviewer\?/);
					await screen.press("M-a");
					await screen.sees(/→ No/);
					await screen.press("End", "Down", "Enter");
					await screen.sees(/subagent reviewer .* queued #1/);
					await screen.take("single-queued");
					rest.open();
					await screen.sees(/✓ subagent reviewer/);
				},
			};
		},
	},
	{
		name: "single-starting",
		pictures: { "single-starting": "The child is starting." },
		holdsStarts: true,
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "reviewer", task: review } }],
			children: { [review]: turns({ text: noMistake }) },
			async drive(screen) {
				await screen.sees(/◐ subagent reviewer .* starting/);
				await screen.take("single-starting");
				screen.letStart();
				await screen.sees(/✓ subagent/);
			},
		}),
	},
	{
		name: "single-retrying",
		pictures: {
			"single-retrying": "The first attempt failed because of the provider. The second attempt starts soon.",
		},
		config: { retry: { backoffMs: 4_000 } },
		settings: { retry: { enabled: true, maxRetries: 1, baseDelayMs: 50 } },
		play() {
			let requests = 0;
			return {
				calls: [{ tool: "subagent", args: { agent: "reviewer", task: review } }],
				children: {
					[review]: (request) => (requests++ < 2 ? [fail(503)] : turns({ text: noMistake })(request)),
				},
				async drive(screen) {
					await screen.sees(/retrying, attempt 2|retry 1/);
					await screen.take("single-retrying");
					await screen.sees(/✓ subagent/);
				},
			};
		},
	},
	{
		name: "single-failed",
		pictures: { "single-failed": "Failed: the provider's message." },
		settings: { retry: { enabled: false } },
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "reviewer", task: review } }],
			children: { [review]: outOfCredit },
			async drive(screen) {
				await screen.sees(/✗ subagent/);
				await screen.take("single-failed");
			},
		}),
	},
	{
		name: "single-aborted",
		pictures: { "single-aborted": "Stopped with Escape. The partial answer is kept." },
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
			children: {
				[find]: turns({
					text: "`load` in `src/config.ts` reads two files,",
					more: { after: new Promise(() => {}), text: "" },
				}),
			},
			async drive(screen) {
				await screen.sees(/reads two files/);
				await screen.press("Escape");
				await screen.sees(/⚠ subagent/);
				await screen.take("single-aborted");
			},
		}),
	},
	{
		name: "single-budget",
		pictures: { "single-budget": "The run exceeded its budget of one cent and was ended. The text so far is kept." },
		config: { budget: { maxCost: 0.01 } },
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
			children: {
				[find]: turns(
					{ text: "First the lay of the land.", calls: [list(".")] },
					{ text: "`load` is in `src/config.ts`; who calls it?", calls: [read("src/main.ts")] },
					{ text: found },
				),
			},
			async drive(screen) {
				await screen.sees(/⚠ subagent/);
				await screen.take("single-budget");
			},
		}),
	},
];
