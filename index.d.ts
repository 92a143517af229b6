/* The package for programs: start agents, follow them, and get their results. */

import type {
	Answer,
	ConfirmRequest,
	Question as NativeQuestion,
	RunBudget,
	RunRecord,
	RunUsage,
	SanitizeOptions,
	SingleResult,
	CollectedOutput,
	OutputLimits,
	TranscriptEntry,
	TruncatedOutput,
} from "./native.js";

export type { Answer, ConfirmRequest, RunBudget, RunRecord, RunUsage, SanitizeOptions, SingleResult };
export { collectOutput, sanitizeOutput, startRun, truncateOutput } from "./native.js";

/** Starts runs. */
export interface Run {
	/**
	 * Starts one agent on one task, at once. Throws an `OptionsError` for a mistake in the options. Any later failure is in the
	 * result.
	 *
	 * @example
	 * ```ts
	 * import { run } from "pi-subagent-native";
	 *
	 * const result = await run({ agent: "explorer", task: "Where is the config loaded?" });
	 * console.log(result.ok ? result.text : result.error.message);
	 * ```
	 */
	<const S extends Schema | undefined = undefined>(options: RunOptions<S>): Task<DataOf<S>>;

	/**
	 * Runs several tasks at the same time, at most `concurrency` of them. A task that fails does not disturb the others. The data
	 * of each result has the type of its own task's `schema`.
	 *
	 * @example
	 * ```ts
	 * import { run } from "pi-subagent-native";
	 *
	 * const reviews = run.parallel(
	 * 	["src/a.ts", "src/b.ts"].map((file) => ({ agent: "reviewer", task: `Review ${file}.` })),
	 * 	{ concurrency: 4, budget: { maxCost: 2 }, signal: AbortSignal.timeout(600_000) },
	 * );
	 * for await (const { index, result } of reviews) console.log(index, result.ok);
	 * const inOrder = await reviews;
	 * console.log(inOrder.length);
	 * ```
	 */
	parallel<const T extends readonly RunOptions<Schema | undefined>[]>(
		tasks: KnownOptions<T>,
		options?: ParallelOptions,
	): Tasks<DataOf<SchemaOf<T[number]>>, { -readonly [At in keyof T]: Result<DataOf<SchemaOf<T[At]>>> }>;

	/**
	 * Runs steps one after the other. A step is options, or a function, which may be `async`, that makes them from the result of the
	 * step before.
	 * The first step that fails ends the chain: the results end with it. The data of each result has the type of its own step's
	 * `schema`, in chains of up to five steps.
	 *
	 * @example
	 * ```ts
	 * import { run } from "pi-subagent-native";
	 *
	 * const results = await run.chain([
	 * 	{ agent: "explorer", task: "Find the slowest test." },
	 * 	(found) => ({ agent: "explorer", task: `Explain why it is slow: ${found.text}` }),
	 * ]);
	 * console.log(results.at(-1)?.ok);
	 * ```
	 */
	chain<
		const A extends Schema | undefined = undefined,
		const B extends Schema | undefined = undefined,
		const C extends Schema | undefined = undefined,
		const D extends Schema | undefined = undefined,
		const E extends Schema | undefined = undefined,
	>(
		steps: readonly [RunOptions<A>, NextStep<A, B>?, NextStep<B, C>?, NextStep<C, D>?, NextStep<D, E>?],
		options?: GroupOptions,
	): Tasks<
		DataOf<A> | DataOf<B> | DataOf<C> | DataOf<D> | DataOf<E>,
		Beginnings<[Result<DataOf<A>>, Result<DataOf<B>>, Result<DataOf<C>>, Result<DataOf<D>>, Result<DataOf<E>>]>
	>;
	/** Runs any number of steps, which have one `schema` or none. */
	chain<const S extends Schema | undefined = undefined>(steps: Steps<S>, options?: GroupOptions): Tasks<DataOf<S>>;
}

/** Starts runs: `run(options)`, `run.parallel` and `run.chain`. */
export declare const run: Run;

/** The schema in the options of a run, or `undefined`. */
export type SchemaOf<O> = O extends { readonly schema?: infer S } ? (unknown extends S ? undefined : S) : undefined;

/** A list of options, if they have no unknown names. The compiler refuses those like an unknown name in the options of a single run. */
export type KnownOptions<T extends readonly unknown[], Known = RunOptions> = [UnknownNames<T[number], Known>] extends [never]
	? T
	: T & readonly { readonly [Name in UnknownNames<T[number], Known>]?: never }[];

/** The names of fields in a type, or in each type of a union, that `Known` lacks. */
type UnknownNames<O, Known> = O extends unknown ? Exclude<keyof O, keyof Known> : never;

