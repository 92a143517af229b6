/** A throw-away world for one pi: home, agent directory, working directory, temporary directory, environment. */

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { setupDir } from "../../scripts/lib/places.mjs";
import type { Place } from "./process.ts";
import { assertNothingLeft, markVariable } from "./survivors.ts";
import { newestPi, piCommand } from "./versions.ts";

/** The provider that `models.json` names. */
export const provider = "scripted";

/** The model that sessions start with. */
export const model = "scripted-model";

export interface WorldOptions {
	/** Version of pi; the newest unless told otherwise. */
	version?: string;
	/** The `baseUrl` of a model server; without one, pi knows no model. */
	baseUrl?: string;
	/** Added to pi's `settings.json`, for instance `packages`, `theme` or `subagents`. */
	settings?: Record<string, unknown>;
	/** The extensions that pi loads with `-e`. */
	extensions?: string[];
	/** Added to the environment. */
	env?: Record<string, string>;
	/** A folder that stays, instead of a temporary one that is removed. */
	root?: string;
	/** A working directory instead of a fresh repository. */
	cwd?: string;
}

/** The world. `close` ends what runs in it, proves that nothing is left, and removes it. */
export class World implements Place {
	readonly version: string;
	readonly root: string;
	readonly home: string;
	readonly agentDir: string;
	readonly cwd: string;
	readonly tmp: string;
	/** The whole environment of pi. */
	readonly env: Record<string, string>;
	/** The mark that every process of this world carries. */
	readonly mark: string;
	readonly extensions: readonly string[];
	readonly #stays: boolean;
	readonly #closers = new Set<() => Promise<void>>();

	constructor(options: WorldOptions = {}) {
		this.version = options.version ?? newestPi;
		this.#stays = options.root !== undefined;
		// The real path, because pi and its children report that.
		this.root = realpathSync(options.root ?? mkdtempSync(join(tmpdir(), "psn-")));
		this.home = join(this.root, "home");
		this.agentDir = join(this.home, ".pi", "agent");
		this.tmp = join(this.root, "tmp");
		this.cwd = options.cwd ?? join(this.root, "project");
		this.mark = randomUUID();
		this.extensions = options.extensions ?? [];
		for (const folder of [this.agentDir, this.tmp, this.cwd]) mkdirSync(folder, { recursive: true });
		this.env = { ...this.#environment(), ...options.env };
		this.#writeSettings(options);
		if (!options.cwd) this.#makeRepository();
	}

	/** Writes a file below the working directory, folders included, and returns its path. */
	write(path: string, text: string): string {
		return writeBelow(this.cwd, path, text);
	}

	/** Writes a file below the agent directory, for instance `agents/scout.md`. */
	writeAgentDir(path: string, text: string): string {
		return writeBelow(this.agentDir, path, text);
	}

	/** Arguments that load the world's extensions. */
	get extensionArgs(): string[] {
		return this.extensions.flatMap((path) => ["-e", path]);
	}

	/** Registers a driver's closer, which must run before the world's end. The returned function takes it back. */
	own(closer: () => Promise<void>): () => void {
		this.#closers.add(closer);
		return () => this.#closers.delete(closer);
	}

	/** Rejects when a process of this world is still there after a bounded wait. */
	async assertNothingLeft(limitMs?: number): Promise<void> {
		await assertNothingLeft(this.mark, limitMs);
	}

	/** Ends the world. Rejects when something in it outlived its driver. */
	async close(): Promise<void> {
		try {
			await Promise.all([...this.#closers].map((closer) => closer()));
			await this.assertNothingLeft();
		} finally {
			if (!this.#stays) rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
		}
	}

	#environment(): Record<string, string> {
		const [node] = piCommand(this.version);
		return {
			PATH: [dirname(node), process.env.PATH ?? ""].join(delimiter),
			HOME: this.home,
			TMPDIR: this.tmp,
			LANG: "C.UTF-8",
			TERM: "xterm-256color",
			SHELL: "/bin/sh",
			GIT_CONFIG_GLOBAL: "/dev/null",
			GIT_CONFIG_NOSYSTEM: "1",
			// Shared by all worlds: compiled code of pi, which would else be compiled anew in each.
			NODE_COMPILE_CACHE: join(setupDir, "compile-cache"),
			PI_CODING_AGENT_DIR: this.agentDir,
			PI_OFFLINE: "1",
			PI_SKIP_VERSION_CHECK: "1",
			PI_TELEMETRY: "0",
			[markVariable]: this.mark,
		};
	}

	#writeSettings(options: WorldOptions): void {
		const settings = { quietStartup: true, defaultProvider: provider, defaultModel: model, ...options.settings };
		this.writeAgentDir("settings.json", JSON.stringify(settings, null, "\t"));
		if (!options.baseUrl) return;
		const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
		const limits = { input: ["text"], contextWindow: 200_000, maxTokens: 32_000 };
		const models = [
			{ id: model, name: "Scripted model", reasoning: false, ...limits, cost },
			{ id: "scripted-thinker", name: "Scripted thinker", reasoning: true, ...limits, cost },
		];
		const providers = {
			[provider]: { baseUrl: options.baseUrl, api: "openai-completions", apiKey: "scripted-key", models },
		};
		this.writeAgentDir("models.json", JSON.stringify({ providers }, null, "\t"));
	}

	/** A repository with one commit. It is made once for each test program, and copied: git is three starts, a copy is none. */
	#makeRepository(): void {
		this.write("README.md", "# A project\n\nOf no importance.\n");
		if (firstRepository) {
			cpSync(firstRepository, join(this.cwd, ".git"), { recursive: true });
			return;
		}
		const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
		for (const args of [
			["init", "-q"],
			["add", "-A"],
			[...identity, "commit", "-qm", "project: begin"],
		]) {
			execFileSync("git", args, { cwd: this.cwd, env: this.env });
		}
		const kept = mkdtempSync(join(tmpdir(), "psn-"));
		process.once("exit", () => rmSync(kept, { recursive: true, force: true }));
		cpSync(join(this.cwd, ".git"), kept, { recursive: true });
		firstRepository = kept;
	}
}

/** The `.git` of the first world, before anything happened in it. */
let firstRepository: string | undefined;

function writeBelow(folder: string, path: string, text: string): string {
	const whole = join(folder, path);
	mkdirSync(dirname(whole), { recursive: true });
	writeFileSync(whole, text);
	return whole;
}
