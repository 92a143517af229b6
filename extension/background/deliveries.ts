/**
 * Delivers the results of background runs to the conversation, each once, and confirms to the addon when a result is in
 * the session. The addon decides when and how often to deliver, and which results have arrived. This module reports
 * pi's events to the addon and does the steps that the addon returns.
 */

import type {
	AgentBeforeSettleEvent,
	AgentBeforeSettleEventResult,
	ExtensionAPI,
	ExtensionContext,
} from "@earendil-works/pi-coding-agent";
import type { DeliveryMessage, JoiningMessages } from "../../native.js";
import { guardedInterval } from "../host/guard.ts";
import type { Native } from "../host/native.ts";
import { asJson, isObject } from "../host/stored.ts";
import type { Background } from "./registry.ts";

/** The session that receives the deliveries, and the objects needed to make them. */
interface DeliveryContext {
	pi: ExtensionAPI;
	context: ExtensionContext;
	background: Background;
	native: Pick<Native, "DeliveryDispatcher" | "deliveredIn">;
	/** Called for each message that is in the session. */
	arrived(message: DeliveryMessage): void;
}

export type Deliveries = ReturnType<typeof openDeliveries>;

/** Opens the deliveries for one session. */
export function openDeliveries({ pi, context, background, native, arrived }: DeliveryContext) {
	const idsInSession = () => native.deliveredIn(deliveryEntries(context.sessionManager.getEntries()));
	const delivered = idsInSession();
	const dispatcher = new native.DeliveryDispatcher(context.hasUI, delivered);
	/** The messages that are not in the session yet, by the id of their first delivery. */
	const messages = new Map<string, DeliveryMessage>();
	let timer: NodeJS.Timeout | undefined;
	let signal: AbortSignal | undefined;

	/** Does the steps that the addon returns. If pi fails, the addon continues from the same step at the next report. */
	function advance(): void {
		try {
			for (let next = dispatcher.next(); next; next = dispatcher.next()) {
				const { step, triggerTurn = false, deliveryIds = [] } = next;
				const message = messages.get(next.message ?? "");
				if (step === "check") dispatcher.contains(idsInSession(), context.sessionManager.getSessionFile());
				// If the addon cannot record the confirmation, it finds the ids in the session at the next opening.
				if (step === "confirm") background.session?.delivered(deliveryIds).catch(() => undefined);
				if (step === "arrived" && message) arrived(message);
				if (step === "send" && message) {
					pi.sendMessage(message.announcement, { triggerTurn, ...(triggerTurn && { deliverAs: "followUp" }) });
					dispatcher.sent();
				}
			}
		} finally {
			watch();
		}
	}

	function watch(): void {
		const waiting = dispatcher.waiting();
		for (const id of messages.keys()) if (!waiting.includes(id)) messages.delete(id);
		background.setUndelivered([...messages.values()].flatMap(({ runs }) => runs));
		const checkAfterMs = dispatcher.checkAfterMs();
		if (checkAfterMs !== null && checkAfterMs !== undefined) {
			timer ??= guardedInterval("delivering results", check, checkAfterMs);
			return;
		}
		clearInterval(timer);
		timer = undefined;
	}

	function check(): void {
		whileOpen(() => {
			dispatcher.check(context.isIdle());
			advance();
		});
	}

	/**
	 * Calls `work`. After pi has left the session, every call that belonged to the session throws; the deliveries are
	 * dropped then.
	 */
	function whileOpen(work: () => void): void {
		try {
			work();
		} catch {
			try {
				// Throws if pi has left the session. Otherwise the next check retries the failed step.
				context.isIdle();
				watch();
			} catch {
				forget();
			}
		}
	}

	function forget(): void {
		dispatcher.forget();
		watch();
	}

	return {
		/** The ids of the deliveries that were in the session when it was opened. */
		delivered,

		/** Queues a message from the addon for delivery. */
		add(message: DeliveryMessage): void {
			const [id] = message.deliveryIds;
			if (id === undefined || !dispatcher.add(message.deliveryIds, message.triggerTurn)) return;
			messages.set(id, message);
			check();
		},

		/** Notes that a prompt has arrived and that pi prepares its turn. */
		prompted: () => dispatcher.prompted(),

		/** Delivers the queued messages before the prompt's turn starts. */
		beforeStart(): void {
			dispatcher.turnStarts();
			advance();
		},

		started(by: AbortSignal | undefined): void {
			dispatcher.turnStarted();
			signal = by;
		},

		/** Notes the end of a message. pi adds the message to the session after its handlers have finished. */
		messageEnded(message: { role: string; stopReason?: string }): void {
			if (message.role === "assistant") dispatcher.answered(message.stopReason);
			if (timer) setImmediate(() => whileOpen(checkGrowth));
		},

		/** Adds the queued messages to the session before the run settles, so that the model continues with them. */
		async beforeSettle(event: AgentBeforeSettleEvent): Promise<AgentBeforeSettleEventResult | undefined> {
			let joining: JoiningMessages | undefined;
			for (let isMore = true; isMore && !joining; ) {
				isMore = !context.hasUI && (await background.settledOrAsked());
				checkGrowth();
				joining = dispatcher.join() ?? undefined;
			}
			if (!joining) return undefined;
			const joined = joining.messages.flatMap((id) => messages.get(id)?.announcement ?? []);
			const drafts = joined.map((message) => ({ type: "custom_message" as const, ...message }));
			return { entries: [...event.entries, ...drafts], continue: event.continue || joining.continue };
		},

		/** Notes that the run has settled. */
		settled(aborted: boolean | undefined): void {
			dispatcher.settled(aborted || signal?.aborted || false);
			signal = undefined;
			advance();
		},

		/**
		 * Waits for the runs that a command started, and for the model's answers to their results. Without a user, pi exits
		 * right after the command.
		 */
		async drain(waitForIdle: () => Promise<void>): Promise<void> {
			for (let isMore = true; isMore; ) {
				isMore = await background.settledOrAsked();
				dispatcher.drain();
				advance();
				await waitForIdle();
			}
		},

		/** Ends the deliveries. The addon keeps the messages that are not in the session. */
		close(): void {
			checkGrowth();
			forget();
		},
	};

	function checkGrowth(): void {
		dispatcher.sessionExtended();
		advance();
	}
}

/** Returns the entries that have delivery ids, of any kind, as JSON with the fields that identify the deliveries. */
export function deliveryEntries(entries: readonly unknown[]): string {
	const hasIds = (part: unknown) => isObject(part) && isObject(part.details) && part.details.deliveryIds !== undefined;
	const found = entries.filter((entry) => isObject(entry) && (hasIds(entry) || hasIds(entry.message)));
	return asJson(found, ["customType", "message", "role", "toolName", "details", "deliveryIds"]);
}
