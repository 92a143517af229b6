/**
 * Resumes the runs that a restart of pi has interrupted. `background.onRestart` decides whether this happens
 * automatically or when the user presses a key.
 */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { DeliveryMessage } from "../../index.js";
import { messageOf } from "../host/guard.ts";
import { hostCallbacks } from "../host/refresh.ts";
import type { Session } from "./commands.ts";
import { deliver, messageReport } from "./report.ts";

const KEY = "alt+r";

/** The interrupted runs in one message. */
type Interrupted = NonNullable<DeliveryMessage["restart"]>;

/** Registers the key. Returns a function that handles the interrupted runs of a message. */
export function registerRestarts(pi: ExtensionAPI, session: Session) {
	let offered: readonly string[] = [];

	async function resume(keys: readonly string[], context: ExtensionContext): Promise<void> {
		const callbacks = hostCallbacks(context, session.questions);
		const failed = (error: unknown) => messageReport("error", `Resuming interrupted runs failed: ${messageOf(error)}`);
		const report = await session.background.session?.restartRuns([...keys], callbacks).catch(failed);
		if (report) deliver(pi, context, report);
	}

	pi.registerShortcut(KEY, {
		description: "Resume interrupted sub-agents",
		async handler(context) {
			const keys = offered;
			offered = [];
			if (keys.length > 0) await resume(keys, context);
			else context.ui.notify("There is no interrupted run to resume", "info");
		},
	});

	return ({ mode, keys }: Interrupted, context: ExtensionContext): void => {
		if (mode === "resume") return void resume(keys, context);
		offered = [...offered, ...keys];
		const runs = offered.length === 1 ? "1 run was" : `${offered.length} runs were`;
		if (context.hasUI)
			context.ui.notify(
				`${runs} interrupted by a restart: ${KEY} resumes ${offered.length === 1 ? "it" : "them"}`,
				"info",
			);
	};
}
