/** Tool calls in pieces of a test's own choice, as OpenAI's stream carries them; `call` writes one from end to end. */

import { raw, type Step } from "./steps.ts";

/**
 * Returns one chunk with a piece of the call at `index`. An omitted field is one that the provider omits. End with
 * `finish`.
 */
export function piece(index: number, fields: { id?: string; name?: string; args?: string }): Step {
	const { id, name, args } = fields;
	const part = {
		index,
		...(id && { id, type: "function" }),
		function: { ...(name && { name }), arguments: args ?? "" },
	};
	const choices = [{ index: 0, delta: { tool_calls: [part] }, finish_reason: null }];
	const head = { id: "scripted", object: "chat.completion.chunk", created: 0, model: "scripted-model" };
	return raw(`data: ${JSON.stringify({ ...head, choices })}\n\n`);
}
