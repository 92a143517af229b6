/** pi's library, from the pi that runs this extension, and the types that the oldest supported pi lacks. */

import { readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";
import type {
	AgentSettledEvent,
	AgentToolResult,
	ExtensionAPI,
	MessageRenderOptions,
	ToolDefinition as PiToolDefinition,
	Theme,
} from "@earendil-works/pi-coding-agent";
import type { Component, Focusable, Keybinding } from "@earendil-works/pi-tui";

/** `aborted` exists since pi 1.x. */
export type SettledEvent = AgentSettledEvent & { aborted?: boolean };

/** A component that takes the keyboard. */
export type Screen = Widget & Focusable & Required<Pick<Component, "handleInput" | "handleMouse">>;

/** A component above the editor. */
export interface Widget extends Component {
	dispose(): void;
}

/** A custom message in the form that `sendMessage` takes. */
export type CustomMessage = Parameters<ExtensionAPI["sendMessage"]>[0];

/** A result in the form that a renderer receives. It may come from pi, another extension or another release. */
export interface RenderedOutput {
	content: readonly { type: string; text?: string }[];
	details?: unknown;
}

/** An extension's message in the form that a renderer receives. */
export interface RenderedMessage {
	content: string | RenderedOutput["content"];
	details?: unknown;
}

/** Formats the user's key bindings. pi passes it to renderers since 1.x. */
interface KeyHints {
	keyText?(keybinding: Keybinding): string;
}

export type RenderOptions = MessageRenderOptions & KeyHints;

/** Lives as long as the card; shared by both renderers. */
export type ToolRenderContext = Parameters<NonNullable<PiToolDefinition["renderCall"]>>[2] & {
	state: object;
} & KeyHints;

/**
 * A tool's return value or update. Newer versions of pi set the error flag themselves, and give the structured content to
 * scripts.
 */
export type ToolOutput = AgentToolResult<unknown> & {
	content: { type: "text"; text: string }[];
	isError?: boolean;
	structuredContent?: unknown;
};

/** A tool definition. Newer versions of pi (1.x) add fields for a tool's callers and side effects. */
export type ToolDefinition = Omit<PiToolDefinition, "execute" | "renderCall" | "renderResult"> & {
	execute(...call: Parameters<PiToolDefinition["execute"]>): Promise<ToolOutput>;
	renderCall(args: unknown, theme: Theme, context: ToolRenderContext): Component;
	renderResult(result: RenderedOutput, options: object, theme: Theme, context: ToolRenderContext): Component;
	exposure?: "model-only" | "codemode";
	outputSchema?: Record<string, unknown>;
	annotations?: { readOnlyHint: boolean };
};

const PI = "@earendil-works/pi-coding-agent";

export type Pi = Partial<typeof import("@earendil-works/pi-coding-agent")>;

let loaded: Pi = {};

/** Returns the loaded library. It is empty before the first session, and in a host other than pi. */
export const loadedLibrary = () => loaded;

/** Loads the library next to the program of the running pi. Node's own resolution would find another copy or none. */
export async function library(): Promise<Pi> {
	const program = pathToFileURL(realpathSync(process.argv[1] ?? ""));
	const description = findPackageJSON(program);
	// A program that embeds pi has another package there.
	const isPi = description !== undefined && JSON.parse(readFileSync(description, "utf8")).name === PI;
	loaded = isPi ? await import(new URL("index.js", program).href) : {};
	return loaded;
}
