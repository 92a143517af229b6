/** Work of a readonly child's shell in `/tmp` and `/dev/shm` in real pi, with programs that ignore `TMPDIR`. */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	piVersions,
	type RpcSession,
	runOf,
	Stage,
	say,
	startRpc,
} from "../support/pi.ts";
import { allows } from "../support/warden.ts";

const able = allows("landlock") && allows("tools") && allows("mount-ns") && allows("tmp");

/** Prints the output of a command on one line. */
const reportFunction = `told() { name=$1; shift; echo "$name: $( (eval "$*") 2>&1 | tail -n 3 | head -c 400 | tr '\\n' ' ')"; }
have() { command -v "$1" >/dev/null || { echo missing; exit; }; }
python() { if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else have python3; python3 "$@"; fi; }`;

/** A test of the project, which listens where it likes. */
const projectTest = `const { test } = require("node:test");
const net = require("node:net");
test("answers over its socket", (t, done) => {
	const server = net.createServer((socket) => socket.end("hello")).listen("/tmp/own-project.sock", () => {
		net.connect("/tmp/own-project.sock").on("data", () => server.close(done)).on("error", done);
	});
});
`;

/** The same calls as Python's `multiprocessing`, by a program that every machine for this project can build. */
const semaphores = `#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
	char name[] = "/tmp/own-file.XXXXXX";
	sem_t *semaphore = sem_open("/own-semaphore", O_CREAT | O_EXCL, 0600, 1);
	int file = mkstemp(name);
	if (semaphore == SEM_FAILED || sem_wait(semaphore) || sem_unlink("/own-semaphore") || file < 0 || unlink(name)) {
		perror("refused");
		return 1;
	}
	puts("worked");
}
`;

/** A JVM ignores `TMPDIR` and creates its temporary files in `java.io.tmpdir`. */
const javaProgram = `import java.nio.file.*;
class Temporary {
	public static void main(String[] args) throws Exception {
		Path file = Files.createTempFile("own", null);
		Files.writeString(file, "worked in " + file.getParent());
		System.out.println(Files.readString(file));
		Files.delete(file);
	}
}
`;

/** Each command, and its expected output. */
const commands: Record<string, [command: string, prints: RegExp]> = {
	npm: ["npm test --silent 2>&1 | grep -E '^(#|ℹ) pass'", /pass 1/],
	semaphore: ['cc -o "$TMPDIR/semaphores" semaphores.c -pthread && "$TMPDIR/semaphores"', /worked/],
	python: [
		"python -c 'import multiprocessing as m; l = m.Lock(); l.acquire(); l.release(); print(\"locked\")'",
		/locked|missing/,
	],
	pytest: [
		"python -c 'import pytest, xdist' 2>/dev/null || { echo missing; exit; }; python -m pytest -q -n 2 -p no:cacheprovider test_own.py",
		/2 passed|missing/,
	],
	zsh: ["have zsh; zsh -f -c 'cat <<END\na document\nEND\n'", /a document|missing/],
	java: ["have javac; java Temporary.java", /worked in \/tmp|missing/],
	others: ['cat "$OTHERS"; echo changed >"$OTHERS"; cat "$OTHERS"', /of the person changed/],
	project: ["echo changed >README.md", /Read-only|denied/],
};

for (const version of piVersions) {
	describe(`temporary files of a readonly child of pi ${version}`, {
		skip: !able && "a child has no `/tmp` of its own here",
	}, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let script = "";
		// A child whose agent directory lies below `/tmp` has no `/tmp` of its own.
		const root = mkdtempSync("/var/tmp/psn-");
		const others = join("/tmp", `own-others-${process.pid}`);
		before(async () => {
			writeFileSync(others, "of the person\n");
			const shell = ({ toolAnswers }: ModelRequest) =>
				toolAnswers.length === 0 ? [call("bash", { command: script })] : [say("Done.")];
			stage = await Stage.open({ version, root, env: { OTHERS: others }, children: { shell } });
			stage.world.write("package.json", '{"scripts":{"test":"node --test own.test.cjs"}}');
			stage.world.write("own.test.cjs", projectTest);
			stage.world.write("semaphores.c", semaphores);
			stage.world.write("Temporary.java", javaProgram);
			stage.world.write("test_own.py", "def test_a(tmp_path): (tmp_path / 'x').write_text('x')\ndef test_b(): pass\n");
			rpc = startRpc(stage.world);
		});
		after(async () => {
			await stage.close();
			rmSync(root, { recursive: true, force: true });
			rmSync(others, { force: true });
		});

		/** The output of one child's shell, by the names of the commands. */
		async function answersOf(
			lines: string[],
			subagents: Record<string, unknown>,
		): Promise<[Map<string, string>, string]> {
			script = [reportFunction, ...lines].join("\n");
			stage.configure(subagents);
			const from = stage.server.requests.length;
			await rpc.prompt(delegate({ agent: "explorer", task: "shell" }));
			const run = runOf(lastEnd(rpc.log));
			assert.deepEqual([run.outcome, run.output], ["completed", "Done."], run.error);
			const text = stage.childRequests(from).at(-1)?.toolAnswers[0]?.text ?? "";
			const answers = [...text.matchAll(/^(\w+): (.*)$/gm)].map(([, name = "", what = ""]) => [name, what] as const);
			return [new Map(answers), run.sandbox?.reason ?? ""];
		}

		test("work in every place that a program uses, and stay private", async () => {
			const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
			const lines = Object.entries(commands).map(([name, [command]]) => `told ${name} ${quoted(command)}`);
			const [answers, reason] = await answersOf(lines, {});
			for (const [name, [, prints]] of Object.entries(commands)) assert.match(answers.get(name) ?? "", prints, name);
			assert.doesNotMatch(reason, /read-only/);
			assert.equal(readFileSync(others, "utf8"), "of the person\n");
			assert.ok(!existsSync("/tmp/own-project.sock"));
		});

		test("are redirected to TMPDIR without a private view, and the result names the failures", async () => {
			const lines = [
				"told variables 'echo \"$TMPDIR $TMPPREFIX $JAVA_TOOL_OPTIONS\"'",
				`told zsh "${commands.zsh?.[0].replaceAll('"', '\\"')}"`,
				`told java "${commands.java?.[0]}"`,
			];
			const [answers, reason] = await answersOf(lines, { sandbox: { metadata: false } });
			const [, dir] = /^(\S+) \1\/zsh -Djava\.io\.tmpdir="\1"/.exec(answers.get("variables") ?? "") ?? [];
			assert.ok(dir?.startsWith(root), answers.get("variables"));
			assert.match(answers.get("zsh") ?? "", /a document|missing/);
			assert.match(answers.get("java") ?? "", /missing|worked in \S/);
			assert.ok(!/worked in \/tmp/.test(answers.get("java") ?? ""), "the JVM uses TMPDIR");
			assert.match(reason, /`\/tmp` and `\/dev\/shm` are read-only, so POSIX semaphores/);
		});
	});
}
