/**
 * Measures the time that processes of a tree survive a forced end. The tree is the tests' tree: processes that ignore
 * SIGTERM, have their own groups and sessions, are orphaned, stopped, or fork all the time. It is below the child of a
 * run without grace, so that the end of the run or of its host is the forced end. /proc is polled without a pause.
 *
 * Usage: tree-end.mjs <folder> [rounds] [warden|process-group]. Linux only.
 */

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, execPath } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const [folder = ".", rounds = "20", level = "warden"] = argv.slice(2);
const tests = fileURLToPath(new URL("../__test__/", import.meta.url));
const mark = "PSN_BENCH_TREE";

/** Longer than any successful end. Processes that still exist then count as left. */
const limitMs = 1_500;

/** The time limit for a tree's start. */
const startLimitMs = 20_000;

/** The number of consecutive scans that must find no process. A single scan can miss a process that forks and exits. */
const cleanScans = 5;

/**
 * The ways to end a run: the host's action (see `hosts/tree.mjs`), the signal to the host, and the word that the host
 * prints at the time of the end.
 *
 * @type {Record<string, { action: string, signal?: NodeJS.Signals, since?: string, stays?: true, child?: string }>}
 */
const ways = {
	"SIGKILL to the host": { action: "wait", signal: "SIGKILL" },
	"SIGTERM to the host": { action: "wait", signal: "SIGTERM" },
	"process.exit() of the host": { action: "exit", since: "exit" },
	// A child that exits on request gives the others half a second. A child that stays forces the end at once.
	"an abort, from the call": { action: "abort", since: "aborted", stays: true },
	"an abort, from the result": { action: "abort", since: "result", stays: true },
	"the child's own end, from the result": { action: "wait", since: "result", child: "exit 0" },
};

/** @typedef {{ pid: string, started: string }} Victim */

/** @param {string} file */
function read(file) {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}

/** @param {Victim} victim */
function isAlive({ pid, started }) {
	const stat = read(`/proc/${pid}/stat`);
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return fields[19] === started && fields[0] !== "Z" && fields[0] !== "X";
}

/** One run with a tree, in a directory of its own. */
class Round {
	#place = mkdtempSync(join(folder, "tree-"));
	#mark = randomUUID();
	#victims = join(this.#place, "tree", "victims");
	/** @type {import("node:child_process").ChildProcess | undefined} */
	#host;
	#output = "";

