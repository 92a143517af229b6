/** The notices that the user sees without asking. */

import { writeSync } from "node:fs";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { wrapTextWithAnsi } from "@earendil-works/pi-tui";

const STDERR = 2;

/** Shows each notice once: in pi's UI, or else on stderr, which no mode uses for its output. */
export class Notices {
	private readonly shown = new Set<string>();

	announce(notices: readonly string[], context: ExtensionContext): void {
		const fresh = notices.filter((notice) => !this.shown.has(notice));
		if (fresh.length === 0) return;
		for (const notice of fresh) this.shown.add(notice);
		showNotice(fresh.join("\n"), context);
	}
}

/** Shows a notice, even if it was shown before. */
export function showNotice(notice: string, context: ExtensionContext): void {
	const text = `pi-subagent-native: ${notice}`;
	if (context.hasUI) context.ui.notify(text, "warning");
	else printError(text);
}

function printError(text: string): void {
	try {
		writeSync(STDERR, `${text}\n`);
	} catch {
		// stderr is closed, which is no reason to end pi.
	}
}

/**
 * Prints a text when pi's process exits, because pi has given the terminal back by then. Lines are wrapped between
 * words; the terminal itself would break them in the middle of a command.
 */
export function printAtExit(text: string): void {
	process.once("exit", () => printError(wrapTextWithAnsi(text, process.stderr.columns || text.length).join("\n")));
}
