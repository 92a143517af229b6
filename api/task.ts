/** One run: started at once, awaited for its result, iterated for its updates. */

import type { BackgroundRun, Question, Result, RunOptions, Schema, Task, Update } from "../index.js";
import * as native from "../native.js";
import { agentText } from "./agent.ts";
import { checkMessage } from "./options.ts";
import { resultOf } from "./result.ts";
import { jsonSchemaOf } from "./schema.ts";
import { Changes, Reader } from "./updates.ts";

/** The account of a group of runs, and its budget. */
export interface Group {
	account: string;
	maxCost?: number;
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
	#ended: Update<unknown> | undefined;
	#abortReason: string | undefined;

	/** `options` are checked. */
	constructor(options: RunOptions<Schema | undefined>, group?: Group) {
		const { schema, signal } = options;
		const host = hostOf(options, (sentence) => this.#push(this.#changes.question(sentence)));
		const onUpdate = (update: native.ToolResult) => {
			for (const change of this.#changes.take(update)) this.#push(change);
		};
		this.#handle = native.startRun(
			{ ...nativeOptions(options, group), aborted: signal?.aborted ?? false },
			onUpdate,
			host,
		);
		const abort = () => this.abort(reasonOf(signal));
		if (signal?.aborted) this.#abortReason = reasonOf(signal);
		else signal?.addEventListener("abort", abort, { once: true });
		live.add(this);
		this.#result = this.#handle.result().then(async (ended) => {
			signal?.removeEventListener("abort", abort);
			const result = await resultOf(ended, schema, this.#abortReason);
			this.#ended = this.#changes.done(result);
			this.#push(this.#ended);
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
		this.#abortReason ??= words;
		this.#handle.abort(words);
	}

	steer(message: string): boolean {
		checkMessage(message);
		return this.#handle.steer(message);
	}

	async background(): Promise<BackgroundRun> {
		const [receipt] = await this.#handle.background();
		return backgroundRun(receipt);
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

/** Returns a background run, or throws the reason why there is none. */
export function backgroundRun(receipt: native.SpawnReceipt | undefined): BackgroundRun {
	const { runId, childSessionKey, warnings = [], error } = receipt ?? {};
	if (!runId || !childSessionKey) throw new Error(error ?? "the run was not accepted");
	return { runId, sessionKey: childSessionKey, warnings };
}

/** The place of the session for which pi runs this program, as the options of the engine. */
function hostedPlace(): Partial<native.RunOptions> {
	return (globalThis as { [hosted]?: Partial<native.RunOptions> })[hosted] ?? {};
}

/** `extension/workflows/host.mjs` sets it in the process of a workflow. */
const hosted = Symbol.for("pi-subagent-native.place");

/** The options of every call. */
export function placeOf({ cwd, agentDir, env, piCommand, config }: Pick<RunOptions, "cwd" | "agentDir" | "env" | "piCommand" | "config">) {
	return {
		...hostedPlace(),
		cwd: cwd ?? process.cwd(),
		...(agentDir !== undefined && { agentDir }),
		...(env && { env }),
		...(piCommand && { piCommand: [...piCommand] }),
		...(config && { config }),
	};
}

/** The options of a run in a group. The group's budget is in place of the session's. */
function groupOptions({ account, maxCost, workflow }: Group, { cwd, config }: { cwd: string; config?: Record<string, unknown> }) {
	return {
		account,
		...(maxCost !== undefined && { config: { ...config, sessionBudget: { maxCost } } }),
		// The workflow's project decides which agents and which configuration there are; the child works in its own directory.
		...(workflow?.project !== undefined && { cwd: workflow.project, childCwd: cwd }),
		...(workflow && { workflow }),
	};
}

function nativeOptions(options: RunOptions<Schema | undefined>, group: Group | undefined): native.RunOptions {
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

/** The callbacks of a run. Each question has a signal that fires once no answer is waited for. */
export function hostOf(
	{ onQuestion, onConfirm }: Pick<RunOptions, "onQuestion" | "onConfirm">,
	asked: (sentence: string) => void,
): native.HostCallbacks {
	const open = new Map<number, AbortController>();
	const ask = async ({ id, forConversation: _, ...question }: native.Question): Promise<native.Answer> => {
		const controller = new AbortController();
		open.set(id, controller);
		asked(question.sentence);
		try {
			return (await onQuestion?.({ ...question, signal: controller.signal } satisfies Question)) ?? {};
		} finally {
			open.delete(id);
		}
	};
	return {
		...(onQuestion && { ask }),
		...(onConfirm && { confirm: onConfirm }),
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
