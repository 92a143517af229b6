/**
 * Tells the addon of calls that still arrive, so that it can boot a child while the model writes the task. What may be
 * booted, and when, the addon decides. Nothing here may fail into pi: without an early child a call just takes longer.
 */

import type { ExtensionContext, MessageEndEvent, MessageUpdateEvent } from "@earendil-works/pi-coding-agent";
import type { EarlyCall } from "../../index.js";
import { isWaitingTool, type WaitingTool } from "./tools.ts";

/** Announces a call; nothing when no child can be booted for it. */
export type Boot = (tool: WaitingTool, callId: string, context: ExtensionContext) => EarlyCall | undefined;

/** A call without a name or an id by then is waited for no longer; the name of its agent would have been in there. */
const MAX_HELD_CHARS = 16_384;

type Piece = MessageUpdateEvent["assistantMessageEvent"];
type CallPiece = Extract<Piece, { type: `toolcall_${string}` }>;

/** A call on its way: what came of its arguments before it could be announced, or the announced call. */
type Arriving = string | EarlyCall;

export function earlyCalls(boot: Boot) {
	/** Calls of the message under way, by their place in it: several may arrive in turns. */
	const arriving = new Map<number, Arriving>();
	/** Announced calls that are not over, by id. */
	const announced = new Map<string, EarlyCall>();
	/** Ends of children that nobody uses. */
	const ending = new Set<Promise<void>>();

	/** What there is of a call with this piece; nothing when more of it is of no interest. */
	function take(before: Arriving, piece: CallPiece, context: ExtensionContext): Arriving | undefined {
		const delta = piece.type === "toolcall_delta" ? (piece.delta ?? "") : "";
		if (typeof before !== "string") {
			if (delta !== "") before.push(delta);
			return before;
		}
		// Some providers hand out a call whole, without deltas.
		const isWhole = piece.type === "toolcall_end" && before === "";
		const json = isWhole ? (JSON.stringify(piece.toolCall?.arguments) ?? "") : before + delta;
		const call = piece.partial?.content[piece.contentIndex];
		const { name = "", id = "" } = call?.type === "toolCall" ? call : {};
		if (name !== "" && !isWaitingTool(name)) return undefined;
		if (!isWaitingTool(name) || id === "" || json === "") return json.length <= MAX_HELD_CHARS ? json : undefined;
		// Some providers count their calls anew in each message.
		finished(id);
		const early = boot(name, id, context);
		if (early) announced.set(id, early);
		early?.push(json);
		return early;
	}

	/** A call is over: executed, refused or invalid. */
	function finished(callId: string): void {
		const call = announced.get(callId);
		announced.delete(callId);
		if (!call) return;
		const gone = end(call).finally(() => ending.delete(gone));
		ending.add(gone);
	}

	/** No call that was announced will be executed any more. */
	function clear(): void {
		arriving.clear();
		for (const callId of [...announced.keys()]) finished(callId);
	}

	return {
		/** Takes a piece of the message under way. */
		update({ assistantMessageEvent: piece }: MessageUpdateEvent, context: ExtensionContext): void {
			if (!isOfCall(piece)) return;
			const { contentIndex: index } = piece;
			const before = piece.type === "toolcall_start" ? "" : arriving.get(index);
			arriving.delete(index);
			if (before === undefined || index === undefined) return;
			try {
				const after = take(before, piece, context);
				if (after !== undefined && piece.type !== "toolcall_end") arriving.set(index, after);
			} catch {
				// The call runs without an early child.
			}
		},
		/** A message is complete. Of one that failed, was aborted or cut, pi executes no call. */
		messageEnded({ message }: MessageEndEvent): void {
			if (message.role !== "assistant") return;
			arriving.clear();
			if (["error", "aborted", "length"].includes(message.stopReason ?? "")) clear();
		},
		finished,
		clear,
		/** Ends what nobody will use because pi is going, and waits until it is gone. */
		async close(): Promise<void> {
			clear();
			await Promise.all(ending);
		},
	};
}

function isOfCall(piece: Piece): piece is CallPiece {
	return piece.type.startsWith("toolcall_");
}

async function end(call: EarlyCall): Promise<void> {
	try {
		await call.end();
	} catch {
		// The addon ends what nobody uses by itself, only later.
	}
}
