/**
 * A child has several protocols, and the results are the same: each row is played through every protocol, and the whole
 * results are compared. In addition, each result must be correct.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";

import type { RunHandle, RunOptions, SingleResult, ToolResult } from "../../native.js";
import { slower } from "../support/machine.ts";
import { answerOf, type Scenario } from "./fault.ts";
import { inTime, type Scene, shape, single, textOf, until } from "./scene.ts";
import { type Protocol, playing, protocols, shows, showsCall, untilRecorded, updateWith } from "./stand-in.ts";

/** The result as a program would read it. */
type Is = ReturnType<typeof shape>;

const completed: Is = [undefined, 0, "completed", false];
const cut: Is = ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed", false];
const failed = (exitCode: number): Is => ["SUBAGENT_FAILED", exitCode, "failed", true];
const aborted: Is = ["SUBAGENT_FAILED", 130, "aborted", true];
const silent: Is = ["SUBAGENT_TIMEOUT", 124, "idle_timeout", true];
const late: Is = ["SUBAGENT_TIMEOUT", 124, "hard_timeout", true];

interface Row {
	scenario: Scenario;
	/** The pi that the child is. */
	version?: string;
	config?: Record<string, unknown>;
	change?: Partial<RunOptions>;
	/** An action during the run. */
	meanwhile?: (scene: Scene, handle: RunHandle, updates: Updates) => Promise<unknown>;
	is: Is;
	/** The whole text of a success, the error of a failure. */
	says?: string | RegExp;
	/** The text that a failed run kept. */
	output?: string;
	/**
	 * The facts that only a child in RPC mode still reports, because it gets a command to stop before it is ended: the
	 * stop reason of its last message.
	 */
	knows?: Pick<SingleResult, "stopReason"> & { turns: number };
	/** Nothing is compared: both are right, each in its own way. */
	varies?: "everything";
}

/** Resolves with the first update that fits. */
type Updates = (fits: (update: ToolResult) => boolean) => Promise<ToolResult>;

const abortOn =
	(fits: (update: ToolResult) => boolean): NonNullable<Row["meanwhile"]> =>
	async (_, handle, updates) => {
		await updates(fits);
		handle.abort("enough");
	};

/** Longer than Node takes to start, which is silent, too. */
const startMs = 1_500 * slower;
const quick = { idleTimeoutMs: startMs };
const stopped = { stopReason: "aborted", turns: 1 };

