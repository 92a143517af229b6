/** One run: started at once, awaited for its result, iterated for its updates. */

import type { BackgroundRun, Question, Result, RunOptions, Schema, Task, Update } from "../index.js";
import * as native from "../native.js";
import { agentText } from "./agent.ts";
import { checkMessage } from "./options.ts";
import { forProgram, resultOf } from "./result.ts";
import { jsonSchemaOf } from "./schema.ts";
import { Changes, Reader } from "./updates.ts";

/** What runs of a group share. */
export interface Group {
	/** The account of all runs, for their budget or that of their workflow. */
	account?: string;
	maxCost?: number;
	/** The limit on the runs at the same time. */
	limit?: native.RunGroup;
	/** The place of the run in a workflow. */
	workflow?: native.WorkflowKey;
}

/** Live runs. The engine ends a run whose handle is collected as garbage. */
const live = new Set<RunTask>();

export class RunTask implements Task<unknown> {
	readonly #handle: native.RunHandle;
	readonly #result: Promise<Result<unknown>>;
	readonly #readers = new Set<Reader>();
	readonly #changes = new Changes();
	readonly #sessionId: string | undefined;
	#ended: Update<unknown> | undefined;
	/** The message of the result if the program has ended the run. */
	#aborted: string | undefined;

	/** `options` are checked. The run claims the child that was booted under `callId`. `onState` gets its states. */
	constructor(
		options: RunOptions<Schema | undefined>,
		group?: Group,
		callId?: string,
		onState?: (now: native.ToolResult) => void,
	) {
		const { schema, signal } = options;
		const given = { ...nativeOptions(options, group), ...(callId !== undefined && { callId }) };
		this.#sessionId = given.sessionId;
		const host = hostOf(options, (sentence) => this.#push(this.#changes.question(sentence)));
		const onUpdate = (update: native.ToolResult) => {
			for (const change of this.#changes.take(update)) this.#push(change);
			onState?.(update);
		};
		this.#handle = native.startRun({ ...given, aborted: signal?.aborted ?? false }, onUpdate, host);
		const abort = () => this.abort(reasonOf(signal));
		if (signal?.aborted) this.#aborted = abortedBy(reasonOf(signal));
		else signal?.addEventListener("abort", abort, { once: true });
		live.add(this);
		this.#result = this.#handle.result().then(async (ended) => {
			signal?.removeEventListener("abort", abort);
			const result = await resultOf(ended, schema, { aborted: this.#aborted, budget: budgetOf(group) });
			for (const update of this.#changes.done(result)) {
				this.#ended = update;
				this.#push(update);
			}
			for (const reader of this.#readers) reader.end();
			live.delete(this);
			return result;
		});
	}

	get id(): string {
		return this.#handle.runId;
	}

	get [Symbol.toStringTag](): string {
		return "Task";
	}

	abort(reason?: unknown): void {
		const words = reason === undefined ? undefined : inWords(reason);
		this.#aborted ??= abortedBy(words);
		this.#handle.abort(words);
	}

	steer(message: string): boolean {
		checkMessage(message);
		return this.#handle.steer(message);
	}

	async background(): Promise<BackgroundRun> {
		const sessionId = this.#sessionId;
		if (sessionId === undefined) {
			throw new Error(
				"the run has no session for its result: pass `sessionId`, and open that session with `openSession`",
			);
		}
		const [receipt] = await this.#handle.background();
		const run = backgroundRun(receipt);
		for (const onBackground of backgroundListeners) onBackground(sessionId);
		return run;
	}

	// biome-ignore lint/suspicious/noThenProperty: a task is awaited
	then<A = Result<unknown>, B = never>(
		onResult?: ((result: Result<unknown>) => A | PromiseLike<A>) | null,
		onError?: ((error: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		return this.#result.then(onResult, onError);
	}

	catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Result<unknown> | B> {
		return this.#result.catch(onError);
	}

	finally(onEnd?: (() => void) | null): Promise<Result<unknown>> {
		return this.#result.finally(onEnd);
	}

	[Symbol.asyncIterator](): AsyncIterator<Update<unknown>, undefined> {
		const reader = new Reader((left) => this.#readers.delete(left));
		if (this.#ended) {
			reader.push(this.#ended);
			reader.end();
		} else {
			this.#readers.add(reader);
		}
		return reader;
	}

	[Symbol.dispose](): void {
		this.abort("its block has ended");
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this[Symbol.dispose]();
		await this.#result;
	}

	#push(update: Update<unknown>): void {
		for (const reader of this.#readers) reader.push(update);
	}
}

/** Called with the session of each run that moves to the background. */
export const backgroundListeners = new Set<(sessionId: string) => void>();

/** Calls a function of the program. `failed` gets its error, thrown or rejected. */
export function guarded(call: () => unknown, failed: (error: unknown) => void): void {
	try {
		Promise.resolve(call()).catch(failed);
	} catch (error) {
		failed(error);
	}
}

/** Returns the message of a run that its program has ended. */
export function abortedBy(reason: string | undefined): string {
	return reason?.trim() ? `aborted: ${reason}` : "aborted by the program";
}

/** Names the budget of a group, as its program has written it. */
const budgetOf = (group: Group | undefined) =>
	group?.maxCost === undefined ? undefined : `\`budget.maxCost\` of the ${group.workflow ? "workflow" : "group"}`;

/** Returns a background run, or throws the reason why there is none. */
export function backgroundRun(receipt: native.SpawnReceipt | undefined): BackgroundRun {
	const { runId, childSessionKey, warnings = [], error } = receipt ?? {};
	if (!runId || !childSessionKey) throw new Error(error === undefined ? "the run was not accepted" : forProgram(error));
	return { runId, sessionKey: childSessionKey, warnings };
}

/** The place of the session for which pi runs this program, as the options of the engine. */
function hostedPlace(): Partial<native.RunOptions> {
	return (globalThis as { [hosted]?: Partial<native.RunOptions> })[hosted] ?? {};
}

/** `extension/workflows/host.mjs` sets it in the process of a workflow. */
const hosted = Symbol.for("pi-subagent-native.place");

/** The options of every call. */
export function placeOf({
	cwd,
	agentDir,
	env,
	piCommand,
	config,
}: Pick<RunOptions, "cwd" | "agentDir" | "env" | "piCommand" | "config">) {
	return {
		...hostedPlace(),
		cwd: cwd ?? process.cwd(),
		...(agentDir !== undefined && { agentDir }),
		...(env && { env: variablesOf(env) }),
		...(piCommand && { piCommand: [...piCommand] }),
		...(config && { config }),
	};
}

/** Leaves out the variables without a value, as in `process.env`. */
function variablesOf(env: NonNullable<RunOptions["env"]>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
	);
}

/** The options of a run in a group. The group's budget is in place of the session's. */
function groupOptions(
	{ account, maxCost, limit, workflow }: Group,
	{ cwd, config }: { cwd: string; config?: Record<string, unknown> },
) {
	return {
		...(account !== undefined && { account }),
		...(limit && { group: limit }),
		...(maxCost !== undefined && { config: { ...config, sessionBudget: { maxCost } } }),
		// The workflow's project decides which agents and which configuration there are; the child works in its own directory.
		...(workflow?.project !== undefined && { cwd: workflow.project, childCwd: cwd }),
		...(workflow && { workflow }),
	};
}

/** Returns the options of the engine. `options` are checked. */
export function nativeOptions(options: RunOptions<Schema | undefined>, group: Group | undefined): native.RunOptions {
	const { agent, task, schema, model, thinking, budget, timeoutMs, sessionId } = options;
	const outputSchema = schema && jsonSchemaOf(schema);
	const place = placeOf(options);
	return {
		...place,
		...(group && groupOptions(group, place)),
		...(typeof agent === "string" ? { agent } : { agent: agent.name, agents: [agentText(agent)] }),
		task,
		...(model !== undefined && { childModel: model }),
		...(thinking !== undefined && { childThinking: thinking }),
		...(outputSchema && { outputSchema }),
		...(budget && { budget }),
		...(timeoutMs !== undefined && { timeoutMs }),
		...(sessionId !== undefined && { sessionId }),
	};
}

/** Shows a sentence as a process warning. */
export const warn = (sentence: string) => process.emitWarning(sentence, "SubagentWarning");

/**
 * The callbacks of a run. Each question has a signal that fires once no answer is waited for. The engine does not keep the error of a
 * callback: `note` gets it.
 */
export function hostOf(
	{ onQuestion, onConfirm }: Pick<RunOptions, "onQuestion" | "onConfirm">,
	asked: (sentence: string) => void,
	note: (sentence: string) => void = warn,
): native.HostCallbacks {
	const open = new Map<number, AbortController>();
	const noting = async <T>(call: () => T | Promise<T>, what: string): Promise<T> => {
		try {
			return await call();
		} catch (error) {
			note(`${what}: ${String(error)}`);
			throw error;
		}
	};
	const ask = async ({ id, forConversation: _, ...question }: native.Question): Promise<native.Answer> => {
		const controller = new AbortController();
		open.set(id, controller);
		asked(question.sentence);
		try {
			const given = { ...question, signal: controller.signal } satisfies Question;
			const failed = `onQuestion has failed, and the question of ${question.agent} is cancelled`;
			return (await noting(() => onQuestion?.(given), failed)) ?? {};
		} finally {
			open.delete(id);
		}
	};
	return {
		...(onQuestion && { ask }),
		...(onConfirm && {
			confirm: (request) => noting(() => onConfirm(request), "onConfirm has failed, and the run is refused"),
		}),
		withdraw: (id) => open.get(id)?.abort(),
	};
}

/** Returns the reason of an aborted signal in words. */
export function reasonOf(signal: AbortSignal | undefined): string {
	return inWords(signal?.reason);
}

/** Returns the reason of an abort in words: the message of an error, or the value as a text. */
export function inWords(reason: unknown): string {
	return reason instanceof Error ? reason.message : String(reason);
}
