/**
 * The tools. Each one passes a call to the addon and its result back to pi. Without the addon, the tools can still be called
 * and return its problem.
 */

import module from "node:module";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type {
	HostCallbacks,
	RunHandle,
	RunOptions,
	ScriptToolSurface,
	SpawnableAgents,
	SpawnOptions,
	SpawnReceipt,
	TaskOptions,
	ToolResult,
	ToolSurface,
	ToolSurfaces,
} from "../../native.js";
import type { Background } from "../background/registry.ts";
import { renderers } from "../cards/cards.ts";
import { hostCallbacks } from "../host/callbacks.ts";
import { messageOf, runGuarded } from "../host/guard.ts";
import { loadAddon, type Native } from "../host/native.ts";
import { type PlaceOptions, placeOptions, surfaceOptions } from "../host/options.ts";
import type { ToolDefinition, ToolOutput } from "../host/pi.ts";
import { defined } from "../host/stored.ts";
import type { Questions } from "../questions/questions.ts";
import { SCRIPT_TOOL, scriptOutput } from "./script.ts";

interface Call {
	native: Native;
	/** The arguments, accepted by the tool's schema. */
	params: unknown;
	id: string;
	place: PlaceOptions;
	host: HostCallbacks;
	signal: AbortSignal | undefined;
	context: ExtensionContext;
	update(partial: ToolResult): unknown;
}

type Run = (call: Call) => Promise<ToolOutput>;

/** The tools whose calls wait for the runs that they start. */
const WAITING = { subagent: "single", subagent_parallel: "parallel", subagent_chain: "chain" } as const;
type Mode = (typeof WAITING)[keyof typeof WAITING];

function modeOf(name: string): Mode | undefined {
	return Object.entries(WAITING).find(([tool]) => tool === name)?.[1];
}

export function ownTools(pi: ExtensionAPI, questions: Questions, background: Background) {
	/**
	 * The ids of failed calls. pi sets their error flag in a `tool_result` handler, because a flag returned by a tool may
	 * be lost.
	 */
	const failed = new Set<string>();
	/** Calls that this process carries out. */
	const underWay = new Set<string>();
	/** The key that moves waiting calls to the background, if pi has registered one. */
	let backgroundKey: string | undefined;

	/** Returns the function of a tool, or `undefined` if this version of the extension does not have the tool. */
	function runOf(name: string): Run | undefined {
		const mode = modeOf(name);
		if (mode) return (call) => runToEnd(mode, call);
		if (name === "sessions_spawn") return (call) => spawn(background, call);
		if (name === "agents_list") return list;
		if (name === SCRIPT_TOOL) return (call) => runForScript(background, call);
		// The addon knows the parameters of the other tools for the runs of the session.
		return name.startsWith("sessions_") ? (call) => useSessionTool(name, background, call) : undefined;
	}

	return {
		/** Registers the tools that this version of the extension has. */
		register(surfaces: readonly (ToolSurface | ScriptToolSurface)[]): void {
			for (const surface of surfaces) {
				const { name } = surface;
				const run = runOf(name);
				const mode = modeOf(name);
				if (!run) continue;
				const drawn = renderers(name, {
					asked: (callId) => questions.list(callId),
					isUnderWay: (callId) => underWay.has(callId),
					backgroundKey: () => backgroundKey,
					settled: () => background.settled,
				});
				pi.registerTool({
					...{ ...surface, ...drawn },
					// A script is code: its mistakes are errors there, and are not repaired.
					...(name !== SCRIPT_TOOL && { prepareArguments: (args: unknown) => prepared(name, args) }),
					async execute(id, params, signal, onUpdate, context) {
						underWay.add(id);
						const { native, problem } = loadAddon();
						shareCompiledCode();
						let hasEnded = false;
						const update: Call["update"] = ({ content, details }) => !hasEnded && onUpdate?.({ content, details });
						const answer = async () => {
							if (!native) return failure(problem);
							const place = placeOptions(pi, context);
							const host = hostCallbacks(context, questions, mode && id);
							return await run({ native, id, params, signal, context, place, host, update });
						};
						// A rejection is a programming error. The model still gets a result, and pi keeps running.
						const output = await answer().catch((error: unknown) =>
							failure(`the run ended unexpectedly: ${messageOf(error)}`),
						);
						hasEnded = true;
						underWay.delete(id);
						if (output.isError) failed.add(id);
						return output;
					},
				} satisfies ToolDefinition);
			}
		},

		/** Cards name this key from now on. */
		nameBackgroundKey(key: string): void {
			backgroundKey = key;
		},

		/** Returns true if the call with this id failed, and forgets it. */
		takeFailed: (callId: string) => failed.delete(callId),
	};
}

