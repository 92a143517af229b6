/** Finds and ends processes by a mark in their environment, which reaches every descendant however it detaches. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** The variable that carries the mark. */
export const markVariable = "PI_TEST_WORLD";

export interface Survivor {
	pid: number;
	command: string;
}

/** The interval at which /proc is read: the end of a foreign process cannot be awaited. */
const pollEveryMs = 20;

/**
 * The number of scans in a row that must find no process, with a pause between: a process that is just replacing its
 * program has no environment for a moment.
 */
const emptyChecks = 3;
const pollAgainMs = 5;

/** The default time that processes have to exit. */
const defaultLimitMs = 5_000;

/** Every live process that carries the mark. Linux only; elsewhere it sees none. */
export function survivors(mark: string): Survivor[] {
	if (process.platform !== "linux") return [];
	const wanted = Buffer.from(`${markVariable}=${mark}\0`);
	const found: Survivor[] = [];
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
		// A process that goes while we look, a zombie and one of another user cannot be read: none of ours.
		const environment = readOrEmpty(`/proc/${name}/environ`);
		if (!environment.includes(wanted)) continue;
		const command = readOrEmpty(`/proc/${name}/cmdline`).toString("utf8").replaceAll("\0", " ").trim();
		found.push({ pid: Number(name), command });
	}
	return found;
}

/** Waits until no process with this mark is left; rejects, after having ended them, when some stay. */
export async function assertNothingLeft(mark: string, limitMs = defaultLimitMs): Promise<void> {
	const remaining = await waitUntilGone(mark, limitMs);
	if (remaining.length === 0) return;
	await endAll(mark);
	const list = remaining.map(({ pid, command }) => `  ${pid} ${command.slice(0, 200)}`).join("\n");
	throw new Error(`${remaining.length} processes remained after ${limitMs} ms:\n${list}`);
}

/** Ends every process with this mark: SIGTERM, then SIGKILL until none is left. */
export async function endAll(mark: string, graceMs = 2_000): Promise<void> {
	signalAll(mark, "SIGTERM");
	if ((await waitUntilGone(mark, graceMs)).length === 0) return;
	const deadline = performance.now() + defaultLimitMs;
	while ((await waitUntilGone(mark, 0)).length > 0 && performance.now() < deadline) {
		signalAll(mark, "SIGKILL");
		await delay(pollEveryMs);
	}
}

async function waitUntilGone(mark: string, limitMs: number): Promise<Survivor[]> {
	const deadline = performance.now() + limitMs;
	let empty = 0;
	for (;;) {
		const remaining = survivors(mark);
		empty = remaining.length === 0 ? empty + 1 : 0;
		if (empty === emptyChecks || (remaining.length > 0 && performance.now() > deadline)) return remaining;
		await delay(empty > 0 ? pollAgainMs : pollEveryMs);
	}
}

function signalAll(mark: string, signal: NodeJS.Signals): void {
	for (const { pid } of survivors(mark)) {
		try {
			process.kill(pid, signal);
		} catch {
			// It went by itself.
		}
	}
}

function readOrEmpty(path: string): Buffer {
	try {
		return readFileSync(path);
	} catch {
		return Buffer.alloc(0);
	}
}