	/**
	 * @param {string} action
	 *
	 * @param {string} child its command after its tree has started
	 * @param {boolean} stays true if the child ignores requests to exit from its start
	 */
	async start(action, child, stays) {
		const project = join(this.#place, "project");
		const tree = join(this.#place, "tree");
		for (const path of [join(project, ".git"), tree, join(this.#place, "agent")]) mkdirSync(path, { recursive: true });
		const pi = join(this.#place, "pi.sh");
		const program = join(tests, "support", "programs", "tree.bash");
		const event = '{"type":"agent_start"}';
		const climb = `bash '${program}' '${tree}' &\nuntil test -e '${tree}/up'; do sleep 0.01; done`;
		writeFileSync(pi, `${stays ? "trap '' TERM\n" : ""}cat > /dev/null\necho '${event}'\n${climb}\n${child}\n`);
		const options = {
			...{ agent: "explorer", task: "look", cwd: project, agentDir: join(this.#place, "agent") },
			...{ piCommand: ["/bin/sh", pi], env: { [mark]: this.#mark } },
			// The script reads its task to the end of its input, like pi in its json mode.
			config: { graceMs: 0, sandbox: { mode: "off" }, protocol: "json" },
		};
		const args = [join(tests, "edge", "hosts", "tree.mjs"), JSON.stringify(options), action];
		const warden = level === "process-group" ? { PI_SUBAGENT_WARDEN: "" } : {};
		const env = { ...process.env, ...warden };
		this.#host = spawn(execPath, args, { stdio: ["ignore", "pipe", "ignore"], env });
		this.#host.stdout?.setEncoding("utf8").on("data", (text) => {
			this.#output += text;
		});
		const deadline = performance.now() + startLimitMs;
		while (!existsSync(join(tree, "up"))) {
			if (performance.now() > deadline) throw new Error("the tree did not start in time");
			await delay(5);
		}
	}

	/** @param {NodeJS.Signals} signal */
	signal(signal) {
		const now = process.hrtime.bigint();
		this.#host?.kill(signal);
		return now;
	}

	/**
	 * Returns the time at which the host printed `what`, or `undefined` if it has not printed it yet.
	 *
	 * @param {string} what
	 */
	when(what) {
		const time = new RegExp(`^${what} (\\d+)$`, "m").exec(this.#output)?.[1];
		return time === undefined ? undefined : BigInt(time);
	}

	/** @returns {Victim[]} the processes that have listed themselves */
	listed() {
		const lines = read(this.#victims).split("\n").slice(0, -1);
		return lines.map((line) => {
			const [, pid = "", started = ""] = line.split(" ");
			return { pid, started };
		});
	}

	/**
	 * Returns the processes that are alive.
	 *
	 * @param {Victim[]} known
	 */
	alive(known) {
		const found = known.filter(isAlive).map(({ pid }) => pid);
		if (found.length > 0) return found;
		const wanted = `${mark}=${this.#mark}\0`;
		return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/environ`).includes(wanted));
	}

	end() {
		this.#host?.kill("SIGKILL");
		for (let clean = 0; clean < cleanScans; ) {
			const alive = this.alive(this.listed());
			clean = alive.length === 0 ? clean + 1 : 0;
			for (const pid of alive) {
				try {
					if (pid !== "1") process.kill(Number(pid), "SIGKILL");
				} catch {
					// The process has exited.
				}
			}
		}
		removeAll(this.#place);
	}
}

/**
 * Removes a directory. A process that forks all the time may still write into it until it has run out of forks. Node
 * retries the removal of the directory itself, but not of new entries.
 *
 * @param {string} path
 */
function removeAll(path) {
	for (const deadline = performance.now() + 10_000; ; ) {
		try {
			return rmSync(path, { recursive: true, force: true });
		} catch (error) {
			if (performance.now() > deadline) throw error;
		}
	}
}

/**
 * Ends one run. Returns the time from the forced end to the exit of the last process in milliseconds, or the number of
 * surviving processes.
 *
 * @param {(typeof ways)[string]} way
 */
async function measure({ action, signal, since, stays = false, child = "sleep 60" }) {
	const round = new Round();
	try {
		await round.start(action, child, stays);
		let began = signal && round.signal(signal);
		let listed = round.listed();
		let known = listed;
		let clean = 0;
		let endedAt = process.hrtime.bigint();
		const deadline = performance.now() + startLimitMs;
		for (;;) {
			const now = process.hrtime.bigint();
			const alive = round.alive(known);
			const later = round.listed();
			// A process that has listed itself since the scan was alive.
			if (alive.length === 0 && later.length === listed.length) {
				if (clean++ === 0) endedAt = now;
			} else {
				clean = 0;
			}
			known = [...known.filter(isAlive), ...later.slice(listed.length)];
			listed = later;
			// Let the event loop read the host's output.
			await new Promise((resolve) => setImmediate(resolve));
			if (since && began === undefined) began = round.when(since);
			if (began !== undefined) {
				if (clean >= cleanScans) return { ms: Math.max(0, Number(endedAt - began) / 1e6) };
				if (Number(now - began) / 1e6 > limitMs) return { left: alive.length };
			}
			if (performance.now() > deadline) throw new Error(`the host did not print ${since}`);
		}
	} finally {
		round.end();
	}
}

/** @type {Record<string, { ms: number[], left: number[] }>} */
const report = {};
for (const [name, way] of Object.entries(ways)) {
	const found = { ms: /** @type {number[]} */ ([]), left: /** @type {number[]} */ ([]) };
	for (let round = 0; round < Number(rounds); round++) {
		const one = await measure(way);
		if (one.ms === undefined) found.left.push(one.left);
		else found.ms.push(one.ms);
	}
	report[name] = found;
}
process.stdout.write(`${JSON.stringify({ level, rounds: Number(rounds), ways: report })}\n`);
