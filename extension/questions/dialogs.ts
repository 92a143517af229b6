/** Questions where there is no terminal of ours: pi's dialogs, which the client shows as it likes, one at a time. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Answer } from "../../index.js";
import type { Presenter, Waiting } from "./questions.ts";

export function dialogs(context: ExtensionContext): Presenter {
	let shown: { id: number; over: AbortController } | undefined;
	const close = () => {
		shown?.over.abort();
		shown = undefined;
	};
	return {
		update(waiting) {
			if (shown && waiting.some(({ id }) => id === shown?.id)) return;
			close();
			const [next] = waiting;
			if (!next) return;
			const over = new AbortController();
			shown = { id: next.id, over };
			show(context, next, over.signal).then(next.settle, () => next.settle());
		},
		/** The client shows it already, or will. */
		open() {},
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
