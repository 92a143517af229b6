/** The stand-in for pi writes what pi writes, so that what holds for it holds for pi. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { collectOutput } from "../../native.js";
import { assertNothingLeft, endAll, markVariable, survivors } from "../support/survivors.ts";
import { fakePi, type Scenario } from "./fault.ts";
import { inTime, patienceMs, until } from "./scene.ts";
import { eventsOf, type Json } from "./stand-in.ts";

const [node = "", script = ""] = fakePi;
const folder = mkdtempSync(join(tmpdir(), "psn-fake-pi-"));
after(() => rmSync(folder, { recursive: true }));

const recordings = fileURLToPath(new URL("../../tests/inputs/streams/", import.meta.url));
const builtIn: Record<string, unknown[]> = JSON.parse(
	readFileSync(new URL("../../fake-pi/scenarios.json", import.meta.url), "utf8"),
);

/** Plays a scenario to its end. */
function play(scenario: Scenario, { args = ["--mode", "json", "-p"], input = "the task", env = {} } = {}) {
	const named = typeof scenario === "string" ? scenario : JSON.stringify(scenario);
	return spawnSync(node, [script, ...args], {
		input,
		encoding: "utf8",
		maxBuffer: 1 << 28,
		timeout: patienceMs,
		env: { ...process.env, FAKE_PI_SCENARIO: named, ...env },
	});
}

/** Returns the name of an event: its own type, the type of its content, and the role of its message. */
function nameOf(event: Json): string {
	const { type, assistantMessageEvent, message } = event as { type: string; [key: string]: Json | string | undefined };
	const inner = (assistantMessageEvent as Json | undefined)?.type;
	const { role, stopReason } = (message ?? {}) as Json;
	return [type, inner, role, stopReason].filter(Boolean).join(" ");
}

/** Returns keys and types without values. The arguments and results of tools are not compared. */
function shapeOf(value: unknown, key = ""): unknown {
	if (["arguments", "args", "sections", "toolsAdded"].includes(key)) return "any";
	if (Array.isArray(value)) return value.slice(0, 1).map((item) => shapeOf(item));
	if (value === null || typeof value !== "object") return typeof value;
	const entries = Object.entries(value).filter(([name]) => name !== "details" && name !== "structuredContent");
	return Object.fromEntries(entries.sort().map(([name, item]) => [name, shapeOf(item, name)]));
}

/** The shapes of all events of each name that this version of pi was seen to write. */
function recordedShapes(version: string): Map<string, Set<string>> {
	const shapes = new Map<string, Set<string>>();
	for (const name of readdirSync(join(recordings, version))) {
		for (const event of eventsOf(readFileSync(join(recordings, version, name), "utf8"))) {
			const known = shapes.get(nameOf(event)) ?? new Set();
			shapes.set(nameOf(event), known.add(JSON.stringify(shapeOf(event))));
		}
	}
	return shapes;
}

/** Returns the events that are compared in order. Deltas and live tool output arrive in any number. */
const sequence = (events: Json[]) =>
	events.map(nameOf).filter((name) => !/_delta|entry_appended|tool_execution_update/.test(name));

/** Recordings and the scenarios that tell the same story. */
const stories: Record<string, unknown[]> = {
	plain: [{ say: "Hello there" }],
	thinking: [{ think: "the quick brown fox", chunk: 7 }, { say: "The answer." }],
	"tool-read": [{ call: "read", args: { path: "README.md" }, result: "# readme" }, { say: "All done." }],
	err400: [{ fail: "400: no" }],
	"err500-retries": [{ retry: "500: no", times: 3 }, { fail: "500: no" }],
	"err429-recovers": [{ retry: "429: wait" }, { say: "Recovered." }],
};

/** The oldest version did not report some retried errors, so its recording differs. */
function isComparable(version: string, story: string): boolean {
	const recorded = readFileSync(join(recordings, version, `${story}.jsonl`), "utf8");
	return recorded.includes("auto_retry_start") === /retries|recovers/.test(story);
}

describe("the events of the stand-in", () => {
	for (const version of ["0.73.1", "0.87.1", "1.6.0"]) {
		const comparable = Object.entries(stories).filter(([story]) => isComparable(version, story));
		for (const [story, scenario] of comparable) {
			it(`match pi ${version}, in its order: ${story}`, () => {
				const played = eventsOf(play(scenario, { env: { FAKE_PI_VERSION: version } }).stdout);
				const recorded = eventsOf(readFileSync(join(recordings, version, `${story}.jsonl`), "utf8"));
				assert.deepEqual(sequence(played), sequence(recorded));
			});
		}

		it(`have the keys that pi ${version} gives them`, () => {
			const recorded = recordedShapes(version);
			assert.ok(comparable.length >= 5);
			for (const [, scenario] of comparable) {
				const played = eventsOf(play(scenario, { env: { FAKE_PI_VERSION: version } }).stdout);
				// pi's read tool shows nothing before its end.
				for (const event of played.filter(({ type }) => type !== "tool_execution_update")) {
					const [shape, known] = [JSON.stringify(shapeOf(event)), recorded.get(nameOf(event)) ?? new Set()];
					assert.ok(known.has(shape), `${nameOf(event)}\n${shape}\nis not one of\n${[...known].join("\n")}`);
				}
			}
		});
	}
});

