/** Process trees that are hard to end (`programs/tree.bash`), and who of them is left. */

import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { survivors } from "./survivors.ts";

/** The kinds of victims, as the program names them. `root` is their parent, `pi` is the parent of that one. */
export const kinds = [
	...["pi", "root", "plain", "group", "session", "orphan", "bare", "stopped", "named", "chain", "forker"],
] as const;

/** The kinds that leave the process group, so that ending the group misses them. */
export const escapees = ["bare", "forker", "group", "orphan", "session"];

/** Runs the tree: `bash <program> <folder> [kind…]`. */
export const treeProgram: string = fileURLToPath(new URL("programs/tree.bash", import.meta.url));

/** A process that is there. */
export interface TreeProcess {
	pid: number;
	/** Its own name, or its command line if it never gave one. */
	kind: string;
}

/** The interval at which /proc is read. */
const pollEveryMs = 10;

/** More than a busy machine needs to start thirty shells. */
const upLimitMs = 60_000;

/**
 * The number of scans in a row that must find no process. One scan can miss a process that forks and exits, and a
 * process that is just replacing its program, because it has no environment for a moment.
 */
const checks = 5;

/** One tree. It is found in two ways: by the mark in the environment, and by the victims' own reports. */
export class Tree {
	readonly folder: string;
	readonly #mark: string;
	/**
	 * The pid namespaces that it was seen in. Every child in a namespace of its own has the same few numbers, and some start in
	 * the same tick: only in these does a number with a start time say who it is.
	 */
	readonly #namespaces = new Set<string>();

	/** The folder is made if it is missing; `mark` is in the environment of the tree. */
	constructor(folder: string, mark: string) {
		this.folder = folder;
		this.#mark = mark;
		mkdirSync(folder, { recursive: true });
	}

	/** Shell commands that start the tree in the background and return when it is up; the folder may be a variable. */
	static script(folder: string, wanted: readonly string[] = []): string {
		return `bash '${treeProgram}' "${folder}" ${wanted.join(" ")} &\nuntil test -e "${folder}/up"; do sleep 0.01; done`;
	}

	/** Waits until every victim is there. */
	async up(limitMs = upLimitMs): Promise<void> {
		const deadline = performance.now() + limitMs;
		while (!readdirSync(this.folder).includes("up")) {
			if (performance.now() > deadline) throw new Error(`the tree did not start within ${limitMs} ms`);
			await delay(pollEveryMs);
		}
		// Its place is only visible while it exists.
		this.remaining();
	}

	/** The process id of a kind that is there. In a pid namespace the victims themselves know only another. */
	pid(kind: string): number {
		const found = this.remaining().find((candidate) => candidate.kind === kind);
		if (!found) throw new Error(`there is no ${kind}`);
		return found.pid;
	}

	/** Returns the current processes, found in either way. It can miss one that forks and exits all the time. */
	remaining(): TreeProcess[] {
		const marked = survivors(this.#mark);
		for (const { pid } of marked) this.#namespaces.add(namespaceOf(pid));
		this.#namespaces.delete("");
		const found = new Map(marked.map(({ pid, command }) => [pid, kindIn(command)]));
		const victims = this.#victims();
		const known = new Map(victims.map((victim) => [`${victim.pid} ${victim.started}`, victim.kind]));
		for (const name of readdirSync("/proc")) {
			// Never the first process: a process that it has adopted may have listed it as its parent.
			if (!/^\d+$/.test(name) || name === "1") continue;
			const kind = identities(name)
				.map((identity) => known.get(identity))
				.find((kind) => kind !== undefined);
			if (kind !== undefined && !this.isForeign(name)) found.set(Number(name), kind);
		}
		// A process that has listed itself in the meantime was there, even if its number belongs to another process by now.
		for (const { pid, kind } of this.#victims().slice(victims.length)) found.set(pid, kind);
		return [...found].map(([pid, kind]) => ({ pid, kind }));
	}

	/**
	 * Waits until only these kinds remain, with a time limit, and returns the remaining kinds, each once, sorted. The last
	 * count begins after that limit: an earlier count would include processes that have ended since.
	 */
	async settled(expected: readonly string[], limitMs: number): Promise<string[]> {
		const deadline = performance.now() + limitMs;
		for (;;) {
			const isLast = performance.now() > deadline;
			const found = await this.remainingKinds();
			if (isLast || found.every((kind) => expected.includes(kind))) return found;
		}
	}

	async remainingKinds(): Promise<string[]> {
		const found = new Set<string>();
		for (let check = 0; check < checks; check++) {
			for (const { kind } of this.remaining()) found.add(kind);
			await delay(pollEveryMs);
		}
		return [...found].sort();
	}

	/** Waits until no process remains, and returns the remaining ones at the end of the wait. */
	async gone(limitMs: number): Promise<TreeProcess[]> {
		const deadline = performance.now() + limitMs;
		for (let clean = 0; ; ) {
			const remaining = this.remaining();
			clean = remaining.length === 0 ? clean + 1 : 0;
			if (clean === checks) return [];
			if (remaining.length > 0 && performance.now() > deadline) return remaining;
			await delay(pollEveryMs);
		}
	}

	/** Ends all processes at once. */
	async end(limitMs = 10_000): Promise<void> {
		const deadline = performance.now() + limitMs;
		if (existsSync(this.folder)) writeFileSync(join(this.folder, "over"), "");
		for (let clean = 0; clean < checks && performance.now() < deadline; ) {
			const remaining = this.remaining();
			clean = remaining.length === 0 ? clean + 1 : 0;
			for (const { pid } of remaining) kill(pid);
			// Without a pause while a process remains: one that forks and exits must be met between two forks.
			if (remaining.length === 0) await delay(pollEveryMs);
		}
	}

	isForeign(pid: string): boolean {
		const namespace = namespaceOf(pid);
		return namespace !== "" && this.#namespaces.size > 0 && !this.#namespaces.has(namespace);
	}

	#victims(): { kind: string; pid: number; started: string }[] {
		const lines = readOrEmpty(join(this.folder, "victims")).split("\n").slice(0, -1);
		return lines.map((line) => {
			const [kind = "", pid, started = ""] = line.split(" ");
			return { kind, pid: Number(pid), started };
		});
	}
}

/**
 * The process ids under which a live process may have listed itself (inside a pid namespace it has another), each with
 * its start time; the innermost last.
 */
export function identities(pid: string): string[] {
	const stat = readOrEmpty(`/proc/${pid}/stat`);
	// The text after the last parenthesis begins with field 3, the state; the start is field 22.
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	if (stat === "" || fields[0] === "Z" || fields[0] === "X") return [];
	const ids = /^NSpid:\s+(.*)$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? pid;
	return ids.split(/\s+/).map((id) => `${id} ${fields[19]}`);
}

/** Returns the pid namespace of a process; empty if it has ended or is unreadable. */
function namespaceOf(pid: number | string): string {
	try {
		return readlinkSync(`/proc/${pid}/ns/pid`);
	} catch {
		return "";
	}
}

/** Returns the kind that a process will report if it has not listed itself yet, or else its command line. */
function kindIn(command: string): string {
	return / as (\w+)(?: \d+)?$/.exec(command)?.[1] ?? command;
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It went by itself.
	}
}

function readOrEmpty(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
