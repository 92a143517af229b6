/** A day of writing: the text of its page, and its performance in a terminal. */

import { call, type ModelRequest, makeGate, type Step, say, startTui, type Tui } from "../../__test__/support/pi.ts";
import { type Label, together, WritingDay, work } from "../../__test__/support/writing-day.ts";
import { newestPi } from "../lib/places.mjs";
import type { Look } from "./scene.ts";
import type { Part, Story, Take } from "./story.ts";

const typed = {
	three: "Three workers, please: call it tested, call it documented, begin the parser.",
	tidy: "Tidy up README.md and notes.txt, right here.",
	half: "One more worker: fill half.txt.",
};

const parts: Record<string, Part> = {
	workers: {
		heading: "Three workers side by side",
		text: "Each has a tree of its own, made from yours with what you have not committed, so none waits for another.",
		shows: "Three workers above the editor, a line each.",
		from: /^ Three workers/,
	},
	checked: {
		heading: "A check that is red, and then green",
		text:
			"`agents.worker.check` is a command of yours. It runs when the child says that it is done. This one is red at first: the child gets what it " +
			"printed, mends what it did, and says again that it is done. The model hears how the check went, which branch there is and what it changes. " +
			"Your tree is as it was.",
		shows: "The result of a worker: its words, its check, its branch.",
		from: /^ ✓ parser/,
	},
	conflict: {
		heading: "Taking it over, and a conflict",
		text:
			"Two of them have changed the same line. `/subagents apply` brings the first into your tree. At the second the file gets git's conflict " +
			"markers, and is named.",
		shows: "The answers to two commands: one was applied, one conflicts.",
		from: /✓ applied \w+ \(worker "tested"\)/,
	},
	aborted: {
		text: "`/subagents apply --abort` brings back what was there before the second.",
		shows: "The answer to /subagents apply --abort.",
		from: /took back/,
	},
	undone: {
		heading: "An undo",
		text: "Another agent has worked in place, and you have changed one of its files since. `/subagents undo` brings back the others, and names yours.",
		shows: "The answer to /subagents undo: two files are brought back, one is left as it is.",
		from: /brought back what/,
	},
	interrupted: {
		heading: "pi is killed",
		text:
			"One more worker is at work when pi gets SIGKILL. Nothing of it is left running. When you open the session again, what it had written " +
			"becomes its branch, committed or not, and you are told how it ended.",
		shows: "The session is open again: the run was interrupted, and its branch is there.",
		from: /lost its pi/,
	},
	resumed: {
		text: "`/subagents resume last` continues its conversation in a tree made from that branch, and moves it forward.",
		shows: "The run was resumed, and its result has arrived.",
		from: /resumed/,
	},
};

export const writingDay: Story = {
	name: "writing-day",
	head: [
		"# A day of writing",
		"",
		`What a person sees of agents that edit files, in pi ${newestPi}: each in a tree of its own, checked, taken over, undone, and nothing lost.`,
		"How it works is in [isolation](isolation.md), [writing](writing.md) and [taking it over](apply.md).",
		"",
		"`npm run captures -- writing-day` makes this page: real pi in tmux, a scripted model, the colours of pi's own themes.",
		"`__test__/extension/pi-writing-day.spec.ts` plays the same day and proves what is said here. On the pictures times and run ids are",
		"replaced by ones that stay the same, and empty rows, pi's editor and its footer are left out.",
	],
	parts,
	times: {
		tested: { live: "3s", over: "4.1s" },
		documented: { live: "3s", over: "4.2s" },
		parser: { live: "3s", over: "5.3s" },
		tidy: { live: "2s", over: "2.6s" },
		half: { live: "2s", over: "3.4s", done: "2.2s" },
	},
	async play({ theme, columns }: Look, rows: number, take: Take): Promise<void> {
		const gates = { tested: makeGate(), documented: makeGate(), parser: makeGate() };
		const before = Object.fromEntries(Object.entries(gates).map(([label, { opened }]) => [label, opened]));
		const settings = { theme, sessionDir: "~/.pi/sessions" };
		const day = await WritingDay.begin({ before, children: session, settings, inHome: true });
		const { world } = day.stage;
		const open = async (...args: string[]) => {
			const tui = await startTui(world, { columns, rows, args });
			await tui.waitFor("scripted-model");
			return tui;
		};
		try {
			const tui = await open();
			await enter(tui, typed.three);
			await tui.waitFor((screen) => together.every((label) => new RegExp(`^ ● ${label} .* read `, "m").test(screen)));
			await take("workers", tui);
			gates.parser.open();
			await tui.waitFor(/^ ✓ parser [\s\S]*I have read it/m);
			await take("checked", tui);
			for (const label of ["tested", "documented"] as const) {
				gates[label].open();
				await tui.waitFor(new RegExp(`^ ✓ ${label} [\\s\\S]*I have read it`, "m"));
			}
			await enter(tui, `/subagents apply ${day.runOf("readme: say that it is tested")}`);
			await tui.waitFor(/✓ applied/);
			await enter(tui, `/subagents apply ${day.runOf("readme: say that it is documented")}`);
			await tui.waitFor(/CONFLICT/);
			await take("conflict", tui);
			await enter(tui, "/subagents apply --abort");
			await tui.waitFor(/took back/);
			await take("aborted", tui);

			await enter(tui, typed.tidy);
			await tui.waitFor(/^ ✓ tidy [\s\S]*I have read it/m);
			world.write("notes.txt", "mine again\n");
			await enter(tui, "/subagents undo last");
			await tui.waitFor(/brought back/);
			await take("undone", tui);

			await enter(tui, typed.half);
			await day.untilHalfDone();
			await tui.waitFor(/^ ● half .*So far so good/m);
			process.kill(await tui.pid(), "SIGKILL");
			await tui.close();
			await world.assertNothingLeft();
			const again = await open("--continue");
			await again.waitFor((screen) => screen.includes("lost its pi") && /^ ⚠ half /m.test(screen));
			await take("interrupted", again);
			await enter(again, "/subagents resume last");
			await again.waitFor(/^ ✓ half [\s\S]*I have read it/m);
			await take("resumed", again);
			await again.close();
		} finally {
			await day.end();
		}
	},
};

/** The scripted answers of the session's own model. */
const session: Record<string, (request: ModelRequest) => Step[]> = {
	Three: spawns(together, "worker", "Three are at work, each in a tree of its own."),
	Tidy: spawns(["tidy"], "tidier", "It is at work in your tree."),
	One: spawns(["half"], "worker", "A fourth is at work."),
	Background: () => [say("I have read it.")],
};

function spawns(labels: readonly Label[], agentId: string, words: string): (request: ModelRequest) => Step[] {
	return ({ toolAnswers }) => {
		if (toolAnswers.length > 0) return [say(words)];
		return labels.map((label) => call("sessions_spawn", { task: work[label].task, label, agentId }));
	};
}

/** Types a prompt or a command, and sends it. */
async function enter(tui: Tui, text: string): Promise<void> {
	await tui.type(text);
	await tui.waitFor((screen) => screen.includes(text));
	await tui.press("Enter");
}
