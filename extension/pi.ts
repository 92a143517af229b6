/**
 * The part of pi's extension API that this package uses, true for pi 0.87.1 and 1.5.2. Declared here because the
 * extension must load without any pi package, and because pi's own types differ between the two.
 */

import type { PiUsage, RunDetails } from "../index.js";
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

export interface TextContent {
	type: "text";
	text: string;
}

/** What a tool returns or streams. `usage` counts towards the parent session. */
export interface ToolOutput {
	content: TextContent[];
	details: RunDetails;
	usage?: PiUsage;
	isError?: boolean;
}

/** A result as a renderer gets it; `details` is foreign when pi or another extension produced the result. */
export interface RenderedOutput {
	content: readonly { type: string; text?: string }[];
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
	};
	sessionManager: { getSessionId(): string; getSessionFile(): string | undefined };
	model: { provider: string; id: string; api?: string } | undefined;
	/** `getRegisteredProviderIds`: the providers that extensions have registered. */
	modelRegistry: ProviderRegistry & { getRegisteredProviderIds(): readonly string[] };
	thinkingLevel?: string;
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
	message: { role: string; stopReason?: string };
}

export interface CompletionItem {
	value: string;
	label: string;
	description?: string;
}

export interface Command {
	description: string;
	getArgumentCompletions(prefix: string): CompletionItem[] | null;
	handler(args: string, context: PiContext): Promise<void>;
}

type Handler<Event, Result> = (event: Event, context: PiContext) => Promise<Result | undefined> | Result | undefined;

export interface PiApi {
	on(event: "session_start", handler: Handler<object, void>): unknown;
	on(event: "session_shutdown", handler: Handler<{ readonly reason?: string }, void>): unknown;
	on(
		event: "before_agent_start",
		handler: Handler<{ readonly systemPrompt: string }, { systemPrompt: string }>,
	): unknown;
	on(event: "tool_call", handler: Handler<ToolCallEvent, ToolCallVerdict>): unknown;
	on(event: "message_update", handler: Handler<MessageUpdateEvent, void>): unknown;
	on(event: "message_end", handler: Handler<MessageEndEvent, void>): unknown;
	on(event: "tool_execution_end", handler: Handler<{ toolCallId: string }, void>): unknown;
	on(event: "agent_end", handler: Handler<object, void>): unknown;
	on(event: "tool_result", handler: Handler<{ toolName: string; toolCallId: string }, { isError: boolean }>): unknown;
	registerTool(tool: ToolDefinition): void;
	registerCommand(name: string, command: Command): void;
	registerEntryRenderer(
		customType: string,
		renderer: (entry: { data?: unknown }, options: { expanded: boolean }, theme: Theme) => Component | undefined,
	): void;
	appendEntry(customType: string, data: unknown): void;
	getAllTools(): { name: string; sourceInfo: SourceInfo }[];
	getActiveTools(): string[];
	setActiveTools(names: string[]): void;
	getThinkingLevel(): string;
}
