/**
 * The scenario language: a table with the action of each step. A step is `{ "name": value, "option": … }`, or `"name"`
 * alone. The first key is the step's name.
 */

import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync, existsSync, openSync, writeFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";

import { fill, writeAll } from "./pipe.mjs";
import { fork, forks, playInChild } from "./processes.mjs";
import { ignored, Refused, Steered } from "./queue.mjs";
import { lifetimeMs, log } from "./stage.mjs";
import { Wire } from "./wire.mjs";

/**
 * @typedef {import("./stage.mjs").Stage} Stage
 * @typedef {{ options: string[], play: (stage: Stage, value: any, options: any) => unknown }} Handler
 */

const descriptors = { stdin: 0, stdout: 1, stderr: 2 };
const to = (/** @type {string} */ name = "stdout") => descriptors[/** @type {"stdout"} */ (name)] ?? 1;

/** Memory is allocated in pieces, so that a limit is passed gradually. */
const growStep = 16 << 20;

/** The time that a busy process works before it checks for events. */
const spinSliceMs = 20;

/** The interval for checking whether a path exists. */
const pollIntervalMs = 10;

/** @param {string[]} options @param {Handler["play"]} play @returns {Handler} */
const step = (options, play) => ({ options, play });

/** @type {Record<string, Handler>} */
export const handlers = {
	// Steps of the model. The opening events are emitted automatically.
	begin: step([], (stage) => stage.begin()),
	stream: step(["chunk", "pauseMs", "usage"], (stage, text, { usage, ...pace }) => {
		stage.tokens = usage ?? stage.tokens;
		return stage.addText("text", stage.text(text), pace);
	}),
	think: step(["chunk", "pauseMs"], (stage, text, pace) => stage.addText("thinking", stage.text(text), pace)),
	say: step(["chunk", "pauseMs", "stop", "usage"], async (stage, text, { stop = "stop", usage, ...pace }) => {
		await stage.addText("text", stage.text(text), pace);
		await stage.endTurn(await stage.endMessage({ stopReason: stop, tokens: usage }));
	}),
	call: step(["args", "result", "isError", "takesMs", "until", "usage"], call),
	submit: step(["takesMs", "usage"], (stage, submitted, options) => {
		const isObject = typeof submitted === "object" && submitted !== null && !Array.isArray(submitted);
		// The arguments of a tool are an object. The engine unwraps another value.
		const args = isObject ? submitted : { value: submitted };
		return call(stage, "submit_result", { ...options, args, result: "Submitted.", details: { submitted: args } });
	}),
	fail: step(["usage"], async (stage, errorMessage, { usage }) => {
		await stage.endTurn(await stage.endMessage({ stopReason: "error", errorMessage, tokens: usage }));
	}),
	retry: step(["times", "of", "delayMs", "usage"], retry),
	steered: step([], (stage, steps) => {
		stage.steered = steps;
	}),
	refuse: step([], (_, error) => {
		throw new Refused(error);
	}),
	ask: step(["title", "message", "options", "placeholder", "prefill", "timeoutMs"], ask),
	settle: step([], (stage) => stage.settle()),
	event: step([], (stage, event) => stage.emit(event)),

	// Steps of the pipe.
	raw: step(["as", "to", "split", "pauseMs"], (_, text, { as = "utf8", to: target, ...pieces }) =>
		writeAll(to(target), Buffer.from(text, as), pieces),
	),
	fill: step(["with", "to"], (_, bytes, { with: pattern = "x", to: target }) => fill(to(target), bytes, pattern)),
	split: step(["pauseMs"], (stage, split, { pauseMs = 0 }) => {
		stage.pieces = { split, pauseMs };
	}),
	noise: step([], (stage, lines) => {
		stage.noise = [lines].flat();
	}),
	lineEnd: step([], (stage, lineEnd) => {
		stage.lineEnd = lineEnd;
	}),
	close: step([], (_, names) => {
		for (const name of [names].flat()) closeSync(to(name));
	}),

	// Steps of the process.
	sleep: step([], (stage, ms) => stage.sleep(ms)),
	await: step([], untilExists),
	hang: step([], (stage) => stage.sleep(lifetimeMs)),
	exit: step([], (_, code) => process.exit(code)),
	die: step([], async (stage, signal) => {
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
		await stage.sleep(lifetimeMs);
	}),
	ignore: step([], (_, names) => {
		for (const name of [names].flat()) {
			if (name === "abort" || name === "eof") ignored.add(name);
			else process.removeAllListeners(name).on(name, () => log({ ignored: name }));
		}
	}),
	on: step(["do"], (stage, signal, { do: steps = [] }) => {
		process.removeAllListeners(signal).on(signal, () => void playAll(stage, steps));
	}),
	spin: step([], spin),
	grow: step(["pauseMs"], async (stage, bytes, { pauseMs = 0 }) => {
		for (let remaining = bytes; remaining > 0; remaining -= growStep) {
			stage.ballast.push(Buffer.alloc(Math.min(remaining, growStep), 1));
			await stage.sleep(pauseMs);
		}
	}),
	open: step([], (stage, count) => {
		for (let opened = 0; opened < count; opened++) stage.ballast.push(openSync("/dev/null", "r"));
	}),
	write: step(["text", "append"], (stage, path, { text = "", append = false }) =>
		(append ? appendFileSync : writeFileSync)(stage.text(path), stage.text(text)),
	),
	fork: step(["polite", "holds", "seconds"], async (_, kinds, { polite = false, holds = "stdout", seconds = 300 }) => {
		for (const kind of [kinds].flat())
			await fork(kind, { polite, holds, seconds: Math.min(seconds, lifetimeMs / 1000) });
	}),
	child: step(["detached"], (_, steps, { detached = false }) => playInChild(steps, { detached })),

	// Steps that control the scenario.
	deaf: step([], () => undefined),
	boot: step([], () => undefined),
	version: step([], (stage, version) => {
		const { clockShift } = stage.wire;
		stage.wire = Object.assign(new Wire(version), { clockShift });
	}),
	clock: step([], (stage, ms) => {
		stage.wire.clockShift = ms;
	}),
	repeat: step(["times"], async (stage, steps, { times = 2 }) => {
		for (let round = 0; round < times; round++) await playAll(stage, steps);
	}),
	when: step(["do", "else"], (stage, pattern, { do: then = [], else: otherwise = [] }) =>
		playAll(stage, new RegExp(pattern, "u").test(stage.task) ? then : otherwise),
	),
	once: step(["do", "else"], (stage, path, { do: then = [], else: otherwise = [] }) =>
		playAll(stage, isFirst(stage.text(path)) ? then : otherwise),
	),
};

