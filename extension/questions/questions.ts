/**
 * The questions of a session's runs that wait for a person, in their order. They outlast a reload of the extension, as
 * the runs do that ask them.
 */

import type { Answer, HostCallbacks } from "../../index.js";
import { guardedTimeout } from "../host/guard.ts";
import { type Asked, consentOf, questionOf } from "./asked.ts";

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
	/** Gives an answer; without one, nobody has answered. */
	settle(answer?: Answer): void;
}

/** What the questions of a session need, whichever load of the extension looks after them. */
interface Store {
	waiting: Waiting[];
	changed(): void;
}

/** The sessions that are open or being reloaded, by their ids. */
const stores = new Map<string, Store>();

export class Questions {
	private session: string | undefined;
	private presenter: Presenter | undefined;
	private readonly listeners = new Set<() => void>();
	/** Questions that were taken back before they were heard. */
	private readonly withdrawn = new Set<number>();

	/** From now on the questions of this session are asked; some may wait since before a reload. */
	attach(session: string, presenter: Presenter): void {
		this.session = session;
		this.presenter = presenter;
		const store = stores.get(session) ?? { waiting: [], changed: () => {} };
		store.changed = () => this.changed();
		stores.set(session, store);
		this.changed();
	}

	/** Ends that: with the session goes the person who could answer, unless its next load asks them again. */
	detach(isReload: boolean): void {
		const { session = "", presenter } = this;
		const store = stores.get(session);
		this.presenter = undefined;
		this.session = undefined;
		presenter?.close();
		if (!store) return;
		store.changed = () => {};
		if (isReload) return;
		stores.delete(session);
		for (const { settle } of store.waiting) settle();
	}

	/** All that wait, longest first; those of one tool call, if it is given. */
	list(callId?: string): readonly Waiting[] {
		const all = stores.get(this.session ?? "")?.waiting ?? [];
		return callId === undefined ? all : all.filter((asked) => asked.callId === callId);
	}

	/** What each run asks that asks anything, by its id. */
	titles(): ReadonlyMap<string, string> {
		return new Map(this.list().map(({ runId, title }) => [runId, title]));
	}

	/** Calls `listener` at every change from now on. Returns what ends that. */
	subscribe(listener: () => void): () => void {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	/** Opens this question, or the one that waits longest. False: there is none. */
	open(id = this.list()[0]?.id): boolean {
		const isThere = this.list().some((asked) => asked.id === id);
		if (isThere && id !== undefined) this.presenter?.open(id);
		return isThere;
	}

	/** How runs of this session ask; those of a tool call are known by it. */
	callbacks(session: string, callId?: string): Required<Pick<HostCallbacks, "confirm" | "ask" | "withdraw">> {
		const of = callId === undefined ? {} : { callId };
		return {
			confirm: async (request) => {
				const answer = await this.ask(session, { ...consentOf(request), ...of });
				// The addon tells a no from no answer, which is what a rejection is.
				if (answer?.confirmed === undefined) throw new Error("nobody has answered");
				return answer.confirmed;
			},
			ask: async (question) => (await this.ask(session, { ...questionOf(question), ...of })) ?? {},
			withdraw: (id) => {
				const waiting = stores.get(session)?.waiting.find((asked) => asked.id === id);
				if (waiting) waiting.settle();
				else this.withdrawn.add(id);
			},
		};
	}

	private async ask(session: string, asked: Asked): Promise<Answer | undefined> {
		const store = stores.get(session);
		if (!store || this.withdrawn.delete(asked.id)) return undefined;
		const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
		const timer = guardedTimeout("ending a question", () => waiting.settle(), asked.limitMs);
		const waiting: Waiting = {
			...asked,
			settle(answer) {
				clearTimeout(timer);
				resolve(answer);
				if (!store.waiting.includes(waiting)) return;
				store.waiting = store.waiting.filter((other) => other !== waiting);
				store.changed();
			},
		};
		store.waiting.push(waiting);
		store.changed();
		return await promise;
	}

	private changed(): void {
		this.presenter?.update(this.list());
		for (const listener of this.listeners) listener();
	}
}
