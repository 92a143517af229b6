/** Reads a request to the model: the asker, the user's last message, the tools that have answered. */

export interface ContentPart {
	type: string;
	text?: string;
}

export interface ChatMessage {
	role: "system" | "developer" | "user" | "assistant" | "tool";
	content?: string | ContentPart[] | null;
	tool_call_id?: string;
	tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

export interface ToolDefinition {
	function: { name: string; description?: string; parameters?: Record<string, unknown> };
}

/** The result of one tool call of the conversation. */
export interface ToolAnswer {
	id: string;
	name: string;
	args: string;
	text: string;
}

interface RequestFields {
	index: number;
	model: string;
	messages: ChatMessage[];
	tools: ToolDefinition[];
	reasoning: string | undefined;
	authorization: string | undefined;
}

/** One recorded request. */
export class ModelRequest {
	/** Position among all requests to this server. */
	readonly index: number;
	readonly model: string;
	readonly messages: ChatMessage[];
	readonly tools: ToolDefinition[];
	/** The thinking level as the provider gets it; undefined where the model has none or it is off. */
	readonly reasoning: string | undefined;
	/** Its authorization header. */
	readonly authorization: string | undefined;
	/** Settles when the response is over; true when the client left before its end. */
	readonly ended: Promise<boolean>;
	/** Undefined while the response is under way. */
	disconnected: boolean | undefined;
	#settle: (disconnected: boolean) => void = () => {};

	constructor(fields: RequestFields) {
		this.index = fields.index;
		this.model = fields.model;
		this.messages = fields.messages;
		this.tools = fields.tools;
		this.reasoning = fields.reasoning;
		this.authorization = fields.authorization;
		this.ended = new Promise((resolve) => {
			this.#settle = resolve;
		});
	}

	/** The server's: the response is over. */
	finish(left: boolean): void {
		this.disconnected = left;
		this.#settle(left);
	}

	get toolNames(): string[] {
		return this.tools.map((tool) => tool.function.name);
	}

	/** A session that can delegate; a child never can. */
	get isParent(): boolean {
		return this.toolNames.includes("subagent");
	}

	get isChild(): boolean {
		return !this.isParent;
	}

	/** The system prompt. */
	get systemText(): string {
		const messages = this.messages.filter(({ role }) => role === "system" || role === "developer");
		return messages.map(textOf).join("\n");
	}

	/** Returns the user's last message. */
	get userText(): string {
		const message = this.messages.findLast(({ role }) => role === "user");
		return message ? textOf(message) : "";
	}

	/** All that the user has said, and what pi said in the user's place. */
	get wholeUserText(): string {
		const messages = this.messages.filter(({ role }) => role === "user");
		return messages.map(textOf).join("\n");
	}

	/** Every tool result since the user said something, oldest first. */
	get toolAnswers(): ToolAnswer[] {
		const from = this.messages.findLastIndex(({ role }) => role === "user");
		const recent = this.messages.slice(from + 1);
		const calls = new Map(recent.flatMap(({ tool_calls }) => tool_calls ?? []).map((call) => [call.id, call.function]));
		return recent
			.filter(({ role }) => role === "tool")
			.map((message) => {
				const id = message.tool_call_id ?? "";
				const call = calls.get(id);
				return { id, name: call?.name ?? "", args: call?.arguments ?? "", text: textOf(message) };
			});
	}

	toString(): string {
		const who = this.isParent ? "parent" : "child";
		const prompt = this.userText.slice(0, 80);
		return `#${this.index} ${who}, "${prompt}", ${this.toolAnswers.length} tool results, tools ${this.toolNames}`;
	}
}

function textOf(message: ChatMessage): string {
	const { content } = message;
	if (typeof content === "string") return content;
	return (content ?? []).map(({ text }) => text ?? "").join("");
}
