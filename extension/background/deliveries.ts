/**
 * Brings the ends of background runs into the conversation, each once, and tells the addon when it stands there. When, how
 * often, and what has arrived, the addon decides; here it hears what pi did, and pi gets what the addon says.
 */

import type {
	AgentBeforeSettleEvent,
	AgentBeforeSettleEventResult,
	ExtensionAPI,
	ExtensionContext,
} from "@earendil-works/pi-coding-agent";
import type { DeliveryMessage, JoiningMessages } from "../../index.js";
import { guardedInterval } from "../host/guard.ts";
import type { Native } from "../host/native.ts";
import { asJson, isObject } from "../host/stored.ts";
import type { Background } from "./registry.ts";

/** What deliveries are made with, and the session that they are made to. */
interface Place {
	pi: ExtensionAPI;
	context: ExtensionContext;
	background: Background;
	native: Pick<Native, "DeliveryDispatcher" | "deliveredIn">;
	/** Hears of each message that stands in the session. */
	arrived(message: DeliveryMessage): void;
}

export type Deliveries = ReturnType<typeof openDeliveries>;

/** The deliveries to one session, from its opening to its end. */
export function openDeliveries({ pi, context, background, native, arrived }: Place) {
	const standing = () => native.deliveredIn(mayDeliver(context.sessionManager.getEntries()));
	const delivered = standing();
	const dispatcher = new native.DeliveryDispatcher(context.hasUI, delivered);
	/** The messages that do not stand in the session yet, by the first of their deliveries. */
	const messages = new Map<string, DeliveryMessage>();
	let timer: NodeJS.Timeout | undefined;
	let signal: AbortSignal | undefined;

	/** Does what the addon says. When pi fails, the addon goes on from there with the next report. */
	function advance(): void {
		try {
			for (let next = dispatcher.next(); next; next = dispatcher.next()) {
				const { step, triggerTurn = false, deliveryIds = [] } = next;
				const message = messages.get(next.message ?? "");
				if (step === "look") dispatcher.contains(standing(), context.sessionManager.getSessionFile());
				// When the addon cannot note it, the ids in the session tell at the next opening.
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
		background.hold([...messages.values()].flatMap(({ runs }) => runs));
		const lookAfterMs = dispatcher.lookAfterMs();
		if (lookAfterMs !== null && lookAfterMs !== undefined) {
			timer ??= guardedInterval("delivering results", look, lookAfterMs);
			return;
		}
		clearInterval(timer);
		timer = undefined;
	}

	function look(): void {
		whileOpen(() => {
			dispatcher.look(context.isIdle());
			advance();
		});
	}

	/** A pi that has left the session without a word throws for everything that belonged to it. */
	function whileOpen(does: () => void): void {
		try {
			does();
		} catch {
			try {
				// Whatever else went wrong is tried again with the next look.
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
		/** The ids of the deliveries that stood in the session when it was opened. */
		delivered,

		/** Takes a message from the addon. */
		add(message: DeliveryMessage): void {
			const [id] = message.deliveryIds;
			if (id === undefined || !dispatcher.add(message.deliveryIds, message.triggerTurn)) return;
			messages.set(id, message);
			look();
		},

		/** A prompt has come, and pi prepares its turn. */
		prompted: () => dispatcher.prompted(),

		/** The prompt's turn is about to start. */
		beforeStart(): void {
			dispatcher.turnStarts();
			advance();
		},

		started(by: AbortSignal | undefined): void {
			dispatcher.turnStarted();
			signal = by;
		},

		/** A message has ended; pi adds it to the session when its handlers are through. */
		messageEnded(message: { role: string; stopReason?: string }): void {
			if (message.role === "assistant") dispatcher.answered(message.stopReason);
			if (timer) setImmediate(() => whileOpen(grew));
		},

		/** The run would come to rest: what is held joins the session, and the model goes on with it. */
		async beforeSettle(event: AgentBeforeSettleEvent): Promise<AgentBeforeSettleEventResult | undefined> {
			let joining: JoiningMessages | undefined;
			for (let isMore = true; isMore && !joining; ) {
				isMore = !context.hasUI && (await background.settledOrAsked());
				grew();
				joining = dispatcher.join() ?? undefined;
			}
			if (!joining) return undefined;
			const joined = joining.messages.flatMap((id) => messages.get(id)?.announcement ?? []);
			const drafts = joined.map((message) => ({ type: "custom_message" as const, ...message }));
			return { entries: [...event.entries, ...drafts], continue: event.continue || joining.continue };
		},

		/** The run has come to rest. */
		settled(aborted: boolean | undefined): void {
			dispatcher.settled(aborted || signal?.aborted || false);
			signal = undefined;
			advance();
		},

		/** Without a user pi leaves after a command: waits for the runs that it has started, and for what the model says. */
		async drain(waitForIdle: () => Promise<void>): Promise<void> {
			for (let isMore = true; isMore; ) {
				isMore = await background.settledOrAsked();
				dispatcher.drain();
				advance();
				await waitForIdle();
			}
		},

		/** Ends with the session: what does not stand in it is the addon's again. */
		close(): void {
			grew();
			forget();
		},
	};

	function grew(): void {
		dispatcher.sessionGrew();
		advance();
	}
}

/** The entries with ids of deliveries, of whatever kind, and so much of each as says what it delivers. */
export function mayDeliver(entries: readonly unknown[]): string {
	const hasIds = (part: unknown) => isObject(part) && isObject(part.details) && part.details.deliveryIds !== undefined;
	const found = entries.filter((entry) => isObject(entry) && (hasIds(entry) || hasIds(entry.message)));
	return asJson(found, ["customType", "message", "role", "toolName", "details", "deliveryIds"]);
}
