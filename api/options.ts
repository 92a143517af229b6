/** Checks the options of a call before anything starts. A mistake is thrown with its place, its value and the expected value. */

import { inspect } from "node:util";
import type { Diagnostic } from "../native.js";
import { CODEMODE_WORKFLOW, checkAgent, checkConfig, checkSchema } from "../native.js";
import { agentText } from "./agent.ts";
import { jsonSchemaOf } from "./schema.ts";

/** A mistake in the options of a call. */
export class OptionsError extends TypeError {
	override name = "OptionsError";
	readonly path: string;
	declare readonly value: unknown;
	readonly expected: string;

	constructor(path: string, value: unknown, expected: string) {
		super(`\`${path}\` is ${shown(value)}; expected ${expected}`);
		this.path = path;
		this.expected = expected;
		hideFields(this, { value });
	}
}

/** Adds fields to an error that Node does not print with an uncaught error. */
export function hideFields(error: Error, fields: Readonly<Record<string, unknown>>): void {
	for (const [name, value] of Object.entries(fields)) Object.defineProperty(error, name, { value });
}

/** The maximum number of characters of a value in a message. */
const shownChars = 80;

function shown(value: unknown): string {
	const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: shownChars });
	return text.length > shownChars ? `${text.slice(0, shownChars)}…` : text;
}

/** Checks a value at a path. */
type Check = (value: unknown, path: string) => void;

/** The checks of an object's fields. A field that is `undefined` is not checked, unless it is in `required`. */
interface Shape {
	required?: readonly string[];
	fields: Readonly<Record<string, Check>>;
}

const expecting =
	(isRight: (value: unknown) => boolean, expected: string): Check =>
	(value, path) => {
		if (!isRight(value)) throw new OptionsError(path, value, expected);
	};

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);
const text = expecting((value) => typeof value === "string" && value.trim() !== "", "a text that is not blank");
const boolean = expecting((value) => typeof value === "boolean", "true or false");
const callback = expecting((value) => typeof value === "function", "a function");
const texts = expecting(
	(value) => isTexts(value) && (value as unknown[]).length > 0,
	"a list of texts that is not empty",
);
const signal = expecting((value) => value instanceof AbortSignal, "an AbortSignal");
const cost = expecting((value) => typeof value === "number" && value > 0 && value < Infinity, "US dollars above 0");
const count = expecting((value) => Number.isSafeInteger(value) && (value as number) > 0, "a whole number from 1");

/** The longest time limit of a run: a week. */
const maxTimeoutMs = 604_800_000;

const timeout = expecting(
	(value) => typeof value === "number" && value >= 1 && value <= maxTimeoutMs,
	`milliseconds from 1 to ${maxTimeoutMs} (a week)`,
);

const levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const thinking = expecting((value) => levels.includes(value as string), `one of ${levels.join(", ")}`);

const model = expecting(
	(value) => typeof value === "string" && /^[^\s/-][^\s/]*\/\S+$/.test(value),
	"a model as `provider/id`, such as `anthropic/claude-sonnet-5`",
);

const environment = expecting(
	(value) => isObject(value) && Object.values(value).every((item) => ["string", "undefined"].includes(typeof item)),
	"an object whose values are texts",
);

const agentName = expecting(
	(value) => typeof value === "string" && value.trim() !== "",
	"the name of an agent in a file: another process may have to start the run again, and it does not know an agent in code. " +
		"Write the agent into `agents/NAME.md` of `agentDir` or `.pi/agents/NAME.md` of the project, or start it with `run`",
);

const agent: Check = (value, path) => {
	if (typeof value === "string") return text(value, path);
	checkAgentObject(value, path);
};

const schema: Check = (value, path) => {
	if (!isObject(value) && typeof value !== "function") {
		throw new OptionsError(path, value, "a JSON Schema, or a schema of a library with Standard Schema");
	}
	const json = jsonSchema(value, path);
	const problem = checkSchema(json) ?? wrongPattern(json);
	if (problem) throw new OptionsError(path, json, `a JSON Schema of results: ${problem}`);
};

/** Throws for the first part of a value that JSON cannot represent, or only as `null`. */
function checkJson(value: unknown, path: string, around: readonly unknown[] = []): void {
	if (typeof value === "number" && !Number.isFinite(value)) throw new OptionsError(path, value, "a finite number");
	if (["bigint", "function", "symbol"].includes(typeof value)) {
		throw new OptionsError(path, value, `a value that JSON can represent: a ${typeof value} has no form in JSON`);
	}
	if (typeof value !== "object" || value === null) return;
	if (around.includes(value))
		throw new OptionsError(path, value, "a value that JSON can represent: it contains itself");
	for (const [name, part] of Object.entries(value)) {
		checkJson(part, Array.isArray(value) ? `${path}[${name}]` : field(path, name), [...around, value]);
	}
}

