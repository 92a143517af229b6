/** A scene: a call, its children, and their state when a picture is taken. */

import type { Children, ToolCall } from "./model.ts";

/** The terminal and theme of a picture. */
export interface Variant {
	name: "dark" | "light" | "narrow";
	theme: "dark" | "light";
	columns: number;
}

export const variants: readonly Variant[] = [
	{ name: "dark", theme: "dark", columns: 100 },
	{ name: "light", theme: "light", columns: 100 },
	{ name: "narrow", theme: "dark", columns: 40 },
];

/** pi's interface, as a scene uses it. */
export interface Screen {
	readonly variant: Variant;
	/** Waits until `sight` is on the screen. */
	sees(sight: RegExp): Promise<void>;
	/** Waits until only clocks change on the screen, and takes the picture. */
	take(picture: string): Promise<void>;
	press(...keys: string[]): Promise<void>;
	/** Types text literally. */
	type(text: string): Promise<void>;
	/** Lets the children start that the scene holds back. */
	letStart(): void;
}

export interface Play {
	calls: ToolCall[];
	children: Children;
	drive(screen: Screen): Promise<void>;
}

export interface Scene {
	name: string;
	/** The height of the terminal, for pictures of the whole screen instead of the cards. */
	rows?: number;
	/** The captions of the pictures by name, in the order of the page. */
	pictures: Readonly<Record<string, string>>;
	/** The pictures that are also taken in a narrow terminal. */
	narrow?: readonly string[];
	/** The user's `subagents` configuration. */
	config?: Record<string, unknown>;
	/** Children do not start pi until `letStart` is called. */
	holdsStarts?: boolean;
	/** Agents that the project defines. pi asks the user before each of them runs for the first time. */
	projectAgents?: readonly string[];
	/** Agents of the user whose tools write. */
	writers?: readonly string[];
	/** The source of an extension for the children. */
	childExtension?: string;
	/** Additional pi settings. */
	settings?: Record<string, unknown>;
	/** Returns the lines of a session to open, instead of a prompt. */
	session?: () => Promise<Record<string, unknown>[]>;
	/** Returns new gates for one performance. */
	play(): Play;
}