/** The steps of a chain, of which the first one is options. */
export type Steps<S extends Schema | undefined = undefined> = readonly [RunOptions<S>, ...NextStep<S, S>[]];

/** A later step of a chain. */
export type NextStep<Before extends Schema | undefined, S extends Schema | undefined> = RunOptions<S> | Step<Before, S>;

/**
 * Makes a step of a chain from the result of the step before. It may return a promise. `signal` fires when the chain is aborted, which
 * does not wait for the promise.
 */
export type Step<Before extends Schema | undefined = undefined, S extends Schema | undefined = Before> = (
	before: Success<DataOf<Before>>,
	context: { signal: AbortSignal },
) => RunOptions<S> | Promise<RunOptions<S>>;

/** A list, or a beginning of it with at least one entry. */
export type Beginnings<List extends readonly unknown[]> = List extends readonly [...infer Rest, unknown]
	? Rest extends readonly [unknown, ...unknown[]]
		? List | Beginnings<Rest>
		: List
	: List;

/** The place and the pi of a run. */
export interface Place {
	/**
	 * The working directory of the child. The agents and the configuration of its project apply.
	 * @default process.cwd()
	 */
	cwd?: string | undefined;
	/**
	 * pi's directory for agents, settings and sessions.
	 * @default `PI_CODING_AGENT_DIR`, else `~/.pi/agent`
	 */
	agentDir?: string | undefined;
	/** Variables that are added to this process's environment for the child. One that is `undefined` stays as it is. */
	env?: Readonly<Record<string, string | undefined>> | undefined;
	/**
	 * The command that starts pi, with the program first.
	 * @default `pi` from `PATH`
	 */
	piCommand?: readonly string[] | undefined;
	/**
	 * Settings that replace the settings in the configuration files, as the object `subagents` has them there. A mistake is an
	 * `OptionsError`.
	 */
	config?: Record<string, unknown> | undefined;
}

/** The options of a run. */
export interface RunOptions<S extends Schema | undefined = undefined> extends Place {
	/** The name of an agent, or an agent defined here. */
	agent: string | Agent;
	/** The task; not blank. The child reads it unchanged. */
	task: string;
	/** The shape of `data` in the result. The child must submit a value of this shape. */
	schema?: S | undefined;
	/**
	 * The model, as `provider/id`. It replaces the model of the agent and the configuration.
	 * @default the agent's model, else the configured one, else pi's own
	 */
	model?: string | undefined;
	/**
	 * The thinking level. It replaces the level of the agent and the configuration.
	 * @default the agent's level, else the configured one, else pi's own
	 */
	thinking?: ThinkingLevel | undefined;
	/**
	 * The run's budget. Stricter limits of the agent or the configuration still apply.
	 * @default no limit
	 */
	budget?: RunBudget | undefined;
	/**
	 * The time limit in milliseconds, from 1 to 604800000 (a week). A shorter limit of the agent still applies. After the limit the child
	 * may still write a report, for at most 30 seconds.
	 * @default the agent's limit, else the setting `timeoutMs`
	 */
	timeoutMs?: number | undefined;
	/** Ends the run when it fires. The outcome is `aborted`, and the error names the signal's reason. */
	signal?: AbortSignal | undefined;
	/** The session of the run. With a session the run is stored, and can be continued or moved to the background. */
	sessionId?: string | undefined;
	/**
	 * Answers a question of the child. Only an agent with `ask: true`, or a child with an extension that asks, has questions. Without this
	 * callback the question is cancelled. If the callback throws, it is cancelled, too, and Node shows a process warning.
	 */
	onQuestion?: ((question: Question) => Answer | undefined | Promise<Answer | undefined>) | undefined;
	/**
	 * Decides if an agent that a project defines may run. A yes is stored until the agent's file changes. A no counts for this process.
	 * Without this callback the setting `nonInteractivePolicy` decides. If the callback throws, the run is refused, and Node shows a
	 * process warning.
	 */
	onConfirm?: ((request: ConfirmRequest) => boolean | Promise<boolean>) | undefined;
}

/** The thinking levels, from none to the highest. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** The options of several runs together. */
export interface GroupOptions {
	/**
	 * The budget of all runs together: `maxCost` in US dollars. The cost then counts for the group, not for a session.
	 * @default no limit
	 */
	budget?: { maxCost: number } | undefined;
	/** Ends all runs when it fires. No further run starts. */
	signal?: AbortSignal | undefined;
}

/** The options of parallel runs. */
export interface ParallelOptions extends GroupOptions {
	/**
	 * The maximum number of tasks at the same time, from 1. The setting `maxConcurrent` limits all runs of the process, too.
	 * @default 8
	 */
	concurrency?: number | undefined;
}

