/** Programs that host the addon in their own process, for tests of the process itself. */

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { inTime } from "./scene.ts";

/** The exit status of a host. */
export interface Ended {
	code: number | null;
	signal: NodeJS.Signals | null;
	stdout: string;
	stderr: string;
}

export interface HostOptions {
	/** Options of Node. */
	node?: string[];
	/** The words before Node, for instance `unshare`. */
	before?: string[];
	/** Another user to run as. */
	uid?: number;
}

/** A host that runs. */
export interface Host {
	/** Rejects when it takes too long, and ends the host then. */
	ended: Promise<Ended>;
	/** Ends it at once. */
	end(): Promise<unknown>;
}

/** Starts a program of `hosts/` with the scene's options as its first word. */
export function startHost(
	scene: { options: object },
	name: string,
	words: string[] = [],
	options: HostOptions = {},
): Host {
	const script = fileURLToPath(new URL(`hosts/${name}`, import.meta.url));
	const [program = "", ...args] = [...(options.before ?? []), process.execPath, ...(options.node ?? []), script];
	const child = spawn(program, [...args, JSON.stringify(scene.options), ...words], {
		stdio: ["ignore", "pipe", "pipe"],
		...(options.uid === undefined ? {} : { uid: options.uid, cwd: "/" }),
	});
	const kill = () => child.kill("SIGKILL");
	const ended = inTime(untilEnded(child), `the end of ${name}`).finally(kill);
	const end = () => {
		kill();
		return ended;
	};
	return { ended, end };
}

/** Runs a host to its end. */
export async function host(...args: Parameters<typeof startHost>): Promise<Ended> {
	return await startHost(...args).ended;
}

/** Waits for a host's exit and its output. */
export async function untilEnded(child: ChildProcess): Promise<Ended> {
	let [stdout, stderr] = ["", ""];
	child.stdout?.on("data", (chunk) => (stdout += chunk));
	child.stderr?.on("data", (chunk) => (stderr += chunk));
	return await new Promise((resolve, reject) => {
		child.once("error", reject);
		// Not `close`: a child of the host that holds its output open is what some tests look for.
		child.once("exit", (code, signal) => {
			// All that it has printed is in the pipe by now, and is read before this timer.
			setTimeout(() => resolve({ code, signal, stdout, stderr }), 50);
		});
	});
}
