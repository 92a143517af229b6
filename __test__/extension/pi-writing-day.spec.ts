/** A day of writing in real pi: workers side by side, a check, a conflict, an undo, the end of pi; and nothing is lost. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
	announcementsIn,
	backgroundStage,
	call,
	eventually,
	hang,
	type ModelRequest,
	makeGate,
	piVersions,
	type RpcSession,
	type Stage,
	type Step,
	say,
	spawn,
	startRpc,
	until,
} from "../support/pi.ts";
import { allows } from "../support/warden.ts";

const cannot = (["landlock", "mount-ns", "tools"] as const).every((ability) => allows(ability))
	? false
	: "this machine cannot confine writers";

/** How long an end may take to be told: two seconds for others to join it, and a turn. */
const toldMs = 30_000;

const commit = "git add -A && git -c user.name=w -c user.email=w@localhost commit -qm";

/** What each worker's shell does; the word is the first of its task. */
const work: Record<string, string> = {
	title: `sed -i 's/^# .*/# A tested project/' README.md && ${commit} 'readme: say that it is tested'`,
	motto: `sed -i 's/^# .*/# A documented project/' README.md && ${commit} 'readme: say that it is documented'`,
	parser: `echo 'BROKEN' > parser.txt && ${commit} 'parser: begin'`,
	tidy: "echo tidied > README.md && echo more > notes.txt && echo new > added.txt",
	half: `echo 'what there is so far' > half.txt && ${commit} 'half: begin' && echo 'not committed' > loose.txt`,
};

class WritingDay {
	readonly stage: Stage;

	private constructor(stage: Stage) {
		this.stage = stage;
	}

	static async begin(version: string): Promise<WritingDay> {
		const together = makeGate();
		const begun = new Set<string>();
		const done: Step[] = [say("## What\nIt is done.")];
		const does = (name: string, rest: (request: ModelRequest) => Step[] = () => done) => {
			return (request: ModelRequest) => {
				if (request.toolAnswers.length > 0) return rest(request);
				begun.add(name);
				if (begun.size === 3) together.open();
				// The first three have to be at work at once: none goes on before the last has begun.
				return [until(together.opened), call("bash", { command: work[name] })];
			};
		};
		const mends = ({ toolAnswers, userText }: ModelRequest): Step[] => {
			if (toolAnswers.length > 0 || !userText.includes("the check")) return done;
			return [call("bash", { command: `echo whole > parser.txt && ${commit} 'parser: mend'` })];
		};
		const children = {
			title: does("title"),
			motto: does("motto"),
			parser: does("parser"),
			tidy: does("tidy"),
			half: does("half", () => [say("So far so good."), hang()]),
			Your: mends,
			Continue: ({ toolAnswers }: ModelRequest) =>
				toolAnswers.length > 0 ? done : [call("bash", { command: "echo 'all of it' > half.txt" })],
		};
		const day = new WritingDay(await backgroundStage({ version, children }));
		const { world } = day.stage;
		world.write("notes.txt", "mine\n");
		day.git("add", "notes.txt");
		day.git("commit", "-qm", "notes: begin");
		world.write("notes.txt", "mine, not committed\n");
		world.writeAgentDir("agents/tidier.md", "---\nname: tidier\ntools: read, write, bash\n---\nTidy up.\n");
		day.stage.configure({ allowWrite: true, agents: { worker: { check: "! grep -rqs BROKEN parser.txt" } } });
		return day;
	}

	git(...args: string[]): string {
		const { cwd } = this.stage.world;
		const identity = ["-c", "user.name=n", "-c", "user.email=n@localhost"];
		return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
	}

	read(path: string): string {
		return readFileSync(join(this.stage.world.cwd, path), "utf8");
	}

	/** The branch whose history says so. */
	branchOf(subject: string): string {
		const branches = this.branches().filter((branch) => this.git("log", "--format=%s", branch).includes(subject));
		assert.equal(branches.length, 1, `${subject}: ${branches}`);
		return branches[0] ?? "";
	}

	branches(): string[] {
		return this.git("for-each-ref", "--format=%(refname:short)", "refs/heads/subagent").split("\n").filter(Boolean);
	}

	/** The private trees that are there, whole paths. */
	trees(): string[] {
		const place = join(this.stage.world.agentDir, "subagent-trees");
		if (!existsSync(place)) return [];
		const found = readdirSync(place, { recursive: true, encoding: "utf8" });
		return found.filter((path) => path.endsWith("/.git") || path === ".git").map((path) => join(place, path, ".."));
	}

	/** Spawns a run as soon as pi has said what it has to say of those before. */
	async spawn(rpc: RpcSession, ...runs: Parameters<typeof spawn>): Promise<void> {
		const deadline = performance.now() + toldMs;
		for (;;) {
			const { data } = await rpc.send({ type: "get_state" });
			if (!(data as { isStreaming: boolean }).isStreaming) break;
			assert.ok(performance.now() < deadline, "pi does not come to rest");
		}
		await rpc.prompt(spawn(...runs));
	}