/** A question of a child. */
export interface Question extends Omit<NativeQuestion, "id" | "forConversation"> {
	/** Fires when the child no longer waits for an answer. */
	signal: AbortSignal;
}

/** An agent in code. It is checked like an agent file, and replaces an agent file with the same name. */
export interface Agent {
	/** Its name: at most 64 letters, digits, `.`, `_` and `-`, starting with a letter or a digit. */
	name: string;
	/** Its instructions. */
	prompt: string;
	/**
	 * Its purpose, in one line.
	 * @default its name
	 */
	description?: string | undefined;
	/**
	 * The names of its tools.
	 * @default pi's usual tools
	 */
	tools?: readonly string[] | undefined;
	/**
	 * True if it must not change files.
	 * @default false
	 */
	readonly?: boolean | undefined;
	/**
	 * Its model, as pi's `--model` takes it.
	 * @default the configured one, else pi's own
	 */
	model?: string | undefined;
	/**
	 * Its thinking level.
	 * @default the configured one, else pi's own
	 */
	thinking?: ThinkingLevel | undefined;
	/** A shell command that tests its work. It runs only if the agent may write, which the setting `allowWrite` permits. */
	check?: string | undefined;
	/**
	 * `private`: it works in its own tree, and leaves a branch. `auto`: the same if the project has git.
	 * @default "none"
	 */
	isolation?: "none" | "auto" | "private" | undefined;
	/** Other fields of agent files, with the same names. An unknown field is a mistake. */
	[field: string]: unknown;
}

/**
 * Checks an agent and returns it. Throws an `OptionsError` for a mistake.
 *
 * @example
 * ```ts
 * import { defineAgent, run } from "pi-subagent-native";
 *
 * const scout = defineAgent({
 * 	name: "scout",
 * 	prompt: "Answer in one line.",
 * 	tools: ["read", "grep"],
 * 	readonly: true,
 * });
 * const result = await run({ agent: scout, task: "Which file is the largest?" });
 * console.log(result.usage.cost);
 * ```
 */
export declare function defineAgent<const A extends Agent>(agent: A): A;

/**
 * The shape of a result: a JSON Schema, or a schema of a library. TypeBox works as it is, zod from 4.2, arktype from 2.1.28, and
 * valibot with `toStandardJsonSchema` of `@valibot/to-json-schema`.
 */
export type Schema = JsonSchema | TypeBoxSchema | StandardSchema;

/** A JSON Schema. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A schema of TypeBox, which is a JSON Schema with a type of its own. */
export type TypeBoxSchema = { readonly "~kind": string } | { readonly "~unsafe": unknown } | { readonly static: unknown };

/** A schema of a library that implements Standard Schema. */
export interface StandardSchema<Output = unknown> {
	/** The schema's interface, as Standard Schema defines it. */
	readonly "~standard": {
		readonly version: 1;
		readonly vendor: string;
		readonly validate: (value: unknown) => unknown;
		readonly types?: { readonly output: Output } | undefined;
	};
}

/** The type of a result's `data`: the library's own type, or the type of a JSON Schema in the source. */
export type DataOf<S> = S extends undefined
	? undefined
	: S extends { readonly "~standard": { readonly types?: infer Types } }
		? NonNullable<Types> extends { readonly output: infer Output }
			? Output
			: unknown
		: S extends { static: infer Static }
			? Static
			: FromJsonSchema<S>;

/** The type of a JSON Schema's values, if the compiler knows its keywords. Otherwise `unknown`. */
export type FromJsonSchema<S> = S extends { readonly "~unsafe": infer Value }
	? Value
	: S extends { readonly const: infer Value }
		? Value
		: S extends { readonly enum: readonly (infer Value)[] }
			? Value
			: S extends { readonly type: readonly (infer Name)[] }
				? OfType<Name, S>
				: S extends { readonly type: infer Name }
					? OfType<Name, S>
					: S extends { readonly anyOf: readonly (infer Part)[] } | { readonly oneOf: readonly (infer Part)[] }
						? FromJsonSchema<Part>
						: S extends { readonly allOf: infer Parts }
							? OfAll<Parts>
							: unknown;

/** The values of one of the types of JSON. */
type OfType<Name, S> = Name extends "object"
	? OfObject<S>
	: Name extends "array"
		? OfArray<S>
		: Name extends "string"
			? string
			: Name extends "number" | "integer"
				? number
				: Name extends "boolean"
					? boolean
					: Name extends "null"
						? null
						: unknown;