/** Plays steps in order. @param {Stage} stage @param {unknown[]} steps */
export async function playAll(stage, steps) {
	for (const word of steps) {
		const { handler, value, options } = parse(word);
		stage.abort.signal.throwIfAborted();
		await handler.play(stage, value, options);
	}
}

/**
 * Plays a scenario to its end: the steps, the steps after a steering message instead of the rest, the same steps again
 * for each follow-up message, and the closing events.
 *
 * @param {Stage} stage
 * @param {unknown[]} steps
 */
export async function playScenario(stage, steps) {
	do await playSteered(stage, steps);
	while (await stage.followUp());
	await stage.settle();
}

/** @param {Stage} stage @param {unknown[]} steps */
async function playSteered(stage, steps) {
	try {
		await playAll(stage, steps);
	} catch (error) {
		if (!(error instanceof Steered)) throw error;
		await playSteered(stage, error.steps);
	}
}

/**
 * Returns true if the scenario must not wait for its task.
 *
 * @param {unknown[]} steps
 */
export function isDeaf(steps) {
	return steps.some((word) => parse(word).name === "deaf");
}

/**
 * Returns the steps to play before anything is read.
 *
 * @param {unknown[]} steps
 * @returns {unknown[]}
 */
export function bootOf(steps) {
	return steps.map(parse).flatMap(({ name, value }) => (name === "boot" ? value : []));
}

/**
 * Validates steps without playing them.
 *
 * @param {unknown} steps
 * @throws {Error} with the step and its valid form
 */
export function check(steps) {
	if (!Array.isArray(steps)) throw new Error(`a scenario is an array of steps, not ${JSON.stringify(steps)}`);
	for (const word of steps) {
		const { name, value, options } = parse(word);
		for (const inner of [options.do, options.else]) if (inner !== undefined) check(inner);
		if (["repeat", "child", "boot", "steered"].includes(name)) check(value);
		const unknown = name === "fork" && [value].flat().find((kind) => !(kind in forks));
		if (unknown) throw new Error(`unknown kind of fork \`${unknown}\`. Kinds: ${Object.keys(forks).join(", ")}`);
	}
}

