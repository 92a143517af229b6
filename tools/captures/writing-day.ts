/** A day of writing: the text of its page, and its performance in a terminal. */

import { call, type ModelRequest, makeGate, type Step, say, startTui, type Tui } from "../../__test__/support/pi.ts";
import { type Label, together, WritingDay, work } from "../../__test__/support/writing-day.ts";
import { newestPi } from "../../scripts/lib/places.mjs";
import type { Variant } from "./scene.ts";
import type { Part, Story, Take } from "./story.ts";

const typed = {
	three: "Three workers, please: call it tested, call it documented, begin the parser.",
	tidy: "Tidy up README.md and notes.txt, right here.",
	half: "One more worker: fill half.txt.",
};

const parts: Record<string, Part> = {
	workers: {
		heading: "Three parallel workers",
		text: "Each worker has its own tree, a copy of yours with your uncommitted changes, so no worker waits for another.",
		shows: "Three workers above the editor, one line each.",
		from: /^ Three workers/,
	},
	checked: {
		heading: "A check that fails, and then passes",
		text:
			"`agents.worker.check` is your own command. It runs when the child reports that it is done. Here it fails first: the child receives the " +
			"output, fixes its work, and reports again. The model receives the check's result, the branch and a summary of its changes. Your tree is " +
			"unchanged.",
		shows: "A worker's result: its text, its check and its branch.",
		from: /^ ✓ parser/,
	},
	conflict: {
		heading: "Apply changes, and a conflict",
		text:
			"Two workers changed the same line. `/subagents apply` applies the first branch to your tree. At the second branch, git writes conflict " +
			"markers into the file, and the answer names it.",
		shows: "The answers to two commands: one branch was applied, the other one conflicts.",
		from: /✓ applied \w+ \(worker "tested"\)/,
	},
	aborted: {
		text: "`/subagents apply --abort` restores the state before the second command.",
		shows: "The answer to /subagents apply --abort.",
		from: /undid the apply/,
	},
	undone: {
		heading: "Undo changes",
		text: "Another agent edited files in your tree, and you have changed one of them since. `/subagents undo` restores the other files and names yours.",
		shows: "The answer to /subagents undo: two files are restored, one is left unchanged.",
		from: /reverted the changes/,
	},
	interrupted: {
		heading: "pi is killed",
		text:
			"One more worker is running when pi gets SIGKILL. None of its processes survives. When you open the session again, its changes become a " +
			"branch, committed or not, and a message shows how the run ended.",
		shows: "The session is open again. The run was interrupted, and its branch exists.",
		from: /because its pi ended/,
	},
	resumed: {
		text: "`/subagents resume last` continues its conversation in a tree made from that branch. New commits are added to the branch.",
		shows: "The run was resumed, and its result has arrived.",
		from: /resumed/,
	},
};

export const writingDay: Story = {
	name: "writing-day",
	head: [
		"# A day of writing",
		"",
		`This page shows agents that edit files in pi ${newestPi}. Each works in its own tree and is checked, and its changes are applied or undone. No change is lost.`,
		"For details, see [isolation](isolation.md), [writing](writing.md) and [applying changes](apply.md).",
		"",
		"`npm run captures -- writing-day` makes this page from real pi in tmux, with a scripted model and pi's own themes.",
		"`__test__/extension/pi-writing-day.spec.ts` plays the same day and checks these claims. On the pictures, constant values replace",
		"times and run ids. Empty rows, pi's editor and its footer are left out.",
	],
	parts,
	times: {
		tested: { live: "3s", ended: "4.1s" },
		documented: { live: "3s", ended: "4.2s" },
		parser: { live: "3s", ended: "5.3s" },
		tidy: { live: "2s", ended: "2.6s" },
		half: { live: "2s", ended: "3.4s", done: "2.2s" },
	},
	async play({ theme, columns }: Variant, rows: number, take: Take): Promise<void> {
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
			await tui.waitFor(/undid the apply/);
			await take("aborted", tui);

			await enter(tui, typed.tidy);
			await tui.waitFor(/^ ✓ tidy [\s\S]*I have read it/m);
			world.write("notes.txt", "mine again\n");
			await enter(tui, "/subagents undo last");
			await tui.waitFor(/reverted the changes/);
			await take("undone", tui);

			await enter(tui, typed.half);
			await day.untilHalfDone();
			await tui.waitFor(/^ ● half .*So far so good/m);
			process.kill(await tui.pid(), "SIGKILL");
			await tui.close();
			await world.assertNothingLeft();
			const again = await open("--continue");
			await again.waitFor((screen) => screen.includes("because its pi ended") && /^ ⚠ half /m.test(screen));
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

function spawns(labels: readonly Label[], agentId: string, answer: string): (request: ModelRequest) => Step[] {
	return ({ toolAnswers }) => {
		if (toolAnswers.length > 0) return [say(answer)];
		return labels.map((label) => call("sessions_spawn", { task: work[label].task, label, agentId }));
	};
}

/** Types a prompt or a command, and sends it. */
async function enter(tui: Tui, text: string): Promise<void> {
	await tui.type(text);
	await tui.waitFor((screen) => screen.includes(text));
	await tui.press("Enter");
}