type OfObject<S> = S extends { readonly properties: infer Fields }
	? { -readonly [Name in keyof Fields as Name extends RequiredOf<S> ? Name : never]: FromJsonSchema<Fields[Name]> } & {
			-readonly [Name in keyof Fields as Name extends RequiredOf<S> ? never : Name]?: FromJsonSchema<Fields[Name]>;
		}
	: S extends { readonly patternProperties: { readonly [pattern: string]: infer Value } }
		? { [name: string]: FromJsonSchema<Value> }
		: S extends { readonly additionalProperties: infer Value extends object }
			? { [name: string]: FromJsonSchema<Value> }
			: { [name: string]: unknown };

type OfArray<S> = S extends { readonly prefixItems: infer Items } | { readonly items: infer Items extends readonly unknown[] }
	? { -readonly [At in keyof Items]: FromJsonSchema<Items[At]> }
	: S extends { readonly items: infer Item }
		? FromJsonSchema<Item>[]
		: unknown[];

type OfAll<Parts> = Parts extends readonly [infer First, ...infer Rest] ? FromJsonSchema<First> & OfAll<Rest> : unknown;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

/**
 * A run. Await it for the result, and iterate it for the updates. A failure of the child does not reject it.
 *
 * `await using task = run(…)` ends the run at the end of the block and waits for its end. `using` does not wait.
 */
export interface Task<Data = unknown> extends Promise<Result<Data>>, AsyncIterable<Update<Data>> {
	/** The id of the run: eight hexadecimal characters. It may change until the child has started. */
	readonly id: string;
	/**
	 * Ends the run. The error of the result names `reason`: a text, or an error for its message. Has no effect after the end.
	 */
	abort(reason?: unknown): void;
	/**
	 * Sends a message to the child, which reads it before its next turn. Returns false if no child is running. Throws an
	 * `OptionsError` for a blank message.
	 */
	steer(message: string): boolean;
	/**
	 * Moves the run to the background of its session, `sessionId`, which receives the result. The task resolves at once with
	 * the outcome `background`. Rejects with the reason if the run cannot be moved. The run then continues in the foreground.
	 */
	background(): Promise<BackgroundRun>;
	/** Ends the run without waiting for its end. */
	[Symbol.dispose](): void;
	/** Ends the run, and waits for its end. */
	[Symbol.asyncDispose](): Promise<void>;
}

/** Several runs. Await them for all results in the order of the tasks, or iterate them for each result as it arrives. */
export interface Tasks<Data = unknown, Results = Result<Data>[]> extends Promise<Results>, AsyncIterable<Ended<Data>> {
	/** Ends all runs. Tasks that have not started have the outcome `aborted`. Errors name `reason`: a text, or an error. */
	abort(reason?: unknown): void;
	/** Ends all runs without waiting for their end. */
	[Symbol.dispose](): void;
	/** Ends all runs, and waits for their end. */
	[Symbol.asyncDispose](): Promise<void>;
}

/** The end of one of several runs. */
export interface Ended<Data = unknown> {
	/** The position of its task, from 0. */
	index: number;
	/** Its result. */
	result: Result<Data>;
}

/** A change of a run. A slow reader gets joined texts and only the newest state. */
export type Update<Data = unknown> = UpdateBase &
	(
		| {
				/** The state of the run has changed, or its position in the queue. */
				type: "state";
				/** The position in the queue, from 1, rounded up by at most an eighth after 16. Absent once the run has a slot. */
				position?: number;
				/** The run that writes to the same work tree and has to end first, as `worker (1a2b3c4d)`. */
				blockedBy?: string;
		  }
		| {
				/** The child has written. */
				type: "text";
				/** The child's words since the last update. A long message is shortened; `text` of the result has more of it. */
				text: string;
				/** The number of the message that the words belong to, from 1. */
				message: number;
		  }
		| {
				/** The child has called a tool. */
				type: "tool";
				/** The tool's name. */
				name: string;
				/** Its arguments, sanitized. Long strings are cut. */
				args: Record<string, unknown>;
		  }
		| {
				/** An attempt has failed, and another one is about to start. */
				type: "retry";
				/** The number of the repetition, from 1. */
				attempt: number;
				/** The time at which it starts, in milliseconds since 1970. */
				atMs: number;
				/** The provider's message. */
				error?: string;
		  }
		| {
				/** The child has asked a question. */
				type: "question";
				/** The question on one line. */
				sentence: string;
		  }
		| {
				/** The run has ended. This is the last update. */
				type: "done";
				/** The result of the run. */
				result: Result<Data>;
		  }
	);

