/** What a run does, in lines: the calls it makes, and the words it says. */

import type { DisplayItem } from "../../index.js";
import type { Pen } from "../ui/pen.ts";
import { callText } from "../ui/words.ts";

/** What a run has done so far, and its last text. */
interface Work {
	items: readonly DisplayItem[];
	text: string;
}

/** The last `limit` calls, with the words among them: all that led to these calls, or only those at `words`. */
export function callLines(items: readonly DisplayItem[], limit: number, words: number | undefined, pen: Pen): string[] {
	const calls = items.flatMap(({ type }, index) => (type === "toolCall" ? [index] : []));
	const hidden = Math.max(0, calls.length - limit);
	// After the last hidden call: with the words that led to the first one shown.
	const from = hidden === 0 ? 0 : (calls[hidden - 1] ?? 0) + 1;
	// Text after the last call is the answer, which stands below on its own.
	const upToLastCall = items.slice(0, (calls.at(-1) ?? -1) + 1);
	const lines = upToLastCall.flatMap((item, index) => {
		if (item.type === "toolCall") return index < from ? [] : [pen.call(callText(item.name, item.args))];
		const isShown = words === undefined ? index >= from : index === words;
		return isShown ? [pen.line(item.text, "dim")] : [];
	});
	return hidden === 0 ? lines : [pen.remark(counted(hidden, "earlier call")), ...lines];
}

/** A run's newest calls, and the end of what it says. `withWords`: each call with what was said before it. */
export function workLines(
	{ items, text }: Work,
	limits: { calls: number; text: number; withWords: boolean },
	pen: Pen,
): string[] {
	const news = newsOf({ items, text });
	const last = news === "" ? items.findLastIndex(({ type }) => type === "text") : -1;
	const calls = limits.calls < 1 ? [] : callLines(items, limits.calls, limits.withWords ? undefined : last, pen);
	return [...calls, ...pen.endOfProse(news, limits.text)];
}

/** What a run says now; nothing while calls are made that its last words have led to. */
export function newsOf({ items, text }: Work): string {
	const words = items.findLast((item) => item.type === "text");
	const isOld = items.at(-1)?.type === "toolCall" && words?.text.trim() === text.trim();
	return isOld ? "" : text.trim();
}

/** `1 call`, `2 calls`. */
export function counted(count: number, what: string): string {
	return `${count} ${what}${count === 1 ? "" : "s"}`;
}
