/**
 * Brings the ends of background runs into the conversation, each once, and tells the addon when it stands there.
 *
 * Nothing is put into pi's own queue of follow-ups: Escape empties that, an abort over RPC leaves it full for the next
 * prompt, and nobody can see which of the two has happened. What comes while the model works is held here, and joins the
 * session at a moment at which pi appends it at once: before the prompt that is being sent, where the run would come to
 * rest, or when it has.
 */

import { existsSync } from "node:fs";
import type {
	AgentBeforeSettleEvent,
	AgentBeforeSettleEventResult,
	ExtensionAPI,
	ExtensionContext,
} from "@earendil-works/pi-coding-agent";
import type { DeliveryMessage, DeliveryPolicy } from "../../index.js";
import { guardedInterval } from "../host/guard.ts";
import { announcementOf, deliveredIn } from "./announcement.ts";
import type { Background } from "./registry.ts";

interface Outgoing {
	message: DeliveryMessage;
	attempts: number;
	/** When it was handed to pi; until then, and when pi has not taken it, it is held. */
	sentAt?: number | undefined;
}

/** What deliveries are made with, and the session that they are made to. */
interface Place {
	pi: ExtensionAPI;
	context: ExtensionContext;
	background: Background;
	/** Attempts and waiting times are the addon's, which keeps what is to be delivered. */
	policy: DeliveryPolicy;
	/** Hears of each message that stands in the session. */
	arrived(message: DeliveryMessage): void;
}

export type Deliveries = ReturnType<typeof openDeliveries>;