const rows: Record<string, Row> = {
	"an answer": { scenario: "answers", is: completed, says: "Done." },
	"several turns with tools": {
		scenario: [
			{ stream: "Reading." },
			{ call: "read", args: { path: "README.md" }, result: "# readme", takesMs: 30 },
			{ call: "grep", args: { pattern: "x" }, result: "no", isError: true },
			{ think: "What now?" },
			{ say: "It is a readme.", usage: { input: 7, output: 3, cost: 0.25 } },
		],
		is: completed,
		says: "It is a readme.",
	},
	"an answer that reached the model's limit": {
		scenario: [{ say: "Half of it", stop: "length" }],
		is: completed,
		says: /^Half of it\n\n\[.*limit.*\]$/,
	},
	"a provider error": { scenario: "fails", is: failed(1), says: /: `529: overloaded`$/ },
	"a provider error after retries": {
		scenario: "gives-up",
		config: { retry: { enabled: false } },
		is: failed(1),
		says: /: `500: try again`$/,
	},
	"a provider error after retries, twice": {
		scenario: "gives-up",
		config: { retry: { backoffMs: 1 } },
		is: failed(1),
		says: /: `500: try again`$/,
	},
	"an answer after retries": { scenario: "recovers", is: completed, says: "Done." },
	"no text": {
		scenario: [{ call: "ls", result: "a" }],
		is: failed(1),
		says: /^the child gave no answer \(last event: `agent_settled`; stop reason: `toolUse`; tool executions completed: 1\)$/,
	},
	"an exit code": {
		scenario: [{ stream: "so far" }, { raw: "no such model\n", to: "stderr" }, { exit: 3 }],
		is: failed(3),
		says: "no such model",
		output: "so far",
	},
	"a death by signal": {
		scenario: [{ stream: "so far" }, { die: "SIGKILL" }],
		is: failed(137),
		says: "the child was killed by SIGKILL",
		output: "so far",
	},
	"the hard limit": {
		scenario: "stalls",
		config: { timeoutMs: startMs },
		is: late,
		says: `hard limit reached: ${startMs} ms (\`timeoutMs\`)`,
		output: "so far",
		knows: stopped,
	},
	"the idle limit": {
		scenario: "stalls",
		config: quick,
		is: silent,
		says: `no activity for ${startMs} ms (\`idleTimeoutMs\`)`,
		output: "so far",
		knows: stopped,
	},
	"the idle limit in a tool": {
		scenario: [{ stream: "so far" }, { call: "bash", takesMs: 60_000 }],
		config: { ...quick, toolTimeoutMs: startMs + 100 },
		is: silent,
		says: `no activity for ${startMs + 100} ms while a tool ran (\`toolTimeoutMs\`)`,
		output: "so far",
		knows: { stopReason: "aborted", turns: 2 },
	},
	"silence from the first moment": {
		scenario: [{ boot: ["hang"] }],
		config: quick,
		is: silent,
		says: `no activity for ${startMs} ms (\`idleTimeoutMs\`)`,
	},
	"an abort before the start": { scenario: "answers", change: { aborted: true }, is: aborted, says: /^cancelled/ },
	"an abort right after the start": {
		scenario: "stalls",
		meanwhile: async (_, handle) => handle.abort(),
		// It hits one of them sooner than the other.
		varies: "everything",
		is: aborted,
		says: /^(not started: )?cancelled by user$/,
	},
	"an abort while the child boots": {
		scenario: [{ boot: ["hang"] }],
		meanwhile: async (scene, handle) => {
			await untilRecorded(scene, "argv");
			handle.abort();
		},
		// A child can be quicker to say that it is there than the host to hear of it.
		varies: "everything",
		is: aborted,
		says: /^(not started: )?cancelled by user$/,
	},
	"an abort in the answer": {
		scenario: [{ stream: "so far", usage: { input: 100, output: 20, cost: 0.5 } }, "hang"],
		meanwhile: abortOn(shows("so far")),
		is: aborted,
		says: "cancelled by user: enough",
		output: "so far",
		knows: stopped,
	},
	"an abort in a tool": {
		scenario: [{ stream: "so far" }, { call: "bash", takesMs: 60_000, usage: { output: 9, cost: 0.125 } }],
		meanwhile: abortOn(showsCall),
		is: aborted,
		says: "cancelled by user: enough",
		output: "so far",
		knows: { stopReason: "aborted", turns: 2 },
	},
	"an abort after the work is done": {
		scenario: [{ say: "Done." }, "settle", { write: "{env.HERE}/settled" }, "hang"],
		meanwhile: async (scene, handle) => {
			await until(() => existsSync(scene.path("settled")), "the end of the work");
			handle.abort();
		},
		is: aborted,
		says: "cancelled by user",
		output: "Done.",
	},
	"an old pi's end": { scenario: "calls", version: "0.73.1", is: completed, says: "Done." },
	"an old pi's retry after its end": { scenario: "recovers", version: "0.73.1", is: completed, says: "Done." },
	"an old pi's end after retries": {
		scenario: "gives-up",
		version: "0.73.1",
		config: { retry: { enabled: false } },
		is: failed(1),
		says: /: `500: try again`$/,
	},
	"a child that lingers after its answer": { scenario: "lingers", is: completed, says: "Done." },
	"an exit code after the answer": {
		scenario: [{ say: "Done." }, "settle", { exit: 7 }],
		is: completed,
		says: "Done.",
	},
	"an answer without an end": { scenario: "leaves", is: completed, says: "Done." },
	"a cut answer": {
		scenario: [{ say: `first ${"x ".repeat(3_000)} last` }],
		config: { output: { maxBytes: 1_000 } },
		is: cut,
		says: /^first x.*x {2}last$/s,
	},
	"a huge answer": {
		scenario: [...answerOf({ raw: "first " }, { fill: 8 << 20 }, { raw: " last" }), "settle"],
		is: cut,
		says: /^first x.*x last$/s,
	},
	"noise on standard error": {
		scenario: [{ fill: 1 << 20, with: "warning\n", to: "stderr" }, { say: "Done." }],
		is: completed,
		says: "Done.",
	},
	"lines that are not events": { scenario: "noisy", is: completed, says: "Done." },
	"events in pieces": { scenario: "splits", is: completed, says: "日本 😀 é" },
	"the limit of the tree": {
		scenario: [{ stream: "so far" }, { fork: Array(20).fill("plain") }, "hang"],
		config: { limits: { processes: 10 }, graceMs: 200 },
		is: ["SUBAGENT_FAILED", 137, "killed", true],
		says: /^`limits\.processes` reached: \d+ of 10 /,
		output: "so far",
	},
};

