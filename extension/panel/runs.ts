/** The runs that the panel lists: what is told of this session's, joined with what the store has. */

import type { BackgroundSession } from "../../index.js";
import type { Background } from "../background/registry.ts";
import { type BackgroundRun, endOf, isLive, runsOf } from "../background/run.ts";
import { messageOf } from "../host/guard.ts";
import { picked } from "../host/stored.ts";
import { Repeated } from "./repeated.ts";

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
	private readonly reading = new Repeated(() => this.read());
	private stored: readonly BackgroundRun[] = [];
	private askedAt = Number.NEGATIVE_INFINITY;
	/** Which runs have ended as far as is told. */
	private ends = "";

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
		const ended = told.filter((run) => !isLive(run));
		const ends = ended.map(endOf).join();
		if (ends === this.ends) return;
		this.ends = ends;
		this.ask(true);
	}

	/** Lists the runs of all sessions, or only this one's. */
	toggleAll(): void {
		this.isAll = !this.isAll;
		const [own] = this.background.runs;
		if (!this.isAll) this.stored = this.stored.filter(({ session }) => session === own?.session);
		this.join();
		this.ask(true);
	}

	/** Asks the store now, or when it is time to. */
	ask(now: boolean): void {
		// The clock may be set back.
		const age = Math.abs(Date.now() - this.askedAt);
		const isTime = !this.reading.isBusy && age >= (this.isAll ? ALL_EVERY_MS : OWN_EVERY_MS);
		if (now || isTime) this.reading.want();
	}

	private async read(): Promise<void> {
		const { isAll } = this;
		try {
			const runs = runsOf(await this.session.runs(isAll));
			// Another list is wanted by now, and asked for next.
			if (isAll !== this.isAll) return;
			this.stored = runs;
			this.isComplete = true;
			this.problem = undefined;
		} catch (error) {
			this.problem = messageOf(error);
		}
		this.askedAt = Date.now();
		this.join();
	}
}

/** What is told of a run leaves its long texts out. */
function completed(told: BackgroundRun, stored: BackgroundRun | undefined): BackgroundRun {
	if (!stored || isLive(told) !== isLive(stored)) return told;
	return { ...told, ...picked(stored, ["task", "result", "partial", "notes"]) };
}
