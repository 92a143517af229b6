/** The facts on the cards of real pi: a worker that could not write, and a branch that was applied. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { call, delegate, type ModelRequest, newestPi, onStage, say, startTui } from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";

const version = newestPi;
/** A child that calls `write`, and then says that it has written. */
const add = ({ toolAnswers }: ModelRequest) =>
	toolAnswers.length === 0 ? [call("write", { path: "retry.js", content: "retry();" })] : [say("I added retry.js.")];

/** Commits a file, so that the directory has a tree in git. */
function commitFile(cwd: string): void {
	writeFileSync(join(cwd, "kept.txt"), "one\n");
	for (const args of [
		["add", "kept.txt"],
		["-c", "user.name=n", "-c", "user.email=n@localhost", "commit", "-qm", "first"],
	])
		execFileSync("git", args, { cwd });
}

test("the card of a worker that could not write says so in place of a success", async () => {
	await onStage({ version, children: { add } }, async (stage) => {
		stage.world.writeAgentDir("agents/writer.md", "---\nname: writer\ntools: read, write\n---\nWrite.\n");
		const tui = await startTui(stage.world, {
			columns: 80,
			rows: 24,
			prompt: delegate({ agent: "writer", task: "add it" }),
		});
		const screen = await tui.waitFor("The child says:");
		const fact = "changed nothing: allowWrite is off (docs/writing.md)";
		assert.ok(/^ ⚠ subagent writer · \S+s\n {3}add it\n/m.test(screen), screen);
		assert.ok(screen.indexOf(fact) > 0 && screen.indexOf(fact) < screen.indexOf("I added retry.js."), screen);
		assert.doesNotMatch(screen, /✓ subagent/);
		await tui.press("C-o");
		await tui.waitFor(/^ {3}✗ write retry\.js$/m);
		await tui.submitCommand("subagents", "list");
		await tui.waitFor(/⚠ #1 .*changed\s+nothing/s);
		await tui.close();
	});
});

test("a worker that may write and changed nothing gets a warning only if it was to change files", async () => {
	const children = {
		claim: () => [say("I added retry.js.")],
		look: () => [say("There is one retry, in fetch.js.")],
	};
	await onStage({ version, children }, async (stage) => {
		commitFile(stage.world.cwd);
		stage.world.writeAgentDir("agents/writer.md", "---\nname: writer\ntools: read, write\n---\nWrite.\n");
		stage.configure({ allowWrite: true });
		for (const [prompt, mark, fact] of [
			["claim a retry", "⚠", "changed nothing: it called no tool that changes files (docs/writing.md)"],
			["look for retries", "✓", "changed nothing that git sees"],
		] as const) {
			const tui = await startTui(stage.world, {
				columns: 80,
				rows: 24,
				prompt: delegate({ agent: "writer", task: prompt }),
			});
			const screen = await tui.waitFor("The child says:");
			assert.match(screen, new RegExp(`^ ${mark} subagent writer`, "m"));
			const lines = screen.split("\n").filter((line) => line.includes("changed nothing"));
			assert.deepEqual(lines.map((line) => line.trim()).slice(0, 1), [fact], screen);
			await tui.close();
		}
	});
});

test("a card offers no command that was carried out, also in the next pi", { skip: cannotConfine }, async () => {
	await onStage({ version, children: { add } }, async (stage) => {
		commitFile(stage.world.cwd);
		const agent = "---\nname: writer\ntools: read, write\nisolation: private\n---\nWrite.\n";
		stage.world.writeAgentDir("agents/writer.md", agent);
		stage.configure({ allowWrite: true });
		const tui = await startTui(stage.world, { prompt: delegate({ agent: "writer", task: "add it" }) });
		const offer = /on branch (\S+), not in your files: \/subagents diff \w{8} · \/subagents apply (\w{8})/;
		const [, branch = "", id = ""] = offer.exec(await tui.waitFor(offer)) ?? [];
		await tui.waitFor("The child says:");
		const settled = async (words: string, end: string) => {
			await tui.submitCommand("subagents", words);
			return await tui.waitFor((screen) => screen.includes(`on branch ${branch}: ${end}`) && !offer.test(screen));
		};
		await settled(`apply ${id}`, "applied");
		await tui.submitCommand("subagents", `apply --abort ${id}`);
		await tui.waitFor(offer);
		await settled(`discard ${id} --yes`, "discarded");
		await tui.close();
		const next = await startTui(stage.world, { args: ["--continue"] });
		await next.waitFor((screen) => screen.includes(`on branch ${branch}: discarded`) && !offer.test(screen));
		await next.close();
	});
});
