/** Reads a recording. The file is untrusted: invalid content is refused, and nothing in it can name a program. */

import { readFileSync, statSync } from "node:fs";

/** The kind in the first line. */
const kind = "subagent-recording";
const newest = 1;

/** The maximum size of a recording, including the ends of its children. */
const mostBytes = 80 << 20;

/** The settings taken from a recording. They affect the processing of a child's output. */
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
 * The events of one child, in order.
 *
 * @typedef {object} Entry
 * @property {number} at milliseconds since the child was started
 * @property {any} [out] a record from the child, or an invalid line
 * @property {true} [more] the next record arrived together with it
 * @property {string} [in] a command to the child
 * @property {string} [id] of the answered question
 * @property {object} [answer]
 * @property {string} [caller] the caller's action: `steer`
 * @property {string} [message]
 * @property {true} [stop] the child was asked to stop, or was about to be ended
 * @property {string} [end] the kind of its end
 * @property {string} [why]
 * @property {number} [code]
 * @property {string} [signal]
 * @property {string} [stderr]
 * @property {number} [leftOut] the number of omitted entries and of lines that were too long
 * @property {number} [leftOutText] omitted bytes of text in messages that never ended
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
	if (size > mostBytes) throw new Error(`${path}: the file has ${size} bytes; the maximum is ${mostBytes}`);
	const lines = readFileSync(path, "utf8").split("\n");
	// A killed host may have truncated the last line.
	const whole = lines.slice(0, -1).map((line, index) => object(line, `${path} line ${index + 1}`));
	const [header, ...entries] = whole;
	if (header?.kind !== kind)
		throw new Error(`${path}: the file is not a recording: its first line has no "kind": "${kind}"`);
	if (header.version !== newest) {
		throw new Error(`${path}: the recording has version ${header.version}; this package replays version ${newest}`);
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

/** The fields of an entry and their types. @type {Record<string, string>} */
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
		throw new Error(`${path} line 1: \`${agent.name}\` is not a valid agent name`);
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
		// The error follows below.
	}
	throw new Error(`${place}: expected a JSON object`);
}
