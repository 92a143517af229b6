/** The runs that the panel lists: what is told of this session's, joined with what the store has. */

import type { BackgroundSession } from "../../index.js";
import type { Background } from "../background/registry.ts";
import { type BackgroundRun, endOf, isLive, runsOf } from "../background/run.ts";
import { messageOf } from "../host/guard.ts";
import { picked } from "../host/stored.ts";
import { repeated } from "./repeated.ts";

/** How often the store is asked: runs of other sessions are not told of, and old ones may be removed. */
const ALL_EVERY_MS = 2_000;
const OWN_EVERY_MS = 10_000;

export type PanelRuns = ReturnType<typeof panelRuns>;

export function panelRuns(background: Background, session: BackgroundSession, changed: () => void) {
	let askedAt = Number.NEGATIVE_INFINITY;
	let stored: readonly BackgroundRun[] = [];
	/** Which runs have ended as far as is told. */
	let ends = "";
	const reading = repeated(async () => {
		const { isAll } = runs;
		try {
			const found = runsOf(await session.runs(isAll));
			// Another list is wanted by now, and asked for next.
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
	/** Takes in what has been told. What came of a run that has just ended is asked for. */
	const join = () => {
		const byKey = new Map(stored.map((run) => [run.key, run]));
		const told = background.runs.map((run) => completed(run, byKey.get(run.key)));
		for (const { key } of told) byKey.delete(key);
		runs.unread = new Set(background.unread.map(({ key }) => key));
		runs.list = [...told, ...byKey.values()].sort((a, b) => b.createdMs - a.createdMs);
		changed();
		const before = ends;
		ends = told
			.filter((run) => !isLive(run))
			.map(endOf)
			.join();
		if (ends !== before) reading.want();
	};
	const runs = {
		/** Newest first. */
		list: [] as readonly BackgroundRun[],
		/** The keys of those that wait to be read. */
		unread: new Set() as ReadonlySet<string>,
		isAll: false,
		/** Whether the store has answered, and why it has not. */
		isComplete: false,
		problem: undefined as string | undefined,
		run: (key: string) => runs.list.find((run) => run.key === key),
		join,
		/** Lists the runs of all sessions, or only this one's. */
		toggleAll(): void {
			runs.isAll = !runs.isAll;
			const [own] = background.runs;
			if (!runs.isAll) stored = stored.filter(({ session }) => session === own?.session);
			join();
			reading.want();
		},
		/** Asks the store now, or when it is time to. */
		ask(now: boolean): void {
			// The clock may be set back.
			const age = Math.abs(Date.now() - askedAt);
			if (now || (!reading.isBusy() && age >= (runs.isAll ? ALL_EVERY_MS : OWN_EVERY_MS))) reading.want();
		},
	};
	join();
	return runs;
}

/** What is told of a run leaves its long texts out. */
function completed(told: BackgroundRun, stored: BackgroundRun | undefined): BackgroundRun {
	if (!stored || isLive(told) !== isLive(stored)) return told;
	return { ...told, ...picked(stored, ["task", "result", "partial", "notes"]) };
}
