/** The names of keys, and the keys of the panel. The user's own keys for pi's actions take precedence. */

import {
	decodeKittyPrintable,
	type Keybinding,
	type KeybindingsManager,
	type KeyId,
	matchesKey,
	TUI_KEYBINDINGS,
} from "@earendil-works/pi-tui";
import type { PanelKey } from "../../native.js";
import { loadAddon } from "../host/native.ts";

/** The source of the user's keys: the key bindings that overlays receive, or the context of a renderer since pi 1.x. */
export interface KeySource {
	keyText?(binding: Keybinding): string;
	getKeys?(binding: Keybinding): readonly KeyId[];
}

/** pi's defaults for its own actions. The terminal library knows only the actions of its components. */
const DEFAULTS: Readonly<Record<string, { readonly defaultKeys: KeyId | readonly KeyId[] }>> = {
	...TUI_KEYBINDINGS,
	"app.interrupt": { defaultKeys: "escape" },
	"app.tools.expand": { defaultKeys: "ctrl+o" },
};

/** Returns the keys of an action as pi's own hints write them. Empty if the user has removed them. */
export function keyText(binding: Keybinding, source: KeySource = {}): string {
	return source.keyText?.(binding) ?? keysOf(binding, source).map(keyName).join("/");
}

function keysOf(binding: Keybinding, source: KeySource): readonly KeyId[] {
	return source.getKeys?.(binding) ?? [DEFAULTS[binding]?.defaultKeys ?? []].flat();
}

export function keyName(key: KeyId): string {
	return process.platform === "darwin" ? key.replace(/\balt\b/, "option") : key;
}

export type Action = PanelKey["action"];

type Keys = Omit<PanelKey, "pi" | "own"> & { pi?: Keybinding; own: readonly KeyId[] };

/** Returns the keys of the panel for the user's bindings. */
export function panelKeys(bindings: Partial<KeybindingsManager>) {
	const all = (loadAddon().native?.panelKeys() ?? []) as readonly Keys[];
	return {
		/** Returns the action of a key, given the characters that the terminal sent. */
		actionOf(data: string): Action | undefined {
			const chosen = all.find(({ pi }) => pi && bindings.matches?.(data, pi));
			return (chosen ?? all.find(({ own }) => own.some((key) => isPressed(data, key))))?.action;
		},
		/** Returns the names of the keys of each action. */
		names: () => all.map(({ pi, own }) => [...new Set([...(pi ? keysOf(pi, bindings) : []), ...own])].map(keyName)),
	};
}

function isPressed(data: string, key: KeyId): boolean {
	if (matchesKey(data, key)) return true;
	// The key for this character, and the need for Shift, depend on the keyboard layout.
	return key === "?" && (decodeKittyPrintable(data) === key || matchesKey(data, "shift+?"));
}
