/**
 * A stage for delegations in real pi: the prompt gives the parent's calls, the task gives its child's steps.
 *
 * `delegate` writes the prompt. The first word of a task names the child's script; `look` and `say` are always there.
 */

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import type { RunDetails, SingleResult } from "../../native.js";
import type { EventLog, ToolEnd } from "./event-log.ts";
import { pathsBelow } from "./files.ts";
import { ModelServer, type Script } from "./model-server.ts";
import type { ModelRequest } from "./requests.ts";
import { call, fail, hang, type Step, say, usage } from "./steps.ts";
import { packageDir, piCommand } from "./versions.ts";
import { World, type WorldOptions } from "./world.ts";

const execute = promisify(execFile);

/** Arguments of one call of the tool; any value, so that a test can send wrong ones. */
export type Call = Record<string, unknown>;

/** The steps of a child, by the first word of its task. */
export type Children = Record<string, (request: ModelRequest) => Step[] | Promise<Step[]>>;

export interface StageOptions extends WorldOptions {
	children?: Children;
	/** By `-e <this package>` unless told otherwise; `none` leaves `extensions` as they are. */
	load?: "argument" | "install" | "none";
	/** The address of the model server; by default the loopback interface. */
	address?: string;
}

/** The time limit of one short command of pi. */
const commandLimitMs = 30_000;

const opening = "Delegate ";

/** The parent's usage in a delegation: a request that calls the tool and one that reports. */
export const parentUsage = { input: 2_000, output: 30, cached: 0 };

/** The usage of a child that looks around, in each of its two turns. */
export const childUsage = { input: 1_000, output: 40, cached: 600 };

/** A prompt that makes the scripted parent call `subagent`, once for each of these. */
export function delegate(...calls: Call[]): string {
	return opening + JSON.stringify(calls);
}

/** The children that every stage has. */
const usual: Children = {
	look(request) {
		const [folder, file] = request.toolAnswers;
		if (!folder || !file) {
			return [usage(childUsage), say("I look."), call("ls", { path: "." }), call("read", { path: "README.md" })];
		}
		const title = file.text.split("\n")[0];
		return [usage(childUsage), say(`Folder: ${folder.text.split("\n").join(" ")}; title: ${title}`)];
	},
	say: (request) => [usage(childUsage), say(request.userText.slice("say ".length))],
	hang: () => [usage(childUsage), say("I begin."), hang()],
	fail: () => [fail(500)],
};

/** The script of a stage. Any other prompt gets `Yes.` */
export function delegations(children: Children = {}): Script {
	const known: Children = { ...usual, ...children };
	return async (request) => {
		const prompt = request.userText;
		if (prompt.startsWith(opening)) {
			const answers = request.toolAnswers;
			if (answers.length > 0) {
				return [
					usage(parentUsage),
					say(`The child says: ${answers.map(({ text }) => withoutRun(text).slice(0, 200)).join(" | ")}`),
				];
			}
			const calls = JSON.parse(prompt.slice(opening.length)) as Call[];
			return [usage(parentUsage), ...calls.map((args) => call("subagent", args))];
		}
		const script = known[prompt.split(/\s/, 1)[0] ?? ""];
		return script ? await script(request) : [say("Yes.")];
	};
}

/** A model server and a world whose pi has this package. */
export class Stage {
	readonly server: ModelServer;
	readonly world: World;

	private constructor(server: ModelServer, world: World) {
		this.server = server;
		this.world = world;
	}

	static async open(options: StageOptions = {}): Promise<Stage> {
		const { children, load = "argument", address, ...rest } = options;
		const server = await ModelServer.start(delegations(children), address);
		const extensions = load === "argument" ? [packageDir, ...(rest.extensions ?? [])] : (rest.extensions ?? []);
		const stage = new Stage(server, new World({ ...rest, baseUrl: server.baseUrl, extensions }));
		if (load === "install") await stage.run("install", packageDir);
		return stage;
	}

	/** Runs one command of pi, such as `install`, to its end. */
	async run(...args: string[]): Promise<string> {
		const [node, script] = piCommand(this.world.version);
		const { env, cwd } = this.world;
		const { stdout } = await execute(node, [script, ...args], { env, cwd, timeout: commandLimitMs });
		return stdout;
	}

	/** Writes the configuration file of the user. */
	configure(subagents: Record<string, unknown>): void {
		this.world.writeAgentDir("subagents.json", JSON.stringify({ subagents }));
	}

	/** Returns the directory of the running run; there must be exactly one. */
	runDirectory(): string {
		const { agentDir } = this.world;
		const [guard, other] = pathsBelow(agentDir).filter((file) => file.endsWith("/guard.cjs"));
		if (!guard || other) throw new Error(`more than one run is active: ${guard}, ${other}`);
		return join(agentDir, dirname(guard));
	}

	/** Returns the agent directory of the running child; there must be exactly one. */
	childAgentDir(): string {
		const parent = join(this.world.agentDir, "subagents", "scratch");
		const [own, other] = readdirSync(parent).filter((name) => !name.endsWith(".run"));
		if (!own || other) throw new Error(`more than one child is active: ${own}, ${other}`);
		return join(parent, own);
	}

	/** Requests of children, oldest first, those after the first `from` requests to the server. */
	childRequests(from = 0): ModelRequest[] {
		return this.server.requests.slice(from).filter((request) => !isParents(request));
	}

	/** Requests of parents that delegate. */
	parentRequests(from = 0): ModelRequest[] {
		return this.server.requests.slice(from).filter(isParents);
	}

	/** Ends everything, proves that nothing is left and that the script had an answer for each request. */
	async close(): Promise<void> {
		try {
			await this.world.close();
		} finally {
			await this.server.close();
		}
		const [problem] = this.server.problems;
		if (problem) throw new Error(problem);
	}
}

function isParents(request: ModelRequest): boolean {
	return request.userText.startsWith(opening);
}

/** Opens a stage, works on it, closes it. */
export async function onStage(options: StageOptions, work: (stage: Stage) => Promise<void>): Promise<void> {
	const stage = await Stage.open(options);
	try {
		await work(stage);
	} finally {
		await stage.close();
	}
}

/** The end of the last call of the tool. */
export function lastEnd(log: EventLog): ToolEnd {
	const end = log.toolEnds("subagent").at(-1);
	if (!end) throw new Error(`no call of subagent has ended; ${log.answer || log.errorMessage}`);
	return end;
}

export function detailsOf(end: ToolEnd): RunDetails {
	return end.result.details as RunDetails;
}

/** The only run of a call that started one. */
export function runOf(end: ToolEnd): SingleResult {
	const [run] = detailsOf(end).results;
	if (!run) throw new Error(`the call started no run: ${textOf(end)}`);
	return run;
}

/** Returns the text of a result, without the line that names its run. */
export function textOf(end: ToolEnd): string {
	return withoutRun(end.result.content.map(({ text }) => text ?? "").join("\n"));
}

function withoutRun(text: string): string {
	return text.replace(/\n\n\[run [0-9a-f]{8}[^\]]*\]$/, "");
}
