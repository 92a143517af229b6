/**
 * Runs work on demand: one run at a time, with a pause after each, and once more if it was requested in the meantime.
 */

import { guardedTimeout, reportFailure } from "../host/guard.ts";

export function repeated(work: () => Promise<void> | void, restMs = 0) {
	let isBusy = false;
	let isWanted = false;
	let isDisposed = false;
	let timer: NodeJS.Timeout | undefined;
	const want = () => {
		isWanted = true;
		if (isBusy || isDisposed) return;
		isBusy = true;
		isWanted = false;
		const working = work();
		if (working) reportFailure("the panel", working.then(rest));
		else rest();
	};
	const rest = () => {
		if (restMs === 0) rested();
		else if (!isDisposed) timer = guardedTimeout("the panel", rested, restMs);
	};
	const rested = () => {
		isBusy = false;
		if (isWanted) want();
	};
	const dispose = () => {
		isDisposed = true;
		clearTimeout(timer);
	};
	return { want, dispose, isBusy: () => isBusy };
}
