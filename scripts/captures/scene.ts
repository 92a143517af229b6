/** What a scene is: a call, its children, and how far they are when a picture is taken. */

import type { Children, ToolCall } from "./model.ts";

/** A look that pictures are taken in. */
export interface Look {
	name: "dark" | "light" | "narrow";
	theme: "dark" | "light";
	columns: number;
}

export const looks: readonly Look[] = [
	{ name: "dark", theme: "dark", columns: 100 },
	{ name: "light", theme: "light", columns: 100 },
	{ name: "narrow", theme: "dark", columns: 40 },
];

/** The interface of pi, as a scene uses it. */
export interface Screen {
	readonly look: Look;
	/** Waits for something on the screen. */
	sees(sight: RegExp): Promise<void>;
	/** Waits until nothing but clocks moves on the screen, and takes the picture. */
	take(picture: string): Promise<void>;
	press(...keys: string[]): Promise<void>;
	/** Types text as it is. */
	type(text: string): Promise<void>;
	/** Lets children start that the scene holds back. */
	letStart(): void;
}

export interface Play {
	calls: ToolCall[];
	children: Children;
	drive(screen: Screen): Promise<void>;
}

export interface Scene {
	name: string;
	/** Pictures of whole screens of so many rows, instead of cards. */
	rows?: number;
	/** What each picture shows, by its name; in the order of the page. */
	pictures: Readonly<Record<string, string>>;
	/** Those that are taken in a narrow terminal as well. */
	narrow?: readonly string[];
	/** The user's `subagents`. */
	config?: Record<string, unknown>;
	/** Children are programs that do not become pi before they are told to. */
	holdsStarts?: boolean;
	/** Agents that the project defines; pi's user is asked before the first of their runs. */
	projectAgents?: readonly string[];
	/** The source of an extension that children load. */
	childExtension?: string;
	/** Added to pi's settings. */
	settings?: Record<string, unknown>;
	/** The lines of a session to open, instead of a prompt. */
	session?: () => Promise<Record<string, unknown>[]>;
	/** Fresh gates for one performance. */
	play(): Play;
}
