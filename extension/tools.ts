/** The `subagent` tool: hands one call to the addon and its result back to pi. */

import type { ConfirmRequest, RefreshRequest, ToolResult, ToolSurface } from "../index.js";
import { forwardAbort } from "./abort.ts";
import { runOptions } from "./host.ts";
import { loadAddon } from "./native.ts";
import type { PiApi, PiContext, ToolDefinition, ToolOutput } from "./pi.ts";
import { refreshToken } from "./refresh.ts";
import { renderCall, renderResult } from "./render.ts";
import type { Runs } from "./runs.ts";

/** What the tool looks like while the addon cannot be loaded, and so cannot describe it. */
export function surfaceWithoutAddon(problem: string): ToolSurface {
	return {
		register: true,
		name: "subagent",
		label: "Subagent",
		description: "Delegates one task to a sub-agent. Not usable now: its native addon is missing.",
		promptSnippet: "Delegate one task to a sub-agent (not usable now)",
		promptGuidelines: [],
		parameters: {
			type: "object",
			properties: { agent: { type: "string", minLength: 1 }, task: { type: "string", minLength: 1 } },
			required: ["agent", "task"],
			additionalProperties: false,
		},
		notices: [problem],
	};
}

export class SubagentTool {
	private readonly pi: PiApi;
	private readonly runs: Runs;
	/** Calls that failed: pi flags them in a `tool_result` handler, where a flag returned by a tool may be lost. */
	private readonly failed = new Set<string>();

	constructor(pi: PiApi, runs: Runs) {
		this.pi = pi;
		this.runs = runs;
	}

	definition(surface: ToolSurface): ToolDefinition {
		return {
			name: surface.name,
			label: surface.label,
			description: surface.description,
			promptSnippet: surface.promptSnippet,
			promptGuidelines: surface.promptGuidelines,
			parameters: surface.parameters,
			execute: async (id, params, signal, onUpdate, context) => {
				const result = await this.run(params, signal, onUpdate, context).catch(unexpected);
				if (result.isError) this.failed.add(id);
				return result;
			},
			renderCall,
			renderResult,
		};
	}

	/** Tells once whether the call with this id failed. */
	takeFailed(toolCallId: string): boolean {
		return this.failed.delete(toolCallId);
	}

	private async run(
		params: { agent: string; task: string },
		signal: AbortSignal | undefined,
		onUpdate: ((partial: ToolOutput) => void) | undefined,
		context: PiContext,
	): Promise<ToolResult> {
		const { native, problem } = loadAddon();
		if (!native) return failure(problem);
		const options = { ...runOptions(this.pi, context, params), aborted: signal?.aborted ?? false };
		let settled = false;
		const update = (partial: ToolResult) => {
			if (!settled) onUpdate?.({ content: partial.content, details: partial.details });
		};
		const confirm = context.hasUI ? (request: ConfirmRequest) => this.confirm(request, signal, context) : undefined;
		const refresh = ({ provider, validForMs }: RefreshRequest) =>
			refreshToken(context.modelRegistry, provider, validForMs, signal);
		const handle = native.startRun(options, update, confirm, refresh);
		const release = forwardAbort(signal, handle);
		try {
			return await this.runs.settle(handle, handle.result());
		} finally {
			settled = true;
			release();
		}
	}

	/** Asks the user. An abort closes the dialog, which is no. */
	private async confirm(
		request: ConfirmRequest,
		signal: AbortSignal | undefined,
		context: PiContext,
	): Promise<boolean> {
		if (signal?.aborted) return false;
		return await context.ui.confirm(request.title, request.message, signal ? { signal } : {});
	}
}

/** A rejected run is a programming error; the model still gets a result, and pi runs on. */
function unexpected(error: unknown): ToolResult {
	return failure(`the run ended unexpectedly: ${error instanceof Error ? error.message : String(error)}`);
}

function failure(message: string): ToolResult {
	return {
		content: [{ type: "text", text: message }],
		isError: true,
		details: { mode: "single", results: [], error: { code: "SUBAGENT_FAILED", message } },
	};
}
