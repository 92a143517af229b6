/** The tools: each hands a call to the addon and its result back to pi. */

import module from "node:module";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type {
	EarlyCall,
	HostCallbacks,
	RunHandle,
	SpawnableAgents,
	SpawnOptions,
	SpawnReceipt,
	TaskOptions,
	ToolResult,
	ToolSurface,
} from "../../index.js";
import type { Background } from "../background/registry.ts";
import { renderers } from "../cards/render.ts";
import { sessionToolRenderers } from "../cards/session-tools.ts";
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
	update(partial: ToolResult): unknown;
}

interface Tool extends Pick<ToolDefinition, "renderCall" | "renderResult" | "annotations"> {
	run(call: Call): Promise<ToolOutput>;
	failure(message: string): ToolOutput;
}

/** The tools whose calls wait for the runs that they start. */
const WAITING = { subagent: "single", subagent_parallel: "parallel", subagent_chain: "chain" } as const;

const READS = { annotations: { readOnlyHint: true } };

/** The tools about the runs of the session, and whether they only read. */
const SESSION_TOOLS = {
	sessions_list: true,
	sessions_history: true,
	sessions_send: false,
	sessions_stop: false,
} as const;

type SessionTool = keyof typeof SESSION_TOOLS;

function isSessionTool(name: string): name is SessionTool {
	return Object.hasOwn(SESSION_TOOLS, name);
}

export type WaitingTool = keyof typeof WAITING;
type Mode = (typeof WAITING)[WaitingTool];

export function isWaitingTool(name: string): name is WaitingTool {
	return Object.hasOwn(WAITING, name);
}

export function ourTools(pi: ExtensionAPI, questions: Questions, background: Background) {
	/** Calls that failed: pi flags them in a `tool_result` handler, where a flag returned by a tool may be lost. */
	const failed = new Set<string>();

	function named(name: string): Tool | undefined {
		if (isWaitingTool(name)) {
			const mode = WAITING[name];
			return {
				run: (call) => runToEnd(mode, call),
				failure: (message) => failedRun(mode, message),
				...renderers(name, (callId) => questions.list(callId)),
			};
		}
		if (name === "sessions_spawn") return { run: spawn, failure: refused, ...sessionToolRenderers(name) };
		if (name === "agents_list") return { run: list, failure: refused, ...sessionToolRenderers(name), ...READS };
		if (!isSessionTool(name)) return undefined;
		const run = (call: Call) => useSessionTool(name, background, call);
		return { run, failure: refused, ...sessionToolRenderers(name), ...(SESSION_TOOLS[name] && READS) };
	}

	return {
		/** Registers those of the tools that this version of the extension has. */
		register(surfaces: readonly ToolSurface[]): void {
			for (const surface of surfaces) {
				const tool = named(surface.name);
				if (!tool) continue;
				const { run, failure, ...drawn } = tool;
				pi.registerTool({
					...{ ...surface, exposure: "model-only", ...drawn },
					async execute(id, params, signal, onUpdate, context) {
						const { native, problem } = loadAddon();
						shareCompiledCode();
						const waits = isWaitingTool(surface.name) ? { id, signal } : undefined;
						let isOver = false;
						const update: Call["update"] = ({ content, details }) => !isOver && onUpdate?.({ content, details });
						const answer = async () => {
							if (!native) return failure(problem);
							const place = placeOptions(pi, context);
							const host = hostCallbacks(context, questions, waits);
							return await run({ native, id, params, signal, context, place, host, update });
						};
						// What is rejected is a programming error; the model still gets a result, and pi runs on.
						const output = await answer().catch((error: unknown) =>
							failure(`the run ended unexpectedly: ${messageOf(error)}`),
						);
						isOver = true;
						if (output.isError) failed.add(id);
						return output;
					},
				});
			}
		},

		/** Tells once whether the call with this id failed. */
		takeFailed: (callId: string) => failed.delete(callId),

		/** Has the addon boot a child for a call that still arrives. */
		bootEarly(tool: WaitingTool, callId: string, context: ExtensionContext): EarlyCall | undefined {
			if (!pi.getActiveTools().includes(tool)) return undefined;
			shareCompiledCode();
			return loadAddon().native?.bootEarly({ ...placeOptions(pi, context), callId, tool });
		},
	};
}

async function runToEnd(mode: Mode, call: Call): Promise<ToolResult> {
	const handle = started(mode, call);
	return await withAbort(call.signal, handle, settled(handle, call.context.sessionManager.getSessionId()));
}

/** Aborts `call` with the signal. The addon takes none: its own support replaces `onabort` and misses old aborts. */
async function withAbort<T>(signal: AbortSignal | undefined, call: { abort(): void }, result: Promise<T>): Promise<T> {
	const abort = () => contained("an abort", () => call.abort());
	if (signal?.aborted) abort();
	else signal?.addEventListener("abort", abort, { once: true });
	try {
		return await result;
	} finally {
		signal?.removeEventListener("abort", abort);
	}
}

function started(mode: Mode, { native, params, update, host, ...call }: Call): RunHandle {
	const place = { ...call.place, callId: call.id, aborted: call.signal?.aborted ?? false };
	const { agent, task, tasks, steps } = params as TaskOptions & Record<"tasks" | "steps", TaskOptions[]>;
	if (mode === "single") return native.startRun({ ...place, agent, task }, update, host);
	if (mode === "parallel") return native.startParallel({ ...place, tasks }, update, host);
	return native.startChain({ ...place, steps }, update, host);
}

async function useSessionTool(name: SessionTool, { session }: Background, call: Call): Promise<ToolOutput> {
	if (!session) return refused("the runs of this session are not available");
	const use = session.useTool(name, call.params as object, call.host);
	const { text, isError = false, report, deliveryIds } = await withAbort(call.signal, use, use.result());
	const details = { ...STAMPS.session, report, ...defined({ deliveryIds }) };
	return { content: [{ type: "text", text }], isError, details };
}

function failedRun(mode: Mode, message: string): ToolOutput {
	const error = { code: "SUBAGENT_FAILED", message };
	const details = { ...STAMPS.run, mode, results: [], error };
	return { content: [{ type: "text", text: message }], isError: true, details };
}

type SpawnParams = Pick<SpawnOptions, "task" | "label" | "runTimeoutSeconds" | "cleanup"> &
	Partial<Record<"agentId" | "model" | "thinking", string>>;

/** Neither this nor the list waits for a run. */
async function spawn({ native, params, place, host, signal, context }: Call): Promise<ToolOutput> {
	if (signal?.aborted) return refused("aborted before anything was started");
	const { agentId: agent, model: childModel, thinking: childThinking, ...named } = params as SpawnParams;
	const { task, label, runTimeoutSeconds, cleanup } = named;
	const asked = { task, label, agent, childModel, childThinking, runTimeoutSeconds, cleanup };
	const options = defined<SpawnOptions>({ ...place, ...asked, models: modelNames(context) });
	return answer(await native.spawnSession(options, host), STAMPS.receipt);
}

async function list({ native, place }: Call): Promise<ToolOutput> {
	return answer(await native.listSpawnable(place), STAMPS.agents);
}

function refused(error: string): ToolOutput {
	return answer({ status: "error", error }, STAMPS.receipt);
}

/** The model reads what the session keeps, without saying of it what it is. */
function answer(said: SpawnReceipt | SpawnableAgents, stamp: Stamp): ToolOutput {
	const isError = "status" in said && said.status !== "accepted";
	return { content: [{ type: "text", text: JSON.stringify(said) }], isError, details: { ...stamp, ...said } };
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
