/** Asks the user what a run needs to know: whether an agent may run, and what extensions of a child want to hear. */

import { setTimeout as delay } from "node:timers/promises";
import type { Answer, ConfirmRequest, Question } from "../../index.js";
import { forwardAbort } from "../host/abort.ts";
import type { DialogOptions, PiContext } from "../host/pi.ts";

/** What a timer takes; one that is longer would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** How long a dialog that nobody waits for keeps the next one waiting: pi's editor is closed by the user alone. */
const MAX_CLOSING_MS = 60_000;

/** One dialog at a time, in the order in which they were asked for: a second one would take the first one's place. */
export class Dialogs {
	private last: Promise<unknown> = Promise.resolve();

	/** Opens a dialog when those before it are closed. What it comes to is `cancelled` once `signal` has fired. */
	async show<T>(open: () => Promise<T>, cancelled: T, signal: AbortSignal, context: PiContext): Promise<T> {
		const closed = this.last.then(() => (signal.aborted ? cancelled : open()));
		const given = fired(signal);
		// A client of RPC mode shows as many dialogs as it likes, a terminal one: there the next waits for this to close.
		const left = given.then(() =>
			context.mode === "tui" ? delay(MAX_CLOSING_MS, undefined, { ref: false }) : undefined,
		);
		this.last = Promise.race([closed, left]).catch(() => undefined);
		return await Promise.race([closed, given.then(() => cancelled)]);
	}
}

/** Asks whether an agent that the project defines may run; no when it cannot be asked any more. */
export function confirmWith(dialogs: Dialogs, context: PiContext, signal: AbortSignal) {
	return async ({ title, message }: ConfirmRequest): Promise<boolean> =>
		await dialogs.show(() => context.ui.confirm(title, message, { signal }), false, signal, context);
}

/** Answers the questions of a child's extensions. What nobody answers in time is cancelled; never rejects. */
export function answerWith(dialogs: Dialogs, context: PiContext, signal: AbortSignal) {
	return async (question: Question): Promise<Answer> => {
		// The child counts from when it asks, however long others are being answered.
		const limit = question.timeoutMs === undefined ? undefined : Math.min(question.timeoutMs, MAX_TIMEOUT_MS);
		const deadline = limit === undefined ? undefined : performance.now() + limit;
		const over = new AbortController();
		const timer = limit === undefined ? undefined : setTimeout(() => over.abort(), limit);
		const release = forwardAbort(signal, over);
		const open = () => {
			const left = deadline === undefined ? {} : { timeout: Math.max(1, Math.round(deadline - performance.now())) };
			return ask(context, question, { signal: over.signal, ...left });
		};
		try {
			return await dialogs.show(open, {}, over.signal, context);
		} catch {
			return {};
		} finally {
			clearTimeout(timer);
			release();
		}
	};
}

async function ask({ ui }: PiContext, question: Question, dialog: DialogOptions): Promise<Answer> {
	const title = `${question.agent} asks: ${question.title}`;
	switch (question.method) {
		case "confirm":
			return { confirmed: await ui.confirm(title, question.message ?? "", dialog) };
		case "select":
			return answer(await ui.select(title, question.options ?? [], dialog));
		case "input":
			return answer(await ui.input(title, question.placeholder, dialog));
		case "editor":
			return answer(await ui.editor(title, question.prefill));
	}
}

function answer(value: string | undefined): Answer {
	return value === undefined ? {} : { value };
}

async function fired(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
