/** Several runs: side by side, or one after the other. */

import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";

import type {
	Ended,
	GroupOptions,
	ParallelOptions,
	Result,
	RunOptions,
	Schema,
	Step,
	Success,
	Tasks,
} from "../index.js";
import type { RunGroup, ToolResult } from "../native.js";
import * as native from "../native.js";
import { checkChain, checkedList, checkParallel, checkRun, OptionsError } from "./options.ts";
import { noUsage } from "./result.ts";
import { abortedBy, type Group, guarded, inWords, nativeOptions, RunTask, reasonOf } from "./task.ts";

type AnyOptions = RunOptions<Schema | undefined>;
type AnyStep = AnyOptions | Step<Schema | undefined>;

/** The most tasks at the same time, unless the caller names another number. */
const defaultConcurrency = 8;
/** The available memory from which a child may wait for minutes, in bytes, as in the engine. */
const plentifulBytes = 2 ** 31;
/** The time between two pieces of a call that is still wanted, in ms. The engine ends the children of a silent call after 30 s. */
const pieceMs = 10_000;

/** Runs all tasks, at most `concurrency` at the same time. */
export function parallel(given: readonly AnyOptions[], options: ParallelOptions = {}): Tasks<unknown> {
	const tasks = checkedList(given, "tasks", checkRun);
	checkParallel(options);
	const { concurrency = defaultConcurrency } = options;
	const limit = Math.min(concurrency, tasks.length);
	const group = new TaskGroup(options, { id: randomUUID(), limit });
	const waiting = tasks.entries();
	const worker = async () => {
		for (const [index, task] of waiting) group.finish(index, await group.run(task));
	};
	// One task waits in the engine's queue, where its child boots ahead.
	const workers = Array.from({ length: Math.min(limit + 1, tasks.length) }, worker);
	group.endWith(Promise.all(workers), tasks.length);
	return group;
}

/** Runs steps one after the other, until one fails. */
export function chain(given: readonly AnyStep[], options: GroupOptions = {}): Tasks<unknown> {
	const steps = checkedList(given, "steps", (step, path) => typeof step === "function" || checkRun(step, path));
	if (typeof steps[0] === "function") {
		throw new OptionsError("steps[0]", steps[0], "options: no step comes before the first one");
	}
	checkChain(options);
	const group = new TaskGroup(options);
	const work = async () => {
		let before: Success<unknown> | undefined;
		let child: NextChild | undefined;
		for (const [index, step] of steps.entries()) {
			const next = group.childOf(steps[index + 1]);
			const result = await group.step(step, before as Success<undefined>, index, { child, next });
			await child?.end();
			child = next;
			group.finish(index, result);
			if (!result.ok) break;
			before = result;
		}
		await child?.end();
	};
	group.endWith(work(), steps.length);
	return group;
}

/** The early children of a step: its own child, and the child of the next step. */
interface StepChildren {
	child?: NextChild | undefined;
	next?: NextChild | undefined;
}

/**
 * The child of a chain's next step. For the engine it is the early child of a call that arrives as long as the step before works. As
 * in a chain of a model, it boots with the step before, or once that writes text if memory or processors are short.
 */
