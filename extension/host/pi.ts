/** pi's own types, those of the oldest supported version, by the names they have here, and what newer versions add. */

import type {
	AgentSettledEvent,
	AgentToolResult,
	ExtensionAPI,
	MessageRenderer,
	ToolDefinition as PiToolDefinition,
} from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem, Component, Focusable, Keybinding } from "@earendil-works/pi-tui";

export type {
	AgentBeforeSettleEvent as BeforeSettleEvent,
	AgentBeforeSettleEventResult as BeforeSettleResult,
	ExtensionAPI as PiApi,
	ExtensionCommandContext as CommandContext,
	ExtensionContext as PiContext,
	ExtensionUIDialogOptions as DialogOptions,
	MessageEndEvent,
	MessageUpdateEvent,
	SourceInfo,
	Theme,
	ThemeColor as Color,
	ToolCallEvent,
	ToolCallEventResult as ToolCallVerdict,
} from "@earendil-works/pi-coding-agent";
export type {
	AutocompleteItem as CompletionItem,
	Component,
	KeybindingsManager as Keybindings,
	TUI as Terminal,
	TuiMouseEvent as MouseEvent,
} from "@earendil-works/pi-tui";

/** `aborted` is told since 1.x. */
export type SettledEvent = AgentSettledEvent & { aborted?: boolean };

/** A component that takes the keyboard. */
export type Screen = Widget & Focusable & Required<Pick<Component, "handleInput" | "handleMouse">>;

/** A component above the editor. */
export interface Widget extends Component {
	dispose(): void;
}

/** A command that completes at once. */
export type Command = Omit<Parameters<ExtensionAPI["registerCommand"]>[1], "getArgumentCompletions"> & {
	getArgumentCompletions(prefix: string): AutocompleteItem[] | null;
};

/** What a tool returns or streams. Newer versions flag an error themselves. */
export type ToolOutput = AgentToolResult<unknown> & { content: { type: "text"; text: string }[]; isError?: boolean };

/** An entry of a session, as far as it is looked at. */
export interface SessionEntry {
	type: string;
	customType?: string;
	details?: unknown;
}

/** A result as a renderer gets it: pi's, another extension's, or that of another release. */
export interface RenderedOutput {
	content: readonly { type: string; text?: string }[];
	details?: unknown;
}

/** A message of an extension's, as it is sent, and as a renderer gets it. */
export type CustomMessage = Parameters<ExtensionAPI["sendMessage"]>[0];
export interface RenderedMessage {
	content: string | RenderedOutput["content"];
	details?: unknown;
}
export type SendOptions = NonNullable<Parameters<ExtensionAPI["sendMessage"]>[1]>;

/** Formats the user's key bindings; pi hands it to renderers since 1.x. */
export interface KeyHints {
	keyText?(keybinding: Keybinding): string;
}

export type RenderOptions = Parameters<MessageRenderer>[1] & KeyHints;

type DrawnTool = Required<Pick<PiToolDefinition, "renderCall" | "renderResult">>;

/** Lives as long as the card; shared by both renderers. */
export type ToolRenderContext = Parameters<DrawnTool["renderCall"]>[2] & { state: object } & KeyHints;

export type ToolDefinition = Omit<PiToolDefinition, "execute" | "renderCall" | "renderResult"> & {
	execute(...call: Parameters<PiToolDefinition["execute"]>): Promise<ToolOutput>;
	renderCall(args: unknown, theme: Parameters<DrawnTool["renderCall"]>[1], context: ToolRenderContext): Component;
	renderResult(
		result: RenderedOutput,
		options: Parameters<DrawnTool["renderResult"]>[1],
		theme: Parameters<DrawnTool["renderResult"]>[2],
		context: ToolRenderContext,
	): Component;
	/** Who may call it; since 1.x. */
	exposure?: "model-only";
	/** What it does to the world; since 1.x. */
	annotations?: { readOnlyHint: boolean };
};