describe("a built-in scenario", () => {
	/** Scenarios that end by themselves, and the collector's result of their output. */
	const rows: Record<string, [code: number | null, output: string, more?: Json]> = {
		answers: [0, "Done."],
		streams: [0, "One word after the other, as a model writes."],
		thinks: [0, "Done."],
		cumulative: [0, "Done."],
		calls: [0, "Done."],
		repeats: [0, "You said: the task"],
		exits: [0, "", { lastEventType: undefined }],
		complains: [1, ""],
		chatty: [0, "Done."],
		leaves: [0, "Done."],
		"breaks-off": [0, "", { partialOutput: "so far" }],
		crashes: [null, "", { partialOutput: "so far" }],
		"floods-stderr": [0, "Done."],
		"one-line": [0, "Done."],
		splits: [0, "日本 😀 é"],
		noisy: [0, "Done."],
		fails: [0, "", { stopReason: "error", error: "529: overloaded" }],
		recovers: [0, "Done.", { stopReason: "stop", error: undefined }],
		"gives-up": [0, "", { stopReason: "error", error: "500: try again" }],
		limited: [0, "Done.", { stopReason: "stop", error: undefined }],
		refuses: [1, ""],
		handles: [0, ""],
		steers: [0, "Done."],
	};
	for (const [name, [code, output, more = {}]] of Object.entries(rows)) {
		it(`has the expected result: ${name}`, async () => {
			const played = play(name);
			assert.equal(played.status, code, played.stderr.slice(0, 500));
			const collected = await collectOutput(played.stdout);
			const picked = Object.fromEntries(Object.keys(more).map((key) => [key, (collected as unknown as Json)[key]]));
			assert.deepEqual([collected.output, picked], [output, more]);
		});
	}

	it("is played by the table of faults, here or in RPC mode", () => {
		const playedInRpc = "silent stalls stubborn polite lingers forks asks grows spins".split(" ");
		assert.deepEqual(Object.keys(builtIn).sort(), [...Object.keys(rows), ...playedInRpc].sort());
	});
});

describe("the README of the stand-in", () => {
	const readme = readFileSync(new URL("../../fake-pi/README.md", import.meta.url), "utf8");

	it("names every step, every option and every scenario", async () => {
		const { handlers } = await import("../../fake-pi/steps.mjs");
		const words = Object.entries(handlers).flatMap(([name, { options }]) => [name, ...options]);
		const missing = [...words, ...Object.keys(builtIn)].filter((word) => !readme.includes(`\`${word}\``));
		assert.deepEqual(missing, []);
	});

	it("shows playable scenarios", async () => {
		const { check } = await import("../../fake-pi/steps.mjs");
		const [shown = "", ...others] = [...readme.matchAll(/```json\n(\[.*?)```/gs)].map(([, scenario = ""]) => scenario);
		assert.equal(others.length, 1);
		for (const scenario of others) check(JSON.parse(scenario));
		assert.equal((await collectOutput(play(JSON.parse(shown)).stdout)).output, "It is a readme.");
	});
});

