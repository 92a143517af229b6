/** The tools: each hands a call to the addon and its result back to pi. */

import module from "node:module";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type {
	EarlyCall,
	HostCallbacks,
	RunDetails,
	RunHandle,
	SpawnableAgents,
	SpawnOptions,
	SpawnReceipt,
	TaskOptions,
	ToolResult,
	ToolSurface,
} from "../../index.js";
import { renderers } from "../cards/render.ts";
import { agentsRenderers, spawnRenderers } from "../cards/session-tools.ts";
import { STAMPS } from "../host/details.ts";
import { contained, messageOf } from "../host/guard.ts";
import { loadAddon, type Native } from "../host/native.ts";
import { modelNames, type PlaceOptions, placeOptions } from "../host/options.ts";
import type { ToolDefinition, ToolOutput } from "../host/pi.ts";
import { hostCallbacks } from "../host/refresh.ts";
import { settled } from "../host/runs.ts";
import { defined, type Stamp } from "../host/stored.ts";
import type { Questions } from "../questions/questions.ts";

interface Call {
	native: Native;
	/** What its tool's schema has let pass. */
	params: unknown;
	id: string;
	place: PlaceOptions;
	host: HostCallbacks;
	signal: AbortSignal | undefined;
	context: ExtensionContext;
	update(partial: ToolResult): void;
}

interface Tool extends Pick<ToolDefinition, "renderCall" | "renderResult" | "annotations"> {
	run(call: Call): Promise<ToolOutput>;
	failure(message: string): ToolOutput;
}

type Mode = RunDetails["mode"];
type Update = Call["update"];
type Place = PlaceOptions & { callId: string; aborted: boolean };
type Params = { agent: string; task: string; tasks: TaskOptions[]; steps: TaskOptions[] };
type Start = (native: Native, place: Place, params: Params, update: Update, host: HostCallbacks) => RunHandle;

/** The tools whose calls wait for the runs that they start. */
const WAITING = {
	subagent: {
		mode: "single",
		start: (native, place, { agent, task }, ...rest) => native.startRun({ ...place, agent, task }, ...rest),
	},
	subagent_parallel: {
		mode: "parallel",
		start: (native, place, { tasks }, ...rest) => native.startParallel({ ...place, tasks }, ...rest),
	},
	subagent_chain: {
		mode: "chain",
		start: (native, place, { steps }, ...rest) => native.startChain({ ...place, steps }, ...rest),
	},
} satisfies Record<string, { mode: Mode; start: Start }>;

export type WaitingTool = keyof typeof WAITING;

export function isWaitingTool(name: string): name is WaitingTool {
	return Object.hasOwn(WAITING, name);
}

export class Tools {
	private readonly pi: ExtensionAPI;
	private readonly questions: Questions;
	/** Calls that failed: pi flags them in a `tool_result` handler, where a flag returned by a tool may be lost. */
	private readonly failed = new Set<string>();

	constructor(pi: ExtensionAPI, questions: Questions) {
		this.pi = pi;
		this.questions = questions;
	}

	/** Registers those of the tools that this version of the extension has. */
	register(surfaces: readonly ToolSurface[]): void {
		for (const { name, label, description, promptSnippet, promptGuidelines, parameters } of surfaces) {
			const tool = this.named(name);
			if (!tool) continue;
			const { run, failure, ...drawn } = tool;
			this.pi.registerTool({
				...{ name, label, description, promptSnippet, promptGuidelines, parameters, exposure: "model-only", ...drawn },
				execute: async (id, params, signal, onUpdate, context) => {
					const { native, problem } = loadAddon();
					shareCompiledCode();
					let isOver = false;
					const answer = async () =>
						native
							? await run({
									...{ native, id, params, signal, context, place: placeOptions(this.pi, context) },
									host: hostCallbacks(context, this.questions, isWaitingTool(name) ? { id, signal } : undefined),
									update: ({ content, details }) => !isOver && onUpdate?.({ content, details }),
								})
							: failure(problem);
					// What is rejected is a programming error; the model still gets a result, and pi runs on.
					const output = await answer().catch((error: unknown) =>
						failure(`the run ended unexpectedly: ${messageOf(error)}`),
					);
					isOver = true;
					if (output.isError) this.failed.add(id);
					return output;
				},
			});
		}
	}

