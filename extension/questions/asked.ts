/** A question of a run: what is asked, and the words around it. */

import { visibleWidth } from "@earendil-works/pi-tui";
import type { Answer, ConfirmRequest, Question } from "../../index.js";
import type { Style } from "../ui/style.ts";
import { clip, oneLine } from "../ui/text.ts";

/** A question while it waits. */
export interface Asked {
	/** The addon's; no other question of this process has it. */
	readonly id: number;
	/** `consent`: whether the project's agent may run at all. The others are asked by an extension of the child. */
	readonly method: "consent" | Question["method"];
	readonly runId: string;
	/** The tool call that waits for the run; absent for a run in the background. */
	readonly callId?: string;
	readonly agent: string;
	readonly title: string;
	readonly message?: string;
	readonly options?: readonly string[];
	readonly placeholder?: string;
	readonly prefill?: string;
	/** When it began to wait, and how long nobody may answer; milliseconds. */
	readonly since: number;
	readonly limitMs: number;
}

/** Nobody answers for as long: the answer is the harmless one. */
const LIMIT_MS = 10 * 60_000;
/** What a timer takes; one that is longer would fire at once. */
const MAX_LIMIT_MS = 2 ** 31 - 1;

export function consentOf({ path: _path, ...request }: ConfirmRequest): Asked {
	return { ...request, method: "consent", since: performance.now(), limitMs: LIMIT_MS };
}

/** The child counts from when it asks, however long others are being answered. */
export function questionOf({ timeoutMs = LIMIT_MS, ...question }: Question): Asked {
	return { ...question, since: performance.now(), limitMs: Math.min(timeoutMs, MAX_LIMIT_MS) };
}

/** How long it still waits. */
export function leftMs({ since, limitMs }: Asked): number {
	return Math.max(1, Math.round(since + limitMs - performance.now()));
}

/** A way to answer. The first one changes nothing: it is what Enter takes before anything else was chosen. */
export interface Choice {
	label: string;
	/** Absent: the answer is to be written. */
	answer?: Answer;
}

const WORDS: Readonly<Record<"consent" | "confirm", readonly [no: string, yes: string]>> = {
	consent: ["No, do not run it", "Yes, run it"],
	confirm: ["No", "Yes"],
};
const NO_ANSWER: Choice = { label: "No answer", answer: {} };

export function choicesOf({ method, options = [] }: Asked): readonly [Choice, ...Choice[]] {
	switch (method) {
		case "consent":
		case "confirm": {
			const [no, yes] = WORDS[method];
			return [
				{ label: no, answer: { confirmed: false } },
				{ label: yes, answer: { confirmed: true } },
			];
		}
		case "select":
			return [NO_ANSWER, ...options.map((value) => ({ label: oneLine(value), answer: { value } }))];
		default:
			return [NO_ANSWER, { label: "Write an answer" }];
	}
}

/** Who asks: the run by its label, if it has one, and the agent. */
export function asker({ agent }: Asked, label?: string): string {
	const name = oneLine(label ?? "");
	return name === "" || name === agent ? oneLine(agent) : `${name} (${oneLine(agent)})`;
}

/** The question in one sentence. Consent is asked by us; all else is said by an extension of the child. */
export function sentence(asked: Asked, label?: string): string {
	const title = oneLine(asked.title);
	return asked.method === "consent" ? title : `${asker(asked, label)} asks: ${title}`;
}

const MARK = "?";
/** A question that gets fewer columns is no question: the hint goes first. */
const FEWEST_COLUMNS = 24;

/** A question that waits, on one line: in a card, above the editor, in the panel. `hint` says how it is answered; it stands at the end, where there is room beside the question. */
export function questionLine(
	asked: Asked,
	width: number,
	style: Style,
	{ label, hint = "" }: { label?: string | undefined; hint?: string } = {},
): string {
	const wanted = hint === "" ? "" : ` · ${hint}`;
	const end = width - visibleWidth(wanted) < FEWEST_COLUMNS ? "" : wanted;
	const room = width - MARK.length - 1 - visibleWidth(end);
	const text = clip(sentence(asked, label), Math.max(0, room));
	return clip(`${style.fg("warning", `${MARK} ${text}`)}${style.fg("dim", end)}`, width);
}
