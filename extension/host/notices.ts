/** What is said without being asked: configuration mistakes to the user, the delegation policy to the model. */

import { writeSync } from "node:fs";
import type { ToolSurfaces } from "../../index.js";
import type { PiContext } from "./pi.ts";

const STDERR = 2;

/** Shows notices, each once: in pi's UI, else on stderr, which no mode uses for its output. */
export class Notices {
	private readonly shown = new Set<string>();

	announce(notices: readonly string[], context: PiContext): void {
		const fresh = notices.filter((notice) => !this.shown.has(notice));
		if (fresh.length === 0) return;
		for (const notice of fresh) this.shown.add(notice);
		say(fresh.join("\n"), context);
	}
}

/** Shows a notice, however often it was shown already. */
export function say(notice: string, context: PiContext): void {
	const text = `pi-subagent-native: ${notice}`;
	if (context.hasUI) context.ui.notify(text, "warning");
	else complain(text);
}

function complain(text: string): void {
	try {
		writeSync(STDERR, `${text}\n`);
	} catch {
		// Nobody reads it; a notice is no reason to end pi's start.
	}
}

/** The system prompt with the delegation policy, or nothing when it is there already or not wanted. */
export function withPolicy(systemPrompt: string, surfaces: ToolSurfaces | undefined): string | undefined {
	const policy = surfaces?.delegationPolicy;
	return !policy || systemPrompt.includes(policy) ? undefined : `${systemPrompt}\n\n${policy}`;
}
