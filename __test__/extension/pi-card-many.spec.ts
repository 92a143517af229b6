/** The live cards of several runs as real pi draws them. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
	call,
	fail,
	hang,
	makeGate,
	newestPi,
	onStage,
	piVersions,
	say,
	startTui,
	type Tui,
	until,
} from "../support/pi.ts";

const refused = { body: { error: { message: "no credit is left" } } };

/** A prompt that makes the parent call one of the tools; the agents' tasks are words that name scripts. */
function ask(kind: "parallel" | "chain", ...words: string[]): string {
	return `${kind} ${JSON.stringify(words)}`;
}

const agents = ["explorer", "reviewer", "tester", "implementer"];

function parent(tool: string, list: string) {
	return ({ userText, toolAnswers }: { userText: string; toolAnswers: unknown[] }) => {
		if (toolAnswers.length > 0) return [say("That is all.")];
		const words = JSON.parse(userText.slice(userText.indexOf("["))) as string[];
		return [call(tool, { [list]: words.map((task, index) => ({ agent: agents[index], task })) })];
	};
}

const parents = { parallel: parent("subagent_parallel", "tasks"), chain: parent("subagent_chain", "steps") };

/** Waits until the card has these lines, one after the other; returns them. */
async function card(tui: Tui, ...lines: RegExp[]): Promise<string[]> {
	const find = (screen: string) => {
		const rows = screen.split("\n");
		const from = rows.findLastIndex((row) => lines[0]?.test(row.slice(1)));
		const found = rows.slice(from, from + lines.length).map((row) => row.slice(1));
		return from >= 0 && lines.every((line, index) => line.test(found[index] ?? "")) ? found : undefined;
	};
	const screen = await tui.waitFor((shown) => find(shown) !== undefined);
	return find(screen) ?? [];
}

for (const version of piVersions) {
	describe(`cards of several runs in pi ${version}`, () => {
		test("shows a line per task: queued in order, running, failed, done", async () => {
			const [first, others] = [makeGate(), makeGate()];
			const children = {
				...parents,
				look: ({ toolAnswers }: { toolAnswers: unknown[] }) =>
					toolAnswers.length === 0
						? [say("I look."), call("ls", { path: "." })]
						: [until(first.opened), say("# Found\n\nIt is **here**.")],
				refuse: async () => {
					await others.opened;
					return [fail(400, refused)];
				},
				late: () => [say("Now it is my turn.")],
			};
			await onStage({ version, settings: { theme: "dark", retry: { enabled: false } }, children }, async (stage) => {
				stage.configure({ parallelConcurrency: 2 });
				const prompt = ask("parallel", "look", "refuse", "late", "late");
				const tui = await startTui(stage.world, { columns: 120, rows: 50, prompt });
				await card(
					tui,
					/^● subagent parallel · 4 tasks$/,
					/^ {2}● explorer +\d+s {2}look +ls \. · /,
					/^ {2}● reviewer +\d+s {2}refuse/,
					/^ {2}○ tester +late +queued #1$/,
					/^ {2}○ implementer +late +queued #2$/,
					/^ {2}2 running · 2 queued · \d+s · 1 turn /,
				);
				others.open();
				await card(tui, /✗ reviewer .* failed · provider: `400/, /✓ tester .* Now it is my turn\. /, /✓ implementer/);
				assert.match(await tui.screen(), /● subagent parallel/, "a failed task does not end the others");

				await tui.resize(40, 50);
				await card(tui, /^ {2}● explorer +\d+s {2}ls \./, /^ {2}✗ reviewer +\S+s {2}failed/, /^ {2}✓ tester/);
				await tui.resize(120, 50);
				first.open();
				await tui.waitFor("That is all.");
				await card(
					tui,
					/^⚠ subagent parallel · 3 of 4 completed · \d+(\.\d)?s · ctrl\+o to expand$/,
					/^ {2}✓ explorer .* It is here\. · 2 turns /,
					/^ {2}✗ reviewer .* {2}refuse +failed · provider: .*no credit is left`$/,
					/^ {2}✓ tester/,
					/^ {2}✓ implementer/,
					/^ {2}to continue reviewer: \/subagents resume \w{8}$/,
					/^ {2}3 completed · 1 failed · \d turns /,
				);
				await tui.close();
			});
		});

		// Our code decides how cards look. An old pi only has to draw them.
		if (version !== newestPi) return;

		test("a chain marks its step, keeps the results before an abort, and is drawn again in a resumed session", async () => {
			const children = {
				...parents,
				begin: () => [say("The beginning.")],
				stay: () => [say("I stay"), hang()],
			};
			await onStage({ version, settings: { theme: "light" }, children }, async (stage) => {
				const prompt = ask("chain", "begin", "stay after {previous}", "never");
				const tui = await startTui(stage.world, { columns: 100, rows: 50, prompt });
				await card(
					tui,
					/^● subagent chain · step 2 of 3$/,
					/^ {2}1 ✓ explorer +\S+s {2}begin +The beginning\. · 1 turn/,
					/^→ 2 ● reviewer +\d+s {2}stay after \{previous\} +I stay/,
					/^ {2}3 ○ tester +never +waiting$/,
					/^ {2}1 completed · 1 running · 1 waiting · \d+s/,
				);
				await tui.press("Escape");
				const ended = [
					/^⚠ subagent chain · stopped at step 2 of 3 · \S+s · ctrl\+o to expand$/,
					/^ {2}1 ✓ explorer .* The beginning\./,
					/^ {2}2 ⚠ reviewer .* stopped · I stay/,
					/^ {2}3 – tester +never +stopped before it started$/,
					/^ {2}to continue reviewer: \/subagents resume \w{8}$/,
					/^ {2}1 completed · 1 stopped · 1 skipped · /,
				];
				await card(tui, ...ended);
				await tui.press("C-d");
				await tui.ended();
				await tui.close();

				const again = await startTui(stage.world, { columns: 100, rows: 50, args: ["--continue"] });
				await card(again, ...ended);
				await again.press("C-o");
				const screen = await again.waitFor(/session …[\s\S]*session …/);
				assert.match(screen, /last said:\n+ {5}I stay\n/, "the partial answer stays on the screen");
				await again.close();
			});
		});
	});
}
