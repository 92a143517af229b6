/** Questions as the addon asks them. */

import type { Choice, ConfirmRequest, Question } from "../../native.js";

const NONE: Choice = { label: "No answer", answer: {} };

let ids = 0;

/** An id that no question has had. */
export const nextId = (): number => ++ids;

/** A question of a child's extension. */
export function question(method: Question["method"], fields: Partial<Question> = {}): Question {
	const { title = "Which?", label, agent = "explorer", options = [] } = fields;
	const heading = `${label ? `${label} (${agent})` : agent} asks`;
	const sentence = `${heading}: ${title.replace(/\s+/g, " ")}`;
	const common = { id: nextId(), runId: "1a2b3c4d", agent, method, title, heading, sentence, timeoutMs: 600_000 };
	return { ...common, choices: choicesOf(method, options), ...fields };
}

/** Returns the question about running a project's agent. */
export function consent(message = "It can only read.", title = "Run scout?"): ConfirmRequest {
	const choices = yesOrNo("No, do not run it", "Yes, run it");
	const words = { heading: "sub-agent", sentence: title, choices, timeoutMs: 600_000 };
	return { id: nextId(), runId: "1a2b3c4d", agent: "scout", path: "", title, message, ...words };
}

function choicesOf(method: Question["method"], options: readonly string[]): Choice[] {
	if (method === "confirm") return yesOrNo("No", "Yes");
	if (method !== "select") return [NONE, { label: "Write an answer" }];
	return [NONE, ...options.map((value) => ({ label: value, answer: { value } }))];
}

function yesOrNo(no: string, yes: string): Choice[] {
	return [
		{ label: no, answer: { confirmed: false } },
		{ label: yes, answer: { confirmed: true } },
	];
}
