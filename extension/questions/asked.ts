/** A run's question, and its line. */

import type { ConfirmRequest, Question } from "../../index.js";
import type { Pen } from "../ui/pen.ts";
import { clip, oneLine, widthOf } from "../ui/text.ts";

/**
 * A question with the addon's id, which is unique in this process. The addon itself asks questions of the kind
 * `consent`.
 */
export type Asked = (Question | (Omit<ConfirmRequest, "path"> & ConsentFields)) & {
	/** The tool call that waits for the run. Absent for a background run. */
	readonly callId?: string;
};

/** The fields of a question about permission to run a project's agent. */
type ConsentFields = { method: "consent" } & Partial<Pick<Question, "label" | "options" | "placeholder" | "prefill">>;

/**
 * Returns true if the conversation is asked too. A person may answer such a question, but it does not open by itself.
 */
export function isForConversation(asked: Asked): boolean {
	return asked.method !== "consent" && asked.forConversation === true;
}

const MARK = "? ";
/** The minimum width of a question. If the question would be narrower, the hint is left out. */
const MIN_COLUMNS = 24;

/**
 * Returns a pending question on one line, for a card or above the editor. `hint` says how to answer, and is shown if
 * there is room for it.
 */
export function questionLine({ sentence }: Asked, pen: Pen, hint = ""): string {
	const room = pen.width - widthOf(hint && ` · ${hint}`);
	const end = hint === "" || room < MIN_COLUMNS ? "" : pen.fg("dim", ` · ${hint}`);
	const question = pen.fg("warning", clip(MARK + oneLine(sentence), end ? room : pen.width));
	return question + end;
}
