/** A question of a run: what is asked, and the words around it. */

import type { Answer, Question } from "../../index.js";
import type { Pen } from "../ui/pen.ts";
import { clip, oneLine, widthOf } from "../ui/text.ts";

/** A question, with the addon's id: no other question of this process has it. */
export interface Asked extends Omit<Question, "method" | "timeoutMs"> {
	/** `consent`: whether the project's agent may run at all. The others are asked by an extension of the child. */
	readonly method: "consent" | Question["method"];
	/** The name of its run, as far as it has one and that is known. */
	readonly label?: string | undefined;
	/** The tool call that waits for the run; absent for a run in the background. */
	readonly callId?: string;
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
	if (method === "consent" || method === "confirm") {
		const [no, yes] = WORDS[method];
		return [
			{ label: no, answer: { confirmed: false } },
			{ label: yes, answer: { confirmed: true } },
		];
	}
	if (method !== "select") return [NO_ANSWER, { label: "Write an answer" }];
	return [NO_ANSWER, ...options.map((value) => ({ label: oneLine(value), answer: { value } }))];
}

/** Who asks: the run by its label, if it has one, and the agent. */
export function asker({ agent, label = "" }: Asked): string {
	const [name, kind] = [oneLine(label), oneLine(agent)];
	return name === "" || name === kind ? kind : `${name} (${kind})`;
}

const MARK = "? ";
/** A question that gets fewer columns is no question: the hint goes first. */
const FEWEST_COLUMNS = 24;

/**
 * A question that waits, on one line: in a card, above the editor, in the panel. `hint` says how it is answered, where
 * there is room beside the question. Consent is asked by us; all else is said by an extension of the child.
 */
export function questionLine(asked: Asked, pen: Pen, hint = ""): string {
	const title = oneLine(asked.title);
	const sentence = asked.method === "consent" ? title : `${asker(asked)} asks: ${title}`;
	const room = pen.width - widthOf(hint && ` · ${hint}`);
	const end = hint === "" || room < FEWEST_COLUMNS ? "" : pen.fg("dim", ` · ${hint}`);
	const question = pen.fg("warning", clip(MARK + sentence, end ? room : pen.width));
	return question + end;
}
