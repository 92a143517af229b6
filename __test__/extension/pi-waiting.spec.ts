/** Work that waits for a person, in real pi: found in the next session, applied in the panel, and announced once. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
	call,
	delegate,
	type ModelRequest,
	newestPi,
	onStage,
	say,
	startTui,
	type Tui,
	usualSizes,
} from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";

const write = ({ toolAnswers }: ModelRequest) =>
	toolAnswers.length === 0
		? [call("bash", { command: "echo two > a.txt; echo more >> README.md" })]
		: [say("Two files.")];

async function openPanel(tui: Tui): Promise<void> {
	await tui.submitCommand("subagents");
	await tui.waitFor("escape close");
}

for (const size of usualSizes) {
	test(`the branch of a call is found in the next session of pi ${newestPi}: ${size.columns} columns`, {
		skip: cannotConfine,
	}, async () => {
		await onStage({ children: { write } }, async (stage) => {
			stage.configure({ allowWrite: true });
			const { cwd } = stage.world;
			const prompt = delegate({ agent: "worker", task: "write them" });
			let tui = await startTui(stage.world, { ...size, prompt });
			const card = await tui.waitFor(/on branch subagent\/\w{8}[\s\S]*The child says/);
			const id = /subagent\/(\w{8})/.exec(card)?.[1] ?? assert.fail(card);
			assert.match(card, new RegExp(`/subagents diff ${id}( ·)?\\s+/subagents apply ${id}`));
			assert.doesNotMatch(card, /branch waits/, "nothing waited when pi started");
			await tui.press("C-d");
			await tui.ended();
			await tui.close();

			tui = await startTui(stage.world, size);
			const waits = `1 branch waits: worker ${id} (2 files) · /subagents apply ${id}`;
			await tui.waitFor(waits);
			await tui.submitCommand("subagents", "list");
			const list = await tui.waitFor(/Runs: 1 ended[\s\S]*not applied yet[\s\S]*another\s+session/);
			assert.equal(list.split(waits).length, 2, "the notice appears once");
			await tui.typeCommand("subagents");
			await tui.type(" apply ");
			await tui.waitFor(new RegExp(`→ ${id} `));
			await tui.press("Escape", "C-u");

			await openPanel(tui);
			await tui.waitFor(/▸ ✓ 1 write them .* not applied yet, another/);
			await tui.press("d");
			await tui.waitFor(/Changes of [\s\S]*\n a apply {2}x discard {2}/);
			await tui.press("a");
			await tui.waitFor("a again applies it to your files; other keys cancel: “write them”");
			await tui.press("n");
			await tui.waitFor(/\n a apply {2}x discard {2}/);
			assert.ok(!existsSync(join(cwd, "a.txt")), "the default is No");
			await tui.press("a", "a");
			await tui.waitFor(/✓ applied [\s\S]*\n x discard {2}u undo {2}/);
			assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "two\n");
			await tui.press("Escape");
			await tui.waitFor(/▸ ✓ 1 write them .* applied, another/);
			await tui.press("q");

			// The same facts, in a session that has begun no run.
			await tui.submitCommand("subagents", "apply last");
			await tui.waitFor("already applied");
			await tui.submitCommand("subagents", "apply --abort");
			await tui.waitFor("undid the apply of");
			await tui.submitCommand("subagents", "diff last");
			await tui.waitFor(`apply: /subagents apply ${id} · discard: /subagents discard ${id}`);
			await tui.submitCommand("subagents", "doctor");
			// The report is longer than the screen, and this check is its last. A line may end in place of the separator.
			const words = (text: string) => text.replace(/[\s·]+/g, " ");
			await tui.waitFor((screen) => words(screen).includes(words(`changes ${waits}`)));
			await tui.close();
		});
	});
}

test(`the card of a stopped call of pi ${newestPi} names the run and the command that continues it`, async () => {
	await onStage({}, async (stage) => {
		const tui = await startTui(stage.world, {
			columns: 80,
			rows: 24,
			prompt: delegate({ agent: "explorer", task: "hang" }),
		});
		await tui.waitFor("I begin.");
		await tui.press("Escape");
		await tui.waitFor(/to continue explorer: \/subagents resume \w{8}/);
		await tui.press("C-d");
		await tui.ended();
		await tui.close();
		// The run has no changes to apply, but it can be resumed.
		const next = await startTui(stage.world, { columns: 80, rows: 24 });
		await next.waitFor("scripted-model");
		await next.submitCommand("subagents", "list");
		await next.waitFor(/Runs: 1 ended[\s\S]* · stopped after /);
		assert.doesNotMatch(await next.screen(), /waits/);
		await next.close();
	});
});
