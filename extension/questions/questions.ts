/**
 * The pending questions of a session's runs, in order. They survive a reload of the extension, as do the runs that ask
 * them.
 */

import type { Answer, ConfirmRequest, HostCallbacks, Question } from "../../native.js";
import { loadAddon } from "../host/native.ts";
import type { Pen } from "../ui/pen.ts";

/** Shows questions to the user. */
export interface Presenter {
	/** Called after every change. */
	update(waiting: readonly Waiting[]): void;
	/** Shows this question now, because the user wants to answer it. */
	open(id: number): void;
	/** Removes everything from the screen. */
	close(): void;
}

export type Waiting = Asked & {
	/** The times at which the question was asked and at which it expires, in `performance.now()` milliseconds. */
	readonly since: number;
	readonly endsAt: number;
	/** Answers the question. Without an answer, it counts as unanswered. */
	settle(answer?: Answer): void;
};

/** The questions of one session. The queue survives reloads of the extension. */
interface Queue {
	session: string;
	waiting: readonly Waiting[];
	changed(): void;
}

/** The queues of the sessions that are open or being reloaded, by session id. */
const queues = new Map<string, Queue>();

/**
 * The maximum number of remembered withdrawals. If a question is withdrawn before it arrives here, it arrives right
 * after.
 */
const MAX_WITHDRAWN = 100;

export class Questions {
	private queue: Queue | undefined;
	private presenter: Presenter | undefined;
	/** The ids of questions that were withdrawn before they arrived here. */
	private withdrawn: readonly number[] = [];
	/** Starts showing the questions of this session. Some may have been pending since before a reload. */
	attach(session: string, presenter: Presenter): void {
		const changed = () => presenter.update(this.list());
		// pi may start a session twice.
		this.presenter?.close();
		this.queue = Object.assign(queues.get(session) ?? { waiting: [], session }, { changed });
		this.presenter = presenter;
		queues.set(session, this.queue);
		changed();
	}

	/**
	 * Stops showing questions. The open ones are left unanswered, unless the next load of the extension asks them again.
	 */
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

	/** Returns all pending questions, oldest first, or only those of one tool call. */
	list(callId?: string): readonly Waiting[] {
		const all = this.queue?.waiting ?? [];
		return callId === undefined ? all : all.filter((asked) => asked.callId === callId);
	}

	/**
	 * Opens the question that a line after `/subagents` refers to. `problem` is the reason why there is none. Returns
	 * `undefined` for any other command.
	 */
	open(line: string): { problem?: string } | undefined {
		const waiting = this.list().map(({ id, runId, agent, label }) => ({ id, runId, agent, ...(label && { label }) }));
		const chosen = loadAddon().native?.questionToAnswer(line, waiting);
		if (chosen?.id !== undefined) this.presenter?.open(chosen.id);
		return chosen ?? undefined;
	}

	/**
	 * Returns the callbacks for runs of this session. `callId` marks the questions of one tool call. A question for consent opens
	 * at once while `isAwaited` returns true: the user has just sent the command that asks it.
	 */
	callbacks(
		session: string,
		callId?: string,
		isAwaited = () => false,
	): Required<Pick<HostCallbacks, "confirm" | "ask" | "withdraw">> {
		const of = callId === undefined ? {} : { callId };
		return {
			confirm: async ({ path: _path, ...request }) => {
				const asked = this.ask(session, { ...request, ...of, method: "consent" });
				if (isAwaited()) this.presenter?.open(request.id);
				const answer = await asked;
				// The addon distinguishes a no from no answer, which is a rejection.
				if (answer?.confirmed === undefined) throw new Error("no one has answered");
				return answer.confirmed;
			},
			ask: async (question) => {
				const answer = await this.ask(session, { ...question, ...of });
				// If no person has answered, the conversation may answer.
				if (!answer && question.forConversation) throw new Error("no one has answered");
				return answer ?? {};
			},
			withdraw: (id) => {
				const waiting = queues.get(session)?.waiting.find((asked) => asked.id === id);
				if (waiting) waiting.settle();
				else this.withdrawn = [...this.withdrawn, id].slice(-MAX_WITHDRAWN);
			},
		};
	}

	/** Asks a question. The addon withdraws it when it stops waiting. */
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

/**
 * A question with the addon's id, which is unique in this process. The addon itself asks questions of the kind
 * `consent`.
 */
export type Asked = (Question | (Omit<ConfirmRequest, "path"> & ConsentFields)) & {
	/** The tool call that waits for the run. Absent for a background run. */
	readonly callId?: string;
};

/** The fields of a question about permission to run a project's agent. */
type ConsentFields = { method: "consent" } & Partial<Pick<Question, "label" | "options" | "placeholder" | "prefill">>;

/**
 * Returns true if the conversation is asked too. A person may answer such a question, but it does not open by itself.
 */
export function isForConversation(asked: Asked): boolean {
	return asked.method !== "consent" && asked.forConversation === true;
}

/**
 * Returns a pending question on one line, for a card or above the editor. `hint` says how to answer, and is shown if
 * there is room for it.
 */
export function questionLine({ sentence }: Asked, pen: Pen, hint = ""): string {
	return pen.drawn((native, ...on) => native.drawQuestionLine(...on, sentence, hint))?.join("") ?? "";
}
