/**
 * pi's compiled code in a sandboxed child of real pi: the child starts from it, and cannot change the code that the
 * user's own pi runs.
 */

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
	call,
	delegate,
	lastEnd,
	onStage,
	piCommand,
	piVersions,
	runOf,
	type Stage,
	say,
	startRpc,
} from "../support/pi.ts";
import { differences, type Snapshot, snapshot } from "../support/snapshot.ts";
import { allows } from "../support/warden.ts";

/**
 * Tries to change the code in every way that the sandbox covers here, and reports the results, pi's output, and the
 * number of uses of its code.
 */
const attempt = (cache: string) => `cache='${cache}'
try() { (eval "$1") >/dev/null 2>&1 && echo "done: $1"; }
try 'echo x >"$cache/planted"'
for file in "$cache"/*/*; do
	try 'echo x >>"'"$file"'"'; try 'mv "'"$file"'" "'"$file.old"'"'; try 'rm -f "'"$file"'"'
done
try 'mkdir "$cache/v0"'
${allows("mount-ns") ? `try 'chmod 777 "$cache"/*/*'` : ""}
grep -v '^.compile cache.' "$TMPDIR/complaints"
echo "accepted: $(grep -c '^.compile cache. .* was accepted' "$TMPDIR/complaints")"`;

/** Has the child's own words kept where it may write. */
function listen({ world }: Stage, debug: string): void {
	const [node, script] = piCommand(world.version);
	const wrapper = join(world.root, "listened.sh");
	writeFileSync(wrapper, `${debug}\nexec '${node}' '${script}' "$@" 2>"$TMPDIR/complaints"\n`);
}

for (const version of piVersions) {
	const skip = !allows("landlock") && "no sandbox here, so a child has the user's temporary directory";
	describe(`compiled code in a child of pi ${version}`, { skip }, () => {
		test("is the host's code, read and never written, without a warning", async () => {
			let cache = "";
			let before: Snapshot = new Map();
			let changes: string[] = [];
			let answer = "";
			const change = ({ toolAnswers }: { toolAnswers: { text: string }[] }) => {
				const [attempted] = toolAnswers;
				if (!attempted) {
					before = snapshot([cache]);
					return [call("bash", { command: attempt(cache) })];
				}
				changes = differences(before, snapshot([cache]));
				answer = attempted.text.trim();
				return [say("Done.")];
			};
			await onStage({ version, children: { change } }, async (stage) => {
				const { world } = stage;
				cache = join(world.tmp, "node-compile-cache");
				// Node's default directory, which is still empty.
				delete world.env.NODE_COMPILE_CACHE;
				stage.configure({ piCommand: ["/bin/sh", join(world.root, "listened.sh")] });
				const rpc = startRpc(world);
				for (const [debug, accepted] of [
					["", /^accepted: 0$/],
					["export NODE_DEBUG_NATIVE=COMPILE_CACHE", /^accepted: [1-9]\d*$/],
				] as const) {
					listen(stage, debug);
					await rpc.prompt(delegate({ agent: "explorer", task: "change it" }));
					const run = runOf(lastEnd(rpc.log));
					assert.deepEqual([run.outcome, run.sandbox?.enforced], ["completed", true], run.error);
					assert.match(answer, accepted, "no file was changed and no warning printed");
					assert.ok([...before.keys()].length > 2, "the host has written its code before it ends");
					assert.deepEqual(changes, []);
					assert.deepEqual(differences(before, snapshot([cache])), [], "the code remains after the end of the child");
				}
				assert.deepEqual(
					readdirSync(world.tmp).filter((name) => name.startsWith("pi-subagent-")),
					[],
				);
				await rpc.close();
			});
		});
	});
}
