/**
 * The tools as this process last described them. After `/reload` pi draws the transcript again before `session_start`,
 * and draws a card only for a tool that is registered by then. This module
 * stays through that, unlike all that the factory makes.
 */

import type { ToolSurfaces } from "../../index.js";

let remembered: ToolSurfaces | undefined;

export function rememberedSurfaces(): ToolSurfaces | undefined {
	return remembered;
}

export function rememberSurfaces(surfaces: ToolSurfaces): void {
	remembered = surfaces.register ? surfaces : undefined;
}
