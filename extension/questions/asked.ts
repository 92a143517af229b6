/** A run's question, and its line. */

import type { ConfirmRequest, Question } from "../../index.js";
import type { Pen } from "../ui/pen.ts";

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

/**
 * Returns a pending question on one line, for a card or above the editor. `hint` says how to answer, and is shown if
 * there is room for it.
 */
export function questionLine({ sentence }: Asked, pen: Pen, hint = ""): string {
	return pen.drawn((native, ...on) => native.drawQuestionLine(...on, sentence, hint))?.join("") ?? "";
}
