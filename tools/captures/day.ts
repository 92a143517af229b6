/** A day with background runs: the text of its page, and the durations to show on its pictures. */

import { Day, type Moment, typed } from "../../__test__/support/day.ts";
import { newestPi } from "../../scripts/lib/places.mjs";
import type { Part, Story } from "./story.ts";

const parts: Partial<Record<Moment, Part>> = {
	spawned: {
		heading: "Start two explorers",
		text:
			"You ask in your own words, and the model calls `sessions_spawn`. Each call returns at once with a run id, and the turn ends. The two runs " +
			"continue above the editor. Each line shows a run's activity, duration and usage.",
		shows: "Two calls of sessions_spawn, and a line for each of the two runs above the editor.",
		from: /^ Two things/,
	},
	steered: {
		heading: "Send a message to a run",
		text:
			"The session is free for other work. Here, a chain of two agents makes a plan in the foreground. At the same time you want to tell the " +
			`explorer something: \`${typed.steer}\`. Its child reads the message before its next turn. The chain is not affected.`,
		shows: "A running chain, the answer to /subagents send, and the two background runs.",
		from: /^ Meanwhile/,
	},
	arrived: {
		text:
			"The explorer completes before the chain. Its result waits until the model has finished its turn, and then arrives as one message: the " +
			"outcome, which comes from the runtime and not from the child, the child's text, and the usage. The model reads it right away.",
		shows: "The completed chain, the explorer's result below it, and the model's answer.",
		from: /^ ✓ subagent chain/,
	},
	budget: {
		heading: "Limit a run",
		text:
			"Two more runs. The first looks for unused code and would never finish, but `budget.maxTurns` is 6. After five turns the child gets a " +
			"warning, and after six turns the run is ended. The model receives an error with the partial result.",
		shows: "A run that exceeded its budget of six turns, and two runs that continue.",
		from: /^ → background explorer · started · dead code/,
	},
	panel: {
		heading: "Look inside a run",
		text: "`/subagents` opens the panel. It lists all runs of the session, newest first, and shows the selected run's task, activity and text.",
		shows: "The panel with four runs, one of them selected.",
		from: /^ Sub-agents/,
	},
	transcript: {
		text: "Enter shows a run's transcript as it grows.",
		shows: "The transcript of a live run.",
		from: /^ [●⚠] tests · /,
	},
	stopped: {
		text:
			"You no longer need this run: press `s`, and `s` again. The processes that it started end with it. The session gets a message, but the " +
			"model gets no turn for it, because you stopped the run yourself.",
		shows: "The same transcript after you stopped the run.",
		from: /^ [●⚠] tests · /,
	},
	quit: {
		heading: "Quit pi and return",
		text:
			"One run is still running when you quit pi. It ends together with pi and with the processes that it started. Its partial answer is kept. " +
			"The last line in your terminal names the run and the command that resumes it.",
		shows: "The terminal after pi: a line that names the run that ended and how to resume it.",
		from: /background run ended with pi/,
	},
	interrupted: {
		text:
			"You open the session again, here with `pi --continue`. A message reports the run with the status `unknown`, because its result is not " +
			"known. No run and no turn starts again without you.",
		shows: "The session is open again, and a message reports that the run was interrupted.",
		from: /^ ?⚠ tests/,
	},
	resumed: {
		text:
			`\`${typed.resume}\` continues the run in its own session, from the point of the interruption. Its result arrives once, like any other. ` +
			'(With `background.onExit: "keep"` in your configuration, runs continue without pi.)',
		shows: "The run was resumed, and its result has arrived.",
		from: /^ ?⚠ history/,
	},
};

export const day: Story = {
	name: "day",
	head: [
		"# A day with background runs",
		"",
		`This page shows a day with background runs in pi ${newestPi}, from the first prompt to the last result.`,
		"",
		"`npm run captures -- day` makes this page from real pi in tmux, with a scripted model and pi's own themes.",
		"`__test__/extension/pi-day.spec.ts` plays the same day and checks these claims: each result is in the session once, the model",
		"reads it once, it is drawn once, and no process is left behind. On the pictures, constant values replace times and run ids. Empty",
		"rows, pi's editor and its footer are left out.",
	],
	parts,
	times: {
		config: { live: "5s", ended: "6.2s" },
		tests: { live: "9s", ended: "12s" },
		"dead code": { live: "2s", ended: "2.4s" },
		// Was cut off first, and completed later.
		history: { live: "4s", ended: "8.1s", done: "9.4s" },
		chain: { live: "4s", ended: "4.9s" },
		explorer: { live: "1s", ended: "1.8s" },
		implementer: { live: "2s", ended: "3.1s" },
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
