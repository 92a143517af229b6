/** The changes of a run that writes in the user's files, as its snapshot has them, on the screen of real pi. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { call, delegate, type ModelRequest, onStage, piVersions, say, startTui, usualSizes } from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";

for (const version of piVersions) {
	test(`the diff of a run in place with pi ${version} has its changes and nothing else`, {
		skip: cannotConfine,
	}, async () => {
		const write = ({ toolAnswers }: ModelRequest) =>
			toolAnswers.length === 0 ? [call("write", { path: "new.txt", content: "of the run\n" })] : [say("Done.")];
		for (const size of usualSizes) {
			await onStage({ version, children: { write } }, async (stage) => {
				const { cwd } = stage.world;
				const git = (...args: string[]) =>
					execFileSync("git", ["-c", "user.name=n", "-c", "user.email=n@localhost", ...args], { cwd });
				const save = (name: string, text: string) => writeFileSync(join(cwd, name), text);
				save("kept.txt", "one\n");
				git("add", "kept.txt");
				git("commit", "-qm", "first");
				save("kept.txt", "mine, not committed\n");
				stage.world.writeAgentDir("agents/writer.md", "---\nname: writer\ntools: read, write\n---\nWrite.\n");
				stage.configure({ allowWrite: true });
				const prompt = delegate({ agent: "writer", task: "write it" });
				const tui = await startTui(stage.world, { ...size, prompt });
				const command = (words: string) => tui.submitCommand("subagents", words);
				await tui.waitFor(/✓ subagent writer/);
				await command("diff last");
				const shown = await tui.waitFor(/\+of the run/);
				assert.ok(!shown.includes("mine") && !shown.includes("since the run"), shown);

				git("add", "--all");
				git("commit", "-qm", "of the person");
				save("new.txt", "edited\n");
				await command("diff last");
				await tui.waitFor(/\+of the run[\s\S]*changed since the run ended: `new\.txt`/);

				save("new.txt", "of the run\n");
				await command("undo last");
				await tui.waitFor(/reverted the changes of [\s\S]*`new\.txt`/);
				await command("undo last");
				await tui.waitFor(/the changes of [\s\S]* are already undone/);

				await tui.type(delegate({ agent: "explorer", task: "say hello" }));
				await tui.press("Enter");
				await tui.waitFor(/✓ subagent explorer/);
				// `last` is a run with changes.
				await command("undo 1");
				await tui.waitFor(/explorer\s+is\s+readonly:\s+it\s+changed\s+nothing/);
				await tui.close();
			});
		}
	});
}
