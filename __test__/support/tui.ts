/** pi's interactive interface in a terminal of its own: a tmux server per test, on a socket inside the world. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import type { StartOptions } from "./process.ts";
import { piCommand } from "./versions.ts";
import type { World } from "./world.ts";

const execute = promisify(execFile);

export interface TuiOptions extends StartOptions {
	columns?: number;
	rows?: number;
	/** The first message, given on the command line. */
	prompt?: string;
}

/** The smallest usual terminal, and a large one. Each line of a screen must fit in both. */
export const usualSizes = [
	{ columns: 80, rows: 24 },
	{ columns: 120, rows: 40 },
];

/** A test's expectation of the screen. */
export type Sight = string | RegExp | ((screen: string) => boolean);

/**
 * The interval at which the screen is read while waiting: a terminal does not report that it has been drawn. Each read
 * starts tmux.
 */
const pollEveryMs = 120;

/** The time in which a frame is drawn: a screen can be read in the middle of one. */
const drawingMs = 60;

/** The default time limit of `waitFor`. */
const defaultWaitMs = 30_000;

/** One tmux command takes milliseconds; a server that hangs must not hang the test. */
const tmuxLimitMs = 10_000;

let terminals = 0;

/** An interactive pi. */
export class Tui {
	readonly #world: World;
	readonly #socket: string;
	#disown: () => void = () => {};

	private constructor(world: World) {
		this.#world = world;
		this.#socket = join(world.root, `tmux-${terminals++}`);
	}

