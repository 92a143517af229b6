/**
 * A stage for background runs in real pi: the prompt says which runs are spawned, and the model repeats the messages
 * that it gets.
 *
 * `spawn` writes the prompt. The first word of a task names the child's script, as for delegations.
 */

import { readFileSync } from "node:fs";
import { type Call, type Children, Stage, type StageOptions } from "./delegation.ts";
import type { PiEvent } from "./event-log.ts";
import type { ModelRequest } from "./requests.ts";
import { call, type Step, say } from "./steps.ts";

const opening = "Spawn ";

/** A prompt that makes the scripted parent call `sessions_spawn`, once for each of these. */
export function spawn(...calls: Call[]): string {
	return opening + JSON.stringify(calls);
}

/** Returns the parent's messages about ended runs, in order of arrival; one line for each. */
export function resultsIn(text: string): string[] {
	const matches = text.matchAll(/^Background run (\w+) .*\nStatus: (\w+)\n(?:Result.*\n```+text\n([\s\S]*?)\n```+)?/gm);
	return [...matches].map(([, , status, result]) => `${status}: ${result ?? "nothing"}`);
}

/** The parent's part; `afterSpawn` gives its steps after its runs were accepted. */
export function parent(afterSpawn: () => Step[] | Promise<Step[]> = () => [say("Spawned.")]): Children {
	return {
		Spawn: async ({ userText, toolAnswers }) => {
			const calls = JSON.parse(userText.slice(opening.length)) as Call[];
			// One after the other: none of several simultaneous calls is the newest.
			const next = calls[toolAnswers.length];
			return next ? [call("sessions_spawn", next)] : await afterSpawn();
		},
		Background: ({ userText }) => [say(`Heard ${resultsIn(userText).sort().join(", ")}`)],
	};
}

export async function backgroundStage(options: StageOptions = {}): Promise<Stage> {
	return await Stage.open({ ...options, children: { ...parent(), ...options.children } });
}

/** Returns the number of a conversation's messages about its background runs. No message may arrive twice. */
export function deliveryCount(request: ModelRequest | undefined): number {
	const texts = request?.messages.map(({ content }) =>
		typeof content === "string" ? content : JSON.stringify(content),
	);
	return (texts ?? []).join("\n").split(/Background run \w+ /).length - 1;
}

/** The messages that announce in a session file, whole lines only: pi may be writing. */
export function announcementsIn(file: string): { deliveryIds: string[]; runIds: string[] }[] {
	const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
	const entries = lines.map((line) => JSON.parse(line) as { customType?: string; details?: unknown });
	return entries
		.filter(({ customType }) => customType === "subagent-announcement")
		.map(({ details }) => details as { deliveryIds: string[]; runIds: string[] });
}

/** Returns true for an event in which the model has said this text. */
export function says(text: string): (event: PiEvent) => boolean {
	return (event) => {
		const message = event.message as { role?: string; content?: unknown } | undefined;
		return (
			event.type === "message_end" && message?.role === "assistant" && JSON.stringify(message.content).includes(text)
		);
	};
}
