/** Scenes with several runs at once. */

import { makeGate } from "../../__test__/support/steps.ts";
import { list, read, turns } from "./model.ts";
import type { Scene } from "./scene.ts";
import {
	at,
	EXPAND,
	explore,
	find,
	found,
	noMistake,
	optionPlan,
	outOfCredit,
	plan,
	rateLimited,
	review,
	testPlan,
	tests,
} from "./tasks.ts";

/** Matches a screen on which two runs have been silent long enough to show it. */
const twoSilent = /\d+s ago[\s\S]*\d+s ago/;

export const parallelScenes: readonly Scene[] = [
	{
		name: "parallel-arguments",
		pictures: { "parallel-arguments": "The model still writes the call. The card shows the tasks so far." },
		play() {
			const rest = makeGate();
			return {
				calls: [
					{
						tool: "subagent_parallel",
						args: { tasks: [at("explorer", find), at("reviewer", review)] },
						pauses: { splitAt: "iewer", until: rest.opened },
					},
				],
				children: { [find]: explore, [review]: turns({ text: noMistake }) },
				async drive(screen) {
					await screen.sees(/○ rev/);
					await screen.take("parallel-arguments");
					rest.open();
					await screen.sees(/✓ subagent/);
				},
			};
		},
	},
	{
		name: "parallel",
		pictures: {
			"parallel-running": "One line per task, and a line for all of them. Two tasks run at the same time.",
			"parallel-running-expanded": "The same, expanded: the activity of the running tasks.",
			"parallel-done": "Completed: the start of each answer.",
			"parallel-done-expanded": "The same, expanded: all details of each task.",
		},
		narrow: ["parallel-running", "parallel-done"],
		config: { parallelConcurrency: 2 },
		play() {
			const rest = makeGate();
			const tasks = [at("explorer", find), at("reviewer", review), at("tester", tests), at("implementer", plan)];
			return {
				calls: [{ tool: "subagent_parallel", args: { tasks } }],
				children: {
					[find]: explore,
					[review]: turns(
						{ text: "I read it.", calls: [read("src/config.ts", 40)] },
						{ text: noMistake, after: rest.opened },
					),
					[tests]: turns(
						{ text: "What tests are there?", calls: [list("test")] },
						{ text: testPlan, after: rest.opened },
					),
					[plan]: turns({ text: optionPlan }),
				},
				async drive(screen) {
					await screen.sees(screen.variant.columns < 60 ? /reviewer .*read \S[\s\S]*ls test[\s\S]*4 turns/ : twoSilent);
					await screen.take("parallel-running");
					await screen.press(EXPAND);
					await screen.sees(/^ {5}ls test/m);
					await screen.take("parallel-running-expanded");
					await screen.press(EXPAND);
					rest.open();
					await screen.sees(/✓ subagent parallel/);
					await screen.take("parallel-done");
					await screen.press(EXPAND);
					await screen.sees(/session [~…]/);
					await screen.take("parallel-done-expanded");
				},
			};
		},
	},
	{
		name: "parallel-failed",
		pictures: { "parallel-failed": "One of three tasks failed. The call succeeds and reports the failure." },
		narrow: ["parallel-failed"],
		settings: { retry: { enabled: false } },
		play: () => ({
			calls: [
				{
					tool: "subagent_parallel",
					args: { tasks: [at("explorer", find), at("reviewer", review), at("tester", tests)] },
				},
			],
			children: { [find]: explore, [review]: outOfCredit, [tests]: turns({ text: testPlan }) },
			async drive(screen) {
				await screen.sees(/⚠ subagent parallel/);
				await screen.take("parallel-failed");
			},
		}),
	},
	{
		name: "parallel-aborted",
		pictures: { "parallel-aborted": "Stopped with Escape. Completed results are kept; queued tasks do not start." },
		config: { parallelConcurrency: 2 },
		play: () => ({
			calls: [
				{
					tool: "subagent_parallel",
					args: { tasks: [at("reviewer", review), at("explorer", find), at("tester", tests), at("implementer", plan)] },
				},
			],
			children: {
				[review]: turns({ text: noMistake }),
				[find]: turns({ text: "I look.", calls: [list(".")] }, { text: "", after: new Promise(() => {}) }),
				[tests]: turns({ text: "I look.", calls: [list("test")] }, { text: "", after: new Promise(() => {}) }),
			},
			async drive(screen) {
				await screen.sees(/ls \.[\s\S]*ls test[\s\S]*1 completed · 2 running/);
				await screen.sees(twoSilent);
				await screen.press("Escape");
				await screen.sees(/⚠ subagent parallel/);
				await screen.take("parallel-aborted");
			},
		}),
	},
	{
		name: "parallel-held",
		pictures: {
			"parallel-held":
				"The provider limits its rate. One task failed because of it, and no other task starts until the wait has ended.",
		},
		narrow: ["parallel-held"],
		config: { parallelConcurrency: 2 },
		settings: { retry: { enabled: false } },
		play() {
			const rest = makeGate();
			const tasks = [at("explorer", find), at("reviewer", review), at("tester", tests)];
			return {
				calls: [{ tool: "subagent_parallel", args: { tasks } }],
				children: {
					[find]: turns({ text: "I look.", calls: [list(".")] }, { text: found, after: rest.opened }),
					[review]: rateLimited,
					[tests]: turns({ text: testPlan }),
				},
				async drive(screen) {
					await screen.sees(/ls \. · \ds ago[\s\S]*rate limit/);
					await screen.take("parallel-held");
					await screen.press("Escape");
					await screen.sees(/⚠ subagent parallel/);
				},
			};
		},
	},
	{
		name: "parallel-budget",
		pictures: {
			"parallel-budget": "Each task may cost one cent. One task exceeds this budget, the other one does not.",
		},
		config: { budget: { maxCost: 0.01 } },
		play: () => ({
			calls: [{ tool: "subagent_parallel", args: { tasks: [at("explorer", find), at("reviewer", review)] } }],
			children: {
				[find]: turns(
					{ text: "First the lay of the land.", calls: [list(".")] },
					{ text: "`load` is in `src/config.ts`; who calls it?", calls: [read("src/main.ts")] },
					{ text: found },
				),
				[review]: turns({ text: noMistake }),
			},
			async drive(screen) {
				await screen.sees(/⚠ subagent parallel/);
				await screen.take("parallel-budget");
			},
		}),
	},
];
