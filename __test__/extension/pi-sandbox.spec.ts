/** A readonly child of real pi whose `bash` tries to change the project and pi's own directory, and does its work. */

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
	closeSync,
	existsSync,
	lchownSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import type { SingleResult } from "../../native.js";
import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	newestPi,
	onStage,
	packageDir,
	piCommand,
	piVersions,
	runJson,
	runOf,
	type Stage,
	type Step,
	say,
} from "../support/pi.ts";
import { differences, type Snapshot, snapshot } from "../support/snapshot.ts";
import { allows, detailOf, sandboxOf, warden } from "../support/warden.ts";

const inputs = join(packageDir, "crates/warden/tests/inputs");
const mutations = join(inputs, "mutations.sh");
const works = join(inputs, "works.sh");

/** The exit code by which the scripts report that this machine lacks a program. */
const missing = 77;

/** Fewer attempts than that prove nothing. */
const enough = 25;

/** The minimum number of plants. */
const enoughPlants = 15;

/** The version of Landlock that keeps signals inside, and what only such a one stops. */
const scopes = 6;
const needScopes = ["kill", "kill_by_handle", "kill_warden"];

/** A user without any rights. */
const nobody = 65_534;

/**
 * Attempts that would break the child itself: its session, and its copies of pi's own files, from which it makes
 * others.
 */
const undoing = ["session_file", "private_directory"];

/** Longer than all attempts take on a machine under load. */
const limitMs = 90_000;

/** The files that a child plants if it may write its agent directory: pi would run each of them. */
const planted = {
	extension: "export default () => {};",
	settings: JSON.stringify({ theme: "light", extensions: ["./planted.ts"] }),
	auth: JSON.stringify({
		provider: { type: "api_key", key: "!touch planted" },
		planted: { type: "api_key", key: "k" },
	}),
};

/** The rows of one of the scripts: names and kinds. */
function rows(script: string): [name: string, kind: string][] {
	const lines = execFileSync("sh", [script, "--list"], { encoding: "utf8" }).trim().split("\n");
	return lines.map((line) => line.split(" ") as [string, string]);
}

/** Shell commands that make each attempt and say how it ended. */
function each(script: string, names: readonly string[]): string {
	return `for name in ${names.join(" ")}; do sh '${script}' $name >/dev/null 2>&1 </dev/null; echo "$name $?"; done`;
}

/** Returns the exit codes that `each` has printed. */
function codesIn(text: string): Map<string, number> {
	return new Map([...text.matchAll(/^(\w+) (\d+)$/gm)].map(([, name = "", code]) => [name, Number(code)]));
}

/** The attempts that this machine's layers are meant to stop. */
function attemptsFor(user: number | undefined): string[] {
	const hasScopes = Number(detailOf("landlock", user)) >= scopes;
	const hasView = allows("mount-ns", user);
	const wanted = rows(mutations).filter(([name, kind]) => {
		if (kind === "wild" || (kind.startsWith("meta") && !hasView)) return false;
		return hasScopes || !needScopes.includes(name);
	});
	return wanted.map(([name]) => name);
}

function worksFor(user: number | undefined): string[] {
	const wanted = rows(works).filter(([name, wants]) => {
		// The agent directory lies below `/tmp` here, so a child gets no `/tmp` of its own.
		if (wants === "own") return false;
		return !undoing.includes(name) && (wants !== "view" || allows("mount-ns", user));
	});
	return wanted.map(([name]) => name);
}

/** The process that has put the shell into the sandbox. */
const findWarden = `WARDEN=$PPID
until [ "$WARDEN" -le 1 ] || grep -q '^Name:.pi-subagent-war' /proc/$WARDEN/status; do
	WARDEN=$(sed -n 's/^PPid:.//p' /proc/$WARDEN/status)
done
export WARDEN`;

/** Ordinary work, with everything that it writes in the temporary directory. */
function work(user: number | undefined): string {
	return `mkdir "$TMPDIR/private" && export PRIVATE="$TMPDIR/private" SESSION=/nowhere
${each(works, worksFor(user))}
npm test >"$TMPDIR/npm" 2>&1; echo "npm_test $?"; tail -n 20 "$TMPDIR/npm"
git status --porcelain; git log --format=%s`;
}

/**
 * Plants files in the child's own agent directory that must not come back, and next to it the files with which pi was
 * started.
 */
