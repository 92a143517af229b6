/** The runs that the panel lists: this session's runs from events, joined with the runs in the store. */

import type { BackgroundSession } from "../../index.js";
import type { Background } from "../background/registry.ts";
import { endOf, isLive, type RunRecord, runsOf } from "../background/run.ts";
import { messageOf } from "../host/guard.ts";
import { picked } from "../host/stored.ts";
import { repeated } from "./repeated.ts";

/** The intervals for reading the store. Runs of other sessions send no events here, and old runs may be removed. */
const ALL_EVERY_MS = 2_000;
const OWN_EVERY_MS = 10_000;

export type PanelRuns = ReturnType<typeof panelRuns>;

export function panelRuns(background: Background, session: BackgroundSession, changed: () => void) {
	let askedAt = Number.NEGATIVE_INFINITY;
	let stored: readonly RunRecord[] = [];
	/** The ended runs known from events, as joined `endOf` keys. */
	let ends = "";
	const reading = repeated(async () => {
		const { isAll } = runs;
		try {
			const found = runsOf(await session.runs(isAll));
			// The user has switched to another list; the next read loads it.
			if (isAll !== runs.isAll) return;
			stored = found;
			runs.isComplete = true;
			runs.problem = undefined;
		} catch (error) {
			runs.problem = messageOf(error);
		}
		askedAt = Date.now();
		join();
	});
	/** Joins the events with the stored runs. If a run has just ended, requests its result from the store. */
	const join = () => {
		const byKey = new Map(stored.map((run) => [run.key, run]));
		const own = background.runs.map((run) => completed(run, byKey.get(run.key)));
		for (const { key } of own) byKey.delete(key);
		runs.unread = new Set(background.unread.map(({ key }) => key));
		runs.list = [...own, ...byKey.values()].sort((a, b) => b.createdMs - a.createdMs);
		changed();
		const before = ends;
		ends = own
			.filter((run) => !isLive(run))
			.map(endOf)
			.join();
		if (ends !== before) reading.want();
	};
	const runs = {
		/** All listed runs, newest first. */
		list: [] as readonly RunRecord[],
		/** The keys of the runs with unread results. */
		unread: new Set() as ReadonlySet<string>,
		isAll: false,
		/** `isComplete` is true once the store has answered. `problem` is its error. */
		isComplete: false,
		problem: undefined as string | undefined,
		run: (key: string) => runs.list.find((run) => run.key === key),
		join,
		/** Switches between the runs of all sessions and the runs of this one. */
		toggleAll(): void {
			runs.isAll = !runs.isAll;
			const [first] = background.runs;
			if (!runs.isAll) stored = stored.filter(({ session }) => session === first?.session);
			join();
			reading.want();
		},
		/** Reads the store, at once or if the interval has passed. */
		ask(now: boolean): void {
			// The system clock may be set back.
			const age = Math.abs(Date.now() - askedAt);
			if (now || (!reading.isBusy() && age >= (runs.isAll ? ALL_EVERY_MS : OWN_EVERY_MS))) reading.want();
		},
	};
	join();
	return runs;
}

/** Adds the long texts of the stored run, which events leave out. */
function completed(own: RunRecord, stored: RunRecord | undefined): RunRecord {
	if (!stored || isLive(own) !== isLive(stored)) return own;
	return { ...own, ...picked(stored, ["task", "result", "partial", "notes"]) };
}
