/** The runs that the panel lists: what is told of this session's, joined with what the store has. */

import type { Background } from "../background/registry.ts";
import { endOf, isLive, runsOf } from "../background/run.ts";
import type { BackgroundRun, BackgroundSession } from "../background/types.ts";

/** How often the store is asked: runs of other sessions are not told of, and old ones may be removed. */
const ALL_EVERY_MS = 2_000;
const OWN_EVERY_MS = 10_000;

export class PanelRuns {
	/** Newest first. */
	list: readonly BackgroundRun[] = [];
	isAll = false;
	/** Whether the store has answered. */
	isComplete = false;
	/** Why it has not. */
	problem: string | undefined;
	/** The keys of those that wait to be read. */
	unread: ReadonlySet<string> = new Set();
	private readonly background: Background;
	private readonly session: BackgroundSession;
	private readonly changed: () => void;
	private stored: readonly BackgroundRun[] = [];
	private askedAt = Number.NEGATIVE_INFINITY;
	private isAsking = false;
	/** Somebody has asked while the store was being asked. */
	private isAskedAgain = false;
	private readonly askedFor = new Set<string>();

	constructor(background: Background, session: BackgroundSession, changed: () => void) {
		this.background = background;
		this.session = session;
		this.changed = changed;
		this.join();
	}

	run(key: string): BackgroundRun | undefined {
		return this.list.find((run) => run.key === key);
	}

	/** Takes in what has been told. What came of a run that has just ended is asked for. */
	join(): void {
		const stored = new Map(this.stored.map((run) => [run.key, run]));
		const told = this.background.runs.map((run) => completed(run, stored.get(run.key)));
		for (const { key } of told) stored.delete(key);
		this.unread = new Set(this.background.unread.map(({ key }) => key));
		this.list = [...told, ...stored.values()].sort((a, b) => b.createdMs - a.createdMs);
		this.changed();
		const ended = told.filter((run) => !isLive(run) && isUnknown(run, this.stored)).map(endOf);
		// Once for each end: the store may not have them.
		if (ended.some((end) => !this.askedFor.has(end))) this.ask(true);
		for (const end of ended) this.askedFor.add(end);
	}

	/** Lists the runs of all sessions, or only this one's. */
	toggleAll(): void {
		this.isAll = !this.isAll;
		if (!this.isAll) {
			const [own] = this.background.runs;
			this.stored = own ? this.stored.filter(({ session }) => session === own.session) : [];
		}
		this.join();
		this.ask(true);
	}

	/** Asks the store now, or when it is time to. Never rejects. */
	ask(now: boolean): void {
		// The clock may be set back.
		const age = Math.abs(Date.now() - this.askedAt);
		if (!now && age < (this.isAll ? ALL_EVERY_MS : OWN_EVERY_MS)) return;
		this.isAskedAgain = this.isAsking && (now || this.isAskedAgain);
		if (this.isAsking) return;
		const { isAll } = this;
		this.isAsking = true;
		const answered = this.session.runs(isAll).then(
			(runs) => {
				if (isAll !== this.isAll) return;
				this.stored = runsOf(runs);
				this.isComplete = true;
				this.problem = undefined;
			},
			(error: unknown) => {
				this.problem = error instanceof Error ? error.message : String(error);
			},
		);
		void answered.then(() => {
			this.isAsking = false;
			this.askedAt = Date.now();
			this.join();
			if (this.isAskedAgain || isAll !== this.isAll) this.ask(true);
		});
	}
}

/** What is told of a run leaves its long texts out. */
function completed(told: BackgroundRun, stored: BackgroundRun | undefined): BackgroundRun {
	if (!stored || isLive(told) !== isLive(stored)) return told;
	const { result, partial, notes, task } = stored;
	const texts = { ...(result !== undefined && { result }), ...(partial !== undefined && { partial }) };
	return { ...told, task, ...texts, ...(notes && { notes }) };
}

/** Whether the store was last asked before the run had ended. */
function isUnknown({ key }: BackgroundRun, stored: readonly BackgroundRun[]): boolean {
	const known = stored.find((run) => run.key === key);
	return !known || isLive(known);
}
