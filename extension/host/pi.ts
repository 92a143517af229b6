/**
 * The part of pi's extension API that this package uses, true for pi 0.87.1 and 1.5.2. Declared here because the
 * extension must load without any pi package, and because pi's own types differ between the two.
 */

import type { KeybindingsManager } from "@earendil-works/pi-tui";
import type { PiUsage } from "../../index.js";
import type { ProviderRegistry } from "./refresh.ts";

/** Theme colours that exist in every supported pi. */
export type Color = "success" | "error" | "warning" | "muted" | "dim" | "accent" | "toolTitle" | "toolOutput";

export interface Theme {
	fg(color: Color, text: string): string;
	bold(text: string): string;
}

export interface Component {
	render(width: number): string[];
	invalidate(): void;
}

/** A mouse event of pi's fullscreen mode; `wheelDelta` in lines, negative upwards. */
export interface MouseEvent {
	type: string;
	wheelDelta?: number;
}

/** A component that takes the keyboard. */
export interface Screen extends Component {
	/** Kept by pi: whether keys come here, and not to a dialog that has opened since. */
	focused: boolean;
	/** One key, or one paste, as the terminal has sent it. */
	handleInput(data: string): void;
	handleMouse(event: MouseEvent): { handled: boolean } | undefined;
	dispose(): void;
}

/** A component above the editor. */
export interface Widget extends Component {
	dispose(): void;
}

export interface Terminal {
	requestRender(): void;
	terminal?: { rows: number };
}

/** The user's key bindings, by pi's names for them. */
export type Keybindings = Pick<KeybindingsManager, "matches" | "getKeys">;

export interface OverlayOptions {
	width: `${number}%`;
	maxHeight: `${number}%`;
	anchor: "top-left";
}

export interface TextContent {
	type: "text";
	text: string;
}

/** What a tool returns or streams. `usage` counts towards the parent session. */
export interface ToolOutput {
	content: TextContent[];
	details: unknown;
	usage?: PiUsage;
	isError?: boolean;
}

/** A result as a renderer gets it; `details` is foreign when pi or another extension produced the result. */
export interface RenderedOutput {
	content: readonly { type: string; text?: string }[];
	details?: unknown;
}

/** A message of an extension's, as a renderer gets it. */
export interface RenderedMessage {
	content: string | readonly { type: string; text?: string }[];
	details?: unknown;
}

/** Formats the user's key bindings; pi has handed it to renderers since 1.x. */
export interface KeyHints {
	keyText?(keybinding: "app.tools.expand"): string;
}

export interface ToolRenderContext extends KeyHints {
	/** Lives as long as the card; shared by both renderers. */
	state: object;
	invalidate(): void;
	executionStarted: boolean;
	isPartial: boolean;
	expanded: boolean;
	isError: boolean;
}

export interface ToolDefinition {
	name: string;
	label: string;
	description: string;
	promptSnippet?: string;
	promptGuidelines?: string[];
	parameters: Record<string, unknown>;
	execute(
		toolCallId: string,
		params: unknown,
		signal: AbortSignal | undefined,
		onUpdate: ((partial: ToolOutput) => void) | undefined,
		context: PiContext,
	): Promise<ToolOutput>;
	renderCall(args: unknown, theme: Theme, context: ToolRenderContext): Component;
	renderResult(
		result: RenderedOutput,
		options: { expanded: boolean; isPartial: boolean },
		theme: Theme,
		context: ToolRenderContext,
	): Component;
}

export interface SourceInfo {
	path: string;
	source: string;
}

/** What closes a dialog before the user does; `timeout` in milliseconds, shown as it runs out. */
export interface DialogOptions {
	signal?: AbortSignal;
	timeout?: number;
}

export interface PiContext {
	cwd: string;
	mode: "tui" | "rpc" | "json" | "print";
	hasUI: boolean;
	ui: {
		notify(message: string, type?: "info" | "warning" | "error"): void;
		select(title: string, options: string[], dialog?: DialogOptions): Promise<string | undefined>;
		confirm(title: string, message: string, dialog?: DialogOptions): Promise<boolean>;
		input(title: string, placeholder?: string, dialog?: DialogOptions): Promise<string | undefined>;
		/** Has no options: only the user closes it. */
		editor(title: string, prefill?: string): Promise<string | undefined>;
		/** Terminals only: draws `key`'s component above the editor, or takes it away. */
		setWidget(key: string, content: ((terminal: Terminal, theme: Theme) => Widget) | undefined): void;
		/** Terminals only: shows a component above everything until it calls `done`. */
		custom(
			factory: (
				terminal: Terminal,
				theme: Theme,
				keybindings: Keybindings,
				done: (result: undefined) => void,
			) => Screen,
			options: { overlay: true; overlayOptions: OverlayOptions },
		): Promise<unknown>;
	};
	sessionManager: {
		getSessionId(): string;
		/** Where the session is kept, or will be: pi writes the file once there is a conversation. */
		getSessionFile(): string | undefined;
		getEntries(): readonly SessionEntry[];
	};
	model: { provider: string; id: string; api?: string } | undefined;
	/** `getRegisteredProviderIds`: the providers that extensions have registered. `getAll`: every model there is. */
	modelRegistry: ProviderRegistry & {
		getRegisteredProviderIds(): readonly string[];
		getAll(): readonly { provider: string; id: string }[];
	};
	thinkingLevel?: string;
	/** Aborts with the turn that is under way; absent when there is none. */
	signal?: AbortSignal | undefined;
	/** Whether neither a turn nor a compaction is under way. */
	isIdle(): boolean;
	abort(): void;
}

