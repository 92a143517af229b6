/**
 * A day of writing: the project, the tasks, and the models' answers.
 *
 * `pi-writing-day.spec.ts` proves the results, `npm run captures` draws them for `docs/writing-day.md`; both play this
 * day.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { backgroundStage } from "./background.ts";
import type { Stage, StageOptions } from "./delegation.ts";
import { pathsBelow } from "./files.ts";
import type { ModelRequest } from "./requests.ts";
import { call, hang, makeGate, type Step, say, until } from "./steps.ts";

const commit = "git add -A && git -c user.name=w -c user.email=w@localhost commit -qm";

interface Work {
	/** The first word names the script of the child. */
	task: string;
	/** The command of its shell. */
	command: string;
}

/** The tasks, by label. */
export const work = {
	tested: {
		task: "Call the project tested, in the title of README.md.",
		command: `test -s prepared.log && sed -i 's/^# .*/# A tested project/' README.md && ${commit} 'readme: say that it is tested'`,
	},
	documented: {
		task: "Name it documented, in the title of README.md.",
		command: `sed -i 's/^# .*/# A documented project/' README.md && ${commit} 'readme: say that it is documented'`,
	},
	parser: {
		task: "Begin the parser.",
		command: `echo 'BROKEN' > parser.txt && ${commit} 'parser: begin'`,
	},
	tidy: {
		task: "Clean up README.md and notes.txt.",
		command: "echo tidied > README.md && echo more > notes.txt && echo new > added.txt",
	},
	half: {
		task: "Fill half.txt.",
		command: `echo 'what there is so far' > half.txt && ${commit} 'half: begin' && echo 'not committed' > loose.txt`,
	},
} satisfies Record<string, Work>;

export type Label = keyof typeof work;

/** The three that are at work at once. */
export const together: readonly Label[] = ["tested", "documented", "parser"];

/** A worker's final text. */
export const report = "## What\nIt is done.";

/** The check of the workers, and its command in words. */
export const check = "! grep -rqs BROKEN parser.txt";

export interface WritingDayOptions extends StageOptions {
	/** The promise that a worker waits for before it writes; without one it only waits for the other two. */
	before?: Partial<Record<Label, Promise<unknown>>>;
	/** The project lies in the home directory, so that pi and we say where it is in few words. */
	inHome?: boolean;
}

/** The world of the day: its project, its agents, the model of everybody in it. */
export class WritingDay {
	readonly stage: Stage;

	readonly #root: string | undefined;

	private constructor(stage: Stage, root: string | undefined) {
		this.stage = stage;
		this.#root = root;
	}

	/** Ends everything, and proves that nothing is left and that the script had an answer for each request. */
	async end(): Promise<void> {
		try {
			await this.stage.close();
		} finally {
			if (this.#root) rmSync(this.#root, { recursive: true, force: true, maxRetries: 5 });
		}
	}

	static async begin({ before = {}, children = {}, inHome, ...options }: WritingDayOptions): Promise<WritingDay> {
		const root = inHome ? realpathSync(mkdtempSync(join(tmpdir(), "psn-"))) : undefined;
		const place = root ? { root, cwd: join(root, "home", "service") } : {};
		const all = { ...options, ...place, children: { ...scripts(before), ...children } };
		const day = new WritingDay(await backgroundStage(all), root);
		const { world } = day.stage;
		if (root) {
			mkdirSync(join(world.home, ".pi", "sessions"), { recursive: true });
			world.write("README.md", "# A project\n\nOf no importance.\n");
			day.git("init", "-q", "-b", "main");
		}
		world.write("notes.txt", "mine\n");
		world.write(".gitignore", "*.log\n");
		day.git("add", "-A");
		day.git("commit", "-qm", "notes: begin");
		world.write("notes.txt", "mine, not committed\n");
		world.writeAgentDir("agents/tidier.md", "---\nname: tidier\ntools: read, write, bash\n---\nTidy up.\n");
		const worker = { setup: "echo ready >prepared.log", check };
		day.stage.configure({ allowWrite: true, agents: { worker } });
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

	/** The run whose branch's history says so. */
	runOf(subject: string): string {
		return this.branchOf(subject).replace("subagent/", "");
	}

	branches(): string[] {
		return this.git("for-each-ref", "--format=%(refname:short)", "refs/heads/subagent").split("\n").filter(Boolean);
	}

	/** The private trees that are there, whole paths. */
	trees(): string[] {
		const place = join(this.stage.world.agentDir, "subagent-trees");
		return pathsBelow(place)
			.filter((path) => path.endsWith("/.git") || path === ".git")
			.map((path) => join(place, path, ".."));
	}

	/** Waits until the worker that never ends has written its files. */
	async untilHalfDone(): Promise<void> {
		await this.stage.server.waitFor(
			({ userText, toolAnswers }) => userText === work.half.task && toolAnswers.length > 1,
		);
	}
}

/** Returns the steps of the children, by the first words of their prompts. */
function scripts(before: Partial<Record<Label, Promise<unknown>>>): Record<string, (request: ModelRequest) => Step[]> {
	const gate = makeGate();
	const begun = new Set<string>();
	const done: Step[] = [say(report)];
	const writes = (label: Label): ((request: ModelRequest) => Step[]) => {
		return ({ toolAnswers }) => {
			if (toolAnswers.length === 0) return [say("I look first."), call("read", { path: "README.md" })];
			if (toolAnswers.length > 1) return label === "half" ? [say("So far so good."), hang()] : done;
			begun.add(label);
			if (begun.size === together.length) gate.open();
			// The first three must work at the same time: none continues before the last has begun.
			return [until(gate.opened), until(before[label] ?? gate.opened), call("bash", { command: work[label].command })];
		};
	};
	const byTask = (Object.keys(work) as Label[]).map((label) => [work[label].task.split(" ", 1)[0], writes(label)]);
	return {
		...Object.fromEntries(byTask),
		// The beginning of a child's message about a failed check.
		Your({ toolAnswers, userText }) {
			if (toolAnswers.length > 0 || !userText.includes("the check")) return done;
			return [call("bash", { command: `echo whole > parser.txt && ${commit} 'parser: mend'` })];
		},
		Continue({ toolAnswers }) {
			return toolAnswers.length > 0 ? done : [call("bash", { command: "echo 'all of it' > half.txt" })];
		},
	};
}
