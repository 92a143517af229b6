/** Checks the options of a call before anything starts. A mistake is thrown with its place, its value and the expected value. */

import { inspect } from "node:util";

import { checkAgent, checkSchema } from "../native.js";
import { agentText } from "./agent.ts";
import { jsonSchemaOf } from "./schema.ts";

/** A mistake in the options of a call. */
export class OptionsError extends TypeError {
	override name = "OptionsError";
	readonly path: string;
	readonly value: unknown;
	readonly expected: string;

	constructor(path: string, value: unknown, expected: string) {
		super(`\`${path}\` is ${shown(value)}; expected ${expected}`);
		this.path = path;
		this.value = value;
		this.expected = expected;
	}
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
const callback = expecting((value) => typeof value === "function", "a function");
const object = expecting(isObject, "an object");
const texts = expecting(
	(value) => Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"),
	"a list of texts that is not empty",
);
const signal = expecting((value) => value instanceof AbortSignal, "an AbortSignal");
const cost = expecting((value) => typeof value === "number" && value > 0 && value < Infinity, "US dollars above 0");
const flag = expecting((value) => typeof value === "boolean", "true or false");
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
	(value) => isObject(value) && Object.values(value).every((item) => typeof item === "string"),
	"an object whose values are texts",
);

const agent: Check = (value, path) => {
	if (typeof value === "string") return text(value, path);
	checkAgentObject(value, path);
};

const schema: Check = (value, path) => {
	if (!isObject(value) && typeof value !== "function") {
		throw new OptionsError(path, value, "a JSON Schema, or a schema of a library with Standard Schema");
	}
	const json = jsonSchemaOf(value);
	if (!json) {
		const how = "with zod from 4.2 or arktype from 2.1.28 it is built in; for valibot use `toStandardJsonSchema`";
		throw new OptionsError(path, value, `a schema that can be written as JSON Schema (\`~standard.jsonSchema\`): ${how}`);
	}
	const problem = checkSchema(json);
	if (problem) throw new OptionsError(path, json, `a JSON Schema of results: ${problem}`);
};

const place = { cwd: text, agentDir: text, env: environment, piCommand: texts, config: object };

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

/** Checks the id of a workflow. */
export const checkWorkflowId = (id: unknown) => key(id, "id");

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
	checkShape(options, "options", { fields: { concurrency: count, settle: flag } });

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
		fields: { agent: text, task: text, label: text, model, thinking, timeoutMs: timeout, schema },
	});

/** Checks an agent in code as an agent file is checked. */
export function checkAgentObject(value: unknown, path: string): void {
	if (!isObject(value)) throw new OptionsError(path, value, "the name of an agent, or an object that defines one");
	text(value.name, field(path, "name"));
	text(value.prompt, field(path, "prompt"));
	const mistakes = checkAgent(agentText(value)).filter(({ severity }) => severity !== "info");
	if (mistakes.length > 0) {
		throw new OptionsError(path, value, `an agent without mistakes: ${mistakes.map(({ message }) => message).join("; ")}`);
	}
}

/** Checks that a value is a list with at least one entry, and each entry. */
export function checkList(value: unknown, path: string, entry: Check): void {
	if (!Array.isArray(value) || value.length === 0) {
		throw new OptionsError(path, value, "a list with at least one entry");
	}
	for (const [index, item] of value.entries()) entry(item, `${path}[${index}]`);
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