/** What a command gets. */
export interface CommandContext extends PiContext {
	waitForIdle(): Promise<void>;
}

/** An entry of a session, as far as it is looked at. */
export interface SessionEntry {
	type: string;
	customType?: string;
	details?: unknown;
}

/** A message of an extension's, which the model reads as one of the user's. */
export interface CustomMessage {
	customType: string;
	content: string;
	/** Whether the transcript shows it. */
	display: boolean;
	details: unknown;
}

export interface SendOptions {
	/** Starts a turn where none is under way. */
	triggerTurn: boolean;
	deliverAs?: "followUp";
}

/** What handlers add to a session before it comes to rest, and whether the model is to go on with that. */
export interface BeforeSettleEvent {
	entries: readonly object[];
	continue: boolean;
}

export interface BeforeSettleResult {
	entries: readonly object[];
	continue: boolean;
}

export interface ToolCallEvent {
	toolName: string;
	input: unknown;
}

export interface ToolCallVerdict {
	block: true;
	reason: string;
}

/** A piece of an assistant message on its way. `partial` is the message so far, and grows. */
export interface MessageUpdateEvent {
	assistantMessageEvent: {
		type: string;
		contentIndex?: number;
		delta?: string;
		partial?: { content: readonly { type: string; id?: string; name?: string }[] };
		toolCall?: { arguments: unknown };
	};
}

export interface MessageEndEvent {
	message: { role: string; stopReason?: string; customType?: string };
}

export interface CompletionItem {
	value: string;
	label: string;
	description?: string;
}

export interface Command {
	description: string;
	getArgumentCompletions(prefix: string): CompletionItem[] | null;
	handler(args: string, context: CommandContext): Promise<void>;
}

type Handler<Event, Result> = (event: Event, context: PiContext) => Promise<Result | undefined> | Result | undefined;

export interface PiApi {
	on(event: "session_start", handler: Handler<{ readonly reason?: string }, void>): unknown;
	on(event: "session_shutdown", handler: Handler<{ readonly reason?: string }, void>): unknown;
	on(
		event: "before_agent_start",
		handler: Handler<{ readonly systemPrompt: string; readonly prompt: string }, { systemPrompt: string }>,
	): unknown;
	on(event: "tool_call", handler: Handler<ToolCallEvent, ToolCallVerdict>): unknown;
	on(event: "message_update", handler: Handler<MessageUpdateEvent, void>): unknown;
	on(event: "message_end", handler: Handler<MessageEndEvent, void>): unknown;
	on(event: "tool_execution_end", handler: Handler<{ toolCallId: string }, void>): unknown;
	on(event: "input", handler: Handler<object, void>): unknown;
	on(event: "agent_start" | "turn_end" | "agent_end", handler: Handler<object, void>): unknown;
	on(event: "agent_before_settle", handler: Handler<BeforeSettleEvent, BeforeSettleResult>): unknown;
	/** `aborted` is told by pi 1.x. */
	on(event: "agent_settled", handler: Handler<{ readonly aborted?: boolean }, void>): unknown;
	on(event: "tool_result", handler: Handler<{ toolName: string; toolCallId: string }, { isError: boolean }>): unknown;
	registerTool(tool: ToolDefinition): void;
	registerCommand(name: string, command: Command): void;
	registerEntryRenderer(
		customType: string,
		renderer: (entry: { data?: unknown }, options: { expanded: boolean }, theme: Theme) => Component | undefined,
	): void;
	/** `keyText` is told by pi 1.x. */
	registerMessageRenderer(
		customType: string,
		renderer: (
			message: RenderedMessage,
			options: { expanded: boolean; outputPad?: number } & KeyHints,
			theme: Theme,
		) => Component | undefined,
	): void;
	appendEntry(customType: string, data: unknown): void;
	/** Never throws for what happens to the message; what does is reported as an error of this extension. */
	sendMessage(message: CustomMessage, options: SendOptions): void;
	/** Between extensions. */
	events: { emit(channel: string, data: unknown): void };
	getAllTools(): { name: string; sourceInfo: SourceInfo }[];
	getActiveTools(): string[];
	setActiveTools(names: string[]): void;
	getThinkingLevel(): string;
}
