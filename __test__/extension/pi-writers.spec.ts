/** The places where a writing child may write, in real pi: by pi's own tools and by processes of its shell. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	onStage,
	piVersions,
	runJson,
	runOf,
	runPrint,
	say,
	startTui,
	textOf,
} from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";

const shell = `can() { if ( eval "$1" ) >/dev/null 2>&1; then echo "can $2"; fi; }
can 'echo more >> src/new.rs' edit; can 'mkdir -p out && echo built > out/app' build; can 'git status && git diff' look
can 'git -c user.name=a -c user.email=b commit -qam x' commit; can 'git config core.hooksPath x' hooks
can ': > .git/hooks/pre-commit' hook; can ': > ../beside' parent; can ': > "$HOME/planted"' home
can ': > "$PI_CODING_AGENT_DIR/planted"' agent; can 'cat "$PI_CODING_AGENT_DIR/auth.json"' login; can 'echo a > .envrc' envrc
can 'mkdir -p .pi/extensions && : > .pi/extensions/later.ts' planted`;

const isolated = `can() { if ( eval "$1" ) >/dev/null 2>&1; then echo "can $2"; fi; }
can 'echo two >> kept.txt' edit; can 'git -c user.name=a -c user.email=b commit -qam "of the child"' commit
can "echo planted > '$PROJECT/planted'" project; can "echo x > '$PROJECT/.git/planted'" repository
can 'mkdir -p .pi && : > .pi/x' appear; can 'git log -1 && git diff HEAD~1' look; echo three > new.txt; pwd
echo 'API_KEY=abcd1234efgh5678ijkl;./x.sh' >> new.txt`;
const hidden = "+API_KEY=abcd1234efgh5678ijkl;./x.sh";

// Outside of the tree it can do no more than the shell of the child.
const check = `( : > ../beside || : > "$HOME/planted" || : > .git/hooks/pre-push || cat "$PI_CODING_AGENT_DIR/auth.json" ) 2>/dev/null && echo escaped; echo built >> out/checks && test -e out/mended`;

for (const version of piVersions) {
	test(`an isolated child of pi ${version} commits in a private tree and leaves a branch`, {
		skip: cannotConfine,
	}, async () => {
		const write = ({ toolAnswers }: ModelRequest) =>
			toolAnswers.length === 0 ? [call("bash", { command: isolated })] : [say("Done.")];
		await onStage({ version, children: { write } }, async (stage) => {
			const { cwd } = stage.world;
			const git = (...args: string[]) =>
				execFileSync("git", ["-c", "user.name=n", "-c", "user.email=n@localhost", ...args], { cwd, encoding: "utf8" });
			writeFileSync(join(cwd, "kept.txt"), "one\n");
			git("add", "kept.txt");
			git("commit", "-qm", "first");
			writeFileSync(join(cwd, "kept.txt"), "one, not committed\n");
			const before = git("status", "--porcelain");
			const agent = "---\nname: writer\ntools: read, write, bash\nisolation: private\n---\nWrite.\n";
			stage.world.writeAgentDir("agents/writer.md", agent);
			// The names in its result lead to it without a session, too.
			stage.configure({ allowWrite: true, persistSession: false, env: { PROJECT: cwd } });
			const { log } = await runJson(stage.world, delegate({ agent: "writer", task: "write it" }));
			const run = runOf(lastEnd(log));
			assert.deepEqual([run.outcome, run.output], ["completed", "Done."], run.error);
			const output = stage.childRequests().at(-1)?.toolAnswers[0]?.text ?? "";
			const could = [...output.matchAll(/^can (\w+)$/gm)].map(([, name]) => name);
			assert.deepEqual(could, ["edit", "commit", "appear", "look"], output);
			assert.match(output, /subagent-trees/);
			const isolation = run.isolation;
			assert.match(isolation?.branch ?? "", /^subagent\/[0-9a-f]{8}$/);
			assert.deepEqual([isolation?.commits, isolation?.keptTree], [1, undefined], run.diagnostics?.join("\n"));
			assert.equal(git("show", `${isolation?.branch}:kept.txt`), "one, not committed\ntwo\n");
			assert.equal(git("show", `${isolation?.branch}:new.txt`), `three\n${hidden.slice(1)}\n`);
			assert.equal(git("status", "--porcelain"), before);
			assert.equal(readFileSync(join(cwd, "kept.txt"), "utf8"), "one, not committed\n");
			assert.match(textOf(lastEnd(log)), /are not in your tree yet/);
			assert.ok(textOf(lastEnd(log)).includes(`\`/subagents apply ${run.runId}\``), textOf(lastEnd(log)));
			const outputOf = async (line: string) => (await runPrint(stage.world, `/subagents ${line}`)).stdout;
			const difference = await outputOf(`diff ${run.runId}`);
			assert.match(difference, /^ *\+two$/m);
			assert.ok(difference.includes(hidden), difference);
			const { log: kept } = await runJson(stage.world, `/subagents diff ${run.runId}`);
			const entry = JSON.stringify(kept.events.find(({ type }) => type === "entry_appended"));
			assert.ok(entry.includes("+API_KEY=[REDACTED]") && !entry.includes("abcd1234"), entry);
			const tui = await startTui(stage.world, { rows: 60 });
			await tui.waitFor("scripted-model");
			await tui.submitCommand("subagents", `diff ${run.runId}`);
			await tui.waitFor(hidden);
			await tui.close();
			writeFileSync(join(cwd, "mine.txt"), "mine\n");
			const flagged = await outputOf(`apply ${run.runId}`);
			assert.match(
				flagged,
				/cannot be applied: it has files to check first: `\.pi\/x` \(configures pi\);.*--with-flagged/,
			);
			assert.match(
				await outputOf(`apply ${run.runId} --with-flagged`),
				/applied .* to your tree: `\.pi\/x`, `kept\.txt`, `new\.txt`/,
			);
			assert.equal(readFileSync(join(cwd, "kept.txt"), "utf8"), "one, not committed\ntwo\n");
			assert.match(await outputOf(`apply --abort ${run.runId}`), /undid the apply/);
			assert.equal(readFileSync(join(cwd, "kept.txt"), "utf8"), "one, not committed\n");
			assert.deepEqual([existsSync(join(cwd, "new.txt")), existsSync(join(cwd, "mine.txt"))], [false, true]);
			assert.match(await outputOf(`discard ${run.runId} --yes`), /deleted the branch `subagent/);
			assert.doesNotMatch(git("branch"), /subagent/);
		});
	});

	test(`a child of pi ${version} that may write does so in its tree only, and can be undone`, {
		skip: cannotConfine,
	}, async () => {
		let outside = "";
		const write = ({ toolAnswers, userText }: ModelRequest) => {
			switch (toolAnswers.length) {
				case 0:
					return [call("write", { path: "src/new.rs", content: "fn main() {}\n" })];
				case 1:
					return [call("write", { path: outside, content: "planted" })];
				case 2:
					return [call("write", { path: ".git/hooks/post-checkout", content: "planted" })];
				case 3:
					return [call("bash", { command: shell })];
				case 4:
					return userText.includes("Your work is not done: the check")
						? [call("bash", { command: "touch out/mended" })]
						: [say("Done.")];
				default:
					return [say("Mended.")];
			}
		};
		await onStage({ version, children: { write, Your: write } }, async (stage) => {
			outside = join(stage.world.home, "planted");
			stage.world.writeAgentDir(
				"agents/writer.md",
				`---\nname: writer\ntools: read, write, bash\ncheck: ${JSON.stringify(check)}\n---\nWrite.\n`,
			);
			stage.configure({ allowWrite: true });
			const { log } = await runJson(stage.world, delegate({ agent: "writer", task: "write it" }));
			const run = runOf(lastEnd(log));
			assert.deepEqual([run.outcome, run.output], ["completed", "Mended."], run.error);
			const answers =
				stage
					.childRequests()
					.at(-1)
					?.toolAnswers.map(({ text }) => text) ?? [];
			assert.match(answers[1] ?? "", /EROFS|EACCES|read-only|permission denied/i);
			assert.match(answers[2] ?? "", /EROFS|EACCES|read-only|permission denied/i);
			const could = [...(answers[3] ?? "").matchAll(/^can (\w+)$/gm)].map(([, name]) => name);
			assert.deepEqual(could, ["edit", "build", "look", "envrc", "planted"]);
			assert.deepEqual(
				[existsSync(outside), existsSync(join(stage.world.cwd, ".git/hooks/post-checkout"))],
				[false, false],
			);
			// The second turn does all of it again, and its shell has changed the file since.
			assert.match(answers[0] ?? "", /src\/new\.rs` has changed since you last read it/);
			assert.equal(readFileSync(join(stage.world.cwd, "src/new.rs"), "utf8"), "fn main() {}\nmore\nmore\n");
			assert.deepEqual([run.check?.passed, run.check?.runs, run.check?.output], [true, 2, ""]);
			assert.equal(readFileSync(join(stage.world.cwd, "out/checks"), "utf8"), "built\nbuilt\n");
			assert.equal(run.sandbox?.enforced, true);
			assert.deepEqual(run.flagged, [".pi", ".envrc", ".pi/extensions/later.ts"]);
			assert.match(textOf(lastEnd(log)), /Check these first: .*: `\.pi`, `\.envrc`, /);
			const { stdout } = await runPrint(stage.world, `/subagents undo ${run.runId}`);
			assert.match(
				stdout,
				/reverted the changes of [^\n]*: `\.envrc`, `\.pi\/extensions\/later\.ts`, `out\/app`, `out\/checks`, `out\/mended`, `src\/new\.rs`/,
			);
			for (const made of ["src", "out", ".pi", ".envrc"]) assert.ok(!existsSync(join(stage.world.cwd, made)), made);
		});
	});
}
