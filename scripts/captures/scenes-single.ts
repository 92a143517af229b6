/** Scenes with one run in each state. */

import { fail, makeGate } from "../../__test__/support/steps.ts";
import { list, read, turns } from "./model.ts";
import type { Scene } from "./scene.ts";
import { EXPAND, find, found, noMistake, outOfCredit, review } from "./tasks.ts";

export const singleScenes: readonly Scene[] = [
	{
		name: "single",
		pictures: {
			"single-running": "At work: the last tool calls in pi's own short forms, what is being said, time and spending.",
			"single-running-expanded": "The same, expanded: the whole task, every call with the words that led to it.",
			"single-done": "Done: the start of the answer.",
			"single-done-expanded": "The same, expanded: task, calls, the answer as Markdown, spending, the child's session.",
		},
		narrow: ["single-running"],
		play() {
			const rest = makeGate();
			const [beginning, end] = [found.slice(0, 80), found.slice(80)];
			return {
				calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
				children: {
					[find]: turns(
						{ says: "First the lay of the land.", calls: [list("."), read("src/config.ts", 40)] },
						{ says: "Who calls it?", calls: [list("src"), read("src/main.ts")] },
						{ says: beginning, goesOn: { after: rest.opened, says: end } },
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
		name: "single-queued",
		pictures: { "single-queued": "Two calls where only one child may run at a time: the second waits for its turn." },
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
						{ says: "First the lay of the land.", calls: [list(".")] },
						{ says: found, after: rest.opened },
					),
					[review]: turns({ says: noMistake }),
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
		pictures: { "single-starting": "The child is being started." },
		holdsStarts: true,
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "reviewer", task: review } }],
			children: { [review]: turns({ says: noMistake }) },
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
		pictures: { "single-retrying": "The provider failed for good in the first attempt; the second is about to start." },
		config: { retry: { backoffMs: 4_000 } },
		settings: { retry: { enabled: true, maxRetries: 1, baseDelayMs: 50 } },
		play() {
			let requests = 0;
			return {
				calls: [{ tool: "subagent", args: { agent: "reviewer", task: review } }],
				children: {
					[review]: (request) => (requests++ < 2 ? [fail(503)] : turns({ says: noMistake })(request)),
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
		pictures: { "single-failed": "Failed: the code, and what the provider said." },
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
		pictures: { "single-aborted": "Stopped with Escape: what there was of the answer stays." },
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
			children: {
				[find]: turns({
					says: "`load` in `src/config.ts` reads two files,",
					goesOn: { after: new Promise(() => {}), says: "" },
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
		pictures: { "single-budget": "Over its budget of one cent: ended, with what was said until then." },
		config: { budget: { maxCost: 0.01 } },
		play: () => ({
			calls: [{ tool: "subagent", args: { agent: "explorer", task: find } }],
			children: {
				[find]: turns(
					{ says: "First the lay of the land.", calls: [list(".")] },
					{ says: "`load` is in `src/config.ts`; who calls it?", calls: [read("src/main.ts")] },
					{ says: found },
				),
			},
			async drive(screen) {
				await screen.sees(/⚠ subagent/);
				await screen.take("single-budget");
			},
		}),
	},
];
