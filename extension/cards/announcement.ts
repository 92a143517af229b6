/** Draws the message that announces the results of background runs, in pi's message box. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Box, Spacer, Text } from "@earendil-works/pi-tui";
import { loadAddon } from "../host/native.ts";
import type { RenderedMessage, RenderOptions } from "../host/pi.ts";
import { asJson, contentText } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { type Pen, Style } from "../ui/pen.ts";

const LABEL = "[subagents]";

/**
 * Registers the renderer. The message type comes from the addon; without the addon, pi draws these messages as plain
 * text.
 */
export function registerAnnouncementRenderer(pi: ExtensionAPI): void {
	const { native } = loadAddon();
	if (!native) return;
	pi.registerMessageRenderer(native.ANNOUNCEMENT, (message, options: RenderOptions, theme) => {
		const style = new Style(theme);
		// Same box as pi's default for custom messages.
		const box = new Box(options.outputPad ?? 1, 1, (text) => style.bg("customMessageBg", text));
		box.addChild(new Text(style.fg("customMessageLabel", style.bold(LABEL)), 0, 0));
		box.addChild(new Spacer(1));
		const draw = (pen: Pen) => announcementLines(message, options.expanded, pen);
		box.addChild(component(theme, draw, undefined, options));
		return box;
	});
}

/**
 * Returns the lines of an announcement. A message that the addon cannot read, for example from another release, is
 * shown as its text.
 */
export function announcementLines(message: RenderedMessage, isExpanded: boolean, pen: Pen): string[] {
	const details = asJson(message.details);
	const lines = pen.drawn((native, ...on) => native.drawAnnouncement(...on, details, isExpanded));
	return lines ?? pen.paragraph(contentText(message), "customMessageText");
}
