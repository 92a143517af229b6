/** What is done whenever it is wanted: one at a time, with a rest after each, and again when it was wanted meanwhile. */

import { guardedTimeout, unwaited } from "../host/guard.ts";

export class Repeated {
	isBusy = false;
	private readonly work: () => Promise<void> | void;
	private readonly restMs: number;
	private isWanted = false;
	private isDisposed = false;
	private timer: NodeJS.Timeout | undefined;

	constructor(work: () => Promise<void> | void, restMs = 0) {
		this.work = work;
		this.restMs = restMs;
	}

	want(): void {
		this.isWanted = true;
		if (this.isBusy || this.isDisposed) return;
		this.isBusy = true;
		this.isWanted = false;
		const working = this.work();
		if (working) unwaited("the panel", working.then(this.rest));
		else this.rest();
	}

	dispose(): void {
		this.isDisposed = true;
		clearTimeout(this.timer);
	}

	private readonly rest = () => {
		if (this.isDisposed) return;
		const rested = () => {
			this.isBusy = false;
			if (this.isWanted) this.want();
		};
		if (this.restMs === 0) rested();
		else this.timer = guardedTimeout("the panel", rested, this.restMs);
	};
}