/** @param {any} word */
function parse(word) {
	const [[name = "", value] = [], ...rest] = typeof word === "string" ? [[word]] : Object.entries(word ?? {});
	const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
	if (!handler) throw new Error(`unknown step \`${name}\`. Steps: ${Object.keys(handlers).join(", ")}`);
	const wrong = rest.find(([option]) => !handler.options.includes(option));
	if (wrong)
		throw new Error(`step \`${name}\` has no option \`${wrong[0]}\`. Options: ${handler.options.join(", ") || "none"}`);
	return { name, handler, value, /** @type {any} */ options: Object.fromEntries(rest) };
}

/** @param {Stage} stage @param {string} path */
async function untilExists(stage, path) {
	while (!existsSync(stage.text(path))) await stage.sleep(pollIntervalMs);
}

/**
 * Plays a turn that calls a tool, runs it for a while and returns its result.
 *
 * @param {Stage} stage
 * @param {string} name
 * @param {any} options
 */
async function call(stage, name, { args = {}, result = "", isError = false, takesMs = 0, until, usage, details }) {
	await stage.beginMessage();
	const made = { type: "toolCall", id: `call_${++stage.calls}`, name, arguments: args };
	const content = stage.content ?? [];
	const at = { contentIndex: content.length };
	const named = stage.wire.isCumulative ? {} : { id: made.id, toolName: name };
	content.push({ ...made, partialArgs: JSON.stringify(args), streamIndex: 0 });
	await stage.update({ type: "toolcall_start", ...at, ...named });
	await stage.update({ type: "toolcall_delta", ...at, delta: JSON.stringify(args) });
	content[at.contentIndex] = made;
	await stage.update({ type: "toolcall_end", ...at, toolCall: made });
	const message = await stage.endMessage({ stopReason: "toolUse", tokens: usage });
	const answer = [{ type: "text", text: stage.text(result) }];
	stage.running = { call: made, message };
	await stage.emit(stage.wire.toolStart(made));
	await stage.sleep(takesMs);
	if (until !== undefined) await untilExists(stage, until);
	await stage.emit(stage.wire.toolUpdate(made, answer));
	await stage.endTurn(message, [await stage.endTool(made, answer, isError, details)]);
}

/**
 * Plays failures that pi retries on its own.
 *
 * @param {Stage} stage
 * @param {string} errorMessage
 * @param {any} options
 */
async function retry(stage, errorMessage, { times = 1, of: maxAttempts = 3, delayMs = 1, usage }) {
	for (let round = 0; round < times; round++) {
		await stage.endTurn(await stage.endMessage({ stopReason: "error", errorMessage, tokens: usage }));
		await stage.retry({ errorMessage, maxAttempts, delayMs });
	}
}

/**
 * Asks an extension's question and waits for the answer. In JSON mode no answer can arrive.
 *
 * @param {Stage} stage
 * @param {string} method
 * @param {any} options
 */
async function ask(stage, method, { timeoutMs, ...fields }) {
	const id = randomUUID();
	/** @type {Promise<any>} */
	const answer = new Promise((resolve) => stage.questions.set(id, resolve));
	const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
	await stage.emit({ type: "extension_ui_request", id, method, ...fields, ...timeout });
	const given = await Promise.race([answer, stage.sleep(timeoutMs ?? lifetimeMs)]);
	stage.questions.delete(id);
	log({ asked: method, answer: given ?? null });
	const { cancelled, confirmed, value } = given ?? {};
	stage.answer = given === undefined ? "unanswered" : cancelled ? "cancelled" : String(confirmed ?? value);
}

/** Keeps a processor busy. @param {Stage} stage @param {number} ms */
async function spin(stage, ms) {
	const end = performance.now() + Math.min(ms, lifetimeMs);
	while (performance.now() < end) {
		const slice = performance.now() + spinSliceMs;
		while (performance.now() < slice);
		await turn();
		stage.abort.signal.throwIfAborted();
	}
}

/**
 * Returns true if no process has played this before.
 *
 * @param {string} path
 */
function isFirst(path) {
	try {
		closeSync(openSync(path, "wx"));
		return true;
	} catch {
		return false;
	}
}
