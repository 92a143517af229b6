/** What background runs ask of their host. They may outlive the session that they were started in. */

import type { HostCallbacks } from "../../index.js";
import type { PiContext } from "../host/pi.ts";
import { refreshToken } from "../host/refresh.ts";
import { answerWith, confirmWith, Dialogs } from "../ui/questions.ts";

export class BackgroundHost {
	private readonly dialogs = new Dialogs();
	private over = new AbortController();

	/** Callbacks for a run that is started in this session. */
	callbacks(context: PiContext): HostCallbacks {
		const { signal } = this.over;
		// A pi that has gone on to another session throws for what belonged to the one before.
		const callbacks: HostCallbacks = {
			refresh: async ({ provider, validForMs }) => {
				try {
					return await refreshToken(context.modelRegistry, provider, validForMs);
				} catch {
					return false;
				}
			},
		};
		if (context.hasUI) {
			callbacks.confirm = confirmWith(this.dialogs, context, signal);
			callbacks.ask = answerWith(this.dialogs, context, signal);
		}
		return callbacks;
	}

	/** Closes the dialogs: with the session goes the user who could answer. */
	close(): void {
		this.over.abort();
		this.over = new AbortController();
	}
}