/** The fields of every update. */
export interface UpdateBase {
	/**
	 * The state of the run. `queued`: it waits for a slot; `starting`: the child has not said anything yet; `retrying`: an attempt has
	 * failed, and the next one is about to start; `awaiting_quota`: it waits until the provider's quota is available again.
	 */
	state: "queued" | "starting" | "running" | "retrying" | "awaiting_quota" | "ended";
	/** Only in updates of the type `text`. */
	text?: string;
	/** Milliseconds since the run got its slot; while it is queued, since the call. */
	elapsedMs: number;
	/** The usage so far: tokens, turns, and the cost in US dollars. */
	usage: RunUsage;
}

/** The result of a run. */
export type Result<Data = unknown> = Success<Data> | Failure;

/** The result of a run that has completed. */
export interface Success<Data = unknown> extends ResultBase {
	/** True. */
	ok: true;
	/** The child's last message, sanitized; at most 64 KiB. */
	text: string;
	/** The submitted value, if the run had a `schema`. */
	data: Data;
	error?: undefined;
	partial?: undefined;
}

/** The result of a run that has not completed. */
export interface Failure extends ResultBase {
	/** False. */
	ok: false;
	/** The reason. */
	error: RunError;
	/** The child's words until then. Empty if there are none. */
	partial: string;
	text?: undefined;
	data?: undefined;
}

/** The fields of every result. */
export interface ResultBase {
	/**
	 * The outcome: `completed`, or the reason for the end. `idle_timeout`: the child was silent for too long; `hard_timeout`: the time
	 * limit of the run; `budget`: its money, tokens or turns; `killed`: a limit of the configuration's `limits`; `skipped`: it was not started;
	 * `interrupted`: its process ended; `background`: it continues in the background.
	 */
	outcome: SingleResult["outcome"];
	/** The usage of all attempts: tokens, turns, and the cost in US dollars. */
	usage: RunUsage;
	/** True if this is the stored result of a run in a workflow. It costs nothing. `usage` is the usage of the earlier run. */
	reused?: true;
	/** The id of the run in its session. Absent without a session. */
	runId?: string;
	/**
	 * Facts that the answer may contradict, the most important one first, as in `details`. For example `write_off`: the agent changed
	 * nothing, because the setting `allowWrite` is off. Absent without one.
	 */
	caveats?: SingleResult["caveats"];
	/** All other facts about the run. Absent if it was refused. */
	details?: SingleResult;
}

/** The reason for a failure. */
export interface RunError {
	/** A stable code to match on. */
	code: ErrorCode;
	/** A sentence for people. It may change between releases. */
	message: string;
	/** The error of a step's function that has thrown, or has made wrong options. */
	cause?: unknown;
}

/**
 * The codes of failures. Before the start: `INVALID_INPUT`: a failed function of a chain's step, two different requests for one key, or a
 * mistake that only the engine can find, such as an agent that may write in more than a project; `SUBAGENTS_DISABLED`: the setting
 * `enabled` is off, or a configuration file cannot be read; `UNKNOWN_AGENT`: no agent has this name, or its file has a mistake;
 * `SUBAGENT_DISABLED`: a setting or the user has refused the agent; `SUBAGENT_DEPTH_EXCEEDED`: the delegation is nested too deeply.
 * Afterwards: `SUBAGENT_TIMEOUT`: a time limit has ended the run; `SUBAGENT_FAILED`: the child, its model or its provider has failed, the
 * child could not be started, such as in a missing directory, or it exceeded a limit of the configuration's `limits` (the outcome
 * `killed`); `SUBAGENT_ABORTED`: `abort`, a signal, or the end of its process; `SUBAGENT_OVER_BUDGET`: a budget is used up, or `maxRuns` of
 * a workflow; `SUBAGENT_QUOTA_EXHAUSTED`: the provider's quota is used up for longer than the run may wait; `MOVED_TO_BACKGROUND`: the run
 * continues in the background; `RESULT_INVALID`: the schema's library refused the submitted value, or could not convert it (the outcome is
 * `completed`).
 */
export type ErrorCode =
	| "INVALID_INPUT"
	| "SUBAGENTS_DISABLED"
	| "UNKNOWN_AGENT"
	| "SUBAGENT_DISABLED"
	| "SUBAGENT_DEPTH_EXCEEDED"
	| "SUBAGENT_TIMEOUT"
	| "SUBAGENT_FAILED"
	| "SUBAGENT_ABORTED"
	| "SUBAGENT_OVER_BUDGET"
	| "SUBAGENT_QUOTA_EXHAUSTED"
	| "MOVED_TO_BACKGROUND"
	| "RESULT_INVALID";

