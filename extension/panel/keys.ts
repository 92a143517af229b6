/** The keys of the panel, as the addon names them. The user's bindings for pi's own actions take precedence. */

import {
	decodeKittyPrintable,
	type Keybinding,
	type KeybindingsManager,
	type KeyId,
	matchesKey,
} from "@earendil-works/pi-tui";
import type { PanelKey } from "../../index.js";
import { loadAddon } from "../host/native.ts";
import { keyName, keysOf } from "../ui/key-text.ts";

export type Action = PanelKey["action"];

type Keys = Omit<PanelKey, "pi" | "own"> & { pi?: Keybinding; own: readonly KeyId[] };

export type PanelKeys = ReturnType<typeof panelKeys>;

export function panelKeys(bindings: Partial<KeybindingsManager>) {
	const all = (loadAddon().native?.panelKeys() ?? []) as readonly Keys[];
	const namesOf = ({ pi, own }: Keys) => [...new Set([...(pi ? keysOf(pi, bindings) : []), ...own])].map(keyName);
	return {
		bindings,
		/** Returns the action of a key, given the characters that the terminal sent. */
		actionOf(data: string): Action | undefined {
			const chosen = all.find(({ pi }) => pi && bindings.matches?.(data, pi));
			return (chosen ?? all.find(({ own }) => own.some((key) => isPressed(data, key))))?.action;
		},
		/** Returns the name of the first key of an action. */
		nameOf: (action: Action): string => all.filter((keys) => keys.action === action).flatMap(namesOf)[0] ?? "",
		/** Returns all keys and their effects. */
		table: () => all.map((keys) => [namesOf(keys).join(" "), keys.description] as const),
	};
}

function isPressed(data: string, key: KeyId): boolean {
	if (matchesKey(data, key)) return true;
	// The key for this character, and the need for Shift, depend on the keyboard layout.
	return key === "?" && (decodeKittyPrintable(data) === key || matchesKey(data, "shift+?"));
}