	/** Starts pi in a terminal of the given size. */
	static async start(world: World, options: TuiOptions = {}): Promise<Tui> {
		const tui = new Tui(world);
		const env = { ...world.env, ...options.env, COLORTERM: "truecolor" };
		const [node, script] = piCommand(world.version);
		const prompt = options.prompt === undefined ? [] : [options.prompt];
		const pi = [node, script, ...world.extensionArgs, ...(options.args ?? []), ...prompt];
		const size = ["-x", String(options.columns ?? 120), "-y", String(options.rows ?? 40)];
		const assigned = Object.entries(env).map(([name, value]) => `${name}=${value}`);
		tui.#disown = world.own(() => tui.close());
		await tui.#tmux(
			// The server lives from the first command on and must not carry the world's mark: `-f` and a clean environment.
			...["-f", "/dev/null", "start-server", ";", "set", "-g", "default-terminal", "tmux-256color", ";"],
			// pi's output before its failure stays readable.
			...["set", "-g", "remain-on-exit", "on", ";", "set", "-g", "history-limit", "5000", ";"],
			...["new-session", "-d", ...size, "-c", options.cwd ?? world.cwd, "--", "env", "-i", ...assigned, ...pi],
		);
		return tui;
	}

	/** Types text as it is. */
	async type(text: string): Promise<void> {
		await this.#tmux("send-keys", "-l", "--", text);
	}

	/**
	 * Types a command until pi offers to complete it. Text typed before pi has loaded its commands, for example while a
	 * session is opened, is not completed, and would be taken for a prompt.
	 */
	async typeCommand(name: string): Promise<void> {
		for (let attempts = 5; ; attempts--) {
			await this.type(`/${name}`);
			const offered = await this.waitFor(`→ ${name}`, 2_000).catch((error: unknown) => error);
			if (typeof offered === "string") return;
			if (attempts === 0) throw offered;
			await this.press("C-u");
		}
	}

	/**
	 * Submits a command without pi's offers to complete it. Enter replaces as many characters as had been typed when pi made
	 * its offer, and under load the offer is older than the text. Pasted text gets no offer.
	 */
	async submitCommand(name: string, words = ""): Promise<void> {
		await this.typeCommand(name);
		if (words === "") await this.press("Escape");
		else await this.#tmux("set-buffer", "--", ` ${words}`, ";", "paste-buffer", "-p", "-d");
		const typed = `/${name} ${words}`.trim();
		await this.waitFor((screen) => {
			const editor = screen.slice(screen.lastIndexOf(typed));
			return editor.startsWith(typed) && !/^ *→ /m.test(editor);
		});
		await this.press("Enter");
	}

	/** Submits a command, again each time that its answer does not yet show it: an answer stays as it was printed. */
	async submitUntil(name: string, words: string, sight: Sight, limitMs = defaultWaitMs): Promise<string> {
		for (const deadline = performance.now() + limitMs; ; ) {
			await this.submitCommand(name, words);
			const answer = await this.waitFor(sight, 3_000).catch((error: unknown) => error);
			if (typeof answer === "string") return answer;
			if (performance.now() > deadline) throw answer;
		}
	}

	/**
	 * Moves to the last choice of a question, named by its beginning. A question that has opened by itself ignores keys at
	 * first, and every question takes keys only after it has been drawn.
	 */
	async chooseLast(label: string): Promise<void> {
		for (let attempts = 10; ; attempts--) {
			await this.press("Down");
			const chosen = await this.waitFor(`→ ${label}`, 1_000).catch((error: unknown) => error);
			if (typeof chosen === "string") return;
			if (attempts === 0) throw chosen;
		}
	}

	/** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `C-o`, `Up`. */
	async press(...keys: string[]): Promise<void> {
		await this.#tmux("send-keys", ...keys);
	}

	/** Returns the content of the terminal, without trailing blanks. */
	async screen(): Promise<string> {
		return trimLines(await this.#tmux("capture-pane", "-p"));
	}

	/**
	 * Returns the content of the terminal with its colors as escape sequences; blanks stay, because they have a background
	 * too.
	 */
	async styledScreen(): Promise<string> {
		return await this.#tmux("capture-pane", "-p", "-e", "-N");
	}

	/** Everything since the start that the terminal still has. */
	async scrollback(): Promise<string> {
		return trimLines(await this.#tmux("capture-pane", "-p", "-S", "-"));
	}

	/** Waits until the screen shows it and returns the screen, drawn to its end; rejects with the last screen. */
	async waitFor(sight: Sight, limitMs = defaultWaitMs): Promise<string> {
		const deadline = performance.now() + limitMs;
		for (;;) {
			const screen = await this.screen();
			if (shows(screen, sight)) {
				await delay(drawingMs);
				const drawn = await this.screen();
				return shows(drawn, sight) ? drawn : screen;
			}
			if (performance.now() > deadline) {
				const frame = screen.split("\n").map((line) => `  │${line}`);
				throw new Error(`the screen does not show ${sight} within ${limitMs} ms:\n${frame.join("\n")}`);
			}
			await delay(pollEveryMs);
		}
	}

	async resize(columns: number, rows: number): Promise<void> {
		await this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
	}

	/** The process in the terminal. */
	async pid(): Promise<number> {
		return Number(await this.#tmux("list-panes", "-F", "#{pane_pid}"));
	}

	/** Waits until pi has left the terminal and returns its exit code; rejects with the last screen. */
	async ended(limitMs = defaultWaitMs): Promise<number> {
		const deadline = performance.now() + limitMs;
		for (;;) {
			const format = "#{pane_dead} #{pid} #{pane_dead_status}";
			const [dead, server, code] = (await this.#tmux("list-panes", "-F", format)).trim().split(" ");
			if (dead === "1" && code) return Number(code);
			// tmux can miss the signal about its child's end; it is sent again.
			if (dead === "1") process.kill(Number(server), "SIGCHLD");
			if (performance.now() > deadline)
				throw new Error(`pi has not ended within ${limitMs} ms:\n${await this.screen()}`);
			await delay(pollEveryMs);
		}
	}

	/** Closes the terminal, like a user who closes the window: pi gets SIGHUP. Waits until its processes have ended. */
	async close(): Promise<void> {
		this.#disown();
		await this.#tmux("kill-server").catch(() => undefined);
		await this.#world.assertNothingLeft();
	}

	async #tmux(...args: string[]): Promise<string> {
		const { PATH = "", HOME = "" } = process.env;
		const { stdout } = await execute("tmux", ["-S", this.#socket, ...args], {
			env: { PATH, HOME, LANG: "C.UTF-8", TERM: "xterm-256color" },
			timeout: tmuxLimitMs,
		});
		return stdout;
	}
}

function shows(screen: string, sight: Sight): boolean {
	if (typeof sight === "string") return screen.includes(sight);
	return sight instanceof RegExp ? sight.test(screen) : sight(screen);
}

function trimLines(text: string): string {
	const lines = text.split("\n").map((line) => line.trimEnd());
	return lines.join("\n").trimEnd();
}

/** Starts pi's interactive interface. */
export async function startTui(world: World, options: TuiOptions = {}): Promise<Tui> {
	return await Tui.start(world, options);
}
