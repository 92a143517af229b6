/** What the types of the oldest supported pi lack: what newer versions add, and what a session may hold. */

import type {
	AgentSettledEvent,
	AgentToolResult,
	ExtensionAPI,
	MessageRenderOptions,
	ToolDefinition as PiToolDefinition,
	Theme,
} from "@earendil-works/pi-coding-agent";
import type { Component, Focusable, Keybinding } from "@earendil-works/pi-tui";

/** `aborted` is told since 1.x. */
export type SettledEvent = AgentSettledEvent & { aborted?: boolean };

/** A component that takes the keyboard. */
export type Screen = Widget & Focusable & Required<Pick<Component, "handleInput" | "handleMouse">>;

/** A component above the editor. */
export interface Widget extends Component {
	dispose(): void;
}

/** A message as it is sent. */
export type CustomMessage = Parameters<ExtensionAPI["sendMessage"]>[0];

/** A result as a renderer gets it: pi's, another extension's, or that of another release. */
export interface RenderedOutput {
	content: readonly { type: string; text?: string }[];
	details?: unknown;
}

/** A message of an extension's as a renderer gets it. */
export interface RenderedMessage {
	content: string | RenderedOutput["content"];
	details?: unknown;
}

/** Formats the user's key bindings; pi hands it to renderers since 1.x. */
interface KeyHints {
	keyText?(keybinding: Keybinding): string;
}

export type RenderOptions = MessageRenderOptions & KeyHints;

/** Lives as long as the card; shared by both renderers. */
export type ToolRenderContext = Parameters<NonNullable<PiToolDefinition["renderCall"]>>[2] & {
	state: object;
} & KeyHints;

/** What a tool returns or streams. Newer versions flag an error themselves. */
export type ToolOutput = AgentToolResult<unknown> & { content: { type: "text"; text: string }[]; isError?: boolean };

/** Who may call a tool, and what it does to the world, are told since 1.x. */
export type ToolDefinition = Omit<PiToolDefinition, "execute" | "renderCall" | "renderResult"> & {
	execute(...call: Parameters<PiToolDefinition["execute"]>): Promise<ToolOutput>;
	renderCall(args: unknown, theme: Theme, context: ToolRenderContext): Component;
	renderResult(result: RenderedOutput, options: object, theme: Theme, context: ToolRenderContext): Component;
	exposure?: "model-only";
	annotations?: { readOnlyHint: boolean };
};
