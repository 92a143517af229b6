/** One row of the fault table: the scenario, its expected result, and the forbidden leftovers. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { type RunHandle, type RunOptions, sanitizeOutput, type ToolResult } from "../../native.js";
import { pathsBelow } from "../support/files.ts";
import { survivors } from "../support/survivors.ts";
import type { Played } from "./fault-hosts.ts";
import { inTime, isOfStore, Scene, shape, single, textOf } from "./scene.ts";

/** Steps of the stand-in, or the name of one of its scenarios. */
export type Scenario = string | unknown[];

/** The columns of a row. */
export interface Row {
	scenario?: Scenario;
	/** Values of the configuration. */
	config?: Record<string, unknown>;
	/** Other options of the call. */
	call?: (scene: Scene) => Partial<RunOptions>;
	/** An action during the run, from the first update with text on. */
	meanwhile?: (handle: RunHandle) => void;
	/** Runs elsewhere than in this process. */
	playedBy?: (scene: Scene) => Promise<Played>;
	/** Code, exit code and outcome; absent if no process survives to report them. */
	is?: [code: string | undefined, exitCode: number, outcome: string];
	/** The error, of a failure. */
	error?: RegExp;
	/** The partial output, of a failure. */
	partial?: string;
	/** The whole text, of a success. */
	text?: string | RegExp;
	/** The files that stay in the run's directory; empty without a run directory. */
	files?: string[];
	/** True if the row is about memory. */
	isFlood?: boolean;
	skip?: string | false;
}

const root = new URL("../../", import.meta.url);

/** The command that starts the stand-in. */
export const fakePi = [process.execPath, fileURLToPath(new URL("fake-pi/fake-pi.mjs", root))];

/** The additional memory of a run in this process, compared with a run without output. */
const growthLimitBytes = 16 << 20;

/** The interval at which the memory of this process is measured. */
const pollEveryMs = 10;

/** The maximum size of any string of a result, including the marker of omitted text. */
const stringLimit = 65 * 1024;

/** More than a whole result fills, as JSON. */
const resultLimit = 256 * 1024;

const succeeded = "completed";

/** The scene of a row. */
export function sceneOf(test: TestContext, { scenario = "answers", config = {} }: Row): Scene {
	const before = process.env.TMPDIR;
	// Registered first, because it must happen even if the scene fails when it closes.
	test.after(() => {
		if (before === undefined) delete process.env.TMPDIR;
		else process.env.TMPDIR = before;
	});
	const scene = new Scene(test, "", {
		piCommand: fakePi,
		config: { sandbox: "auto", ...config },
	});
	const named = typeof scenario === "string" ? scenario : scene.write("scenario.json", JSON.stringify(scenario));
	Object.assign(scene.options.env ?? {}, { FAKE_PI_SCENARIO: named });
	// Temporary files of the run and of its child have their own directory, in which leftovers are visible.
	process.env.TMPDIR = scene.path("tmp");
	mkdirSync(process.env.TMPDIR);
	return scene;
}

