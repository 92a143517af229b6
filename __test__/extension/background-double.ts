/** Background runs without the addon: a session whose runs and transcripts a test writes. */

import type { RunRecord } from "../../extension/background/registry.ts";
import { Background } from "../../extension/background/registry.ts";
import type { Native } from "../../extension/host/native.ts";
import type {
	BackgroundEvent,
	BackgroundOptions,
	BackgroundSession,
	CommandReport,
	ShownWorkflow,
	Transcript,
} from "../../native.js";

let made = 0;

/** A run at work; every run is newer than those made before it. */
export function aRun(run: Partial<RunRecord> = {}): RunRecord {
	const number = ++made;
	const key = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
	return {
		key,
		runId: number.toString(16).padStart(8, "0"),
		sessionKey: `agent:explorer:subagent:${key}`,
		session: "session",
		agent: "explorer",
		task: "find the loader",
		model: "scripted/scripted-model",
		cwd: "/project",
		cleanup: "keep",
		isDetached: false,
		state: "running",
		createdMs: Date.now() + number,
		startedMs: Date.now() + number,
		usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 },
		notes: [],
		tools: [],
		timesResumed: 0,
		previousRunMs: 0,
		spentBefore: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 },
		isIsolated: false,
		isInProcess: true,
		isForeground: false,
		...run,
	};
}

/** The same run, over. It can be continued. */
export function endedRun(run: RunRecord, end: Partial<RunRecord> = {}): RunRecord {
	const endedMs = (run.startedMs ?? run.createdMs) + 3_000;
	const files = { directory: "/runs/one", transcript: "/runs/one/session.jsonl" };
	return { ...run, ...files, state: "ended", status: "success", outcome: "completed", endedMs, ...end };
}

/** A workflow of the project, which runs. Like the addon, it has only the stored parts of its runs. */
export function aWorkflow({ runs, ...workflow }: Partial<ShownWorkflow> = {}): ShownWorkflow {
	const shown = { id: "review", name: "review", project: "/project", file: "review.ts", state: "running" } as const;
	const counts = { live: 0, completed: 0, unfinished: 0, cost: 0, startedMs: Date.now() - 60_000 };
	return { ...shown, ...counts, ...workflow, ...(runs && { runs: runs.map(storedPart) }) };
}

function storedPart(run: RunRecord): RunRecord {
	const { text, lastTool, pendingQuestion, context, label, model, result, partial, artifacts, retry, ...stored } = run;
	return stored;
}

type Entries = Transcript["entries"];

export class BackgroundDouble implements BackgroundSession {
	readonly background = new Background();
	/** The content of the store. */
	stored: RunRecord[] = [];
	others: RunRecord[] = [];
	/** The workflows of the project. */
	shown: ShownWorkflow[] = [];
	/** The runs of other sessions whose work waits. */
	waiting: RunRecord[] = [];
	commands: string[] = [];
	transcripts = new Map<string, Entries>();
	/** The number of entries handed out so far; tests count these instead of time. */
	handedOut = 0;
	asked: { entries?: number; tools?: boolean }[] = [];
	answer: (line: string) => CommandReport | Promise<CommandReport> = (line) => report(`done: ${line}`);
	read: (key: string) => Entries = (key) => this.transcripts.get(key) ?? [];
	private notify: (event: BackgroundEvent) => void = () => {};

	constructor(...runs: RunRecord[]) {
		const native: Pick<Native, "openBackground"> = {
			openBackground: (_options: BackgroundOptions, onEvent: (event: BackgroundEvent) => void) => {
				this.notify = onEvent;
				return this;
			},
		};
		this.background.open(native, {} as BackgroundOptions, () => {});
		this.now(...runs);
	}

	restartRuns(): ReturnType<BackgroundSession["restartRuns"]> {
		throw new Error("no test calls it");
	}

	async interruptedWorkflows(): ReturnType<BackgroundSession["interruptedWorkflows"]> {
		return [];
	}

	workflowEnded(): ReturnType<BackgroundSession["workflowEnded"]> {
		throw new Error("no test calls it");
	}

	continueRun(): ReturnType<BackgroundSession["continueRun"]> {
		throw new Error("no test calls it");
	}

	useTool(): ReturnType<BackgroundSession["useTool"]> {
		throw new Error("no test calls it");
	}

	/** Sets the runs of the session; delivered runs have no result. */
	now(...runs: RunRecord[]): void {
		this.stored = runs;
		this.notify({ runs: runs.map(({ result: _result, notes: _notes, ...run }) => run) });
	}

	/** Sets the running workflows of the session. */
	running(...workflows: ShownWorkflow[]): void {
		this.notify({ workflows });
	}

	async runs(all?: boolean | null): Promise<RunRecord[]> {
		return all ? [...this.stored, ...this.others] : this.stored;
	}

	async workflows(): Promise<ShownWorkflow[]> {
		return this.shown;
	}

	async projectRuns(): Promise<RunRecord[]> {
		return [...(await this.runs()), ...this.waiting];
	}

	async command(line: string): Promise<CommandReport> {
		this.commands.push(line);
		return await this.answer(line);
	}

	complete(): [] {
		return [];
	}

	async transcript(key: string, options: { entries?: number; tools?: boolean } = {}): Promise<Transcript> {
		this.asked.push(options);
		const { entries: max = 20, tools = true } = options;
		const all = this.read(key).filter(({ role }) => tools || role === "user" || role === "assistant");
		const entries = all.slice(-max);
		this.handedOut += entries.length;
		const bytes = all.length * 100;
		return { entries, hasMore: entries.length < all.length, bytes, version: `${bytes}` };
	}

	async stopAll(): Promise<CommandReport> {
		return report("stopped");
	}

	async delivered(): Promise<boolean> {
		return true;
	}

	async settled(): Promise<boolean> {
		return true;
	}

	async settledOrAsked(): Promise<boolean> {
		return false;
	}

	async close(): Promise<void> {}
}

export function report(text: string, isError = false): CommandReport {
	return { isError, title: "Sub-agents", lines: [{ mark: isError ? "error" : "ok", text }], text };
}