describe("the command line of the stand-in", () => {
	const answered = (args: string[], input = "") => play("repeats", { args, input });
	const answerTo = async (...given: Parameters<typeof answered>) =>
		(await collectOutput(answered(...given).stdout)).output;

	it("names a version", () => {
		assert.match(play("answers", { args: ["--version"] }).stdout, /^\d+\.\d+\.\d+\n$/);
		assert.equal(play("answers", { args: ["--version"], env: { FAKE_PI_VERSION: "0.87.1" } }).stdout, "0.87.1\n");
	});

	it("takes the task from standard input, from its arguments, or from both", async () => {
		const mode = ["--mode", "json", "-p"];
		assert.equal(await answerTo(mode, "from the pipe"), "You said: from the pipe");
		assert.equal(await answerTo([...mode, "a word"]), "You said: a word");
		assert.equal(await answerTo([...mode, "--", "--a word"]), "You said: --a word");
		assert.equal(await answerTo([...mode, "a word"], "from the pipe"), "You said: from the pipe\na word");
	});

	it("takes neither the value of an option nor an unknown option as the task", async () => {
		const options = [
			"--model",
			"m",
			"--tools",
			"a,b",
			"-e",
			"x.ts",
			"--append-system-prompt",
			"p",
			"--no-mcp",
			"--new",
		];
		assert.equal(await answerTo(["--mode", "json", ...options, "-p", "the task"]), "You said: the task");
	});

	it("writes the requested session file", () => {
		const session = join(folder, "session.jsonl");
		play("calls", { args: ["--mode", "json", "-p", "--session", session] });
		const entries = eventsOf(readFileSync(session, "utf8")) as { type: string; message?: { role: string } }[];
		assert.deepEqual(
			entries.map(({ type, message }) => message?.role ?? type),
			["session", "system", "user", "assistant", "toolResult", "assistant"],
		);
		play("answers", { args: ["--mode", "json", "-p", "--session", session] });
		assert.equal(eventsOf(readFileSync(session, "utf8")).length, entries.length + 3, "the session file is continued");
	});

	it("plays a file, and logs its input", () => {
		const [scenario, log] = [join(folder, "scenario.json"), join(folder, "log")];
		writeFileSync(scenario, '[{ "when": "task", "do": [{ "say": "Yes." }], "else": [{ "say": "No." }] }]');
		assert.match(play(scenario, { env: { FAKE_PI_LOG: log } }).stdout, /Yes\./);
		assert.match(play(scenario, { input: "other" }).stdout, /No\./);
		const logged = Object.assign({}, ...eventsOf(readFileSync(log, "utf8")));
		assert.deepEqual([logged.argv, logged.task], [["--mode", "json", "-p"], "the task"]);
	});

	for (const [label, scenario, says] of [
		["an unknown scenario", "no-such", /`no-such` is neither a file nor a scenario\. Scenarios: answers, /],
		["an unknown step", [{ shout: 1 }], /unknown step `shout`\. Steps: begin, /],
		["an unknown option", [{ say: "x", loud: true }], /step `say` has no option `loud`\. Options: chunk, /],
		["a mistake further in", [{ repeat: [{ say: "x" }, { shout: 1 }] }], /unknown step `shout`/],
		["an unknown kind of fork", [{ fork: "spoon" }], /`spoon`\. Kinds: plain, group, session, daemon/],
	] as [string, Scenario, RegExp][]) {
		it(`is refused before it is played: ${label}`, () => {
			const { status, stdout, stderr } = play(scenario);
			assert.deepEqual([status, stdout], [64, ""]);
			assert.match(stderr, says);
		});
	}
});

describe("a process of the stand-in", () => {
	it("exits as pi does on request", async () => {
		for (const [signal, code] of [
			["SIGTERM", 143],
			["SIGHUP", 129],
		] as const) {
			const child = spawn(node, [script, "--mode", "json"], { env: { ...process.env, FAKE_PI_SCENARIO: "stalls" } });
			const ended = new Promise((resolve) => child.once("exit", resolve));
			child.stdin.end();
			child.stdout.once("data", () => child.kill(signal));
			assert.equal(await inTime(ended, "the end of pi"), code);
		}
	});

	it("may print something on a signal", async () => {
		const child = spawn(node, [script, "--mode", "json"], { env: { ...process.env, FAKE_PI_SCENARIO: "polite" } });
		let stdout = "";
		const ended = new Promise((resolve) => child.once("close", resolve));
		child.stdin.end();
		child.stdout.on("data", (chunk) => {
			stdout += chunk;
			if (stdout.includes('"so far"') && !child.killed) child.kill("SIGTERM");
		});
		assert.equal(await inTime(ended, "the end of pi"), 143);
		assert.equal((await collectOutput(stdout)).partialOutput, "so far and goodbye");
	});

	it("ends after its maximum time in every scenario", async () => {
		const { status } = play("stubborn", { env: { FAKE_PI_LIFETIME_MS: "700" } });
		assert.notEqual(status, null, "the process ended by itself");
	});

	it("has descendants of each kind in the expected groups", async (t) => {
		const mark = randomUUID();
		t.after(async () => {
			await endAll(mark, 100);
			await assertNothingLeft(mark);
		});
		const log = join(folder, "forks");
		const env = {
			...process.env,
			FAKE_PI_SCENARIO: '[{"fork":["plain","group","session","daemon"]},"hang"]',
			FAKE_PI_LOG: log,
		};
		const child = spawn(node, [script, "--mode", "json"], {
			stdio: ["ignore", "ignore", "ignore"],
			env: { ...env, [markVariable]: mark },
		});
		await until(
			() => survivors(mark).filter(({ command }) => command === "sleep 300").length === 4,
			"the start of the descendants",
		);
		const forked = eventsOf(readFileSync(log, "utf8")).filter(({ forked }) => forked);
		/** Parent, group, session. */
		const placeOf = (pid: unknown) =>
			readFileSync(`/proc/${pid}/stat`, "utf8")
				.replace(/.*\) \S+ /, "")
				.split(" ")
				.map(Number);
		const [, ownGroup, ownSession] = placeOf(child.pid);
		for (const { forked: kind, pid } of forked) {
			const [parent, group, session] = placeOf(pid);
			const place = {
				isChild: parent === child.pid,
				group: group === ownGroup ? "ours" : group === pid ? "its own" : "another",
				session: session === ownSession ? "ours" : session === pid ? "its own" : "another",
			};
			const expected: Record<string, object> = {
				plain: { isChild: true, group: "ours", session: "ours" },
				group: { isChild: false, group: "its own", session: "ours" },
				session: { isChild: true, group: "its own", session: "its own" },
				daemon: { isChild: false, group: "another", session: "another" },
			};
			assert.deepEqual(place, expected[String(kind)], String(kind));
		}
	});
});
