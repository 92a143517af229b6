/** The tools: each hands a call to the addon and its result back to pi. */

import type {
	HostCallbacks,
	RefreshRequest,
	RunDetails,
	RunHandle,
	TaskOptions,
	ToolResult,
	ToolSurface,
} from "../../index.js";
import { renderers } from "../cards/render.ts";
import { forwardAbort } from "../host/abort.ts";
import { shareCompiledCode } from "../host/compile-cache.ts";
import { STAMPS } from "../host/details.ts";
import { loadAddon, type Native } from "../host/native.ts";
import { type CallOptions, callOptions } from "../host/options.ts";
import type { PiApi, PiContext, ToolDefinition, ToolOutput } from "../host/pi.ts";
import { refreshToken } from "../host/refresh.ts";
import type { Runs } from "../host/runs.ts";
import type { Questions } from "../questions/questions.ts";

/** What a call asks for; pi has checked it against the tool's schema. */
interface Params {
	agent: string;
	task: string;
	tasks: TaskOptions[];
	steps: TaskOptions[];
}

type Update = (update: ToolResult) => void;

/** A way to run agents. */
interface Kind {
	mode: RunDetails["mode"];
	start(native: Native, call: CallOptions, params: Params, update: Update, host: HostCallbacks): RunHandle;
}

const KINDS = {
	subagent: {
		mode: "single",
		start: (native, call, { agent, task }, ...rest) => native.startRun({ ...call, agent, task }, ...rest),
	},
	subagent_parallel: {
		mode: "parallel",
		start: (native, call, { tasks }, ...rest) => native.startParallel({ ...call, tasks }, ...rest),
	},
	subagent_chain: {
		mode: "chain",
		start: (native, call, { steps }, ...rest) => native.startChain({ ...call, steps }, ...rest),
	},
} satisfies Record<string, Kind>;

/** A tool that runs agents. */
export type ToolName = keyof typeof KINDS;

export function isToolName(name: string): name is ToolName {
	return Object.hasOwn(KINDS, name);
}

export class SubagentTools {
	private readonly pi: PiApi;
	private readonly runs: Runs;
	private readonly questions: Questions;
	/** Calls that failed: pi flags them in a `tool_result` handler, where a flag returned by a tool may be lost. */
	private readonly failed = new Set<string>();

	constructor(pi: PiApi, runs: Runs, questions: Questions) {
		this.pi = pi;
		this.runs = runs;
		this.questions = questions;
	}

	/** Registers those of the tools that this version of the extension can run. */
	register(surfaces: readonly ToolSurface[]): void {
		for (const surface of surfaces) {
			if (isToolName(surface.name)) this.pi.registerTool(this.definition(surface, KINDS[surface.name]));
		}
	}

	/** Tells once whether the call with this id failed. */
	takeFailed(toolCallId: string): boolean {
		return this.failed.delete(toolCallId);
	}

	private definition(surface: ToolSurface, kind: Kind): ToolDefinition {
		return {
			name: surface.name,
			label: surface.label,
			description: surface.description,
			promptSnippet: surface.promptSnippet,
			promptGuidelines: surface.promptGuidelines,
			parameters: surface.parameters,
			exposure: "model-only",
			execute: async (id, params, signal, onUpdate, context) => {
				const running = this.run(kind, id, params as Params, signal, onUpdate, context);
				// A rejected run is a programming error; the model still gets a result, and pi runs on.
				const result = await running.catch((error: unknown) =>
					failure(kind, `the run ended unexpectedly: ${text(error)}`),
				);
				if (result.isError) this.failed.add(id);
				return result;
			},
			...renderers(surface.name, (callId) => this.questions.list(callId)),
		};
	}

	private async run(
		kind: Kind,
		id: string,
		params: Params,
		signal: AbortSignal | undefined,
		onUpdate: ((partial: ToolOutput) => void) | undefined,
		context: PiContext,
	): Promise<ToolResult> {
		const { native, problem } = loadAddon();
		if (!native) return failure(kind, problem);
		shareCompiledCode();
		const call = { ...callOptions(this.pi, context, id), aborted: signal?.aborted ?? false };
		let settled = false;
		const update = (partial: ToolResult) => {
			if (!settled) onUpdate?.({ content: partial.content, details: partial.details });
		};
		const refresh = ({ provider, validForMs }: RefreshRequest) =>
			refreshToken(context.modelRegistry, provider, validForMs, signal);
		const session = context.sessionManager.getSessionId();
		const host: HostCallbacks = { refresh, ...(context.hasUI && this.questions.callbacks(session, id)) };
		const handle = kind.start(native, call, params, update, host);
		const release = forwardAbort(signal, handle);
		try {
			return await this.runs.settle(handle, handle.result());
		} finally {
			settled = true;
			release();
		}
	}
}

function failure({ mode }: Kind, message: string): ToolResult {
	return {
		content: [{ type: "text", text: message }],
		isError: true,
		details: { ...STAMPS.run, mode, results: [], error: { code: "SUBAGENT_FAILED", message } },
	};
}

function text(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
