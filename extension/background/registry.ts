/**
 * The background runs of the session that is open: their newest state for whoever draws them, and the addon's view of
 * them for whoever asks or commands.
 */

import { contained } from "../host/guard.ts";
import type { Native } from "../host/native.ts";
import type { BackgroundEvent, BackgroundOptions, BackgroundRun, BackgroundSession } from "./types.ts";

/** Hears of the session's runs whenever something has changed, at most a few times a second. */
export type RunsListener = (runs: readonly BackgroundRun[]) => void;

const NONE: readonly BackgroundRun[] = [];

export class Background {
	private view: BackgroundSession | undefined;
	private latest = NONE;
	private readonly listeners = new Set<RunsListener>();

	/** The addon's view of the open session; absent while none is open, or without the addon. */
	get session(): BackgroundSession | undefined {
		return this.view;
	}

	/** All live runs of the session and those that ended since it was opened, newest first. */
	get runs(): readonly BackgroundRun[] {
		return this.latest;
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
		let isOpening = true;
		view = native.openBackground(options, (event) => {
			// What an older session has left behind says nothing about this one.
			if (!isOpening && this.view !== view) return;
			if (event.runs) this.publish(event.runs);
			onEvent(event);
		});
		this.view = view;
		isOpening = false;
	}

	/** Forgets the session, and returns its view so that it can be closed. */
	leave(): BackgroundSession | undefined {
		const { view } = this;
		this.view = undefined;
		this.publish(NONE);
		return view;
	}

	private publish(runs: readonly BackgroundRun[]): void {
		this.latest = runs;
		// One that fails must not keep the news from the others.
		for (const listener of this.listeners) contained("showing the background runs", () => listener(runs), undefined);
	}
}