/** The keywords of JSON Schema whose values are schemas, lists of schemas, or objects of schemas by name. */
const schemaKeywords = new Set(
	(
		"items prefixItems additionalItems unevaluatedItems contains anyOf oneOf allOf not if then else additionalProperties " +
		"unevaluatedProperties propertyNames properties patternProperties dependentSchemas $defs definitions"
	).split(" "),
);
const namedSchemas = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);

/** Returns the first regular expression of a schema that pi in the child cannot use, with its place. */
function wrongPattern(schema: unknown, pointer = "#"): string | undefined {
	if (!isObject(schema)) return undefined;
	const { pattern, patternProperties } = schema;
	for (const text of [pattern, ...Object.keys(isObject(patternProperties) ? patternProperties : {})]) {
		const problem = typeof text === "string" ? patternProblem(text) : undefined;
		if (problem) return `the pattern at \`${pointer}\` is invalid: ${problem}`;
	}
	for (const [keyword, value] of Object.entries(schema)) {
		if (!schemaKeywords.has(keyword)) continue;
		const parts =
			Array.isArray(value) || (namedSchemas.has(keyword) && isObject(value)) ? Object.entries(value) : [["", value]];
		for (const [name, part] of parts) {
			const key = String(name).replaceAll("~", "~0").replaceAll("/", "~1");
			const problem = wrongPattern(part, [pointer, keyword, ...(key ? [key] : [])].join("/"));
			if (problem) return problem;
		}
	}
	return undefined;
}

/** Returns the mistake in a regular expression of JSON Schema. */
function patternProblem(pattern: string): string | undefined {
	try {
		new RegExp(pattern, "u");
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Checks settings as the engine checks a configuration file. */
const config: Check = (value, path) => {
	if (!isObject(value)) throw new OptionsError(path, value, "an object");
	checkJson(value, path);
	const problem = checkConfig(value);
	if (!problem) return;
	const [, name = ""] = /^`([^`]+)`/.exec(problem) ?? [];
	const wrong = name.split(".").reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), value);
	if (wrong === undefined) throw new OptionsError(path, value, `settings as in a configuration file: ${problem}`);
	throw new OptionsError(`${path}.${name}`, wrong, expectedIn(problem, "a setting as in a configuration file"));
};

/** Returns the expected value that a message of the engine names, or the whole message. */
function expectedIn(message: string, otherwise: string): string {
	const [, expected] = message.split("; expected ");
	return expected ?? `${otherwise}: ${message}`;
}

/** Returns the JSON Schema of a schema, or throws what to do if there is none. */
function jsonSchema(value: object, path: string): object {
	const expected = "a schema that can be written as JSON Schema";
	let json: object | undefined;
	try {
		json = jsonSchemaOf(value);
	} catch (error) {
		const [why] = messageOf(error).split(/\.?(?:\n|$)/);
		throw new OptionsError(
			path,
			value,
			`${expected}, but its library says: ${why}. Use a type of JSON there, such as a text, and convert its value afterwards`,
		);
	}
	if (json) return json;
	const how = "with zod from 4.2 or arktype from 2.1.28 it is built in; for valibot use `toStandardJsonSchema`";
	throw new OptionsError(path, value, `${expected} (\`~standard.jsonSchema\`): ${how}`);
}

const place = { cwd: text, agentDir: text, env: environment, piCommand: texts, config };

const nested =
	(shape: Shape): Check =>
	(value, path) =>
		checkShape(value, path, shape);

const runShape: Shape = {
	required: ["agent", "task"],
	fields: {
		agent,
		task: text,
		schema,
		model,
		thinking,
		budget: nested({ fields: { maxCost: cost, maxTokens: count, maxTurns: count } }),
		timeoutMs: timeout,
		signal,
		sessionId: text,
		onQuestion: callback,
		onConfirm: callback,
		...place,
	},
};

const groupFields = { budget: nested({ required: ["maxCost"], fields: { maxCost: cost } }), signal };

/** Checks the options of one run. `path` is its place in the options of the call; empty for the options themselves. */
export function checkRun(options: unknown, path = ""): void {
	if (isObject(options) && options.key !== undefined) {
		const fix = "no key outside of a workflow; write `workflow(id, {}, (wf) => wf.run({ key, … }))`";
		throw new OptionsError(field(path, "key"), options.key, fix);
	}
	checkShape(options, path, runShape);
}