async function runToEnd(mode: Mode, call: Call): Promise<ToolResult> {
	const handle = started(mode, call);
	return await withAbort(call.signal, handle, settled(handle, call.context.sessionManager.getSessionId()));
}

/**
 * Aborts `call` when the signal fires. The addon does not take the signal itself, because napi replaces `onabort` and
 * misses a signal that has fired already.
 */
async function withAbort<T>(signal: AbortSignal | undefined, call: { abort(): void }, result: Promise<T>): Promise<T> {
	const abort = () => runGuarded("an abort", () => call.abort());
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
	const { tasks, steps, ...single } = params as TaskOptions & Record<"tasks" | "steps", TaskOptions[]>;
	if (mode === "single") {
		const { agent, task, cwd: childCwd, model: childModel, thinking: childThinking } = single;
		const options = defined<RunOptions>({ ...place, agent, task, childCwd, childModel, childThinking });
		return native.startRun(options, update, host);
	}
	if (mode === "parallel") return native.startParallel({ ...place, tasks }, update, host);
	return native.startChain({ ...place, steps }, update, host);
}

/** Carries out a call of a script. The call has no card: the widget shows its run, and questions appear above the editor. */
async function runForScript({ withoutCard }: Background, call: Call): Promise<ToolOutput> {
	const { native, params, id, place, update, host, signal, context } = call;
	const { agent, task, key, model: childModel, schema: outputSchema } = params as ScriptParams;
	const aborted = signal?.aborted ?? false;
	const session = context.sessionManager.getSessionId();
	// A model writes its script anew each time, so the session is the workflow, and not the text of the script.
	const workflow = key === undefined ? undefined : { id: native.CODEMODE_WORKFLOW + session, key };
	const own = { agent, task, childModel, outputSchema, workflow };
	const options = defined<RunOptions>({ ...place, ...own, callId: id, aborted });
	const handle = native.startRun(options, update, host);
	withoutCard.add(handle.runId);
	return await scriptOutput(await withAbort(signal, handle, settled(handle, session)));
}

interface ScriptParams extends Pick<TaskOptions, "agent" | "task" | "model"> {
	key?: string;
	schema?: Record<string, unknown>;
}

async function useSessionTool(name: string, { session }: Background, call: Call): Promise<ToolOutput> {
	if (!session) return failure("the runs of this session are not available");
	const use = session.useTool(name, call.params as object, call.host, call.id);
	return await withAbort(call.signal, use, use.result());
}

type SpawnParams = Pick<SpawnOptions, "task" | "label" | "runTimeoutSeconds" | "cleanup" | "outputSchema"> &
	Partial<Record<"agentId" | "model" | "thinking", string>>;

/**
 * Returns the result, or `undefined` if the signal fires first. A file system that hangs must not block an aborted
 * call.
 */
async function unlessAborted<T>(signal: AbortSignal | undefined, result: Promise<T>): Promise<T | undefined> {
	const aborted = Promise.withResolvers<undefined>();
	return await withAbort(signal, { abort: () => aborted.resolve(undefined) }, Promise.race([result, aborted.promise]));
}

/** Returns the arguments in the form of the schema. If they do not fit, pi passes the error to the model. */
function prepared(tool: string, args: unknown): object {
	const { native } = loadAddon();
	// Without the addon, `execute` reports the problem.
	if (!native) return Object(args);
	const { arguments: known, problem } = native.prepareArguments(tool, JSON.stringify(args) ?? "null");
	if (!known) throw new Error(problem);
	return known;
}

/** Starts a background run. Like `list`, it does not wait for a run. */
async function spawn(
	{ session }: Background,
	{ id: callId, native, params, place, host, signal }: Call,
): Promise<ToolOutput> {
	if (signal?.aborted) return failure("stopped before anything was started");
	const { agentId: agent, model: childModel, thinking: childThinking, ...named } = params as SpawnParams;
	const options = defined<SpawnOptions>({ ...place, ...named, agent, childModel, childThinking, callId });
	const accepting = native.spawnSession(options, host);
	const receipt = await unlessAborted(signal, accepting);
	if (receipt) return answer(receipt);
	accepting.then(
		({ childSessionKey: sessionKey }) => {
			if (sessionKey) runGuarded("an abort", () => session?.useTool("sessions_stop", { sessionKey }, host));
		},
		() => undefined,
	);
	return failure("stopped before the run was accepted; if it is accepted anyway, it is stopped, too");
}

