/**
 * The questions of a session's runs that wait for a person, in their order. They outlast a reload of the extension, as
 * the runs do that ask them.
 */

import type { Answer, HostCallbacks } from "../../index.js";
import { contained, guardedTimeout } from "../host/guard.ts";
import type { Asked } from "./asked.ts";

/** Shows questions to a person. */
export interface Presenter {
	/** Hears of every change. */
	update(waiting: readonly Waiting[]): void;
	/** Shows this question now, because the person wants to answer it. */
	open(id: number): void;
	/** Takes everything off the screen. */
	close(): void;
}

export interface Waiting extends Asked {
	/** When it began to wait, and when it ends unanswered; as `performance.now()` counts. */
	readonly since: number;
	readonly endsAt: number;
	/** Gives an answer; without one, nobody has answered. */
	settle(answer?: Answer): void;
}

/** The questions of a session, whichever load of the extension looks after them. */
interface Queue {
	session: string;
	waiting: readonly Waiting[];
	labelOf(runId: string): string | undefined;
	changed(): void;
}

/** Those of the sessions that are open or being reloaded, by their ids. */
const queues = new Map<string, Queue>();

/** Nobody answers for as long: the answer is the harmless one. */
const LIMIT_MS = 10 * 60_000;
/** What a timer takes; one that is longer would fire at once. */
const MAX_LIMIT_MS = 2 ** 31 - 1;
/** A question that is taken back before it is heard comes right after; so many are remembered. */
const MOST_WITHDRAWN = 100;

export class Questions {
	private queue: Queue | undefined;
	private presenter: Presenter | undefined;
	/** Questions that were taken back before they were heard. */
	private withdrawn: readonly number[] = [];
	/** Hears of every change. */
	private readonly heard: (waiting: readonly Waiting[]) => void;

	constructor(heard: (waiting: readonly Waiting[]) => void = () => {}) {
		this.heard = heard;
	}

	/** From now on the questions of this session are asked; some may wait since before a reload. */
	attach(session: string, presenter: Presenter, labelOf: Queue["labelOf"]): void {
		const changed = () => {
			presenter.update(this.list());
			contained("telling of questions", () => this.heard(this.list()));
		};
		this.queue = Object.assign(queues.get(session) ?? { waiting: [], session }, { labelOf, changed });
		this.presenter = presenter;
		queues.set(session, this.queue);
		changed();
	}

	/** Ends that: with the session goes the person who could answer, unless its next load asks them again. */
	detach(isReload: boolean): void {
		const { queue, presenter } = this;
		this.queue = undefined;
		this.presenter = undefined;
		presenter?.close();
		if (!queue) return;
		queue.changed = () => {};
		if (isReload) return;
		queues.delete(queue.session);
		for (const { settle } of queue.waiting) settle();
	}

	/** All that wait, longest first; those of one tool call, if it is given. */
	list(callId?: string): readonly Waiting[] {
		const all = this.queue?.waiting ?? [];
		return callId === undefined ? all : all.filter((asked) => asked.callId === callId);
	}

	/** Opens the question that waits longest, one by its place in the row, or that of a run. False: there is none. */
	open(which = ""): boolean {
		const waiting = this.list();
		const isOf = ({ runId, label, agent }: Waiting) => runId.startsWith(which) || label === which || agent === which;
		const asked = (/^[1-9]\d?$/.test(which) ? waiting[Number(which) - 1] : undefined) ?? waiting.find(isOf);
		if (asked) this.presenter?.open(asked.id);
		return asked !== undefined;
	}

	/** How runs of this session ask; those of a tool call are known by it. */
	callbacks(session: string, callId?: string): Required<Pick<HostCallbacks, "confirm" | "ask" | "withdraw">> {
		const of = callId === undefined ? {} : { callId };
		return {
			confirm: async ({ path: _path, ...request }) => {
				const answer = await this.ask(session, { ...request, ...of, method: "consent" });
				// The addon tells a no from no answer, which is what a rejection is.
				if (answer?.confirmed === undefined) throw new Error("nobody has answered");
				return answer.confirmed;
			},
			ask: async ({ timeoutMs, ...question }) => (await this.ask(session, { ...question, ...of }, timeoutMs)) ?? {},
			withdraw: (id) => {
				const waiting = queues.get(session)?.waiting.find((asked) => asked.id === id);
				if (waiting) waiting.settle();
				else this.withdrawn = [...this.withdrawn, id].slice(-MOST_WITHDRAWN);
			},
		};
	}

	/** The child counts from when it asks, however long others are being answered. */
	private async ask(session: string, asked: Asked, timeoutMs = LIMIT_MS): Promise<Answer | undefined> {
		const queue = queues.get(session);
		if (!queue || this.withdrawn.includes(asked.id)) return undefined;
		const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
		const limitMs = Math.min(timeoutMs, MAX_LIMIT_MS);
		const timer = guardedTimeout("ending a question", () => waiting.settle(), limitMs);
		const since = performance.now();
		const waiting: Waiting = {
			...{ ...asked, since, endsAt: since + limitMs },
			get label() {
				return queue.labelOf(asked.runId);
			},
			settle(answer) {
				clearTimeout(timer);
				resolve(answer);
				queue.waiting = queue.waiting.filter((other) => other !== waiting);
				queue.changed();
			},
		};
		queue.waiting = [...queue.waiting, waiting];
		queue.changed();
		return await promise;
	}
}
