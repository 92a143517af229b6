/** Runs in a host of their own, whose child has a tree below it. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, linkSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import type { RunOptions, ToolResult } from "../../native.js";
import { Tree } from "../support/tree.ts";
import { type Ended, untilEnded } from "./host.ts";
import { inTime, Scene, until } from "./scene.ts";

/** The supervision of the child: the warden next to the addon, the same in a pid namespace, or only a process group. */
export type Level = "warden" | "pid namespace" | "process group";

/** Read by the addon: an empty value means that there is no warden. */
const wardenVariable = "PI_SUBAGENT_WARDEN";

/** Long enough for everything to be asked, short enough to wait for it. */
export const graceMs = 200;

/** The exit status of a host. */
export interface HostEnd extends Ended {
	/** Its output, if that was a result. */
	result: ToolResult | undefined;
}

export interface TreeSceneOptions {
	level: Level;
	/** The child's script once its tree is running. */
	script: string;
	config?: RunOptions["config"] & object;
	/** Kinds of the tree; all of them unless told otherwise. */
	kinds?: readonly string[];
	/** The host gets a terminal of its own. */
	terminal?: boolean;
	/** The child is held by the read-only sandbox as well. */
	sandboxed?: boolean;
	/** A program that starts the host. */
	before?: readonly string[];
}

/** A host, its run and the tree below. After the test nothing of it is left. */
export class TreeScene {
	readonly tree: Tree;
	readonly #scene: Scene;
	readonly #options: TreeSceneOptions;
	#process: ChildProcess | undefined;
	#ended: Promise<HostEnd> | undefined;

	constructor(test: TestContext, options: TreeSceneOptions) {
		this.#options = options;
		// Before the scene's own end, which insists that nothing is left.
		test.after(() => this.#close());
		const sandbox = { mode: options.sandboxed ? "required" : "off" };
		const config = { graceMs, sandbox, pidNamespace: options.level === "pid namespace", ...options.config };
		this.#scene = new Scene(test, "", { config });
		this.tree = new Tree(this.#scene.path("tree"), this.#scene.mark);
		// A child that may write nowhere else has its tree write in its agent directory; see `#find`.
		const folder = options.sandboxed ? "$PI_CODING_AGENT_DIR" : this.tree.folder;
		const climb = Tree.script(folder, options.kinds);
		this.#scene.pi("pi.sh", `cat > /dev/null\nbegin; delta 'so far'\n${climb}\n${options.script}`);
	}

	/** Waits until the tree is up. */
	async up(): Promise<void> {
		if (this.#options.sandboxed) await this.#find();
		await this.tree.up();
	}

	/**
	 * Links the output of a sandboxed tree to its expected path. It is linked, not copied, because the list grows, and its
	 * directory is removed with the run.
	 */
	async #find(): Promise<void> {
		const own = this.#scene.path("agent/subagents/scratch");
		const found = (name: string) =>
			(existsSync(own) ? readdirSync(own) : []).map((run) => join(own, run, name)).find(existsSync);
		for (const name of ["victims", "up"]) {
			await until(() => found(name) !== undefined, `the tree's ${name}`);
			linkSync(found(name) ?? "", join(this.tree.folder, name));
		}
	}

	/** Starts the host, which does its deed (see `hosts/tree.mjs`) as soon as the tree is up. */
	start(deed: string): void {
		const script = fileURLToPath(new URL("hosts/tree.mjs", import.meta.url));
		const host = [process.execPath, "--expose-gc", script, JSON.stringify(this.#scene.options), deed];
		const words = [...(this.#options.before ?? []), ...host];
		const env = { ...process.env };
		if (this.#options.level === "process group") env[wardenVariable] = "";
		const [program = "", ...args] = this.#options.terminal
			? ["script", "-qec", `exec ${words.map(quoted).join(" ")}`, "/dev/null"]
			: words;
		const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
		this.#process = child;
		this.#ended = untilEnded(child).then((ended) => ({ ...ended, result: resultIn(ended.stdout) }));
		this.#ended.catch(() => undefined);
	}

	/** The host's process. */
	async hostPid(): Promise<number> {
		const file = this.#scene.path("host");
		await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"), "the host's process id");
		return Number(readFileSync(file, "utf8"));
	}

	/** Returns the warden's process: the ancestor of the child that the host started. */
	async wardenPid(): Promise<number> {
		const host = await this.hostPid();
		for (let pid = this.tree.pid("pi"); pid > 1; pid = parent(pid)) if (parent(pid) === host) return pid;
		throw new Error("the host has no warden");
	}

	/** Waits for the end of the host; with a terminal, of that. */
	async ended(): Promise<HostEnd> {
		if (!this.#ended) throw new Error("the host was not started");
		return await inTime(this.#ended, "the end of the host");
	}

	/** Takes the host's terminal away, or the host itself where it has none. */
	cut(): void {
		this.#process?.kill("SIGKILL");
	}

	async #close(): Promise<void> {
		this.cut();
		await this.tree.end();
	}
}

function resultIn(stdout: string): ToolResult | undefined {
	const line = stdout.split("\n").find((line) => line.startsWith('{"content"'));
	return line === undefined ? undefined : (JSON.parse(line) as ToolResult);
}

function parent(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}
