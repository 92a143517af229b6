/** Reads a recording. Anybody may have written it: what is not as it should be is refused, and nothing in it names a program. */

import { readFileSync, statSync } from "node:fs";

/** What the first line says it is. */
const kind = "subagent-recording";
const newest = 1;

/** No recording is larger, with its ends of children. */
const mostBytes = 80 << 20;

/** The settings that are taken from a recording: those that decide what becomes of a child's output. */
export const settings = [
	"protocol",
	"timeoutMs",
	"idleTimeoutMs",
	"toolTimeoutMs",
	"graceMs",
	"retry",
	"output",
	"budget",
	"loop",
];

/**
 * What happened to one child, in order.
 *
 * @typedef {object} Entry
 * @property {number} at milliseconds since the child was started
 * @property {any} [out] a record that it wrote, or a line that is none
 * @property {true} [more] the next record came with it
 * @property {string} [in] a command that it was sent
 * @property {string} [id] of the question that is answered
 * @property {object} [answer]
 * @property {string} [caller] what the caller did: `steer`
 * @property {string} [message]
 * @property {true} [stop] it was told to stop, or was about to be ended
 * @property {string} [end] how it ended
 * @property {string} [why]
 * @property {number} [code]
 * @property {string} [signal]
 * @property {string} [stderr]
 * @property {number} [leftOut] entries that did not fit, and lines that were too long
 * @property {number} [leftOutText] bytes of text of messages that never ended
 */

/**
 * @typedef {object} Recording
 * @property {string} engine the version that wrote it
 * @property {string | undefined} pi
 * @property {{ name: string, readonly: boolean, sandboxed: boolean, ask: boolean, extensionsMayAsk: boolean, tools: string[], outputSchema?: Record<string, unknown> }} agent
 * @property {string} task
 * @property {string | undefined} model
 * @property {Record<string, unknown>} config
 * @property {Entry[][]} children one list for each attempt
 */

/**
 * @param {string} path
 * @returns {Recording}
 */
export function readRecording(path) {
	const { size } = statSync(path);
	if (size > mostBytes) throw new Error(`${path}: it has ${size} bytes; a recording has at most ${mostBytes}`);
	const lines = readFileSync(path, "utf8").split("\n");
	// A host that was killed may have torn the last one.
	const whole = lines.slice(0, -1).map((line, index) => object(line, `${path} line ${index + 1}`));
	const [header, ...entries] = whole;
	if (header?.kind !== kind) throw new Error(`${path}: it is no recording; its first line has no "kind": "${kind}"`);
	if (header.version !== newest) {
		throw new Error(`${path}: it has version ${header.version}; this package replays version ${newest}`);
	}
	/** @type {Entry[][]} */
	const children = [];
	for (const [index, entry] of entries.entries()) {
		if (entry.child !== undefined) children.push([]);
		else if (isEntry(entry) && children.length > 0) children.at(-1)?.push(entry);
		else throw new Error(`${path} line ${index + 2}: expected "child", or an entry with "at" after one`);
	}
	return { ...headerOf(header, path), children };
}

/** What an entry may have, and of which type. @type {Record<string, string>} */
const types = {
	in: "string",
	id: "string",
	answer: "object",
	caller: "string",
	message: "string",
	stop: "boolean",
	end: "string",
	why: "string",
	code: "number",
	signal: "string",
	stderr: "string",
};

/** @param {Record<string, any>} entry @returns {entry is Entry} */
function isEntry(entry) {
	const fits = Object.entries(types).every(([name, type]) => entry[name] === undefined || typeof entry[name] === type);
	return typeof entry.at === "number" && fits && (entry.signal === undefined || /^SIG\w+$/.test(entry.signal));
}

/** @param {any} header @param {string} path */
function headerOf({ engine, pi, agent, task, model, config }, path) {
	if (typeof agent?.name !== "string" || typeof task !== "string") {
		throw new Error(`${path} line 1: expected the name of an agent and a task`);
	}
	if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u.test(agent.name)) {
		throw new Error(`${path} line 1: \`${agent.name}\` is no name of an agent`);
	}
	const tools = Array.isArray(agent.tools)
		? agent.tools.filter((/** @type {any} */ tool) => /^[\w-]+$/.test(tool))
		: [];
	const { outputSchema } = agent;
	const hasSchema = typeof outputSchema === "object" && outputSchema !== null;
	return {
		engine: String(engine),
		pi: typeof pi === "string" && /^\d+\.\d+\.\d+$/.test(pi) ? pi : undefined,
		agent: {
			name: agent.name,
			readonly: agent.readonly === true,
			sandboxed: agent.sandboxed === true,
			ask: agent.ask === true,
			extensionsMayAsk: agent.extensionsMayAsk === true,
			tools,
			...(hasSchema ? { outputSchema } : {}),
		},
		task,
		model: typeof model === "string" ? model : undefined,
		config: Object.fromEntries(settings.filter((key) => config?.[key] !== undefined).map((key) => [key, config[key]])),
	};
}

/** @param {string} line @param {string} place @returns {Record<string, any>} */
function object(line, place) {
	try {
		const value = JSON.parse(line);
		if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
	} catch {
		// Said below.
	}
	throw new Error(`${place}: expected an object of JSON`);
}