describe("all protocols give the same result", () => {
	for (const [label, row] of Object.entries(rows)) {
		it(label, async (t) => {
			const played = protocols.map(async (protocol) => ({ protocol, ...(await play(t, row, protocol)) }));
			const [first, ...others] = await inTime(Promise.all(played), "all results", 30_000);
			assert.ok(first && others.length > 0);
			for (const { protocol, result } of [first, ...others]) {
				check(result, row);
				if (!row.knows || protocol !== "rpc") continue;
				const { stopReason, usage } = single(result);
				assert.deepEqual({ stopReason, turns: usage.turns }, row.knows, "JSON mode omits these fields");
			}
			if (row.varies) return;
			for (const other of others) assert.deepEqual(comparable(other, row), comparable(first, row), other.protocol);
		});
	}
});

async function play(test: TestContext, row: Row, protocol: Protocol): Promise<{ scene: Scene; result: ToolResult }> {
	const scene = playing(test, row.scenario, { ...row.change, config: { ...row.config, protocol } });
	if (row.version) Object.assign(scene.options.env ?? {}, { FAKE_PI_VERSION: row.version });
	const listeners = new Set<(update: ToolResult) => void>();
	const updates: Updates = async (fits) => {
		const [promise, listener] = updateWith(fits);
		listeners.add(listener);
		return await inTime(promise, "the update");
	};
	const handle = scene.start({}, (update) => {
		for (const listener of listeners) listener(update);
	});
	await row.meanwhile?.(scene, handle, updates);
	return { scene, result: await inTime(handle.result(), "the result") };
}

function check(result: ToolResult, { is, says, output }: Row): void {
	const run = single(result);
	assert.deepEqual(shape(result), is, textOf(result));
	const text = run.exitCode === 0 ? textOf(result) : (run.error ?? "");
	if (typeof says === "string") assert.equal(text, says);
	else if (says) assert.match(text, says);
	if (run.exitCode !== 0) assert.equal(run.output, output);
	if (run.sessionFile) assert.ok(existsSync(run.sessionFile));
	assert.equal(existsSync(run.fullOutputFile ?? ""), is === cut);
}

/** Returns a result without values that always differ: times, ids, paths, and resource use. */
function comparable({ scene, result }: { scene: Scene; result: ToolResult }, row: Row): unknown {
	const json = JSON.stringify(result)
		.replaceAll(scene.root, "<scene>")
		.replaceAll(result.details.runId ?? "no id", "<run>")
		.replaceAll(/reached: \d+ of 10|process \d+/g, "<figure>");
	const unknown = row.knows ? ["usage", "stopReason", "displayItems"] : [];
	return JSON.parse(json, (key, value) => {
		if (unknown.includes(key)) return undefined;
		if (key.endsWith("Ms")) return "a time";
		return key === "resources" ? Object.keys(value) : value;
	});
}
