/** Questions where there is no terminal of ours: pi's dialogs, which the client shows as it likes, one at a time. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Answer } from "../../index.js";
import { isForConversation } from "./asked.ts";
import type { Presenter, Waiting } from "./questions.ts";

export function dialogs(context: ExtensionContext): Presenter {
	let all: readonly Waiting[] = [];
	let shown: { id: number; over: AbortController } | undefined;
	/** Questions for the conversation that the person wants to answer. */
	const wanted = new Set<number>();
	const close = () => {
		shown?.over.abort();
		shown = undefined;
	};
	function update(waiting: readonly Waiting[]): void {
		all = waiting;
		if (shown && waiting.some(({ id }) => id === shown?.id)) return;
		close();
		const next = waiting.find((asked) => !isForConversation(asked) || wanted.has(asked.id));
		if (!next) return;
		const over = new AbortController();
		shown = { id: next.id, over };
		show(context, next, over.signal).then(next.settle, () => next.settle());
	}
	return {
		update,
		/** The client shows it already, or will, unless it is one that only a person who asks for it sees. */
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
	// A dialog that times out says no; that nobody has said anything is told apart for consent.
	if (method === "consent") return { confirmed: await ui.confirm(title, message, { signal }) };
	if (method === "confirm") return { confirmed: await ui.confirm(text, message, { signal, timeout }) };
	const answers = {
		select: () => ui.select(text, options, { signal, timeout }),
		input: () => ui.input(text, placeholder, { signal, timeout }),
		editor: () => ui.editor(text, prefill),
	};
	const value = await answers[method]();
	return value === undefined ? {} : { value };
}
