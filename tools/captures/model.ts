/** The scripted model of the captures: a parent that makes one call, and children that follow their tasks' scripts. */

import type { ModelRequest, Script } from "../../__test__/support/pi.ts";
import { call, finish, raw, type Step, say, until, usage } from "../../__test__/support/steps.ts";

/** A tool call. `until` pauses the stream of its arguments at `splitAt`. */
export interface ToolCall {
	tool: string;
	args: Record<string, unknown>;
	pauses?: { splitAt: string; until: Promise<unknown> };
}

/** The behaviour of the children, by the start of their task. */
export type Children = Record<string, (request: ModelRequest) => Step[]>;

export const prompt = "Please delegate this.";

/** The start of the request for an announcement. */
const ANNOUNCE = "Your work on the task is done";

/** Returns the child's last answer, which it repeats as its announcement. */
function lastAnswer({ messages }: ModelRequest): string {
	const { content } = messages.findLast(({ role }) => role === "assistant") ?? {};
	return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("");
}

export function captureModel(calls: readonly ToolCall[], children: Children): Script {
	return (request) => {
		if (request.isParent) {
			// This request contains the results of background runs.
			if (request.userText !== prompt) return [usage({ input: 2_600, output: 20 }), say("Good.")];
			const made = request.toolAnswers.length;
			// Spawn the runs one by one, so that they start in this order.
			const due = calls.filter(({ tool }, index) => (tool === "sessions_spawn" ? index === made : made === 0));
			if (due.length === 0) return [usage({ input: 2_400, output: 30 }), say("That is all.")];
			return [usage({ input: 2_000, output: 60 }), ...due.flatMap(callSteps)];
		}
		if (request.userText.startsWith(ANNOUNCE)) return [usage({ input: 2_200, output: 70 }), say(lastAnswer(request))];
		const script = Object.entries(children).find(([start]) => request.userText.startsWith(start));
		if (!script) throw new Error(`no script for the task: ${request.userText.slice(0, 200)}`);
		return script[1](request);
	};
}

function callSteps({ tool, args, pauses }: ToolCall, index: number): Step[] {
	if (!pauses) return [call(tool, args)];
	const written = JSON.stringify(args);
	const at = written.indexOf(pauses.splitAt);
	if (at < 0) throw new Error(`the arguments do not contain ${pauses.splitAt}: ${written}`);
	const begin = { index, id: `call_${index}`, type: "function", function: { name: tool, arguments: "" } };
	const part = (text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] });
	return [
		chunk({ tool_calls: [begin] }),
		part(written.slice(0, at)),
		until(pauses.until),
		part(written.slice(at)),
		finish("tool_calls"),
	];
}

/** Returns one raw event of the stream, for parts that no step covers. */
function chunk(delta: Record<string, unknown>): Step {
	const event = { id: "scripted", object: "chat.completion.chunk", created: 0, model: "scripted-model" };
	return raw(`data: ${JSON.stringify({ ...event, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
}

/** One turn of a child: its text and its tool calls. */
export interface Turn {
	text: string;
	calls?: { name: string; args: Record<string, unknown> }[];
	/** The child sends its text only after this has happened. */
	after?: Promise<unknown>;
	/** More text, which the child sends after `after` has happened. */
	more?: { after: Promise<unknown>; text: string };
}

/** Returns a child that takes its turns one after the other. */
export function turns(...list: Turn[]): (request: ModelRequest) => Step[] {
	return (request) => {
		let seen = 0;
		const index = list.findIndex(({ calls = [] }) => {
			seen += calls.length;
			return calls.length === 0 || seen > request.toolAnswers.length;
		});
		const turn = list[index];
		if (!turn) throw new Error(`no further turn for the task: ${request.userText.slice(0, 200)}`);
		const spent = usage({ input: 1_400 + 800 * index, output: 60 + 70 * index, cached: index > 0 ? 1_100 : 0 });
		const made = (turn.calls ?? []).map(({ name, args }) => call(name, args));
		return [
			spent,
			...(turn.after ? [until(turn.after)] : []),
			say(turn.text),
			...(turn.more ? [until(turn.more.after), say(turn.more.text)] : []),
			...made,
		];
	};
}

export function list(path: string): { name: string; args: Record<string, unknown> } {
	return { name: "ls", args: { path } };
}

export function read(path: string, limit?: number): { name: string; args: Record<string, unknown> } {
	return { name: "read", args: { path, ...(limit !== undefined && { offset: 1, limit }) } };
}
