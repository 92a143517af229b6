/** Starts pi in a place and always ends it. */

import { type ChildProcess, spawn } from "node:child_process";

import { piCommand } from "./versions.ts";

/** The place of a pi; a `World` is one. */
export interface Place {
	readonly version: string;
	readonly cwd: string;
	/** The whole environment. */
	readonly env: Record<string, string>;
	/** Arguments that load extensions. */
	readonly extensionArgs: readonly string[];
	/** Takes over the duty to end a driver's process; the returned function takes it back. */
	own(closer: () => Promise<void>): () => void;
}

export interface StartOptions {
	/** Arguments before the prompt. */
	args?: string[];
	/** Added to the place's environment. */
	env?: Record<string, string>;
	/** A working directory other than the place's. */
	cwd?: string;
	/** A program that starts pi, with its arguments. */
	before?: readonly string[];
	/** Runs pi as this user and as the group of the same number, with no other group. Only root can. */
	user?: number;
	/** pi is ended, and `finished` rejects, when it takes longer. */
	limitMs?: number;
}

/** The exit status of a pi. */
export interface Finished {
	code: number | null;
	signal: NodeJS.Signals | null;
	stdout: string;
	stderr: string;
	durationMs: number;
}

/** The default time limit of a pi. */
const defaultLimitMs = 120_000;

/** From SIGTERM to SIGKILL. */
const graceMs = 5_000;

/** A pi that runs. */
export class PiProcess {
	readonly child: ChildProcess;
	/** Rejects if pi cannot be started or exceeds its time limit. */
	readonly finished: Promise<Finished>;
	readonly #stdout: Buffer[] = [];
	readonly #stderr: Buffer[] = [];
	readonly #disown: () => void;

	constructor(place: Place, args: string[], options: StartOptions, stdin: "ignore" | "pipe") {
		const [node, script] = piCommand(place.version);
		const started = performance.now();
		// A group of its own, so that Ctrl-C in the terminal of the tests does not reach it past its driver.
		const words = [...(options.before ?? []), node, script, ...place.extensionArgs, ...(options.args ?? []), ...args];
		this.child = spawn(words[0] ?? node, words.slice(1), {
			cwd: options.cwd ?? place.cwd,
			env: { ...place.env, ...options.env },
			stdio: [stdin, "pipe", "pipe"],
			detached: true,
			...(options.user !== undefined && { uid: options.user, gid: options.user }),
		});
		this.child.stdout?.on("data", (chunk: Buffer) => this.#stdout.push(chunk));
		this.child.stderr?.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
		const limitMs = options.limitMs ?? defaultLimitMs;
		this.#disown = place.own(() => this.end());
		this.finished = this.#run(started, limitMs);
		// A test that never asks for the end must not fail with an unhandled rejection instead of its own message.
		this.finished.catch(() => undefined);
	}

	get pid(): number {
		const { pid } = this.child;
		if (pid === undefined) throw new Error("pi was not started");
		return pid;
	}

	get stdout(): string {
		return Buffer.concat(this.#stdout).toString("utf8");
	}

	get stderr(): string {
		return Buffer.concat(this.#stderr).toString("utf8");
	}

	/** Sends a signal to pi alone, as a user's `kill` does. */
	kill(signal: NodeJS.Signals): void {
		this.child.kill(signal);
	}

	/** Sends SIGTERM, waits, then sends SIGKILL. Settles when pi has ended. */
	async end(): Promise<void> {
		if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill("SIGTERM");
		const timer = setTimeout(() => this.child.kill("SIGKILL"), graceMs);
		await this.finished.catch(() => undefined);
		clearTimeout(timer);
	}

	async #run(started: number, limitMs: number): Promise<Finished> {
		let late = false;
		const limit = setTimeout(() => {
			late = true;
			void this.end();
		}, limitMs);
		try {
			const [code, signal] = await this.#closed();
			const durationMs = performance.now() - started;
			const finished = { code, signal, stdout: this.stdout, stderr: this.stderr, durationMs };
			if (!late) return finished;
			const ends = `stdout: …${finished.stdout.slice(-2000)}\nstderr: …${finished.stderr.slice(-2000)}`;
			throw new Error(`pi did not end within ${limitMs} ms\n${ends}`);
		} finally {
			clearTimeout(limit);
			this.#disown();
		}
	}

	/** Waits for the end of pi and its output by then; a grandchild that holds its output open does not count. */
	async #closed(): Promise<[number | null, NodeJS.Signals | null]> {
		return await new Promise((resolve, reject) => {
			this.child.once("error", reject);
			this.child.once("close", (code, signal) => resolve([code, signal]));
			this.child.once("exit", (code, signal) => {
				setTimeout(() => {
					this.child.stdout?.destroy();
					this.child.stderr?.destroy();
					resolve([code, signal]);
				}, 2_000).unref();
			});
		});
	}
}