/**
 * Runs a script of runs that survives the end of its process. Each run has a key. When the same script is started again, a run
 * that has completed gives its stored result and costs nothing, an interrupted one continues in its session, and one whose task
 * or agent has changed runs again. Resolves with the script's value.
 *
 * A failed run throws a `WorkflowError` in the script, once the script awaits it. If the script never does, Node shows a process warning.
 * Runs that the script has not awaited are ended with it.
 *
 * The id is unique in the project: at most 512 characters without `"` and control characters. It must not begin with `workflow:` or
 * `codemode `.
 *
 * Rejects if the workflow runs already, in this process or in another one, or if its results cannot be stored.
 *
 * @example
 * ```ts
 * import { workflow } from "pi-subagent-native";
 *
 * const summary = await workflow("review", { budget: { maxCost: 2 } }, async (wf) => {
 * 	wf.phase("read");
 * 	const files = ["src/a.ts", "src/b.ts"];
 * 	const reviews = await wf.parallel(
 * 		files.map((file) => ({ key: `review:${file}`, agent: "reviewer", task: `Review ${file}.` })),
 * 	);
 * 	wf.phase("merge");
 * 	const texts = reviews.map(({ text }) => text).join("\n\n");
 * 	const merged = await wf.run({ key: "merge", agent: "reviewer", task: `Merge these findings:\n\n${texts}` });
 * 	return merged.text;
 * });
 * console.log(summary);
 * ```
 */
export declare function workflow<T>(
	id: string,
	options: WorkflowOptions,
	script: (workflow: Workflow) => T | Promise<T>,
): Promise<T>;

/** The options of a workflow. Its runs take place, questions and confirmations from here, unless they have their own. */
export interface WorkflowOptions extends Place, Pick<RunOptions, "onQuestion" | "onConfirm"> {
	/**
	 * A name for people.
	 * @default the id
	 */
	name?: string | undefined;
	/** The file of the script, for people. */
	file?: string | undefined;
	/**
	 * Limits of the spending of all runs together: `maxCost` in US dollars, and `maxTokens`, which counts tokens of all kinds. Spending
	 * before a restart counts. A workflow within another one spends from the budget of the other one, unless it has its own.
	 * @default no limit
	 */
	budget?: { maxCost?: number | undefined; maxTokens?: number | undefined } | undefined;
	/**
	 * The most runs that may start in one execution of the script. Reused results do not count.
	 * @default 100
	 */
	maxRuns?: number | undefined;
	/**
	 * The deepest level of workflows within workflows. The smallest number of all levels counts.
	 * @default 3
	 */
	maxDepth?: number | undefined;
	/** Ends all runs when it fires, and starts no further ones. */
	signal?: AbortSignal | undefined;
	/**
	 * Gets the state of the workflow at most ten times a second, and a last time at its end. If it fails, Node shows a process
	 * warning, and it gets no further states.
	 */
	onUpdate?: ((update: WorkflowUpdate) => void) | undefined;
}

/** A workflow, as its script uses it. */
export interface Workflow {
	/** Its id. */
	readonly id: string;
	/** Fires when the workflow is to end: the signal of its options, or a person who stops it. */
	readonly signal: AbortSignal;
	/** Enters a phase. Runs that start from now on belong to it. */
	phase(name: string): void;
	/** Runs one agent on one task, and resolves with its result. Rejects with a `WorkflowError` if it does not complete. */
	run<const S extends Schema | undefined = undefined>(options: WorkflowRunOptions<S>): Promise<Success<DataOf<S>>>;
	/**
	 * Runs several tasks at the same time, and resolves with their results in order. All of them run to their end; then a failure
	 * rejects with a `WorkflowError`. With `settle: true` it does not, and failures are among the results. The data of each result
	 * has the type of its own task's `schema`.
	 */
	parallel<const T extends readonly WorkflowRunOptions<Schema | undefined>[]>(
		tasks: KnownOptions<T, WorkflowRunOptions>,
		options: WorkflowParallelOptions & { settle: true },
	): Promise<{ -readonly [At in keyof T]: Result<DataOf<SchemaOf<T[At]>>> }>;
	/** As above, for tasks that all have to complete. */
	parallel<const T extends readonly WorkflowRunOptions<Schema | undefined>[]>(
		tasks: KnownOptions<T, WorkflowRunOptions>,
		options?: WorkflowParallelOptions,
	): Promise<{ -readonly [At in keyof T]: Success<DataOf<SchemaOf<T[At]>>> }>;
}

/** The options of a run in a workflow. */
export interface WorkflowRunOptions<S extends Schema | undefined = undefined> extends RunOptions<S> {
	/** The name of the run in its workflow, such as `review:src/a.ts`. At most 512 characters. */
	key: string;
	/**
	 * The phase of the run.
	 * @default the phase that the workflow is in
	 */
	phase?: string | undefined;
}