class NextChild {
	readonly callId = randomUUID();
	readonly #options: native.RunOptions;
	readonly #bootsAtOnce = availableParallelism() > 1 && availableBytes() >= plentifulBytes;
	#early: native.EarlyCall | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(options: native.RunOptions) {
		this.#options = options;
	}

	/** Takes the newest state of the step before. */
	follow({ details: { streaming: now } }: ToolResult): void {
		if (this.#early || !now) return;
		const hasSlot = now.state === "starting" || now.state === "running";
		// Without an early child the step only takes longer.
		if (now.hasText || (hasSlot && this.#bootsAtOnce)) guarded(() => this.#boot(), ignore);
	}

	#boot(): void {
		const { agent, childCwd: cwd, childModel: model, childThinking: thinking } = this.#options;
		const early = native.bootEarly({ ...this.#options, tool: "subagent", callId: this.callId });
		this.#early = early;
		early.push(JSON.stringify({ agent, cwd, model, thinking, task: "" }));
		this.#timer = setInterval(() => guarded(() => early.push(""), ignore), pieceMs).unref();
	}

	/** Ends the child, unless its step has taken it. */
	async end(): Promise<void> {
		clearInterval(this.#timer);
		await this.#early?.end();
	}
}

const ignore = () => {};

/** The available memory, or 0 if the engine of this program is too old to know it. */
const availableBytes = (): number => (process as Partial<NodeJS.Process>).availableMemory?.() ?? 0;

class TaskGroup implements Tasks<unknown> {
	readonly #group: Group;
	readonly #running = new Set<RunTask>();
	readonly #ended: Ended<unknown>[] = [];
	readonly #signal: AbortSignal | undefined;
	/** Fires when all tasks are aborted. */
	readonly #stop = new AbortController();
	readonly #onAbort = () => this.abort(reasonOf(this.#signal));
	/** The message of the results once all tasks were aborted. */
	#aborted: string | undefined;
	#hasEnded = false;
	#wake: (() => void)[] = [];
	#results: Promise<Result<unknown>[]> = Promise.resolve([]);

	constructor({ budget, signal }: GroupOptions, limit?: RunGroup) {
		this.#group = {
			...(budget && { account: `group:${randomUUID()}`, maxCost: budget.maxCost }),
			...(limit && { limit }),
		};
		this.#signal = signal;
		if (signal?.aborted) this.#onAbort();
		else signal?.addEventListener("abort", this.#onAbort, { once: true });
	}

	get [Symbol.toStringTag](): string {
		return "Tasks";
	}

	/**
	 * Returns the child of the next step. `undefined` if there is none, if the step is not known yet, or if an early child would not
	 * have its tools or its limits.
	 */
	childOf(step: AnyStep | undefined): NextChild | undefined {
		if (!step || typeof step === "function" || step.schema || step.budget) return undefined;
		return new NextChild(nativeOptions(step, this.#group));
	}

	/** Runs one task, unless all were aborted. */
	async run(options: AnyOptions, { child, next }: StepChildren = {}): Promise<Result<unknown>> {
		if (this.#aborted !== undefined) return abortedResult(this.#aborted);
		const task = new RunTask(options, this.#group, child?.callId, (now) => next?.follow(now));
		this.#running.add(task);
		try {
			return await task;
		} finally {
			this.#running.delete(task);
		}
	}

	/** Runs a step of a chain. A function that throws, rejects or makes wrong options has failed. */
	async step(
		step: AnyStep,
		before: Success<undefined>,
		index: number,
		children: StepChildren,
	): Promise<Result<unknown>> {
		try {
			const options = typeof step === "function" ? await this.#made(step, before) : step;
			if (this.#aborted !== undefined) return abortedResult(this.#aborted);
			checkRun(options, `steps[${index}]`);
			return await this.run(options as AnyOptions, children);
		} catch (cause) {
			const message = cause instanceof Error ? cause.message : String(cause);
			const error = { code: "INVALID_INPUT", message, cause } as const;
			return { ok: false, error, partial: "", outcome: "skipped", usage: noUsage };
		}
	}

	/** Returns the options that a function makes. Resolves with nothing once all tasks are aborted: the function may never settle. */
	async #made(step: Step<Schema | undefined>, before: Success<undefined>): Promise<AnyOptions | undefined> {
		const { signal } = this.#stop;
		if (signal.aborted) return undefined;
		const aborted = new Promise<undefined>((resolve) => {
			signal.addEventListener("abort", () => resolve(undefined), { once: true });
		});
		return await Promise.race([step(before, { signal }), aborted]);
	}

	finish(index: number, result: Result<unknown>): void {
		this.#ended.push({ index, result });
		this.#wakeAll();
	}

	/** Resolves with the results in order once `work` is done. */
	endWith(work: Promise<unknown>, count: number): void {
		this.#results = work.then(() => {
			this.#hasEnded = true;
			this.#signal?.removeEventListener("abort", this.#onAbort);
			this.#wakeAll();
			const results = Array.from<Result<unknown> | undefined>({ length: count });
			for (const { index, result } of this.#ended) results[index] = result;
			return results.filter((result) => result !== undefined);
		});
	}

	abort(reason?: unknown): void {
		const words = reason === undefined ? undefined : inWords(reason);
		this.#aborted ??= abortedBy(words);
		for (const task of this.#running) task.abort(words);
		if (!this.#hasEnded) this.#stop.abort(reason);
	}

	// biome-ignore lint/suspicious/noThenProperty: a group is awaited
	then<A = Result<unknown>[], B = never>(
		onResults?: ((results: Result<unknown>[]) => A | PromiseLike<A>) | null,
		onError?: ((error: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		return this.#results.then(onResults, onError);
	}

	catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Result<unknown>[] | B> {
		return this.#results.catch(onError);
	}

	finally(onEnd?: (() => void) | null): Promise<Result<unknown>[]> {
		return this.#results.finally(onEnd);
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<Ended<unknown>, undefined> {
		for (let next = 0; ; ) {
			const ended = this.#ended[next];
			if (ended) {
				next += 1;
				yield ended;
			} else if (this.#hasEnded) {
				return undefined;
			} else {
				await new Promise<void>((resolve) => this.#wake.push(resolve));
			}
		}
	}

	[Symbol.dispose](): void {
		this.abort("its block has ended");
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this[Symbol.dispose]();
		await this.#results;
	}

	#wakeAll(): void {
		for (const wake of this.#wake.splice(0)) wake();
	}
}

function abortedResult(aborted: string): Result<unknown> {
	const message = `not started: ${aborted}`;
	return { ok: false, error: { code: "SUBAGENT_ABORTED", message }, partial: "", outcome: "aborted", usage: noUsage };
}
