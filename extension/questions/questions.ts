/**
 * The questions of a session's runs that wait for a person, in their order. They outlast a reload of the extension, as
 * the runs do that ask them.
 */

import type { Answer, HostCallbacks } from "../../index.js";
import { loadAddon } from "../host/native.ts";
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

export type Waiting = Asked & {
	/** When it began to wait, and when it ends unanswered; as `performance.now()` counts. */
	readonly since: number;
	readonly endsAt: number;
	/** Gives an answer; without one, nobody has answered. */
	settle(answer?: Answer): void;
};

/** The questions of a session, whichever load of the extension looks after them. */
interface Queue {
	session: string;
	waiting: readonly Waiting[];
	changed(): void;
}

/** Those of the sessions that are open or being reloaded, by their ids. */
const queues = new Map<string, Queue>();

/** A question that is taken back before it is heard comes right after; so many are remembered. */
const MOST_WITHDRAWN = 100;

export class Questions {
	private queue: Queue | undefined;
	private presenter: Presenter | undefined;
	/** Questions that were taken back before they were heard. */
	private withdrawn: readonly number[] = [];
	/** From now on the questions of this session are asked; some may wait since before a reload. */
	attach(session: string, presenter: Presenter): void {
		const changed = () => presenter.update(this.list());
		// pi may begin a session twice.
		this.presenter?.close();
		this.queue = Object.assign(queues.get(session) ?? { waiting: [], session }, { changed });
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

	/**
	 * Opens the question that a line after `/subagents` is about; `problem` says why there is none. Nothing for a line that
	 * is another command.
	 */
	open(line: string): { problem?: string } | undefined {
		const waiting = this.list().map(({ id, runId, agent, label }) => ({ id, runId, agent, ...(label && { label }) }));
		const chosen = loadAddon().native?.questionToAnswer(line, waiting);
		if (chosen?.id !== undefined) this.presenter?.open(chosen.id);
		return chosen ?? undefined;
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
			ask: async (question) => {
				const answer = await this.ask(session, { ...question, ...of });
				// Where no person has said anything, the conversation may.
				if (!answer && question.forConversation) throw new Error("nobody has answered");
				return answer ?? {};
			},
			withdraw: (id) => {
				const waiting = queues.get(session)?.waiting.find((asked) => asked.id === id);
				if (waiting) waiting.settle();
				else this.withdrawn = [...this.withdrawn, id].slice(-MOST_WITHDRAWN);
			},
		};
	}

	/** The addon takes it back when it does not wait any more. */
	private async ask(session: string, asked: Asked): Promise<Answer | undefined> {
		const queue = queues.get(session);
		if (!queue || this.withdrawn.includes(asked.id)) return undefined;
		const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
		const since = performance.now();
		const waiting: Waiting = {
			...asked,
			since,
			endsAt: since + asked.timeoutMs,
			settle(answer) {
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
