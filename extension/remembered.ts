/**
 * The tool as this process last described it. After `/reload` pi draws the transcript again before `session_start`,
 * and draws a card only for a tool that is registered by then. A reload loads this module again, so it is kept outside.
 */

import type { ToolSurface } from "../index.js";

const KEY = Symbol.for("pi-subagent-native.surface");

const shared = globalThis as typeof globalThis & { [KEY]?: ToolSurface | undefined };

export function rememberedSurface(): ToolSurface | undefined {
	return shared[KEY];
}

export function rememberSurface(surface: ToolSurface): void {
	shared[KEY] = surface.register ? surface : undefined;
}
