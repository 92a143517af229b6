/** Scripts of runs that survive the end of their process. */

import { AsyncLocalStorage } from "node:async_hooks";

import type {
	ErrorCode,
	Failure,
	KeyedResult,
	Result,
	RunOptions,
	Schema,
	Success,
	Workflow,
	WorkflowOptions,
	WorkflowParallelOptions,
	WorkflowPhase,
	WorkflowRunOptions,
	WorkflowUpdate,
} from "../index.js";
import * as native from "../native.js";
import {
	checkedList,
	checkWorkflow,
	checkWorkflowId,
	checkWorkflowParallel,
	checkWorkflowRun,
	hideFields,
	OptionsError,
} from "./options.ts";
import { noUsage, wholeText } from "./result.ts";
import { guarded, inWords, placeOf, RunTask, reasonOf, warn } from "./task.ts";

type AnyOptions = WorkflowRunOptions<Schema | undefined>;

/** A run of a workflow has failed. */
export class WorkflowError extends Error {
	override name = "WorkflowError";
	readonly code: ErrorCode;
	/** The key of the run. */
	readonly key: string;
	declare readonly result: Failure;
	declare readonly failures: KeyedResult[];
	declare readonly results: KeyedResult[];

	constructor(failures: readonly [Failed, ...Failed[]], results: KeyedResult[]) {
		const [{ key, result }, ...more] = failures;
		const others = more.length > 0 ? ` (and ${more.length} more)` : "";
		super(`run ${JSON.stringify(key)}: ${result.error.message}${others}`);
		this.code = result.error.code;
		this.key = key;
		hideFields(this, { result, failures: [...failures], results });
	}
}

interface Failed {
	key: string;
	result: Failure;
}

/** The workflow whose script runs now, for workflows within it. */
const current = new AsyncLocalStorage<Script>();

/** The most tasks of `parallel` at the same time, unless the caller names another number. */
const defaultConcurrency = 8;
const defaultMaxRuns = 100;
/** The deepest level of workflows within workflows. */
const defaultMaxDepth = 3;
/** The shortest time between two updates. */
const updateMs = 100;

/** Runs a script. Runs that it has completed before cost nothing. */
export function workflow<T>(
	id: string,
	options: WorkflowOptions,
	script: (workflow: Workflow) => T | Promise<T>,
): Promise<T> {
	checkWorkflowId(id);
	checkWorkflow(options);
	if (typeof script !== "function") throw new OptionsError("script", script, "a function that gets the workflow");
	const outer = current.getStore();
	const maxDepth = Math.min(options.maxDepth ?? defaultMaxDepth, outer ? outer.maxDepth : Number.POSITIVE_INFINITY);
	const depth = (outer?.depth ?? 0) + 1;
	if (depth > maxDepth) {
		throw new OptionsError(
			"maxDepth",
			maxDepth,
			`at least ${depth}: workflow ${JSON.stringify(id)} is ${depth - 1} levels deep`,
		);
	}
	const running = new Script(id, options, outer, { depth, maxDepth });
	return running.execute(script);
}

/** The state of a run, as updates count it. */
type RunState = "queued" | "running" | "completed" | "reused" | "failed";

/** The promise of a run, which notes if the script awaits it. Until then its failure is no unhandled rejection. */
class Noted<T> extends Promise<T> {
	isAwaited = false;

	static override get [Symbol.species](): PromiseConstructor {
		return Promise;
	}

	/** Calls `failed` with the error. Does not count as awaiting. */
	onFailure(failed: (error: unknown) => void): this {
		super.then(undefined, failed);
		return this;
	}

