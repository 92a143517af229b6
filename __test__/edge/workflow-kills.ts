/**
 * Kills a program with a script of twenty runs again and again, starts it again, and then checks that no completed run was paid
 * for twice, that no result was lost, that no cost was charged twice, and that the program runs to its end.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { workflows } from "../../native.js";
import { patienceMs } from "../support/eventually.ts";
import { slower } from "../support/machine.ts";
import { markVariable } from "../support/survivors.ts";
import { chances, type Kills } from "./kills.ts";

/** The result. */
export interface Figures {
	kills: number;
	/** The scripts that have run to their end. After each, a new one begins. */
	scripts: number;
	/** The results that a program has received, those of a later program included. */
	results: number;
	/** The requests of all runs to their models. */
	requests: number;
	/** The requests in a session that was continued. */
	continued: number;
	/** The answers whose cost was lost with the program that should have stored it. */
	lost: number;
	seconds: number;
}

const keys = Array.from({ length: 20 }, (_, index) => `run-${index}`);

/** A kill follows a random number of requests, so that each program gets somewhere on any machine. */
const mostRequests = 6;
/** And then a random time: a child needs a tenth of it. */
const latestMs = 60 * slower;
/** The pause between two looks at the log. */
const lookMs = 3;

/**
 * A child that asks its model once, writes that down, and answers with the number of the request. Its session has its key, so
 * that it knows the key when it is continued.
 */
const child = String.raw`#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --session) session=$2; shift ;; esac; shift; done
task=$(cat)
key=$(sed -n 's/.*key=\([^ ]*\) .*/\1/p' "$session")
if [ "$key" ]; then
	kind=continued
else
	kind=request
	key=$(printf '%s\n' "$task" | sed -n 's/.*key=\([^ ]*\) .*/\1/p')
	[ "$key" ] || exit # Its program was killed before it had written the task.
	printf '{"type":"message","id":"1","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"key=%s answer"}]}}\n' "$key" >> "$session"
fi
printf '{"type":"session","version":3}\n{"type":"agent_start"}\n{"type":"turn_start"}\n'
echo "$kind $key $$" >> "$KILLS_LOG"
sleep 0.03
echo "answer $key" >> "$KILLS_LOG"
printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"answer %s"}],"provider":"fake","model":"m1","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.01}},"stopReason":"stop"}}\n' "$$"
printf '{"type":"agent_end","messages":[],"willRetry":false}\n{"type":"agent_settled","aborted":false}\n'
`;

/** Checks what the programs and children of one script have written down. Returns the number of lines of each kind. */
export function checkLog(log: string): Record<"done" | "request" | "continued" | "answer", number> {
	const counts = { done: 0, request: 0, continued: 0, answer: 0 };
	const answers = new Map<string, string>();
	for (const line of log.split("\n").filter((line) => line !== "" && line !== "end")) {
		const [kind = "", key = "", ...words] = line.split(" ");
		assert.ok(keys.includes(key), `an unknown key: ${line}`);
		assert.ok(Object.hasOwn(counts, kind), `an unknown line: ${line}`);
		counts[kind as keyof typeof counts] += 1;
		const known = answers.get(key);
		if (kind === "done") {
			const answer = words.join(" ");
			assert.equal(known ?? answer, answer, `${key} has two results`);
			answers.set(key, answer);
		} else {
			assert.equal(known, undefined, `${key} was paid for again after its result`);
		}
	}
	return counts;
}

export async function workflowKills({ times, seed, root, mark, onKill }: Kills): Promise<Figures> {
	const began = performance.now();
	const next = chances(seed);
	for (const folder of ["agent", "project/.git"]) mkdirSync(join(root, folder), { recursive: true });
	const pi = join(root, "pi.sh");
	writeFileSync(pi, child);
	chmodSync(pi, 0o755);
	const host = fileURLToPath(new URL("hosts/workflow-kills.mjs", import.meta.url));
	const figures = { kills: 0, scripts: 0, results: 0, requests: 0, continued: 0, lost: 0 };
	const logOf = (script: number) => join(root, `log-${script}`);
	const start = (): ChildProcess => {
		const log = logOf(figures.scripts);
		const options = {
			cwd: join(root, "project"),
			agentDir: join(root, "agent"),
			piCommand: [pi],
			config: { sandbox: "off", protocol: "json", graceMs: 1_000, maxConcurrent: 4 },
			env: { KILLS_LOG: log, [markVariable]: mark },
		};
		const words = JSON.stringify({ id: `kills-${figures.scripts}`, log, keys, options });
		const env = { ...process.env, [markVariable]: mark };
		return spawn(process.execPath, [host, words], { stdio: ["ignore", "pipe", "inherit"], env });
	};
	const readLog = () => (existsSync(logOf(figures.scripts)) ? readFileSync(logOf(figures.scripts), "utf8") : "");
	const requests = () => readLog().match(/^(?:request|continued) /gm)?.length ?? 0;
	/** The keys without a result. */
	const missing = () => {
		const log = readLog();
		return keys.filter((key) => !log.includes(`done ${key} `));
	};
	const finish = async () => {
		const counts = checkLog(readLog());
		const [newest] = await workflows({ cwd: join(root, "project"), agentDir: join(root, "agent") });
		const cents = Math.round((newest?.cost ?? 0) * 100);
		// An answer may be lost with its program, which cannot pay for it then.
		assert.ok(cents >= keys.length && cents <= counts.answer, `${cents} cents for ${counts.answer} answers`);
		figures.lost += counts.answer - cents;
		assert.deepEqual(missing(), [], "each run has a result");
		figures.results += counts.done;
		figures.requests += counts.request + counts.continued;
		figures.continued += counts.continued;
		figures.scripts += 1;
	};
	const hasEnded = () => readLog().endsWith("end\n");
	/** Runs the program to its end. The next one has a new script. */
	const complete = async () => {
		const program = start();
		const stop = new AbortController();
		const late = delay(patienceMs, "late", { signal: stop.signal }).catch(() => undefined);
		assert.notEqual(await Promise.race([once(program, "exit"), late]), "late", "the program runs to its end");
		stop.abort();
		assert.ok(hasEnded(), "the program runs to its end");
		await finish();
	};
	while (figures.kills < times) {
		const program = start();
		let hasExited = false;
		const exited = once(program, "exit").finally(() => {
			hasExited = true;
		});
		await Promise.race([once(program.stdout ?? assert.fail("stdout is a pipe"), "data"), exited]);
		const enough = requests() + Math.floor(next() * (mostRequests + 1));
		while (!hasExited && requests() < enough) await delay(lookMs);
		await Promise.race([delay(next() * latestMs), exited]);
		const isKilled = program.kill("SIGKILL");
		const [code] = await exited;
		if (isKilled) {
			figures.kills += 1;
			onKill?.(figures.kills);
		}
		if (hasEnded()) await finish();
		else assert.equal(code, null, "a program that was not killed runs to its end");
		// A script without missing runs is no test of a kill.
		if (missing().length === 0) await complete();
	}
	await complete();
	return { ...figures, seconds: Math.round((performance.now() - began) / 1_000) };
}