	/** Tells once whether the call with this id failed. */
	takeFailed(callId: string): boolean {
		return this.failed.delete(callId);
	}

	/** Has the addon boot a child for a call that still arrives. */
	bootEarly(tool: WaitingTool, callId: string, context: ExtensionContext): EarlyCall | undefined {
		if (!this.pi.getActiveTools().includes(tool)) return undefined;
		shareCompiledCode();
		return loadAddon().native?.bootEarly({ ...placeOptions(this.pi, context), callId, tool });
	}

	private named(name: string): Tool | undefined {
		if (isWaitingTool(name)) {
			const { mode, start } = WAITING[name];
			return {
				run: (call) => runToEnd(start, call),
				failure: (message) => failedRun(mode, message),
				...renderers(name, (callId) => this.questions.list(callId)),
			};
		}
		if (name === "sessions_spawn") return { run: spawn, failure: refused, ...spawnRenderers };
		if (name !== "agents_list") return undefined;
		return { run: list, failure: refused, ...agentsRenderers, annotations: { readOnlyHint: true } };
	}
}

async function runToEnd(start: Start, call: Call): Promise<ToolResult> {
	const { native, id: callId, params, signal, context, update, host } = call;
	const place = { ...call.place, callId, aborted: signal?.aborted ?? false };
	const handle = start(native, place, params as Params, update, host);
	const abort = () => contained("an abort", () => handle.abort());
	// The addon takes no signal: its own support replaces `onabort` and misses old aborts.
	if (signal?.aborted) abort();
	else signal?.addEventListener("abort", abort, { once: true });
	try {
		return await settled(handle, context.sessionManager.getSessionId());
	} finally {
		signal?.removeEventListener("abort", abort);
	}
}

function failedRun(mode: Mode, message: string): ToolResult {
	return {
		content: [{ type: "text", text: message }],
		isError: true,
		details: { ...STAMPS.run, mode, results: [], error: { code: "SUBAGENT_FAILED", message } },
	};
}

type SpawnParams = Pick<SpawnOptions, "task" | "label" | "runTimeoutSeconds" | "cleanup"> &
	Partial<Record<"agentId" | "model" | "thinking", string>>;

/** Neither this nor the list waits for a run. */
async function spawn({ native, params, place, host, signal, context }: Call): Promise<ToolOutput> {
	if (signal?.aborted) return refused("aborted before anything was started");
	const { task, label, agentId: agent, model: childModel, thinking: childThinking } = params as SpawnParams;
	const { runTimeoutSeconds, cleanup } = params as SpawnParams;
	const asked = { task, label, agent, childModel, childThinking, runTimeoutSeconds, cleanup };
	const receipt = await native.spawnSession(
		defined<SpawnOptions>({ ...place, ...asked, models: modelNames(context) }),
		host,
	);
	return receipt.status === "accepted" ? answer(receipt, STAMPS.receipt) : refusal(receipt);
}

async function list({ native, place }: Call): Promise<ToolOutput> {
	return answer(await native.listSpawnable(place), STAMPS.agents);
}

/** The model reads what the session keeps, without saying of it what it is. */
function answer(said: SpawnReceipt | SpawnableAgents, stamp: Stamp): ToolOutput {
	return { content: [{ type: "text", text: JSON.stringify(said) }], details: { ...stamp, ...said } };
}

function refusal(receipt: SpawnReceipt): ToolOutput {
	return { ...answer(receipt, STAMPS.receipt), isError: true };
}

function refused(error: string): ToolOutput {
	return refusal({ status: "error", error });
}

let isShared = false;

/**
 * Puts pi's compiled code on disk, once, where children find it. Node does so when a process ends: without this the
 * children of the first pi since the machine has started would each compile all of pi. Older Nodes cannot.
 */
function shareCompiledCode(): void {
	if (!isShared) module.flushCompileCache?.();
	isShared = true;
}
