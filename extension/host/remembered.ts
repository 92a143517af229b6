/**
 * The tools as this process last described them. After `/reload` pi draws the transcript again before `session_start`,
 * and draws a card only for a tool that is registered by then. A reload loads this module again, so they are kept outside.
 */

import type { ToolSurfaces } from "../../index.js";

const KEY = Symbol.for("pi-subagent-native.surfaces");

const shared = globalThis as typeof globalThis & { [KEY]?: ToolSurfaces | undefined };

export function rememberedSurfaces(): ToolSurfaces | undefined {
	return shared[KEY];
}

export function rememberSurfaces(surfaces: ToolSurfaces): void {
	shared[KEY] = surfaces.register ? surfaces : undefined;
}