/** The deliveries to one session, from its opening to its end. */
export function openDeliveries({ pi, context, background, policy, arrived }: Place) {
	/** Not seen in the session yet, oldest first. */
	let outgoing: Outgoing[] = [];
	/** In the session, and not known to be in its file. */
	let unwritten: string[] = [];
	/** The ids of the deliveries that stand in the session. */
	const standing = () => deliveredIn(context.sessionManager.getEntries());
	/** Everything that this session was given. */
	const known = standing();
	let timer: NodeJS.Timeout | undefined;
	const openedAt = performance.now();
	let promptedAt = Number.NEGATIVE_INFINITY;
	let signal: AbortSignal | undefined;
	let stopReason: string | undefined;

	const held = () => outgoing.filter(({ sentAt }) => sentAt === undefined);
	const isWaiting = () => outgoing.length > 0 || unwritten.length > 0;

	/** Sends what can go out now, and looks again later when there is more. */
	function look(): void {
		// First: what fails below is looked at again.
		watch();
		verify();
		if (!mayStart()) return;
		const sentBefore = performance.now() - policy.refusedMs;
		for (const each of outgoing) if ((each.sentAt ?? sentBefore) < sentBefore) each.sentAt = undefined;
		handOver(true);
	}

	/** Whether a turn may be started: none is under way or being prepared. Without a user, there are better moments. */
	function mayStart(): boolean {
		const now = performance.now();
		const isQuiet = now - openedAt >= policy.openingMs && now - promptedAt >= policy.preflightMs;
		return isQuiet && context.hasUI && context.isIdle();
	}

	/** Hands what is held to pi; the last message starts a turn where one of them wants that. */
	function handOver(mayTurn: boolean): void {
		const given = held().filter(({ attempts }) => attempts >= policy.attempts);
		outgoing = outgoing.filter((each) => !given.includes(each));
		const triggerTurn = mayTurn && (!context.hasUI || held().some(({ message }) => message.triggerTurn));
		try {
			for (let [next, ...more] = held(); next; [next, ...more] = held()) {
				noteSent(next);
				const starts = more.length === 0 && triggerTurn && next.attempts < policy.attempts;
				const options = { triggerTurn: starts, ...(starts && { deliverAs: "followUp" as const }) };
				pi.sendMessage(announcementOf(next.message), options);
			}
			verify();
		} finally {
			watch();
		}
	}

	/** Looks which of the messages stand in the session, and whether that is written. */
	function verify(): void {
		const sent = outgoing.filter(({ sentAt }) => sentAt !== undefined);
		const ids = sent.length > 0 ? standing() : new Set();
		const there = sent.filter(({ message }) => message.deliveryIds.every((id) => ids.has(id)));
		outgoing = outgoing.filter((each) => !there.includes(each));
		for (const { message } of there) {
			unwritten.push(...message.deliveryIds);
			arrived(message);
		}
		if (unwritten.length > 0 && isWritten()) {
			// When the addon cannot note it, the ids in the session tell at the next opening.
			background.session?.delivered(unwritten.splice(0)).catch(() => undefined);
		}
		watch();
	}

	/** pi writes a new session with its first answer, and from then on each entry as it comes. */
	function isWritten(): boolean {
		const file = context.sessionManager.getSessionFile();
		return file === undefined || existsSync(file);
	}

	/** A pi that has left the session without a word throws for everything that belonged to it. */
	function whileOpen(does: () => void): void {
		try {
			does();
		} catch {
			try {
				// Whatever else went wrong is tried again with the next look.
				context.isIdle();
			} catch {
				forget();
			}
		}
	}

	function watch(): void {
		background.hold(outgoing.flatMap(({ message }) => message.runs));
		if (isWaiting()) {
			timer ??= guardedInterval("delivering results", () => whileOpen(look), policy.lookMs);
			return;
		}
		clearInterval(timer);
		timer = undefined;
	}

	function forget(): void {
		outgoing = [];
		unwritten = [];
		watch();
	}

	return {
		standing,

		/** Takes a message from the addon. */
		add(message: DeliveryMessage): void {
			if (message.deliveryIds.every((id) => known.has(id))) return;
			outgoing.push({ message, attempts: 0 });
			for (const id of message.deliveryIds) known.add(id);
			whileOpen(look);
		},

		/** A prompt has come, and pi prepares its turn. */
		prompted(): void {
			promptedAt = performance.now();
		},

		/** The prompt's turn is about to start: what is held goes before it. */
		beforeStart(): void {
			promptedAt = performance.now();
			handOver(false);
		},

		started(by: AbortSignal | undefined): void {
			promptedAt = Number.NEGATIVE_INFINITY;
			signal = by;
		},

		/** A message has ended; pi adds it to the session when its handlers are through. */
		messageEnded(message: { role: string; stopReason?: string }): void {
			if (message.role === "assistant") stopReason = message.stopReason;
			if (isWaiting()) setImmediate(() => whileOpen(verify));
		},

		/** The run would come to rest: what is held joins the session, and the model goes on with it. */
		async beforeSettle(event: AgentBeforeSettleEvent): Promise<AgentBeforeSettleEventResult | undefined> {
			if (!context.hasUI) await background.settled();
			verify();
			const joining = held();
			if (joining.length === 0) return undefined;
			joining.forEach(noteSent);
			watch();
			const drafts = joining.map(({ message }) => ({ type: "custom_message" as const, ...announcementOf(message) }));
			return {
				entries: [...event.entries, ...drafts],
				continue: event.continue || !context.hasUI || joining.some(({ message }) => message.triggerTurn),
			};
		},

		/** The run has come to rest: what was sent and does not stand in the session goes out again. */
		settled(aborted: boolean | undefined): void {
			verify();
			for (const each of outgoing) each.sentAt = undefined;
			// Whoever has stopped the model, or has lost it, gets the news and no turn.
			const isOver = aborted || signal?.aborted || stopReason === "aborted" || stopReason === "error";
			handOver(!isOver);
			signal = undefined;
		},

		/** Without a user pi leaves after a command: waits for the runs that it has started, and for what the model says. */
		async drain(waitForIdle: () => Promise<void>): Promise<void> {
			await background.settled();
			handOver(true);
			await waitForIdle();
		},

		/** Ends with the session: what does not stand in it is the addon's again. */
		close(): void {
			verify();
			forget();
		},
	};
}

function noteSent(outgoing: Outgoing): void {
	outgoing.attempts += 1;
	outgoing.sentAt = performance.now();
}
