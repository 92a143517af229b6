/** A day with background runs: the text of its page, and the durations to show on its pictures. */

import { Day, type Moment, typed } from "../../__test__/support/day.ts";
import { newestPi } from "../lib/places.mjs";
import type { Part, Story } from "./story.ts";

const parts: Partial<Record<Moment, Part>> = {
	spawned: {
		heading: "Two explorers, and no waiting",
		text:
			"You ask in your own words; the model calls `sessions_spawn`. The call returns at once with a run id, the turn ends, and the two runs go " +
			"on above the editor: a line each, with what they do, for how long, and what they have spent.",
		shows: "Two calls of sessions_spawn, and above the editor a line for each of the two runs.",
		from: /^ Two things/,
	},
	steered: {
		heading: "Work goes on, and a run is steered",
		text:
			"The session is free for something else: here the model has a plan made in the foreground, by a chain of two agents. Meanwhile " +
			`you think of something that the explorer should know. \`${typed.steer}\` is read by its child before its next turn; the chain is not disturbed.`,
		shows: "A chain at work, the answer to /subagents send, and the two background runs.",
		from: /^ Meanwhile/,
	},
	arrived: {
		text:
			"The explorer is done before the chain is. Its result waits until the model has finished what it was doing, and then arrives as one " +
			"message: how it ended, which the runtime says and not the child, its words, what it took. The model reads it in the same go.",
		shows: "The chain is done; below it the result of the explorer, and what the model says to it.",
		from: /^ ✓ subagent chain/,
	},
	budget: {
		heading: "One that finds no end",
		text:
			"Two more runs. The first looks for code that nobody calls and would look for ever; `budget.maxTurns` is 6. It is told when five are " +
			"used up, and ended when all are. The model hears that as an error, with what there was.",
		shows: "A run over its budget of six turns, and the two that go on.",
		from: /^ ✓ background explorer · dead code/,
	},
	panel: {
		heading: "A look inside",
		text: "`/subagents` opens the panel: all runs of the session, newest first, and below them what the chosen one was asked, does and says.",
		shows: "The panel: four runs, one of them chosen.",
		from: /^ Sub-agents/,
	},
	transcript: {
		text: "Enter shows the conversation of a run as it grows.",
		shows: "The transcript of a run under way.",
		from: /^ [●⚠] tests · /,
	},
	stopped: {
		text:
			"This one is no longer needed: `s`, and `s` again. What it had started ends with it. The session is told, and the model gets no turn for " +
			"it: you know what you did.",
		shows: "The same transcript, after the run was stopped.",
		from: /^ [●⚠] tests · /,
	},
	quit: {
		heading: "Home, and back",
		text:
			"One run is still at work when you quit pi. It ends with pi, everything that it had started too, and what there was of its answer is " +
			"kept. The last line in your terminal says which, and what continues it.",
		shows: "The terminal after pi: a line that names the run that ended and how to resume it.",
		from: /background run ended with pi/,
	},
	interrupted: {
		text:
			"When you open the session again, with `pi --continue` here, you are told: the status is `unknown`, because nobody knows what " +
			"would have come of it. Nothing starts again by itself: no run, and no turn.",
		shows: "The session is open again; the run that was cut off is announced as interrupted.",
		from: /^ ?⚠ tests/,
	},
	resumed: {
		text:
			`\`${typed.resume}\` continues it in its own session, where it was cut off. Its result arrives like any other, once. (\`background.onExit: "keep"\` ` +
			"in your configuration lets runs go on without pi.)",
		shows: "The run was resumed, and its result has arrived.",
		from: /^ ?⚠ history/,
	},
};

export const day: Story = {
	name: "day",
	head: [
		"# A day with background runs",
		"",
		`What a person sees of runs that nobody waits for, in pi ${newestPi}, from the first prompt to the last result.`,
		"",
		"`npm run captures -- day` makes this page: real pi in tmux, a scripted model, the colours of pi's own themes.",
		"`__test__/extension/pi-day.spec.ts` plays the same day and proves what is said here: every end of a run stands in the session",
		"once, the model reads it once, it is drawn once, and no process is left behind. On the pictures times and run ids are replaced by",
		"ones that stay the same, and empty rows, pi's editor and its footer are left out.",
	],
	parts,
	times: {
		config: { live: "5s", over: "6.2s" },
		tests: { live: "9s", over: "12s" },
		"dead code": { live: "2s", over: "2.4s" },
		// Was cut off first, and completed later.
		history: { live: "4s", over: "8.1s", done: "9.4s" },
		chain: { live: "4s", over: "4.9s" },
		explorer: { live: "1s", over: "1.8s" },
		implementer: { live: "2s", over: "3.1s" },
	},
	async play({ theme, columns }, rows, take) {
		const played = await Day.begin({ theme, columns, rows });
		try {
			await played.play(take);
		} finally {
			await played.end();
		}
	},
};
