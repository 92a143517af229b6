/**
 * Reports tool calls to the addon while the model still writes them, so that the addon can boot a child early. The
 * addon decides which calls and when. Failures here are ignored: without an early child a call only takes longer.
 */

import type { ExtensionAPI, ExtensionContext, MessageUpdateEvent } from "@earendil-works/pi-coding-agent";
import type { EarlyCalls } from "../../native.js";
import { isTaken } from "../host/names.ts";
import { loadAddon } from "../host/native.ts";
import { placeOptions } from "../host/options.ts";
import { shareCompiledCode } from "./tools.ts";

/** Listens to pi. Returns a function that ends the early children without a call, and waits until they have exited. */
export function watchArrivingCalls(pi: ExtensionAPI): () => Promise<void> {
	let calls: EarlyCalls | undefined;

	function take({ assistantMessageEvent: piece }: MessageUpdateEvent, context: ExtensionContext): void {
		if (piece.type !== "toolcall_start" && piece.type !== "toolcall_delta" && piece.type !== "toolcall_end") return;
		const { type, contentIndex, partial } = piece;
		const { native } = loadAddon();
		if (native) calls ??= new native.EarlyCalls();
		const call = partial?.content[contentIndex];
		const { name = "", id = "" } = call?.type === "toolCall" ? call : {};
		// Some providers send a call in one piece, at its end.
		const whole = type === "toolcall_end" ? (JSON.stringify(piece.toolCall?.arguments) ?? "") : "";
		const json = type === "toolcall_delta" ? (piece.delta ?? "") : whole;
		const wanted = calls?.take({ type, contentIndex, name, id, json });
		if (!wanted || isTaken(wanted.tool) || !pi.getActiveTools().includes(wanted.tool)) return;
		shareCompiledCode();
		calls?.boot({ ...placeOptions(pi, context), ...wanted });
	}

	pi.on("message_update", (event, context) => {
		try {
			take(event, context);
		} catch {
			// The call runs without an early child.
		}
	});
	pi.on("message_end", ({ message }) => {
		if (message.role === "assistant") calls?.messageEnded(message.stopReason);
	});
	pi.on("tool_execution_end", ({ toolCallId }) => calls?.finished(toolCallId));
	pi.on("agent_end", () => calls?.clear());
	return async () => {
		await Promise.all([calls?.close(), loadAddon().native?.endSpares()]);
	};
}
