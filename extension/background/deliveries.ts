/**
 * Brings the ends of background runs into the conversation, each once, and tells the addon when it stands there.
 *
 * Nothing is put into pi's own queue of follow-ups: Escape empties that, an abort over RPC leaves it full for the next
 * prompt, and nobody can see which of the two has happened. What comes while the model works is held here, and joins the
 * session at a moment at which pi appends it at once: before the prompt that is being sent, where the run would come to
 * rest, or when it has.
 */

import { existsSync } from "node:fs";
import type { DeliveryMessage, DeliveryPolicy } from "../../index.js";
import { contained, guardedInterval } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import type { BeforeSettleEvent, BeforeSettleResult, PiApi, PiContext } from "../host/pi.ts";
import { announcementOf, deliveredIn } from "./announcement.ts";
import type { Background } from "./registry.ts";

interface Outgoing {
	message: DeliveryMessage;
	attempts: number;
	/** When it was handed to pi. */
	sentAt?: number;
}

export class Deliveries {
	private readonly pi: PiApi;
	private readonly background: Background;
	private readonly arrived: (message: DeliveryMessage) => void;
	private context: PiContext | undefined;
	/** Still to be handed to pi, oldest first. */
	private held: Outgoing[] = [];
	/** Handed to pi, and not seen in the session yet. */
	private sent: Outgoing[] = [];
	/** In the session, and not known to be in its file. */
	private unwritten: string[] = [];
	/** Everything that this session was given. */
	private readonly known = new Set<string>();
	private timer: NodeJS.Timeout | undefined;
	private rules: DeliveryPolicy | undefined;
	private openedAt = 0;
	private promptedAt = Number.NEGATIVE_INFINITY;
	private signal: AbortSignal | undefined;
	private stopReason: string | undefined;

	/** `arrived` hears of each message that stands in the session. */
	constructor(pi: PiApi, background: Background, arrived: (message: DeliveryMessage) => void) {
		this.pi = pi;
		this.background = background;
		this.arrived = arrived;
	}

	/** Attempts and waiting times are the addon's, which keeps what is to be delivered. */
	private get policy(): DeliveryPolicy {
		this.rules ??= loadAddon().native?.deliveryPolicy();
		if (!this.rules) throw new Error("results are delivered by the addon, and it is not loaded");
		return this.rules;
	}

	/** Begins with a session. Returns the ids of the deliveries that stand in it. */
	open(context: PiContext): string[] {
		this.forget();
		this.context = context;
		this.openedAt = performance.now();
		const ids = deliveredIn(context.sessionManager.getEntries());
		for (const id of ids) this.known.add(id);
		return [...ids];
	}

	/** Ends with the session: what does not stand in it is the addon's again. */
	close(): void {
		this.verify();
		this.forget();
	}

	private forget(): void {
		clearInterval(this.timer);
		this.timer = undefined;
		this.context = undefined;
		this.held = [];
		this.sent = [];
		this.unwritten = [];
		this.known.clear();
		this.promptedAt = Number.NEGATIVE_INFINITY;
		this.background.hold([]);
	}