/** Plays a row and checks every column. */
export async function check(test: TestContext, row: Row): Promise<void> {
	const scene = sceneOf(test, row);
	const growth = row.isFlood ? watchGrowth() : () => 0;
	const started = performance.now();
	const { result, files = listed(scene.agentDir) } = await (row.playedBy ?? ((here) => playHere(here, row)))(scene);
	const took = performance.now() - started;
	const grown = growth();
	const remaining = survivors(scene.mark);

	assert.deepEqual(remaining, [], "no process remains after the result");
	assert.deepEqual(readdirSync(scene.path("tmp")), [], "no temporary file remains");
	assert.ok(grown < growthLimitBytes, `the host grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
	assert.equal(result === undefined, row.is === undefined);
	if (result) await checkResult(result, row, took);
	const runFiles = result && single(result).fullOutputFile ? ["output.md", "session.jsonl"] : ["session.jsonl"];
	assert.deepEqual(inRun(files), row.files ?? runFiles, "only the expected files remain in the run's directory");
}

/** Everything below a directory. */
function listed(place: string): string[] {
	return pathsBelow(place).sort();
}

/** Returns the files in run directories. Other files below an agent directory are listed with their full paths. */
function inRun(files: string[]): string[] {
	// An empty directory of private trees is made so that it can be hidden from a sandboxed child.
	const parents = /^(subagent-trees|subagents(\/scratch|\/runs(\/[0-9a-f]{8})?)?)$/;
	const made = files.filter((name) => !parents.test(name) && !isOfStore(name));
	return made.map((name) => name.replace(/^subagents\/runs\/[0-9a-f]{8}\//, ""));
}

async function checkResult(result: ToolResult, row: Row, took: number): Promise<void> {
	const run = single(result);
	const { is = [] } = row;
	assert.deepEqual(shape(result), [...is, is[2] !== succeeded], textOf(result));
	await checkText(result, row);
	checkBounds(result);
	if (run.sessionFile && !row.playedBy) assert.ok(existsSync(run.sessionFile), "the session file exists");
	if (run.attempts > 0 && process.platform === "linux") assert.match(run.supervision ?? "", /^warden/);
	assert.ok(
		run.durationMs >= 0 && run.durationMs <= took,
		`the reported duration is ${run.durationMs} ms, the measured one ${took} ms`,
	);
}

async function playHere(scene: Scene, { call, meanwhile }: Row): Promise<Played> {
	const { env, ...change } = call?.(scene) ?? {};
	let isBegun = false;
	const handle = scene.start({ ...change, env: { ...scene.options.env, ...env } }, (update) => {
		if (isBegun || !meanwhile || textOf(update).startsWith("(")) return;
		isBegun = true;
		meanwhile(handle);
	});
	return { result: await inTime(handle.result(), "the result") };
}

/** The text of a success is the answer. The text of a failure has its parts in the documented order. */
async function checkText(
	result: ToolResult,
	{ is: [code, exitCode, outcome] = [undefined, 0, ""], error, partial, text }: Row,
): Promise<void> {
	const run = single(result);
	const shown = textOf(result);
	if (outcome === succeeded) {
		assert.ok(!("error" in run) && !run.error, run.error);
		if (typeof text === "string") assert.equal(shown, text);
		else assert.match(shown, text ?? /^Done\.$/);
		return;
	}
	assert.ok(code && run.error, "a failure has a code and an error");
	assert.match(run.error, error ?? /^$/);
	assert.equal(result.details.error?.message, run.error);
	const parts = [
		`explorer failed with exit code ${exitCode}`,
		...(run.attempts > 1 ? [`attempts: ${run.attempts}`] : []),
		// No line of a child's output can imitate a part of ours.
		`error: ${run.error.replace(/\n(?=[^\n])/g, "\n  ")}`,
		...(partial === undefined ? [] : [`partial output:\n\`\`\`text\n${partial}\n\`\`\``]),
		...(run.sessionFile === undefined ? [] : [`session: ${await sanitizeOutput(run.sessionFile)}`]),
	];
	const expected = parts.join("\n\n");
	assert.equal(shown.slice(0, expected.length), expected);
	// The last line tells a model what to do about it.
	assert.match(shown.slice(expected.length), /^\n\nnext: [^\n]+$/);
}

/** A result can be sent anywhere, and nothing in it is long. */
function checkBounds(result: ToolResult): void {
	const json = JSON.stringify(result);
	assert.deepEqual(JSON.parse(json), result);
	assert.ok(json.length < resultLimit, `the result has ${json.length} characters`);
	JSON.parse(json, (key, value) => {
		if (typeof value === "string") assert.ok(Buffer.byteLength(value) < stringLimit, `${key} is too long`);
		return value;
	});
}

let collectGarbage: (() => void) | undefined;

/** The most that this process has grown, from now until asked. */
function watchGrowth(): () => number {
	if (!collectGarbage) {
		setFlagsFromString("--expose-gc");
		collectGarbage = runInNewContext("gc");
	}
	collectGarbage?.();
	const before = process.memoryUsage.rss();
	let peak = before;
	const measure = () => {
		peak = Math.max(peak, process.memoryUsage.rss());
	};
	// A run that fails its test never asks.
	const timer = setInterval(measure, pollEveryMs).unref();
	return () => {
		clearInterval(timer);
		measure();
		return peak - before;
	};
}

/** The steps that write a record with something odd in the place of its text. */
export function answerOf(...odd: unknown[]): unknown[] {
	const message = '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"';
	return ["begin", { raw: message }, ...odd, { raw: '"}],"stopReason":"stop"}}\n' }];
}