/** The options of parallel runs in a workflow. */
export interface WorkflowParallelOptions {
	/**
	 * The most tasks at the same time, from 1. The setting `maxConcurrent` limits all runs of the process as well.
	 * @default 8
	 */
	concurrency?: number | undefined;
	/**
	 * True if failures are results instead of an error.
	 * @default false
	 */
	settle?: boolean | undefined;
}

/** The result of a run with its key. */
export interface KeyedResult {
	/** The key. */
	key: string;
	/** The result. */
	result: Result<unknown>;
}

/** A run of a workflow has not completed. */
export declare class WorkflowError extends Error {
	/** The code of the first failure. Node prints it with an uncaught error, and `key`, but not the results. */
	readonly code: ErrorCode;
	/** The key of the first failure. */
	readonly key: string;
	/** The first failure. */
	readonly result: Failure;
	/** All failures of a `parallel`, in order. */
	readonly failures: KeyedResult[];
	/** The results of all runs of the script so far, in the order of their ends. */
	readonly results: KeyedResult[];
}

/** The state of a workflow, for a live card. */
export interface WorkflowUpdate {
	/** The id of the workflow. */
	id: string;
	/** The phase that was entered last. */
	phase?: string;
	/** The phases so far, in order. */
	phases: WorkflowPhase[];
	/** The runs of this execution. */
	counts: WorkflowCounts;
	/** Spent in this execution, in US dollars. Reused results cost nothing. */
	cost: number;
	/** Tokens of all kinds of this execution. Reused results count none. */
	tokens: number;
	/** The newest message of the run that has spoken last, its last 2000 characters; empty before there are any. */
	text: string;
	/** The key of that run. */
	key?: string;
}

/** A phase of a workflow. */
export interface WorkflowPhase {
	/** Its name. */
	name: string;
	/** Its runs. */
	counts: WorkflowCounts;
}

/** The number of runs in each state. */
export interface WorkflowCounts {
	/** Runs that wait for a slot. */
	queued: number;
	/** Runs that work, or wait for another attempt. */
	running: number;
	/** Runs that have completed in this execution. */
	completed: number;
	/** Stored results of earlier executions. */
	reused: number;
	/** Runs that have ended without completing. */
	failed: number;
}

/** A mistake in the options of a call. It is thrown before anything starts. */
export declare class OptionsError extends TypeError {
	/** The option, such as `budget.maxCost` or `tasks[3].agent`. */
	readonly path: string;
	/** Its value. Node does not print it with an uncaught error. */
	readonly value: unknown;
	/** The expected value. */
	readonly expected: string;
}

/** A run in the background. */
export interface BackgroundRun {
	/** Eight hexadecimal characters. */
	runId: string;
	/** The name of its session, `agent:NAME:subagent:UUID`. */
	sessionKey: string;
	/** Notes on options that were skipped. */
	warnings: string[];
}

/** The options of a session. */
export interface SessionOptions extends Place {
	/** The name of the session, which you choose. A process that opens it again finds its runs. */
	id: string;
	/**
	 * Receives each result once, in this process or in a later process that opens the session. If it returns a promise, the next message
	 * waits for that. If the callback fails, `onNotice` gets the error, and the results are delivered again, after pauses of up to
	 * ten seconds, until the session is closed. If the process ends first, the next opening of the session delivers them. The repeated
	 * message also has results that have arrived since: recognize a repeated result by its `runId`. Without this callback the results wait.
	 */
	onMessage?: ((message: SessionMessage) => unknown) | undefined;
	/**
	 * Receives warnings for people, for example if the store cannot be written or a callback has failed. By default they are
	 * Node's process warnings.
	 */
	onNotice?: ((notice: string) => void) | undefined;
	/** As in `RunOptions`. */
	onQuestion?: RunOptions["onQuestion"] | undefined;
	/** As in `RunOptions`. */
	onConfirm?: RunOptions["onConfirm"] | undefined;
}

/** Results and questions of background runs. */
export interface SessionMessage {
	/** The id of the message. A repeated message has the same one, unless it has further results. */
	id: string;
	/** The runs that have ended. */
	results: SessionResult[];
	/** The questions of runs whose agents have `ask: parent`. Answer them with `send`. */
	questions: { runId: string; agent: string; question: string; options: string[] }[];
}

/** The end of a background run. */
export interface SessionResult {
	/** Eight hexadecimal characters. */
	runId: string;
	/** All facts about the run. */
	run: RunRecord;
	/** True if it has completed. */
	ok: boolean;
	/** The child's last message, or its words until then if it has not completed; at most 16 KiB. */
	text: string;
	/** The submitted value, if the run had a `schema`. The schema's library has not checked it, so parse it. */
	data?: unknown;
	/** The reason, if it has not completed. */
	error?: string;
}

