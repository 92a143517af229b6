/** `/subagents` in a terminal: a screen of its own with the runs of the session, live. */

import type { HostCallbacks } from "../../index.js";
import type { Background } from "../background/registry.ts";
import type { PiApi, PiContext } from "../host/pi.ts";
import { Panel } from "./screen.ts";

/** Over everything: pi's own lines come back as they were when it closes. */
const WHOLE_SCREEN = { width: "100%", maxHeight: "100%", anchor: "top-left" } as const;

/** Opens the panel. Resolves when it is closed: by the user, or because its session or pi goes. */
export async function openPanel(
	_pi: PiApi,
	context: PiContext,
	background: Background,
	callbacks: HostCallbacks = {},
	answer?: (runId: string) => void,
): Promise<void> {
	const { session } = background;
	if (!session) {
		context.ui.notify("Background runs are not available in this session: /subagents doctor says why", "warning");
		return;
	}
	const closed = Promise.withResolvers<void>();
	const shown = context.ui.custom(
		(terminal, theme, keybindings, done) => {
			const parts = { background, session, callbacks, answer, done, gone: closed.resolve };
			return new Panel({ ...parts, terminal, theme, keybindings });
		},
		{ overlay: true, overlayOptions: WHOLE_SCREEN },
	);
	// pi leaves its own promise open when it replaces its extensions, and would wait for this command before the next.
	await Promise.race([shown, closed.promise]);
}
