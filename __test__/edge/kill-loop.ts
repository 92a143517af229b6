/**
 * Kills a host of background runs again and again, starts it on the same session, and then checks that everything that
 * was accepted was delivered exactly once, and correctly.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { patienceMs } from "../support/eventually.ts";
import { slower } from "../support/machine.ts";
import { markVariable } from "../support/survivors.ts";
import { fakePi } from "./fault.ts";
import { chances, type Kills } from "./kills.ts";

/** The result. */
export interface Figures {
	kills: number;
	/** Runs whose acceptance was seen. */
	accepted: number;
	/** The delivered runs, by status. */
	byStatus: Record<string, number>;
	/** The runs that were accepted while no process survived to see it, and were delivered anyway. */
	unseen: number;
	/** Deliveries that were offered before a kill, did not reach the session, and were offered again. */
	offeredAgain: number;
	/** Deliveries that had reached the session before a kill and not the store, and were recognised. */
	recognised: number;
	seconds: number;
}

/** The latest moment of a kill, after the host has begun to work. */
const latestMs = 600 * slower;

/** The longest time from an offer until the session has it, and from then until it is reported. */
const latestPauseMs = 20 * slower;

/** The host's reports after which a kill may follow. */
const moments = ["up", "accepted", "ended", "offered", "told", "delivered"];

/** The durations of children, and their ends. */
const tasks = ["takes-0", "takes-100", "takes-300", "fails"];
const scenario = [
	{ when: "takes-100", do: [{ sleep: 100 }] },
	{ when: "takes-300", do: [{ sleep: 300 }] },
	{ when: "^fails", do: [{ fail: "the model is out" }], else: [{ say: "Done: {task}" }] },
];

/** The delivered status of each end. */
const statuses: Record<string, string> = { completed: "success", failed: "error", interrupted: "unknown" };

type Line = Record<string, unknown>;

/** One home for all hosts. */
class Place {
	readonly root: string;
	readonly agentDir: string;
	readonly log: string;
	readonly sessionFile: string;
	readonly #mark: string;

	constructor(root: string, mark: string) {
		this.root = root;
		this.#mark = mark;
		this.agentDir = join(root, "agent");
		this.log = join(root, "log.jsonl");
		this.sessionFile = join(root, "sessions/conversation.jsonl");
		for (const folder of ["agent", "sessions", "project/.git"]) mkdirSync(join(root, folder), { recursive: true });
		writeFileSync(join(root, "scenario.json"), JSON.stringify(scenario));
	}

