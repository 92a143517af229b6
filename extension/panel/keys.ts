/** The keys of the panel: those that the user has chosen for pi's own actions, and ours. */

import {
	decodeKittyPrintable,
	type Keybinding,
	type KeybindingsManager,
	type KeyId,
	matchesKey,
} from "@earendil-works/pi-tui";
import { keyName, keysOf } from "../ui/key-text.ts";

interface Keys {
	/** What pi calls the same; its keys come first. */
	pi?: Keybinding;
	own: readonly KeyId[];
	does: string;
}

const ACTIONS = {
	up: { pi: "tui.select.up", own: ["up", "k"], does: "the run above; scroll up" },
	down: { pi: "tui.select.down", own: ["down", "j"], does: "the run below; scroll down" },
	pageUp: { pi: "tui.select.pageUp", own: ["pageUp", "ctrl+b"], does: "a page up" },
	pageDown: { pi: "tui.select.pageDown", own: ["pageDown", "ctrl+f", "space"], does: "a page down" },
	halfUp: { pi: "tui.altScreen.halfPageUp", own: ["ctrl+u"], does: "half a page up" },
	halfDown: { pi: "tui.altScreen.halfPageDown", own: ["ctrl+d"], does: "half a page down" },
	top: { pi: "tui.altScreen.top", own: ["home", "g"], does: "to the first" },
	bottom: { pi: "tui.altScreen.bottom", own: ["end", "shift+g"], does: "to the last; a transcript is followed there" },
	open: { pi: "tui.select.confirm", own: ["enter", "right"], does: "the transcript, as it grows" },
	tools: { pi: "app.tools.expand", own: ["t"], does: "in a transcript: with or without what tools did" },
	answer: { own: ["o"], does: "open the question that a run waits with" },
	stop: { own: ["s"], does: "stop the run and everything it started; asks once" },
	background: { own: ["b"], does: "let it go on in the background, without the call that waits for it" },
	message: { own: ["m"], does: "send a message: a run at work reads it next, one that has ended goes on with it" },
	resume: { own: ["r"], does: "resume a run that has ended" },
	log: { own: ["l"], does: "the conversation so far" },
	info: { own: ["i"], does: "everything that is known of the run" },
	all: { own: ["a"], does: "the runs of all sessions, or only of this one" },
	again: { own: ["u"], does: "ask for a report again" },
	keys: { own: ["?"], does: "these keys" },
	back: { pi: "tui.select.cancel", own: ["escape", "q", "ctrl+c"], does: "back; from the list, close" },
	left: { own: ["left"], does: "back" },
} as const satisfies Record<string, Keys>;

export type Action = keyof typeof ACTIONS;

const ALL = Object.entries<Keys>(ACTIONS) as [Action, Keys][];

export type PanelKeys = ReturnType<typeof panelKeys>;

export function panelKeys(bindings: Partial<KeybindingsManager>) {
	const namesOf = ({ pi, own }: Keys) => [...new Set([...(pi ? keysOf(pi, bindings) : []), ...own])].map(keyName);
	return {
		bindings,
		/** The action of a key, given as the terminal has sent it. */
		actionOf(data: string): Action | undefined {
			const chosen = ALL.find(([, { pi }]) => pi && bindings.matches?.(data, pi));
			return (chosen ?? ALL.find(([, { own }]) => own.some((key) => isPressed(data, key))))?.[0];
		},
		/** The first key of an action. */
		nameOf: (action: Action): string => namesOf(ACTIONS[action])[0] ?? "",
		/** All keys, and what they do. */
		table: () => ALL.map(([, keys]) => [namesOf(keys).join(" "), keys.does] as const),
	};
}

function isPressed(data: string, key: KeyId): boolean {
	if (matchesKey(data, key)) return true;
	// Where a sign stands on the keyboard, and whether with Shift, is different everywhere.
	return key === "?" && (decodeKittyPrintable(data) === key || matchesKey(data, "shift+?"));
}
