/** The addon's `EarlyCalls` without children: its decisions are real; boots and ends are only recorded. */

import type { ArrivingCall, CallPiece, EarlyCalls, EarlyOptions } from "../../native.js";

export interface EarlyObserver {
	booted(options: EarlyOptions): void;
	/** `json`: all that has arrived of its arguments. */
	ended(callId: string, json: string): void;
}

const CUT_OFF = ["error", "aborted", "length"];

export function earlyCallsDouble(Real: typeof EarlyCalls, observer: EarlyObserver): typeof EarlyCalls {
	return class implements EarlyCalls {
		private readonly real = new Real();
		private readonly arrived = new Map<number, string>();
		private readonly texts = new Map<string, string>();
		private readonly live = new Set<string>();

		take(piece: CallPiece): ArrivingCall | null {
			const { type, contentIndex, id, json = "" } = piece;
			const before = type === "toolcall_start" ? "" : (this.arrived.get(contentIndex) ?? "");
			const adds = type === "toolcall_delta" || (type === "toolcall_end" && before === "");
			this.arrived.set(contentIndex, adds ? before + json : before);
			if (id) this.texts.set(id, this.arrived.get(contentIndex) ?? "");
			return this.real.take(piece);
		}

		boot(options: EarlyOptions): void {
			this.live.add(options.callId);
			observer.booted(options);
		}

		finished(callId: string): void {
			this.real.finished(callId);
			if (this.live.delete(callId)) observer.ended(callId, this.texts.get(callId) ?? "");
		}

		messageEnded(stopReason?: string | null): void {
			this.real.messageEnded(stopReason);
			if (CUT_OFF.includes(stopReason ?? "")) this.clear();
		}

		clear(): void {
			this.real.clear();
			for (const callId of [...this.live]) this.finished(callId);
		}

		async close(): Promise<void> {
			this.clear();
			await this.real.close();
		}
	};
}
