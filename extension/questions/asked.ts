/** A question of a run, and its line. */

import type { ConfirmRequest, Question } from "../../index.js";
import type { Pen } from "../ui/pen.ts";
import { clip, oneLine, widthOf } from "../ui/text.ts";

/** A question, with the addon's id: no other question of this process has it. `consent` is asked by the addon itself. */
export type Asked = (Question | (Omit<ConfirmRequest, "path"> & ConsentFields)) & {
	/** The tool call that waits for the run; absent for a run in the background. */
	readonly callId?: string;
};

/** Whether the project's agent may run at all. */
type ConsentFields = { method: "consent" } & Partial<Pick<Question, "label" | "options" | "placeholder" | "prefill">>;

/** Whether its conversation is asked, too: a person may answer it, and is not bothered with it. */
export function isForConversation(asked: Asked): boolean {
	return asked.method !== "consent" && asked.forConversation === true;
}

const MARK = "? ";
/** A question that gets fewer columns is no question: the hint goes first. */
const FEWEST_COLUMNS = 24;

/**
 * A question that waits, on one line: in a card, above the editor. `hint` says how it is answered, where there is room
 * beside the question.
 */
export function questionLine({ sentence }: Asked, pen: Pen, hint = ""): string {
	const room = pen.width - widthOf(hint && ` · ${hint}`);
	const end = hint === "" || room < FEWEST_COLUMNS ? "" : pen.fg("dim", ` · ${hint}`);
	const question = pen.fg("warning", clip(MARK + oneLine(sentence), end ? room : pen.width));
	return question + end;
}