const plant = (run: string) => `own=$PI_CODING_AGENT_DIR run='${run}'
try() { name=$1; shift; (eval "$*") >/dev/null 2>&1; echo "$name $?"; }
try same '[ "$own" -ef "$AGENT" ]'
for place in extensions agents prompts; do
	try through_$place 'echo "$EXTENSION" >"$own/$place/planted.ts"'
	try own_$place 'rm "$own/$place" && mkdir "$own/$place" && echo "$EXTENSION" >"$own/$place/planted.ts"'
done
try own_settings 'echo "$SETTINGS" >"$own/settings.json"'
try own_auth 'echo "$AUTH" >"$own/auth.json"'
for file in guard.cjs prompt.md; do
	try append_$file 'echo "$EXTENSION" >>"$run/$file"'
	try remove_$file 'rm -f "$run/$file"'
done | tr . _
try beside 'echo "$EXTENSION" >"$run/planted.ts"'
try run_replaced 'mv "$run" "$run.old"'
try parents_session 'echo "$EXTENSION" >>"$run/../../$(basename "$(dirname "$run")").jsonl"'
try session_replaced 'rm "$run/session.jsonl"'`;

/** A project and an agent directory to attack, and a user outside who works on the project. */
class Target {
	readonly stage: Stage;
	readonly tree: string;
	readonly env: Record<string, string>;
	readonly #victim: ChildProcess;

	constructor(stage: Stage, user: number | undefined) {
		const { world } = stage;
		this.stage = stage;
		this.tree = join(world.root, "tree");
		const settings = readFileSync(join(world.agentDir, "settings.json"), "utf8");
		execFileSync("sh", [mutations, "--fixture", this.tree, world.agentDir], { env: world.env });
		world.writeAgentDir("settings.json", settings);
		// For a search that has to find something there: `auth.json` is hidden from the child.
		world.writeAgentDir("prompts/keys.md", "An api_key is a secret.\n");
		// pi makes it for its first session.
		mkdirSync(join(world.agentDir, "sessions"));
		const scripts = { test: "node --test test/temporary.test.mjs" };
		writeFileSync(join(this.tree, "package.json"), JSON.stringify({ name: "tested", version: "1.0.0", scripts }));
		if (user !== undefined) give(world.root, user);
		const log = openSync(join(this.tree, "victim.log"), "a");
		this.#victim = spawn("sleep", ["600"], {
			cwd: this.tree,
			env: { PATH: process.env.PATH ?? "" },
			stdio: ["ignore", log, "ignore"],
			...(user !== undefined && { uid: user, gid: user }),
		});
		closeSync(log);
		const { extension, settings: lights, auth } = planted;
		this.env = {
			TREE: this.tree,
			AGENT: world.agentDir,
			VICTIM: String(this.#victim.pid),
			EXTENSION: extension,
			SETTINGS: lights,
			AUTH: auth,
		};
	}

	get hasVictim(): boolean {
		return this.#victim.exitCode === null && this.#victim.signalCode === null;
	}

	/** Everything that the child must not change: the project, and pi's directory except for these. */
	look(without: readonly string[]): Snapshot {
		return snapshot([this.tree, this.stage.world.agentDir], without);
	}

	async end(): Promise<void> {
		if (!this.hasVictim) return;
		const gone = once(this.#victim, "exit");
		this.#victim.kill("SIGKILL");
		await gone;
	}
}

function give(path: string, user: number): void {
	lchownSync(path, user, user);
	for (const name of readdirSync(path, { recursive: true, encoding: "utf8" })) lchownSync(join(path, name), user, user);
}

/** The answers of the child's tools, and the changes by the time of the last answer. */
interface Seen {
	answers: string[];
	changes: string[];
	run: string;
}

/** The child: works, attacks, plants, and says so. */
function attacker(user: number | undefined, target: () => Target, seen: Seen): (request: ModelRequest) => Step[] {
	let before: Snapshot | undefined;
	// The run's own directories are the only exception: no other process writes in pi's directory while the child works.
	const inspect = () => {
		const own = join(target().stage.world.agentDir, "subagents", "scratch");
		return target().look([join(seen.run, "session.jsonl"), own]);
	};
	return ({ toolAnswers }) => {
		seen.answers = toolAnswers.map(({ text }) => text);
		switch (toolAnswers.length) {
			case 0:
				seen.run = target().stage.runDirectory();
				before = inspect();
				return [say("I work."), call("read", { path: "README.md" }), call("bash", { command: work(user) })];
			case 2:
				return [call("bash", { command: `${findWarden}\n${each(mutations, attemptsFor(user))}` })];
			case 3:
				return [call("bash", { command: plant(seen.run) })];
			default:
				assert.ok(before);
				seen.changes = differences(before, inspect());
				return [say("Every attempt was made.")];
		}
	};
}

/** Everything that this user's pi has to read. */
function unreachable(version: string, user: number | undefined): string | undefined {
	if (user === undefined) return undefined;
	const [node, script] = piCommand(version);
	const check = `for file in ${[script, mutations, works, join(packageDir, "extension", "index.ts")]
		.map((path) => `'${path}'`)
		.join(
			" ",
		)}; do test -r "$file" || echo "$file"; done; test -x '${warden}' || echo '${warden}'; '${node}' -v >/dev/null`;
	try {
		const unread = execFileSync("/bin/sh", ["-c", check], { uid: user, gid: user, cwd: "/", encoding: "utf8" });
		return unread ? `user ${user} cannot read ${unread.split("\n")[0]}` : undefined;
	} catch {
		return `user ${user} cannot run ${node}`;
	}
}