/** The options of a background run. */
export interface SpawnOptions extends Pick<RunOptions<Schema>, "task" | "model" | "thinking" | "timeoutMs" | "schema"> {
	/** The name of an agent. */
	agent: string;
	/** A name for people; cut at 80 characters. */
	label?: string | undefined;
}

/**
 * The background runs of a program. A session with `onMessage` keeps the process alive until the runs that the process has started
 * have ended and `onMessage` has received their results, or until `close`. When the process ends, its runs end too, unless the
 * configuration says otherwise.
 */
export interface Session {
	/** Starts a run in the background. Throws an `OptionsError` for a mistake, and rejects with the reason if the run is not accepted. */
	spawn(options: SpawnOptions): Promise<BackgroundRun>;
	/** Returns the runs of the session, newest first. */
	list(): Promise<RunRecord[]>;
	/**
	 * Returns the newest entries of a run's conversation. `run` is the id, the session key or the label. `entries` is their maximum
	 * number, from 1 to 2000 (40 by default). `tools: true` adds the calls of tools and their results.
	 */
	history(run: string, options?: { entries?: number; tools?: boolean }): Promise<TranscriptEntry[]>;
	/** Sends a message to an active run, or continues an ended run with it. */
	send(run: string, message: string): Promise<BackgroundRun>;
	/** Ends a run, or all runs of the session. */
	stop(run?: string): Promise<void>;
	/**
	 * Resolves when no run is active and `onMessage` has received all results. A run that takes longer than `timeoutMs` is ended. The
	 * default limit is the setting `background.headlessWaitMs`. Rejects if `onMessage` still fails after the limit or has not returned
	 * at the limit, or if the session is closed first. Rejects at once within `onMessage`, because the wait would include its own
	 * message.
	 */
	settled(timeoutMs?: number): Promise<void>;
	/**
	 * Closes the session. Its runs continue while the process lives, but no longer keep it alive. Their results wait until the
	 * session is opened again.
	 */
	close(): Promise<void>;
	/** Closes the session. */
	[Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens a session, which starts, lists and continues background runs. `onMessage` receives their results. Throws an error if a session
 * with this `id` and `agentDir` is open in this process: share the session, or await its `close()` first.
 *
 * @example
 * ```ts
 * import { openSession } from "pi-subagent-native";
 *
 * await using session = openSession({
 * 	id: "my-conversation",
 * 	onMessage: ({ results }) => {
 * 		for (const { runId, ok, text } of results) console.log(runId, ok, text);
 * 	},
 * });
 * const { runId } = await session.spawn({ agent: "explorer", task: "Where is the config loaded?" });
 * await session.settled();
 * await session.send(runId, "And where is it checked?");
 * await session.settled();
 * ```
 */
export declare function openSession(options: SessionOptions): Session;

/**
 * Replaces secrets with placeholders and home directories with `~`, and drops control characters. `secrets` replaces the secrets of this
 * process's environment. Rejects with an `OptionsError` for a secret that innocent texts also contain, such as a number, a word or fewer
 * than 8 bytes.
 *
 * @example
 * ```ts
 * import { sanitize } from "pi-subagent-native";
 *
 * console.log(await sanitize("token: correct-horse", { secrets: ["correct-horse"] }));
 * ```
 */
export declare function sanitize(text: string, options?: SanitizeOptions): Promise<string>;

/**
 * Cuts a text to a limit: 50 KiB and 2000 lines, unless `limits` says otherwise.
 *
 * @example
 * ```ts
 * import { truncate } from "pi-subagent-native";
 *
 * const { text, truncated } = await truncate("word ".repeat(5_000), { maxBytes: 1024, keep: "tail" });
 * console.log(truncated, text);
 * ```
 */
export declare function truncate(text: string, limits?: TruncateOptions): Promise<TruncatedOutput>;

/** The limits of a text. */
export interface TruncateOptions extends OutputLimits {
	/**
	 * The part that is kept.
	 * @default "ends"
	 */
	keep?: "ends" | "head" | "tail";
}

/**
 * Reads the event stream of `pi --mode json`: a text, bytes, pieces of either as they arrive, or a file of any size.
 *
 * @example
 * ```ts
 * import { spawn } from "node:child_process";
 * import { collect } from "pi-subagent-native";
 *
 * const pi = spawn("pi", ["--mode", "json", "-p", "What is this?"], { stdio: ["ignore", "pipe", "inherit"] });
 * const { output, usage } = await collect(pi.stdout);
 * console.log(output, usage.cost);
 * ```
 */
export declare function collect(source: EventSource): Promise<CollectedOutput>;

/** A stream of events: a text, bytes, pieces of either as they arrive, or a file. */
export type EventSource = string | Uint8Array | AsyncIterable<string | Uint8Array> | { file: string };