	/** Takes a message from the addon. */
	add(message: DeliveryMessage): void {
		if (!this.context || message.deliveryIds.every((id) => this.known.has(id))) return;
		this.held.push({ message, attempts: 0 });
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

	started(context: PiContext): void {
		this.promptedAt = Number.NEGATIVE_INFINITY;
		this.signal = context.signal;
	}

	/** A message has ended; pi adds it to the session when its handlers are through. */
	messageEnded({ role, stopReason }: { role: string; stopReason?: string }): void {
		if (role === "assistant") this.stopReason = stopReason;
		if (this.sent.length > 0 || this.unwritten.length > 0) setImmediate(() => this.whileOpen(() => this.verify()));
	}

	/** The run would come to rest: what is held joins the session, and the model goes on with it. */
	async beforeSettle(event: BeforeSettleEvent, context: PiContext): Promise<BeforeSettleResult | undefined> {
		if (!context.hasUI) await this.background.settled();
		this.verify();
		const outgoing = this.held.splice(0);
		if (outgoing.length === 0) return undefined;
		const now = performance.now();
		for (const each of outgoing) this.sent.push({ ...each, attempts: each.attempts + 1, sentAt: now });
		this.watch();
		const drafts = outgoing.map(({ message }) => ({ type: "custom_message" as const, ...announcementOf(message) }));
		return {
			entries: [...event.entries, ...drafts],
			continue: event.continue || !context.hasUI || outgoing.some(({ message }) => message.triggerTurn),
		};
	}

	/** The run has come to rest: what was sent and does not stand in the session goes out again. */
	settled(aborted: boolean | undefined): void {
		this.verify();
		this.held.unshift(...this.sent.splice(0));
		// Whoever has stopped the model, or has lost it, gets the news and no turn.
		const isOver = aborted || this.signal?.aborted || this.stopReason === "aborted" || this.stopReason === "error";
		this.handOver(!isOver);
		this.signal = undefined;
	}

	/** Without a user pi leaves after a command: waits for the runs that it has started, and for what the model says. */
	async drain(waitForIdle: () => Promise<void>): Promise<void> {
		await this.background.settled();
		this.handOver(true);
		await waitForIdle();
	}

	/** Sends what can go out now, and looks again later when there is more. */
	private look(): void {
		// First: what fails below is looked at again.
		this.watch();
		this.verify();
		if (this.mayStart()) {
			this.requeueRefused();
			this.handOver(true);
		}
		this.watch();
	}

	/** Whether a turn may be started: none is under way or being prepared. Without a user, there are better moments. */
	private mayStart(): boolean {
		const now = performance.now();
		const { openingMs, preflightMs } = this.policy;
		const isQuiet = now - this.openedAt >= openingMs && now - this.promptedAt >= preflightMs;
		return isQuiet && this.context?.hasUI === true && this.context.isIdle();
	}

	private requeueRefused(): void {
		const now = performance.now();
		const refused = this.sent.filter(({ sentAt = now }) => now - sentAt > this.policy.refusedMs);
		this.sent = this.sent.filter((each) => !refused.includes(each));
		this.held.unshift(...refused);
	}

	/** Hands what is held to pi; the last message starts a turn where one of them wants that. */
	private handOver(mayTurn: boolean): void {
		const now = performance.now();
		this.held = this.held.filter(({ attempts }) => attempts < this.policy.attempts);
		const isPatient = this.context?.hasUI === true;
		const triggerTurn = mayTurn && (!isPatient || this.held.some(({ message }) => message.triggerTurn));
		try {
			for (let next = this.held.shift(); next; next = this.held.shift()) {
				const attempts = next.attempts + 1;
				const starts = this.held.length === 0 && triggerTurn && attempts < this.policy.attempts;
				this.sent.push({ ...next, attempts, sentAt: now });
				this.pi.sendMessage(announcementOf(next.message), {
					triggerTurn: starts,
					...(starts && { deliverAs: "followUp" }),
				});
			}
			this.verify();
		} finally {
			this.watch();
		}
	}

	/** Looks which of the messages stand in the session, and whether that is written. */
	private verify(): void {
		const { context, sent } = this;
		if (!context || (sent.length === 0 && this.unwritten.length === 0)) return;
		if (sent.length > 0) {
			const ids = deliveredIn(context.sessionManager.getEntries());
			const standing = sent.filter(({ message }) => message.deliveryIds.every((id) => ids.has(id)));
			this.sent = sent.filter((each) => !standing.includes(each));
			for (const { message } of standing) {
				this.unwritten.push(...message.deliveryIds);
				contained("telling other extensions of results", () => this.arrived(message), undefined);
			}
		}
		const file = context.sessionManager.getSessionFile();
		// pi writes a new session with its first answer, and from then on each entry as it comes.
		if (this.unwritten.length === 0 || (file !== undefined && !existsSync(file))) return;
		const ids = this.unwritten.splice(0);
		// When the addon cannot note it, the ids in the session tell at the next opening.
		this.background.session?.delivered(ids).catch(() => undefined);
	}

	/** A pi that has left the session without a word throws for everything that belonged to it. */
	private whileOpen(does: () => void): void {
		try {
			does();
		} catch {
			// Whatever else went wrong is tried again with the next look.
			if (this.isStale()) this.forget();
		}
	}

	private isStale(): boolean {
		try {
			this.context?.isIdle();
			return false;
		} catch {
			return true;
		}
	}

	private watch(): void {
		this.background.hold([...this.sent, ...this.held].flatMap(({ message }) => message.runs));
		const isWaiting = this.held.length > 0 || this.sent.length > 0 || this.unwritten.length > 0;
		if (!isWaiting || !this.context) {
			clearInterval(this.timer);
			this.timer = undefined;
		} else if (!this.timer) {
			this.timer = guardedInterval("delivering results", () => this.whileOpen(() => this.look()), this.policy.lookMs);
		}
	}
}
