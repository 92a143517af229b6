/** Where a child may write whose agent may, in real pi: by pi's own tools and by what its shell starts. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
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
	say,
	textOf,
} from "../support/pi.ts";
import { allows } from "../support/warden.ts";

const cannot = (["landlock", "mount-ns", "tools"] as const).every((ability) => allows(ability))
	? false
	: "this machine cannot confine writers";

const shell = `can() { if ( eval "$1" ) >/dev/null 2>&1; then echo "can $2"; fi; }
can 'echo more >> src/new.rs' edit; can 'mkdir -p out && echo built > out/app' build; can 'git status && git diff' look
can 'git -c user.name=a -c user.email=b commit -qam x' commit; can 'git config core.hooksPath x' hooks
can ': > .git/hooks/pre-commit' hook; can ': > ../beside' parent; can ': > "$HOME/planted"' home
can ': > "$PI_CODING_AGENT_DIR/planted"' agent; can 'cat "$PI_CODING_AGENT_DIR/auth.json"' login; can 'echo a > .envrc' envrc
can 'mkdir -p .pi/extensions && : > .pi/extensions/later.ts' planted`;

for (const version of piVersions) {
	test(`a child of pi ${version} that may write does so in its tree only`, { skip: cannot }, async () => {
		let outside = "";
		const write = ({ toolAnswers }: ModelRequest) => {
			switch (toolAnswers.length) {
				case 0:
					return [call("write", { path: "src/new.rs", content: "fn main() {}\n" })];
				case 1:
					return [call("write", { path: outside, content: "planted" })];
				case 2:
					return [call("write", { path: ".git/hooks/post-checkout", content: "planted" })];
				case 3:
					return [call("bash", { command: shell })];
				default:
					return [say("Done.")];
			}
		};
		await onStage({ version, children: { write } }, async (stage) => {
			outside = join(stage.world.home, "planted");
			stage.world.writeAgentDir("agents/writer.md", "---\nname: writer\ntools: read, write, bash\n---\nWrite.\n");
			stage.configure({ allowWrite: true });
			const { log } = await runJson(stage.world, delegate({ agent: "writer", task: "write it" }));
			const run = runOf(lastEnd(log));
			assert.deepEqual([run.outcome, run.output], ["completed", "Done."], run.error);
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
			assert.equal(readFileSync(join(stage.world.cwd, "src/new.rs"), "utf8"), "fn main() {}\nmore\n");
			assert.equal(run.sandbox?.enforced, true);
			assert.deepEqual(run.flagged, [".envrc", ".pi", ".pi/extensions/later.ts"]);
			assert.match(textOf(lastEnd(log)), /Look at these first, .*: \.envrc, \.pi, /);
		});
	});
}