	/** Waits until so many ends stand in the session. */
	async told(file: string, count: number): Promise<void> {
		const ids = () => announcementsIn(file).flatMap(({ deliveryIds }) => deliveryIds);
		await eventually(() => existsSync(file) && ids().length >= count, `${count} ends are told`, toldMs);
		assert.deepEqual([ids().length, new Set(ids()).size], [count, count], "each once");
	}
}

for (const version of piVersions) {
	test(`a day of writing with pi ${version} loses nothing`, { skip: cannot }, async () => {
		const day = await WritingDay.begin(version);
		const { stage } = day;
		try {
			const before = day.git("status", "--porcelain");
			let rpc = startRpc(stage.world);
			const { data } = await rpc.send({ type: "get_state" });
			const file = (data as { sessionFile: string }).sessionFile;

			// Three workers side by side, each in a tree of its own; the check of one is red, then green.
			const tasks = ["title the readme", "motto of the readme", "parser to begin"];
			await day.spawn(rpc, ...tasks.map((task) => ({ task, agentId: "worker" })));
			await day.told(file, 3);
			assert.equal(day.branches().length, 3);
			assert.equal(day.git("status", "--porcelain"), before, "nothing of it is in the person's tree");
			assert.equal(day.read("notes.txt"), "mine, not committed\n");
			const red = stage.childRequests().filter(({ userText }) => userText.startsWith("Your work is not done"));
			assert.ok(red.length > 0, "the check was red");
			assert.match(readFileSync(file, "utf8"), /[Cc]heck[^\n]{0,200}passed/, "and then green");
			const parser = day.branchOf("parser: mend");
			assert.equal(day.git("show", `${parser}:parser.txt`), "whole\n");
			assert.deepEqual(day.trees(), [], "what was taken over is removed");

			// Two have changed the same line: the conflict is shown as git shows it, and taken back.
			const idOf = (subject: string) => day.branchOf(subject).replace("subagent/", "");
			await rpc.told(`/subagents apply ${idOf("readme: say that it is tested")}`);
			const applied = day.read("README.md");
			assert.equal(applied.split("\n")[0], "# A tested project");
			const conflict = await rpc.told(`/subagents apply ${idOf("readme: say that it is documented")}`);
			assert.match(conflict, /CONFLICT in README\.md: both have changed the same lines/);
			assert.match(
				day.read("README.md"),
				/<<<<<<< [\s\S]*A tested project[\s\S]*=======[\s\S]*A documented project[\s\S]*>>>>>>> /,
			);
			assert.match(await rpc.told("/subagents apply --abort"), /took back what was applied/);
			assert.deepEqual([day.read("README.md"), day.read("notes.txt")], [applied, "mine, not committed\n"]);

			// One in place is undone, but for what a person has changed since.
			const readme = day.read("README.md");
			await day.spawn(rpc, { task: "tidy up", agentId: "tidier" });
			await day.told(file, 4);
			assert.equal(day.read("README.md"), "tidied\n");
			stage.world.write("notes.txt", "mine again\n");
			const undone = await rpc.told("/subagents undo last");
			assert.match(undone, /brought back what .* had changed: README\.md, added\.txt/);
			assert.match(undone, /notes\.txt/);
			const left = [day.read("README.md"), existsSync(join(stage.world.cwd, "added.txt")), day.read("notes.txt")];
			assert.deepEqual(left, [readme, false, "mine again\n"]);

			// pi is killed while a worker writes: what it did becomes its branch, the others stay, and its end is told once.
			const branches = day.branches();
			await day.spawn(rpc, { task: "half of it", agentId: "worker" });
			await eventually(
				() =>
					stage
						.childRequests()
						.some(({ userText, toolAnswers }) => userText.startsWith("half") && toolAnswers.length > 0),
				"it has written",
			);
			rpc.pi.kill("SIGKILL");
			await rpc.pi.finished;
			await stage.world.assertNothingLeft();
			rpc = startRpc(stage.world, { args: ["--session", file] });
			await day.told(file, 5);
			assert.match(readFileSync(file, "utf8"), /half of it\\nStatus: unknown/);
			await eventually(() => day.trees().length === 0, "its tree was taken over");
			const added = day.branches().find((branch) => !branches.includes(branch)) ?? "";
			assert.deepEqual(day.branches(), [...branches, added].sort());
			assert.equal(day.git("show", `${added}:half.txt`), "what there is so far\n");
			assert.equal(day.git("show", `${added}:loose.txt`), "not committed\n");

			// It is continued where it was cut off, and comes to an end like any other.
			await rpc.told("/subagents resume last");
			await day.told(file, 6);
			assert.equal(day.branches().length, 4);
			assert.equal(day.git("show", `${added}:half.txt`), "all of it\n");
			assert.equal(day.git("show", `${added}:loose.txt`), "not committed\n");
			assert.deepEqual(day.trees(), []);
			await rpc.close();
		} finally {
			await stage.close();
		}
	});
}
