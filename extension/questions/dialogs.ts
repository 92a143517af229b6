/** Asks questions through pi's dialogs, one at a time, for clients without our terminal overlay. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Answer } from "../../native.js";
import type { Presenter, Waiting } from "./questions.ts";
import { isForConversation } from "./questions.ts";

export function dialogs(context: ExtensionContext): Presenter {
	let all: readonly Waiting[] = [];
	let shown: { id: number; closing: AbortController } | undefined;
	/** The questions for the conversation that the user wants to answer. */
	const wanted = new Set<number>();
	const close = () => {
		shown?.closing.abort();
		shown = undefined;
	};
	function update(waiting: readonly Waiting[]): void {
		all = waiting;
		if (shown && waiting.some(({ id }) => id === shown?.id)) return;
		close();
		const next = waiting.find((asked) => !isForConversation(asked) || wanted.has(asked.id));
		if (!next) return;
		const closing = new AbortController();
		shown = { id: next.id, closing };
		show(context, next, closing.signal).then(next.settle, () => next.settle());
	}
	return {
		update,
		/**
		 * Shows a question for the conversation, because the user wants to answer it. The client shows all other questions
		 * anyway.
		 */
		open(id) {
			wanted.add(id);
			update(all);
		},
		close,
	};
}

async function show({ ui }: ExtensionContext, asked: Waiting, signal: AbortSignal): Promise<Answer> {
	const { method, heading, title, message = "", options = [], placeholder, prefill, endsAt } = asked;
	const timeout = Math.max(1, Math.round(endsAt - performance.now()));
	const text = `${heading}: ${title}`;
	// A dialog that times out or is closed returns no. For consent, no answer at all has to differ from a no.
	if (method === "consent") {
		const confirmed = await ui.confirm(title, message, { signal });
		return signal.aborted ? {} : { confirmed };
	}
	if (method === "confirm") return { confirmed: await ui.confirm(text, message, { signal, timeout }) };
	const answers = {
		select: () => ui.select(text, options, { signal, timeout }),
		input: () => ui.input(text, placeholder, { signal, timeout }),
		editor: () => ui.editor(text, prefill),
	};
	const value = await answers[method]();
	return value === undefined ? {} : { value };
}
