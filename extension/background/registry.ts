/**
 * The background runs of the open session: their latest state for the views, and the addon's view of the session for
 * questions and commands.
 */

import type { BackgroundEvent, BackgroundOptions, BackgroundSession, RunRecord, ShownWorkflow } from "../../native.js";
import { runGuarded } from "../host/guard.ts";
import type { Native } from "../host/native.ts";
import { isObject } from "../host/stored.ts";

/**
 * The time for which the addon collects the results of runs that end shortly after each other, before it delivers them.
 */
const COLLECTING_MS = 3_000;

/** Called with the session's runs after every change, at most a few times per second. */
export type RunsListener = (runs: readonly RunRecord[]) => void;

const NONE: readonly RunRecord[] = [];
const NOTHING_SETTLED = "{}";

export class Background {
	/** The addon's view of the open session. Absent while no session is open, or without the addon. */
	session: BackgroundSession | undefined;
	/** All live runs of the session, and the runs that have ended since it was opened, newest first. */
	runs = NONE;
	/** The running workflows of the session. */
	workflows: readonly ShownWorkflow[] = [];
	/** The state of runs and their changes after commands, as `CallCard.settle` takes it. */
	settled = NOTHING_SETTLED;
	private changes: BackgroundEvent["settled"];
	/** The ids of foreground runs without a card: scripts have called them. */
	readonly withoutCard = new Set<string>();
	private undelivered = NONE;
	/** The run ends (`endOf`) whose results have been offered for delivery. */
	private readonly offered = new Set<string>();
	private readonly listeners = new Set<RunsListener>();

	/** The runs that have ended and whose results are not in the session yet. */
	get unread(): readonly RunRecord[] {
		const now = Date.now();
		const arriving = this.runs.filter((run) => {
			const isFresh = now - (run.endedMs ?? 0) < COLLECTING_MS;
			return isFresh && !isLive(run) && !run.isForeground && !this.offered.has(endOf(run));
		});
		return [...arriving, ...this.undelivered];
	}

	/** Sets the runs whose results are waiting for delivery. */
	setUndelivered(runs: readonly RunRecord[]): void {
		const before = this.undelivered.map(endOf).join();
		this.undelivered = runsOf(runs);
		const now = this.undelivered.map(endOf);
		for (const end of now) this.offered.add(end);
		if (now.join() !== before) this.publish(this.runs);
	}

	/** Calls `listener` after every change. Returns a function that unsubscribes it. */
	subscribe(listener: RunsListener): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	/**
	 * Opens a session. `onEvent` receives all its other events. If `onEvent` throws, the addon offers the results again.
	 */
	open(
		native: Pick<Native, "openBackground">,
		options: BackgroundOptions,
		onEvent: (event: BackgroundEvent) => void,
	): void {
		let view: BackgroundSession | undefined;
		view = native.openBackground(options, (event) => {
			// An event of an older session does not apply to this one.
			if (view && this.session !== view) return;
			if (event.workflows) this.workflows = event.workflows;
			if (event.settled) this.changes = event.settled;
			const runs = event.runs ? runsOf(event.runs) : this.runs;
			if (event.settled || event.runs) this.settled = settledOf(this.changes, runs);
			if (event.runs || event.settled || event.workflows) this.publish(runs);
			onEvent(event);
		});
		this.session = view;
	}

	/** Closes the session here and returns its view, so that the caller can close it too. */
	leave(): BackgroundSession | undefined {
		const { session } = this;
		this.session = undefined;
		this.undelivered = NONE;
		this.offered.clear();
		this.settled = NOTHING_SETTLED;
		this.changes = undefined;
		this.workflows = [];
		this.withoutCard.clear();
		this.publish(NONE);
		return session;
	}

	/**
	 * Waits until all runs of the session have settled or one of them asks the conversation. Returns true in the second
	 * case. A signal to pi also ends the wait, because pi waits for its handlers before it exits.
	 */
	async settledOrAsked(): Promise<boolean> {
		const { session } = this;
		if (!session) return false;
		const { promise, resolve } = Promise.withResolvers<false>();
		const signals = ["SIGTERM", "SIGHUP"] as const;
		const leave = () => resolve(false);
		for (const signal of signals) process.once(signal, leave);
		try {
			return await Promise.race([session.settledOrAsked(), promise]);
		} finally {
			for (const signal of signals) process.off(signal, leave);
			// Events use another channel than promises, and may arrive later.
			await new Promise((resolved) => setImmediate(resolved));
		}
	}

	private publish(runs: readonly RunRecord[]): void {
		this.runs = runs;
		// A listener that fails must not keep the update from the other listeners.
		for (const listener of this.listeners) runGuarded("showing the background runs", () => listener(this.runs));
	}
}

export type { RunRecord };

export function isLive({ state }: RunRecord): boolean {
	return state !== "ended";
}

/** Combines the states of changes with the runs that were resumed, or have ended in the background. */
function settledOf(changes: BackgroundEvent["settled"] = {}, runs: readonly RunRecord[]): string {
	const settled = new Map<string, object>(Object.entries(changes).map(([id, state]) => [id, { changes: state }]));
	for (const run of runs) {
		const hasEnded = !isLive(run) && !run.isForeground;
		const { runId, timesResumed } = run;
		if (hasEnded || timesResumed > 0) settled.set(runId, { ...settled.get(runId), timesResumed, hasEnded });
	}
	return JSON.stringify(Object.fromEntries(settled));
}

/** Identifies one end of a run. A run has several ends if it was resumed. */
export function endOf({ key, timesResumed }: RunRecord): string {
	return `${key} ${timesResumed}`;
}

/** Returns the runs that the addon sent. The addon draws only those that it can read. */
export function runsOf(runs: unknown): RunRecord[] {
	return Array.isArray(runs) ? runs.filter((run): run is RunRecord => isObject(run)) : [];
}
