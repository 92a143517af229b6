/**
 * The background runs of the session that is open: their newest state for whoever draws them, and the addon's view of
 * them for whoever asks or commands.
 */

import type { BackgroundEvent, BackgroundOptions, BackgroundSession } from "../../index.js";
import { contained } from "../host/guard.ts";
import type { Native } from "../host/native.ts";
import { type BackgroundRun, endOf, isLive, runsOf } from "./run.ts";

/** How long the results of runs that end one after the other are gathered before they come. */
const GATHERED_MS = 3_000;

/** Hears of the session's runs whenever something has changed, at most a few times a second. */
export type RunsListener = (runs: readonly BackgroundRun[]) => void;

const NONE: readonly BackgroundRun[] = [];

export class Background {
	/** The addon's view of the open session; absent while none is open, or without the addon. */
	session: BackgroundSession | undefined;
	/** All live runs of the session and those that ended since it was opened, newest first. */
	runs = NONE;
	private held = NONE;
	/** Ends whose results have come, `endOf` each. */
	private readonly told = new Set<string>();
	private readonly listeners = new Set<RunsListener>();

	/** Runs that have ended, and whose results do not stand in the session yet. */
	get unread(): readonly BackgroundRun[] {
		const now = Date.now();
		const coming = this.runs.filter((run) => {
			const isFresh = now - (run.endedMs ?? 0) < GATHERED_MS;
			return isFresh && !isLive(run) && !run.isForeground && !this.told.has(endOf(run));
		});
		return [...coming, ...this.held];
	}

	/** Takes in whose results are held back at this moment. */
	hold(runs: readonly BackgroundRun[]): void {
		const before = this.held.map(endOf).join();
		this.held = runsOf(runs);
		const now = this.held.map(endOf);
		for (const end of now) this.told.add(end);
		if (now.join() !== before) this.publish(this.runs);
	}

	/** Calls `listener` at every change from now on. Returns what ends that. */
	subscribe(listener: RunsListener): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	/** Opens a session; `onEvent` hears of everything else that happens to it, and is offered results again when it throws. */
	open(
		native: Pick<Native, "openBackground">,
		options: BackgroundOptions,
		onEvent: (event: BackgroundEvent) => void,
	): void {
		let view: BackgroundSession | undefined;
		view = native.openBackground(options, (event) => {
			// What an older session has left behind says nothing about this one.
			if (view && this.session !== view) return;
			if (event.runs) this.publish(runsOf(event.runs));
			onEvent(event);
		});
		this.session = view;
	}

	/** Forgets the session, and returns its view so that it can be closed. */
	leave(): BackgroundSession | undefined {
		const { session } = this;
		this.session = undefined;
		this.held = NONE;
		this.told.clear();
		this.publish(NONE);
		return session;
	}

	/**
	 * Waits for the session's runs, or until one asks the conversation: that is true. A signal to pi ends the wait, because
	 * pi waits for its handlers first.
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
			// Events take another way than promises, and may be behind them.
			await new Promise((behind) => setImmediate(behind));
		}
	}

	private publish(runs: readonly BackgroundRun[]): void {
		this.runs = runs;
		// One that fails must not keep the news from the others.
		for (const listener of this.listeners) contained("showing the background runs", () => listener(this.runs));
	}
}