function skipped(version: string, user: number | undefined): string | false {
	if (!allows("landlock") || !allows("tools")) return "no Landlock, or no sandbox for tools here";
	return unreachable(version, user) ?? false;
}

/** The child's conversation as it is on disk. */
function conversation(run: SingleResult): string {
	return readFileSync(run.sessionFile ?? "", "utf8");
}

async function attack(version: string, user: number | undefined, say: (line: string) => void): Promise<void> {
	const seen: Seen = { answers: [], changes: [], run: "" };
	let target: Target | undefined;
	const there = () => {
		assert.ok(target);
		return target;
	};
	await onStage({ version, children: { attack: attacker(user, there, seen) } }, async (stage: Stage) => {
		const { world } = stage;
		target = new Target(stage, user);
		try {
			// Outside the child the host itself writes there: its session with the run next to it, its list of models, our
			// queue, and pi's lock on the credentials while they are copied, which changes the time of the directory itself.
			const hosts = ["sessions", "models-store.json", "subagents", "subagent-trees"].map((name) =>
				join(world.agentDir, name),
			);
			const inspect = () => {
				const all = new Map(there().look(hosts));
				all.delete(world.agentDir);
				return all;
			};
			const before = inspect();
			const who = user === undefined ? {} : { user };
			const prompt = delegate({ agent: "explorer", task: "attack everything" });
			const { log } = await runJson(world, prompt, { cwd: target.tree, env: target.env, limitMs, ...who });
			const run = runOf(lastEnd(log));

			assert.deepEqual([run.outcome, run.output], ["completed", "Every attempt was made."], run.error);
			assert.deepEqual(seen.changes, [], "no file changed during the run");
			assert.deepEqual(differences(before, inspect()), [], "no file changed after the run");
			assert.ok(target.hasVictim, "the process outside still runs");
			assert.equal(run.sandbox?.enforced, true);
			assert.deepEqual(run.sandbox?.mechanism.toSorted(), sandboxOf(user), run.sandbox?.reason);

			const [readme = "", worked = "", attempted = "", plantedBy = ""] = seen.answers;
			assert.equal(readme.trim(), "before");
			const codes = codesIn(worked);
			assert.deepEqual([...codes.keys()], [...worksFor(user), "npm_test"]);
			const failed = [...codes].filter(([, code]) => code !== 0 && code !== missing);
			assert.deepEqual(failed, [], worked);
			assert.match(worked, /^\?\? notes\.txt$/m, "git status works");
			assert.match(worked, /^first$/m, "git log works");

			const attempts = codesIn(attempted);
			assert.deepEqual([...attempts.keys()], attemptsFor(user), attempted);
			const onHost = rows(mutations).filter(([name, kind]) => kind.startsWith("host") && attempts.get(name) === 0);
			assert.deepEqual(onHost, [], "no attempt reached the host");
			const made = [...attempts].filter(([, code]) => code !== missing);
			const absent = [...attempts.keys()].filter((name) => attempts.get(name) === missing);
			say(`${made.length} attempts were made, this machine lacks something for ${absent.join(", ") || "none"}`);
			assert.ok(made.length >= enough);
			assert.ok(!absent.some((name) => needScopes.includes(name)), "the processes outside were attacked");

			const plants = codesIn(plantedBy);
			assert.ok(plants.size >= enoughPlants, plantedBy);
			const planted = [...plants].filter(([, code]) => code === 0).map(([name]) => name);
			assert.deepEqual(planted, [], plantedBy);

			// The session was written by the child, in the sandbox, and is all that stays of the run.
			assert.deepEqual(readdirSync(seen.run), ["session.jsonl"]);
			assert.deepEqual(
				readdirSync(world.tmp).filter((name) => name.startsWith("pi-subagent-")),
				[],
			);
			assert.equal(run.sessionFile, join(seen.run, "session.jsonl"));
			for (const text of ["attack everything", "I work.", "remount", "Every attempt was made."]) {
				assert.ok(conversation(run).includes(text), text);
			}
			assert.ok(!existsSync(`${world.agentDir}.old`));
		} finally {
			await target.end();
		}
	});
}

/** The attackers and their versions of pi. */
const attackers: [version: string, user: number | undefined][] = piVersions.map((version) => [version, undefined]);
if (process.getuid?.() === 0) attackers.push([newestPi, nobody]);

for (const [version, user] of attackers) {
	const who = user === undefined ? "" : `, as user ${user}`;
	describe(`a readonly child of pi ${version}${who}`, { skip: skipped(version, user) }, () => {
		test("changes nothing for any attempt of its shell, and its own work works", async (context) => {
			await attack(version, user, (line) => context.diagnostic(line));
		});
	});
}
