/** What background runs ask of their host. They may outlive the session that they were started in. */

import type { HostCallbacks } from "../../index.js";
import type { PiContext } from "../host/pi.ts";
import { refreshToken } from "../host/refresh.ts";
import type { Questions } from "../questions/questions.ts";

export class BackgroundHost {
	private readonly questions: Questions;

	constructor(questions: Questions) {
		this.questions = questions;
	}

	/** Callbacks for a run that is started in this session. */
	callbacks(context: PiContext): HostCallbacks {
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
		const session = context.sessionManager.getSessionId();
		return context.hasUI ? { ...callbacks, ...this.questions.callbacks(session) } : callbacks;
	}
}
