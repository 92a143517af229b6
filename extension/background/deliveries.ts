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

/** The deliveries to one session, from its opening to its end. */
export class Deliveries {
	private readonly place: Place;
	/** Not seen in the session yet, oldest first. */
	private outgoing: Outgoing[] = [];
	/** In the session, and not known to be in its file. */
	private unwritten: string[] = [];
	/** Everything that this session was given. */
	private readonly known: Set<string>;
	private timer: NodeJS.Timeout | undefined;
	private readonly openedAt = performance.now();
	private promptedAt = Number.NEGATIVE_INFINITY;
	private signal: AbortSignal | undefined;
	private stopReason: string | undefined;

	constructor(place: Place) {
		this.place = place;
		this.known = this.standing();
	}

	private get held(): Outgoing[] {
		return this.outgoing.filter(({ sentAt }) => sentAt === undefined);
	}

	private get isWaiting(): boolean {
		return this.outgoing.length > 0 || this.unwritten.length > 0;
	}

	/** The ids of the deliveries that stand in the session. */
	standing(): Set<string> {
		return deliveredIn(this.place.context.sessionManager.getEntries());
	}

	/** Ends with the session: what does not stand in it is the addon's again. */
	close(): void {
		this.verify();
		this.forget();
	}

	private forget(): void {
		this.outgoing = [];
		this.unwritten = [];
		this.watch();
	}

	/** Takes a message from the addon. */
	add(message: DeliveryMessage): void {
		if (message.deliveryIds.every((id) => this.known.has(id))) return;
		this.outgoing.push({ message, attempts: 0 });
		for (const id of message.deliveryIds) this.known.add(id);
		this.whileOpen(() => this.look());
	}

	/** A prompt has come, and pi prepares its turn. */
	prompted(): void {
		this.promptedAt = performance.now();
	}

	/** The prompt's turn is about to start: what is held goes before it. */
	beforeStart(): void {
		this.prompted();
		this.handOver(false);
	}

	started(signal: AbortSignal | undefined): void {
		this.promptedAt = Number.NEGATIVE_INFINITY;
		this.signal = signal;
	}

	/** A message has ended; pi adds it to the session when its handlers are through. */
	messageEnded(message: { role: string; stopReason?: string }): void {
		if (message.role === "assistant") this.stopReason = message.stopReason;
		const replied = deliveredIn([{ message }]);
		if (!this.isWaiting && replied.size === 0) return;
		setImmediate(() => {
			this.unwritten.push(...replied);
			this.whileOpen(() => this.verify());
		});
	}

	/** The run would come to rest: what is held joins the session, and the model goes on with it. */
	async beforeSettle(event: AgentBeforeSettleEvent): Promise<AgentBeforeSettleEventResult | undefined> {
		const { background, context } = this.place;
		if (!context.hasUI) await background.settled();
		this.verify();
		const { held } = this;
		if (held.length === 0) return undefined;
		held.forEach(noteSent);
		this.watch();
		const drafts = held.map(({ message }) => ({ type: "custom_message" as const, ...announcementOf(message) }));
		return {
			entries: [...event.entries, ...drafts],
			continue: event.continue || !context.hasUI || held.some(({ message }) => message.triggerTurn),
		};
	}

	/** The run has come to rest: what was sent and does not stand in the session goes out again. */
	settled(aborted: boolean | undefined): void {
		this.verify();
		for (const each of this.outgoing) each.sentAt = undefined;
		// Whoever has stopped the model, or has lost it, gets the news and no turn.
		const isOver = aborted || this.signal?.aborted || this.stopReason === "aborted" || this.stopReason === "error";
		this.handOver(!isOver);
		this.signal = undefined;
	}

	/** Without a user pi leaves after a command: waits for the runs that it has started, and for what the model says. */
	async drain(waitForIdle: () => Promise<void>): Promise<void> {
		await this.place.background.settled();
		this.handOver(true);
		await waitForIdle();
	}

	/** Sends what can go out now, and looks again later when there is more. */
	private look(): void {
		// First: what fails below is looked at again.
		this.watch();
		this.verify();
		if (!this.mayStart()) return;
		const sentBefore = performance.now() - this.place.policy.refusedMs;
		for (const each of this.outgoing) if ((each.sentAt ?? sentBefore) < sentBefore) each.sentAt = undefined;
		this.handOver(true);
	}

	/** Whether a turn may be started: none is under way or being prepared. Without a user, there are better moments. */
	private mayStart(): boolean {
		const { context, policy } = this.place;
		const now = performance.now();
		const isQuiet = now - this.openedAt >= policy.openingMs && now - this.promptedAt >= policy.preflightMs;
		return isQuiet && context.hasUI && context.isIdle();
	}

	/** Hands what is held to pi; the last message starts a turn where one of them wants that. */
	private handOver(mayTurn: boolean): void {
		const { pi, context, policy } = this.place;
		const given = this.held.filter(({ attempts }) => attempts >= policy.attempts);
		this.outgoing = this.outgoing.filter((each) => !given.includes(each));
		const triggerTurn = mayTurn && (!context.hasUI || this.held.some(({ message }) => message.triggerTurn));
		try {
			for (let [next, ...more] = this.held; next; [next, ...more] = this.held) {
				noteSent(next);
				const starts = more.length === 0 && triggerTurn && next.attempts < policy.attempts;
				const options = { triggerTurn: starts, ...(starts && { deliverAs: "followUp" as const }) };
				pi.sendMessage(announcementOf(next.message), options);
			}
			this.verify();
		} finally {
			this.watch();
		}
	}

	/** Looks which of the messages stand in the session, and whether that is written. */
	private verify(): void {
		if (!this.isWaiting) return;
		const { arrived, background, context } = this.place;
		const sent = this.outgoing.filter(({ sentAt }) => sentAt !== undefined);
		const ids = sent.length > 0 ? this.standing() : new Set();
		const there = sent.filter(({ message }) => message.deliveryIds.every((id) => ids.has(id)));
		this.outgoing = this.outgoing.filter((each) => !there.includes(each));
		for (const { message } of there) {
			this.unwritten.push(...message.deliveryIds);
			arrived(message);
		}
		const file = context.sessionManager.getSessionFile();
		// pi writes a new session with its first answer, and from then on each entry as it comes.
		if (this.unwritten.length > 0 && (file === undefined || existsSync(file))) {
			// When the addon cannot note it, the ids in the session tell at the next opening.
			background.session?.delivered(this.unwritten.splice(0)).catch(() => undefined);
		}
		this.watch();
	}

	/** A pi that has left the session without a word throws for everything that belonged to it. */
	private whileOpen(does: () => void): void {
		try {
			does();
		} catch {
			try {
				// Whatever else went wrong is tried again with the next look.
				this.place.context.isIdle();
			} catch {
				this.forget();
			}
		}
	}

	private watch(): void {
		const { background, policy } = this.place;
		background.hold(this.outgoing.flatMap(({ message }) => message.runs));
		if (this.isWaiting) {
			const look = () => this.whileOpen(() => this.look());
			this.timer ??= guardedInterval("delivering results", look, policy.lookMs);
		} else {
			clearInterval(this.timer);
			this.timer = undefined;
		}
	}
}

function noteSent(outgoing: Outgoing): void {
	outgoing.attempts += 1;
	outgoing.sentAt = performance.now();
}