/** The longest key, and id, of a workflow in characters. */
const maxKeyChars = 512;
const key = expecting(
	(value) => typeof value === "string" && value.trim() !== "" && value.length <= maxKeyChars,
	`a text that is not blank, of at most ${maxKeyChars} characters`,
);

/** Checks the options of a run in a workflow. */
export const checkWorkflowRun = (options: unknown, path: string) =>
	checkShape(options, path, {
		required: ["key", ...(runShape.required ?? [])],
		fields: { key, phase: text, ...runShape.fields },
	});

/** Ids that commands could not name. */
const reservedId = /["\p{Cc}]|^workflow:/u;

/** Checks the id of a workflow. */
export function checkWorkflowId(id: unknown): void {
	key(id, "id");
	const written = String(id);
	const fix = `a text without \`"\` and control characters that does not begin with \`workflow:\` or \`${CODEMODE_WORKFLOW}\``;
	if (reservedId.test(written) || written.startsWith(CODEMODE_WORKFLOW)) throw new OptionsError("id", id, fix);
}

/** Checks the options of a workflow. */
export const checkWorkflow = (options: unknown) =>
	checkShape(options, "options", {
		fields: {
			name: text,
			file: text,
			budget: nested({ fields: { maxCost: cost, maxTokens: count } }),
			maxRuns: count,
			maxDepth: count,
			signal,
			onUpdate: callback,
			onQuestion: callback,
			onConfirm: callback,
			...place,
		},
	});

/** Checks the options of parallel runs in a workflow. */
export const checkWorkflowParallel = (options: unknown) =>
	checkShape(options, "options", { fields: { concurrency: count, settle: boolean } });

/** Checks the options of parallel runs. */
export const checkParallel = (options: unknown) =>
	checkShape(options, "options", { fields: { ...groupFields, concurrency: count } });

/** Checks the options of a chain. */
export const checkChain = (options: unknown) => checkShape(options, "options", { fields: groupFields });

/** Checks the options of a session. */
export const checkSession = (options: unknown) =>
	checkShape(options, "", {
		required: ["id"],
		fields: { id: text, onMessage: callback, onNotice: callback, onQuestion: callback, onConfirm: callback, ...place },
	});

/** Checks the options of a background run. */
export const checkSpawn = (options: unknown) =>
	checkShape(options, "", {
		required: ["agent", "task"],
		fields: { agent: agentName, task: text, label: text, model, thinking, timeoutMs: timeout, schema },
	});

/** Checks the options of a transcript. */
export const checkHistory = (options: unknown) =>
	checkShape(options, "options", { fields: { entries: count, tools: boolean } });

/** Checks the name of a run. */
export const checkRunName = (run: unknown) => text(run, "run");

/** Checks a message to a run. */
export const checkMessage = (message: unknown) => text(message, "message");

/** Checks how long to wait. */
export const checkWait = (timeoutMs: unknown) => timeoutMs === undefined || timeout(timeoutMs, "timeoutMs");

const string = expecting((value) => typeof value === "string", "a text");
const limit = expecting((value) => typeof value === "number" && value >= 0, "a number from 0");
const isTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string");
const list = expecting(isTexts, "a list of texts");
const switchOrList = expecting(
	(value) => typeof value === "boolean" || isTexts(value),
	"true, false, or a list of texts",
);
const oneOf = (...values: string[]) =>
	expecting((value) => values.includes(value as string), `one of ${values.join(", ")}`);

/** Checks a text, and the options of its sanitizer. */
export function checkSanitize(value: unknown, options: unknown): void {
	string(value, "text");
	const homePaths = oneOf("own", "all", "off");
	checkShape(options, "options", {
		fields: { secrets, authJson, homes: list, homePaths, allow: list },
	});
}

/** Returns a secret's size in its place, for an error that is printed. */
const sizeOf = (value: unknown) => ({
	[inspect.custom]: () =>
		typeof value === "string" ? `a text of ${Buffer.byteLength(value)} bytes` : `a value of the type ${typeof value}`,
});

const secrets: Check = (value, path) => {
	if (!isTexts(value)) throw new OptionsError(path, sizeOf(value), "a list of texts");
};

const authJson: Check = (value, path) => {
	let json: unknown;
	try {
		json = typeof value === "string" ? JSON.parse(value) : undefined;
	} catch {
		// The parser's message has a part of the text.
	}
	if (!isObject(json))
		throw new OptionsError(path, sizeOf(value), "the text of a file like pi's `auth.json`: a JSON object");
};

/** Returns the error for a secret that the engine does not search for, because innocent texts contain such values. */
export const unsearchable = (secret: string, index: number) =>
	new OptionsError(
		`options.secrets[${index}]`,
		sizeOf(secret),
		"a secret of at least 8 bytes that is no number, path, address without a login, or word of fewer than 16 letters; " +
			"such values also occur in innocent texts, and are not replaced. Leave it out, or replace it yourself",
	);

/** Checks a text, and its limits. */
export function checkTruncate(value: unknown, limits: unknown): void {
	string(value, "text");
	checkShape(limits, "limits", {
		fields: { maxBytes: limit, maxLines: limit, fullText: string, keep: oneOf("ends", "head", "tail") },
	});
}

/** Checks a stream of events. */
export function checkSource(source: unknown): void {
	const isText = typeof source === "string" || source instanceof Uint8Array;
	if (isText || (isObject(source) && Symbol.asyncIterator in source)) return;
	if (!isObject(source) || !("file" in source)) {
		throw new OptionsError("source", source, "a text, bytes, a stream of either, or `{ file: path }`");
	}
	checkShape(source, "source", { fields: { file: text } });
}

/** Checks a piece of a stream of events. */
export const checkPiece = expecting(
	(piece) => typeof piece === "string" || piece instanceof Uint8Array,
	"a stream of texts or bytes",
);

/** Checks an agent in code as an agent file is checked. */
export function checkAgentObject(value: unknown, path: string): void {
	if (!isObject(value)) throw new OptionsError(path, value, "the name of an agent, or an object that defines one");
	for (const [name, check] of Object.entries(agentFields)) {
		if (value[name] !== undefined || name === "name" || name === "prompt") check(value[name], field(path, name));
	}
	const { prompt: _, ...fields } = value;
	for (const [name, item] of Object.entries(fields)) {
		if (item === null) throw new OptionsError(field(path, name), item, "a value, or no such field for the default");
		checkJson(item, field(path, name));
	}
	const isMistake = ({ severity, code }: Diagnostic) =>
		severity !== "info" || ["FRONTMATTER_FIELD_IGNORED", "AGENT_SWITCHED_OFF"].includes(code);
	const [mistake] = checkAgent(agentText(value)).filter(isMistake);
	if (!mistake) return;
	const [, name] = /^`([^`]+)`/.exec(mistake.message) ?? [];
	if (name === undefined || !Object.hasOwn(value, name)) {
		throw new OptionsError(path, value, `an agent without mistakes: ${mistake.message}`);
	}
	const otherwise = mistake.code === "AGENT_SWITCHED_OFF" ? "no such field in code" : "a field as in an agent file";
	throw new OptionsError(field(path, name), value[name], expectedIn(mistake.message, otherwise));
}

/** The fields of an agent whose types are stricter than in a file, where a list may be one text. */
const agentFields: Readonly<Record<string, Check>> = {
	name: expecting(
		(value) => typeof value === "string" && /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,63}$/u.test(value),
		"a name of at most 64 letters, digits, `.`, `_` and `-` that starts with a letter or a digit",
	),
	prompt: text,
	description: text,
	tools: list,
	disallowedTools: list,
	extensions: switchOrList,
	skills: switchOrList,
	readonly: boolean,
	model: text,
	thinking,
	check: text,
	isolation: oneOf("none", "auto", "private"),
};

/** Checks that a value is a list with at least one entry, and each entry. Returns a copy, which the caller cannot change. */
export function checkedList<T>(value: readonly T[], path: string, entry: Check): readonly T[] {
	if (!Array.isArray(value) || value.length === 0) {
		throw new OptionsError(path, value, "a list with at least one entry");
	}
	for (const [index, item] of value.entries()) entry(item, `${path}[${index}]`);
	return value.map((item) => (isObject(item) ? { ...item } : item));
}

function checkShape(value: unknown, path: string, { required = [], fields }: Shape): void {
	if (!isObject(value)) throw new OptionsError(path || "options", value, "an object");
	for (const name of Object.keys(value)) {
		if (!Object.hasOwn(fields, name)) {
			const known = Object.keys(fields).join(", ");
			throw new OptionsError(field(path, name), value[name], `no option of this name; the options are ${known}`);
		}
	}
	for (const [name, check] of Object.entries(fields)) {
		if (value[name] !== undefined || required.includes(name)) check(value[name], field(path, name));
	}
}

const field = (path: string, name: string) => (path ? `${path}.${name}` : name);