	start(session: string, wanted: string[], { ends = false, pauseMs = 0 } = {}): Host {
		const options = {
			cwd: join(this.root, "project"),
			agentDir: this.agentDir,
			parentSessionFile: join(this.root, `sessions/${session}.jsonl`),
			sessionId: session,
			piCommand: fakePi,
			config: { sandbox: "off", archiveAfterMinutes: 0, graceMs: 1_000 },
			env: { [markVariable]: this.#mark, FAKE_PI_SCENARIO: join(this.root, "scenario.json") },
		};
		const log = session === "conversation" ? this.log : join(this.root, `${session}.log.jsonl`);
		const words = [options, log, wanted, ends, pauseMs].map((word) => JSON.stringify(word));
		const script = fileURLToPath(new URL("hosts/kill-loop.mjs", import.meta.url));
		const env = { ...process.env, [markVariable]: this.#mark };
		return new Host(spawn(process.execPath, [script, ...words], { stdio: ["pipe", "pipe", "pipe"], env }));
	}
}

/** A host that runs. */
class Host {
	readonly #child: ChildProcess;
	readonly #ended: Promise<unknown>;
	readonly #waiting = new Map<string, () => void>();
	#stderr = "";

	constructor(child: ChildProcess) {
		this.#child = child;
		this.#ended = once(child, "exit");
		child.stderr?.on("data", (chunk) => (this.#stderr += chunk));
		if (child.stdout) {
			createInterface(child.stdout).on("line", (line) => {
				for (const kind of Object.keys(JSON.parse(line))) this.#waiting.get(kind)?.();
			});
		}
	}

	/** Resolves when the host has said something of this kind, has ended, or after so many milliseconds. */
	async untilReported(kind: string, limitMs: number): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#waiting.set(kind, resolve);
		const timer = setTimeout(resolve, limitMs);
		await Promise.race([promise, this.#ended]);
		clearTimeout(timer);
	}

	async kill(): Promise<void> {
		this.#child.kill("SIGKILL");
		await this.#ended;
		assert.equal(this.#stderr, "");
	}

	/** Waits until it has ended by itself; `isOver` tells it to. */
	async end(isOver = false): Promise<void> {
		if (isOver) this.#child.stdin?.end();
		const timer = setTimeout(() => this.#child.kill("SIGKILL"), patienceMs);
		await this.#ended;
		clearTimeout(timer);
		assert.deepEqual([this.#child.exitCode, this.#child.signalCode, this.#stderr], [0, null, ""]);
	}
}

export async function killLoop({ times, seed, root, mark, onKill }: Kills): Promise<Figures> {
	const started = performance.now();
	const place = new Place(root, mark);
	const chance = chances(seed);
	// Another pi of the user with its own conversation, which takes over the runs of the killed ones.
	const bystander = place.start("bystander", []);
	try {
		await bystander.untilReported("up", patienceMs);
		for (let kills = 1; kills <= times; kills++) {
			const count = Math.floor(chance() * 5);
			const wanted = Array.from({ length: count }, () => tasks[Math.floor(chance() * tasks.length)] ?? "");
			const host = place.start("conversation", wanted, { pauseMs: chance() * latestPauseMs });
			await host.untilReported("up", patienceMs);
			// Half of them at any time, the others right after something has happened.
			const moment = moments[Math.floor(chance() * moments.length * 2)];
			if (moment) await host.untilReported(moment, latestMs);
			await delay(chance() * (moment ? latestPauseMs : latestMs));
			await host.kill();
			onKill?.(kills);
		}
		await place.start("conversation", [], { ends: true }).end();
	} finally {
		await bystander.end(true);
	}
	return { ...check(place), kills: times, seconds: Math.round((performance.now() - started) / 100) / 10 };
}

/** Checks the final state. */
function check(place: Place): Omit<Figures, "kills" | "seconds"> {
	const log = linesOf(place.log);
	const of = (kind: string) => log.flatMap((line) => (kind in line ? [line[kind]].flat() : []));
	assert.deepEqual(of("notice"), [], "no notice is shown");
	const messages = linesOf(place.sessionFile);
	const statusByRun = new Map<string, string>();
	for (const { content } of messages) {
		for (const [, run = "", status = ""] of `${content}`.matchAll(/^Background run (\w+) .*\nStatus: (\w+)$/gm)) {
			assert.ok(!statusByRun.has(run), `run ${run} was delivered twice: ${statusByRun.get(run)}, ${status}`);
			statusByRun.set(run, status);
		}
	}
	const ids = messages.flatMap(({ details }) => (details as { deliveryIds: string[] }).deliveryIds);
	assert.equal(new Set(ids).size, ids.length, "a delivery reached the session twice");
	assert.equal(ids.length, statusByRun.size, "each run has one delivery");
	const accepted = of("accepted");
	assert.deepEqual(
		accepted.filter((run) => !statusByRun.has(`${run}`)),
		[],
		"every accepted run is delivered",
	);
	for (const { ended, status } of log) {
		if (ended !== undefined) assert.equal(statusByRun.get(`${ended}`), status, `run ${ended} had ended before`);
	}
	checkStore(place, statusByRun);
	assert.deepEqual(linesOf(join(place.root, "sessions/bystander.jsonl")), [], "no other conversation got a message");
	const offered = of("offered");
	const words = [...statusByRun.values()];
	const delivered = new Set(of("delivered"));
	return {
		accepted: accepted.length,
		byStatus: Object.fromEntries(
			[...new Set(words)].sort().map((word) => [word, words.filter((other) => other === word).length]),
		),
		unseen: [...statusByRun.keys()].filter((run) => !accepted.includes(run)).length,
		offeredAgain: offered.length - new Set(offered).size,
		recognised: ids.filter((id) => !delivered.has(id)).length,
	};
}

function checkStore(place: Place, statusByRun: Map<string, string>): void {
	const folder = join(place.agentDir, "subagents");
	assert.deepEqual(
		readdirSync(folder).filter((name) => name.includes("damaged")),
		[],
	);
	const database = new DatabaseSync(join(folder, "runs.db"), { readOnly: true });
	try {
		const ask = (sql: string) => database.prepare(sql).all().flatMap(Object.values);
		assert.deepEqual(ask("PRAGMA integrity_check"), ["ok"]);
		assert.deepEqual(ask("SELECT run_id FROM run WHERE is_live"), []);
		assert.deepEqual(ask("SELECT id FROM delivery WHERE delivered_ms IS NULL"), []);
		const rows = database.prepare("SELECT run_id, json_extract(body, '$.outcome') AS outcome FROM run").all();
		const stored = rows.map(({ run_id, outcome }) => `${run_id} ${statuses[`${outcome}`]}`);
		assert.deepEqual(stored.sort(), [...statusByRun].map(([run, status]) => `${run} ${status}`).sort());
	} finally {
		database.close();
	}
}

function linesOf(file: string): Line[] {
	if (!existsSync(file)) return [];
	const text = readFileSync(file, "utf8");
	return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
}