	// biome-ignore lint/suspicious/noThenProperty: `await` calls it
	override then<A = T, B = never>(
		onValue?: ((value: T) => A | PromiseLike<A>) | null,
		onError?: ((error: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		this.isAwaited = true;
		return super.then(onValue, onError);
	}
}

/** One execution of a workflow. */
class Script implements Workflow {
	readonly id: string;
	readonly depth: number;
	readonly maxDepth: number;
	readonly signal: AbortSignal;
	readonly #options: WorkflowOptions;
	readonly #outer: Script | undefined;
	readonly #stop = new AbortController();
	readonly #pending = new Set<Promise<unknown>>();
	readonly #results: KeyedResult[] = [];
	readonly #failures: { of: Noted<unknown>; error: unknown }[] = [];
	readonly #board: Board;
	#handle: native.WorkflowHandle | undefined;
	#phase: string | undefined;
	/** The failure after which no run starts. */
	#exhausted: Failure | undefined;
	#hasEnded = false;

	constructor(
		id: string,
		options: WorkflowOptions,
		outer: Script | undefined,
		{ depth, maxDepth }: { depth: number; maxDepth: number },
	) {
		this.id = id;
		this.depth = depth;
		this.maxDepth = maxDepth;
		this.#options = options;
		this.#outer = outer;
		const signals = [this.#stop.signal, options.signal, outer?.signal].filter((signal) => signal !== undefined);
		this.signal = AbortSignal.any(signals);
		this.#board = new Board(id, options.onUpdate);
	}

	/** The account of its runs. A workflow within another one shares its budget, unless it has its own. */
	get account(): { account: string; maxCost?: number } {
		const { maxCost } = this.#options.budget ?? {};
		if (maxCost === undefined && this.#outer) return this.#outer.account;
		return { account: this.#handle?.account ?? "", ...(maxCost !== undefined && { maxCost }) };
	}

	async #open(): Promise<void> {
		const { name, file, budget, maxRuns = defaultMaxRuns } = this.#options;
		const parent = this.#outer?.id;
		this.#handle = await native.openWorkflow(
			{
				...placeOf(this.#options),
				id: this.id,
				limits: { ...defined(budget ?? {}), maxRuns },
				...(name !== undefined && { name }),
				...(file !== undefined && { file }),
				...(parent !== undefined && { parent }),
			},
			() => this.#stop.abort(new Error("the workflow was stopped")),
		);
	}

	async execute<T>(script: (workflow: Workflow) => T | Promise<T>): Promise<T> {
		await this.#open();
		let value: T;
		try {
			value = await current.run(this, async () => await script(this));
		} catch (error) {
			await this.#end(this.signal.aborted ? "stopped" : "failed", error);
			throw error;
		}
		await this.#end("completed");
		return value;
	}

	phase(name: string): void {
		if (typeof name !== "string" || name.trim() === "")
			throw new OptionsError("phase", name, "a text that is not blank");
		this.#phase = name;
		this.#handle?.phase(name);
		this.#board.phase(name);
	}

	run(options: AnyOptions): Promise<Success<never>> {
		checkWorkflowRun(options, "");
		return this.#noted(this.#run(options));
	}

	/** Returns a promise whose failure the script may handle later. */
	#noted<T>(run: Promise<T>): Promise<T> {
		// Nothing notices later that no one awaits it.
		if (this.#hasEnded) return run;
		const noted = new Noted<T>((resolve) => resolve(run));
		return noted.onFailure((error) => {
			if (!this.signal.aborted) this.#failures.push({ of: noted, error });
		});
	}

	async #run(options: AnyOptions): Promise<Success<never>> {
		const result = await this.#start(options);
		if (!result.ok) throw new WorkflowError([{ key: options.key, result }], this.#results);
		return result as Success<never>;
	}

	parallel(given: readonly AnyOptions[], options: WorkflowParallelOptions = {}): Promise<never> {
		const tasks = checkedList(given, "tasks", checkWorkflowRun);
		checkWorkflowParallel(options);
		return this.#noted(this.#parallel(tasks, options));
	}

	async #parallel(tasks: readonly AnyOptions[], options: WorkflowParallelOptions): Promise<never> {
		const { concurrency = defaultConcurrency, settle = false } = options;
		const results: Result<unknown>[] = [];
		const waiting = tasks.entries();
		const worker = async () => {
			for (const [index, task] of waiting) results[index] = await this.#start(task);
		};
		await Promise.all(Array.from({ length: Math.min(concurrency, tasks.length) }, worker));
		const [first, ...more] = results.flatMap((result, index) =>
			result.ok ? [] : [{ key: tasks[index]?.key ?? "", result }],
		);
		if (first && !settle) throw new WorkflowError([first, ...more], this.#results);
		return results as never;
	}

	/** Runs one task to its end. */
	async #start(options: AnyOptions): Promise<Result<unknown>> {
		const refused = this.#refusal();
		if (refused) return refused;
		const { key, phase = this.#phase, ...own } = options;
		const { agentDir, env, piCommand, config, onQuestion, onConfirm } = this.#options;
		const project = placeOf(this.#options).cwd;
		const given = { cwd: project, agentDir, env, piCommand, config, onQuestion, onConfirm, ...defined(own) };
		const signal = own.signal ? AbortSignal.any([own.signal, this.signal]) : this.signal;
		const task = new RunTask({ ...given, signal } as RunOptions<Schema | undefined>, {
			...this.account,
			workflow: { id: this.id, key, project, ...(phase !== undefined && { phase }) },
		});
		this.#board.add(task, key, phase);
		const pending = this.#finished(task, key);
		this.#pending.add(pending);
		try {
			return await pending;
		} finally {
			this.#pending.delete(pending);
		}
	}

	async #finished(task: RunTask, key: string): Promise<Result<unknown>> {
		const follow = this.#board.follow(task);
		const result = this.#withStored(await wholeText(await task));
		await follow;
		this.#board.end(task, result);
		this.#results.push({ key, result });
		if (!result.ok && result.error.code === "SUBAGENT_QUOTA_EXHAUSTED") this.#exhausted ??= result;
		return result;
	}

	/** Adds to a refused value that the engine has stored it as the result of its key. */
	#withStored(result: Result<unknown>): Result<unknown> {
		if (result.ok || result.error.code !== "RESULT_INVALID") return result;
		const message =
			`${result.error.message}. The value is stored: the key gives it again until its task changes, its schema accepts it, ` +
			`or \`/subagents discard --yes workflow:${this.id}\` removes the workflow`;
		return { ...result, error: { ...result.error, message } };
	}

	/** The result of a run that may not start. */
	#refusal(): Failure | undefined {
		if (this.#hasEnded)
			throw new Error(`workflow ${JSON.stringify(this.id)} has ended: await each run in its function`);
		if (this.signal.aborted) {
			const message = `not started: aborted: ${reasonOf(this.signal)}`;
			return {
				ok: false,
				error: { code: "SUBAGENT_ABORTED", message },
				partial: "",
				outcome: "aborted",
				usage: noUsage,
			};
		}
		if (!this.#exhausted) return undefined;
		const message = `not started: ${this.#exhausted.error.message}`;
		const error = { code: this.#exhausted.error.code, message };
		return { ok: false, error, partial: "", outcome: "skipped", usage: noUsage };
	}

	/** Ends the runs that the script has not awaited, and records the end. */
	async #end(state: "completed" | "failed" | "stopped", error?: unknown): Promise<void> {
		this.#hasEnded = true;
		this.#stop.abort(new Error("its workflow has ended"));
		await Promise.allSettled(this.#pending);
		this.#board.close();
		for (const { of, error } of this.#failures) {
			if (of.isAwaited) continue;
			const name = JSON.stringify(this.id);
			warn(`workflow ${name} has not awaited a failed run: ${inWords(error)}`);
		}
		const message = error === undefined ? undefined : error instanceof Error ? error.message : String(error);
		await this.#handle?.finish(state, message);
	}
}

/** Leaves out the fields without a value, so that those of the workflow stay. */
function defined<T extends object>(options: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
	return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

interface Entry {
	key: string;
	phase: string | undefined;
	state: RunState;
	cost: number;
	tokens: number;
	/** The newest words of its message. */
	text: string;
	message: number;
}

/** The state of all runs, for `onUpdate`. */
class Board {
	readonly #id: string;
	#onUpdate: WorkflowOptions["onUpdate"];
	readonly #entries = new Map<RunTask, Entry>();
	readonly #phases: string[] = [];
	/** The run whose words are the newest. */
	#newest: Entry | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(id: string, onUpdate: WorkflowOptions["onUpdate"]) {
		this.#id = id;
		this.#onUpdate = onUpdate;
	}

	phase(name: string): void {
		if (!this.#phases.includes(name)) this.#phases.push(name);
		this.#change();
	}

	add(task: RunTask, key: string, phase: string | undefined): void {
		if (phase !== undefined && !this.#phases.includes(phase)) this.#phases.push(phase);
		this.#entries.set(task, { key, phase, state: "queued", cost: 0, tokens: 0, text: "", message: 0 });
		this.#change();
	}

	/** Follows a run to its end. */
	async follow(task: RunTask): Promise<void> {
		if (!this.#onUpdate) return;
		const entry = this.#entries.get(task);
		for await (const update of task) {
			if (!entry || update.type === "done") continue;
			entry.state = update.state === "queued" ? "queued" : "running";
			({ cost: entry.cost, tokens: entry.tokens } = spentOf(update.usage));
			if (update.type === "text") {
				const isSame = update.message === entry.message;
				entry.text = newest((isSame ? entry.text : "") + update.text);
				entry.message = update.message;
				this.#newest = entry;
			}
			this.#change();
		}
	}

	end(task: RunTask, result: Result<unknown>): void {
		const entry = this.#entries.get(task);
		if (!entry) return;
		const isReused = result.reused === true;
		entry.state = result.ok ? (isReused ? "reused" : "completed") : "failed";
		({ cost: entry.cost, tokens: entry.tokens } = isReused ? { cost: 0, tokens: 0 } : spentOf(result.usage));
		this.#change();
	}

	/** Sends the last update. */
	close(): void {
		clearTimeout(this.#timer);
		this.#send();
	}

	#change(): void {
		if (!this.#onUpdate) return;
		this.#timer ??= setTimeout(() => this.#send(), updateMs).unref();
	}

	#send(): void {
		this.#timer = undefined;
		const onUpdate = this.#onUpdate;
		if (!onUpdate) return;
		guarded(
			() => onUpdate(this.#update()),
			(error) => {
				// A callback that fails gets no more updates, and one warning.
				if (this.#onUpdate !== onUpdate) return;
				this.#onUpdate = undefined;
				const name = JSON.stringify(this.#id);
				warn(`onUpdate of workflow ${name} has failed: ${String(error)}`);
			},
		);
	}

	#update(): WorkflowUpdate {
		const entries = [...this.#entries.values()];
		const phases: WorkflowPhase[] = this.#phases.map((name) => ({
			name,
			counts: countsOf(entries.filter(({ phase }) => phase === name)),
		}));
		const phase = this.#phases.at(-1);
		return {
			id: this.#id,
			...(phase !== undefined && { phase }),
			phases,
			counts: countsOf(entries),
			cost: rounded(entries.reduce((sum, { cost }) => sum + cost, 0)),
			tokens: entries.reduce((sum, { tokens }) => sum + tokens, 0),
			text: this.#newest?.text ?? "",
			...(this.#newest && { key: this.#newest.key }),
		};
	}
}

/** The most characters of the newest words. */
const textChars = 2_000;

/** Returns the newest words of a text, from the beginning of a line or of a word. */
function newest(text: string): string {
	if (text.length <= textChars) return text;
	const end = text.slice(-textChars);
	const start = /\s/.exec(end)?.index;
	return start === undefined ? end : end.slice(start + 1);
}

/** Rounds an amount to billionths of a dollar, as the engine does. */
const rounded = (cost: number) => Math.round(cost * 1e9) / 1e9;

const spentOf = ({ input, output, cacheRead, cacheWrite, cost }: native.RunUsage) => ({
	cost,
	tokens: input + output + cacheRead + cacheWrite,
});

function countsOf(entries: readonly Entry[]): WorkflowUpdate["counts"] {
	const counts = { queued: 0, running: 0, completed: 0, reused: 0, failed: 0 };
	for (const { state } of entries) counts[state] += 1;
	return counts;
}