async function list({ native, place, signal }: Call): Promise<ToolOutput> {
	const agents = signal?.aborted ? undefined : await unlessAborted(signal, native.listSpawnable(place));
	return agents ? answer(agents) : failure("stopped");
}

/** Returns a result whose details go to the session and whose text goes to the model. */
function answer(details: SpawnReceipt | SpawnableAgents): ToolOutput {
	const { kind: _kind, version: _version, ...output } = details;
	const isError = "status" in output && output.status !== "accepted";
	return { content: [{ type: "text", text: JSON.stringify(output) }], isError, details };
}

/** Returns a failure that is drawn as its text. */
function failure(text: string): ToolOutput {
	return { content: [{ type: "text", text }], isError: true, details: undefined };
}

let isShared = false;

/**
 * Writes pi's compiled code to disk once, so that children find it. Node does this only when a process ends; without
 * it, the children of the first pi after a boot would each compile all of pi. Older Node versions lack this function.
 */
export function shareCompiledCode(): void {
	if (!isShared) module.flushCompileCache?.();
	isShared = true;
}

/** The session of each live run. */
const live = new Map<RunHandle, string>();

/** Keeps `handle` until its run has ended. */
export async function settled(handle: RunHandle, session: string): Promise<ToolResult> {
	live.set(handle, session);
	try {
		return await handle.result();
	} finally {
		live.delete(handle);
	}
}

/** Ends the runs of one session, or of all sessions, and waits until their children have exited. */
export async function closeRuns(session?: string): Promise<void> {
	const ending = [...live].filter(([, of]) => session === undefined || of === session);
	await Promise.allSettled(ending.map(([handle]) => handle.close()));
}

/**
 * The last tool descriptions of this process. After `/reload`, pi draws the transcript again before `session_start`,
 * and draws a card only for a registered tool. This module is not evaluated again.
 */
let remembered: readonly ToolSurface[] = [];

/** The descriptions of the tools. Without the addon, scripts have no tool. */
export type Surfaces = Omit<ToolSurfaces, "scriptTool"> & Partial<Pick<ToolSurfaces, "scriptTool">>;

/**
 * Returns the tools that this pi can keep apart. A pi without tool exposures would offer the tool for scripts to the
 * model. Call it after pi has loaded its own tools.
 */
export function toolsFor(pi: ExtensionAPI, { tools, scriptTool }: Surfaces): (ToolSurface | ScriptToolSurface)[] {
	const hasExposures = pi.getAllTools().some((tool) => "exposure" in tool);
	return scriptTool && hasExposures ? [...tools, scriptTool] : tools;
}

export function rememberedTools(): readonly ToolSurface[] {
	return remembered;
}

export async function describeTools(pi: ExtensionAPI, context: ExtensionContext): Promise<Surfaces> {
	const { native, problem } = loadAddon();
	let surfaces: Surfaces;
	try {
		surfaces = native ? await native.describeTools(surfaceOptions(pi, context)) : withoutAddon(problem);
	} catch (error) {
		surfaces = withoutAddon(`the tools could not be described: ${messageOf(error)}`);
	}
	remembered = surfaces.register ? surfaces.tools : [];
	return surfaces;
}

const NAMES = ["subagent", "subagent_parallel", "subagent_chain", "sessions_spawn", "agents_list"];

function withoutAddon(problem: string): Surfaces {
	const description = "Delegates work to sub-agents. Not usable now: the native addon is missing.";
	const promptSnippet = "Delegate work to sub-agents (not usable now)";
	const parameters = { type: "object", properties: {} };
	const same = { description, promptSnippet, promptGuidelines: [], parameters, exposure: "model-only" as const };
	const tools = NAMES.map((name) => ({ name, label: name, ...same }));
	return { register: true, tools, notices: [problem] };
}

/** Returns the system prompt with the delegation policy, or `undefined` if it is there already or disabled. */
export function withPolicy(systemPrompt: string, surfaces: Surfaces | undefined): string | undefined {
	const policy = surfaces?.delegationPolicy;
	return !policy || systemPrompt.includes(policy) ? undefined : `${systemPrompt}\n\n${policy}`;
}
