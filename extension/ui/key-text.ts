/** Looks up the keys of pi's actions, because the user may have changed them. */

import { type Keybinding, type KeyId, TUI_KEYBINDINGS } from "@earendil-works/pi-tui";

/** The source of the user's keys: the key bindings that overlays receive, or the context of a renderer since pi 1.x. */
export interface KeySource {
	keyText?(binding: Keybinding): string;
	getKeys?(binding: Keybinding): readonly KeyId[];
}

/** pi's defaults for its own actions. The terminal library knows only the actions of its components. */
const DEFAULTS: Readonly<Record<string, { readonly defaultKeys: KeyId | readonly KeyId[] }>> = {
	...TUI_KEYBINDINGS,
	"app.tools.expand": { defaultKeys: "ctrl+o" },
};

/** Returns the keys of an action as pi's own hints write them. Empty if the user has removed them. */
export function keyText(binding: Keybinding, source: KeySource = {}): string {
	return source.keyText?.(binding) ?? keysOf(binding, source).map(keyName).join("/");
}

export function keysOf(binding: Keybinding, source: KeySource): readonly KeyId[] {
	return source.getKeys?.(binding) ?? [DEFAULTS[binding]?.defaultKeys ?? []].flat();
}

export function keyName(key: KeyId): string {
	return process.platform === "darwin" ? key.replace(/\balt\b/, "option") : key;
}
