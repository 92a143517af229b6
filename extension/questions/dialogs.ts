/** Questions where there is no terminal of ours: pi's dialogs, which the client shows as it likes, one at a time. */

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Answer } from "../../index.js";
import { type Asked, leftMs } from "./asked.ts";
import type { Presenter, Waiting } from "./questions.ts";

export class Dialogs implements Presenter {
	private readonly context: ExtensionContext;
	private shown: { id: number; over: AbortController } | undefined;

	constructor(context: ExtensionContext) {
		this.context = context;
	}

	update(waiting: readonly Waiting[]): void {
		if (this.shown && waiting.some(({ id }) => id === this.shown?.id)) return;
		this.close();
		const [next] = waiting;
		if (!next) return;
		const over = new AbortController();
		this.shown = { id: next.id, over };
		show(this.context, next, over.signal).then(
			(answer) => next.settle(answer),
			() => next.settle(),
		);
	}

	/** The client shows it already, or will. */
	open(): void {}

	close(): void {
		this.shown?.over.abort();
		this.shown = undefined;
	}
}

async function show({ ui }: ExtensionContext, asked: Asked, signal: AbortSignal): Promise<Answer | undefined> {
	const { method, title, message = "", options = [], placeholder, prefill } = asked;
	// A dialog that times out says no; that nobody has said anything is told apart for consent.
	const dialog = method === "consent" ? { signal } : { signal, timeout: leftMs(asked) };
	const text = `${asked.agent} asks: ${title}`;
	switch (method) {
		case "consent":
			return { confirmed: await ui.confirm(title, message, dialog) };
		case "confirm":
			return { confirmed: await ui.confirm(text, message, dialog) };
		case "select":
			return answer(await ui.select(text, [...options], dialog));
		case "input":
			return answer(await ui.input(text, placeholder, dialog));
		case "editor":
			return answer(await ui.editor(text, prefill));
	}
}

function answer(value: string | undefined): Answer {
	return value === undefined ? {} : { value };
}
