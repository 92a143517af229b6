/** What a run does, in lines: the calls it makes, the words it says, and what it spends. */

import type { DisplayItem } from "../../index.js";
import { remark } from "../ui/lines.ts";
import { endOfProse, PREVIEW_CHARACTERS } from "../ui/prose.ts";
import type { Style } from "../ui/style.ts";
import { clip, oneLine } from "../ui/text.ts";
import { callLine } from "../ui/tool-calls.ts";

/** The last `limit` calls, with the words among them: all that led to these calls, or only those at `words`. */
export function callLines(
	items: readonly DisplayItem[],
	limit: number,
	words: number | undefined,
	width: number,
	style: Style,
): string[] {
	const calls = items.flatMap((item, index) => (item.type === "toolCall" ? [index] : []));
	const hidden = Math.max(0, calls.length - limit);
	// After the last hidden call: with the words that led to the first one shown.
	const from = hidden === 0 ? 0 : (calls[hidden - 1] ?? 0) + 1;
	// Text after the last call is the answer, which stands below on its own.
	const upToLastCall = items.slice(0, (calls.at(-1) ?? -1) + 1);
	const isShown = ({ type }: DisplayItem, index: number) =>
		type === "toolCall" || words === undefined ? index >= from : index === words;
	const lines = upToLastCall
		.filter(isShown)
		.map((item) =>
			item.type === "toolCall"
				? callLine(item.name, item.args, width, style)
				: style.fg("dim", clip(oneLine(item.text.slice(0, PREVIEW_CHARACTERS)), width)),
		);
	if (hidden === 0) return lines;
	return [remark(hidden === 1 ? "1 earlier call" : `${hidden} earlier calls`, width, style), ...lines];
}

/** A run's newest calls, and the end of what it says. `withWords`: each call with what was said before it. */
export function workLines(
	{ items, text }: { items: readonly DisplayItem[]; text: string },
	limits: { calls: number; text: number; withWords: boolean },
	width: number,
	style: Style,
): string[] {
	const news = newsOf(items, text);
	const last = news === "" ? items.findLastIndex((item) => item.type === "text") : -1;
	const words = limits.withWords ? undefined : last;
	const lines = limits.calls < 1 ? [] : callLines(items, limits.calls, words, width, style);
	return [...lines, ...endOfProse(news, width, style, limits.text)];
}

/** What a run says now; nothing while calls are made that its last words have led to. */
export function newsOf(items: readonly DisplayItem[], said: string): string {
	const words = items.findLast((item) => item.type === "text");
	const isOld = items.at(-1)?.type === "toolCall" && words?.type === "text" && words.text.trim() === said.trim();
	return isOld ? "" : said.trim();
}
