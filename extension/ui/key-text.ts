/** What the keys of pi's actions are called: looked up, because the user may have chosen others. */

import { type Keybinding, type KeyId, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";

/** Looks up the user's keys: the key bindings that overlays get, or the context of a renderer since pi 1.x. */
export interface KeySource {
	keyText?(binding: Keybinding): string;
	getKeys?(binding: Keybinding): readonly KeyId[];
}

/** pi's defaults of its own actions; the terminal library knows only those of its components. */
const DEFAULTS: Readonly<Record<string, { readonly defaultKeys: KeyId | readonly KeyId[] }>> = {
	...TUI_KEYBINDINGS,
	"app.tools.expand": { defaultKeys: "ctrl+o" },
};

/** The keys of an action as pi's own hints write them; empty where the user has taken them away. */
export function keyText(binding: Keybinding, source: KeySource = {}): string {
	return source.keyText?.(binding) ?? keysOf(binding, source).map(keyName).join("/");
}

export function keysOf(binding: Keybinding, source: KeySource): readonly KeyId[] {
	return source.getKeys?.(binding) ?? [DEFAULTS[binding]?.defaultKeys ?? []].flat();
}

export function keyName(key: KeyId): string {
	return process.platform === "darwin" ? key.replace(/\balt\b/, "option") : key;
}
