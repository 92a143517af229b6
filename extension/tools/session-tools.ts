/** The tools for work in the background: `sessions_spawn` and `agents_list`. Neither waits for a run. */

import type { ToolSurface } from "../../index.js";
import type { BackgroundHost } from "../background/callbacks.ts";
import type { SpawnableAgents, SpawnOptions, SpawnReceipt } from "../background/types.ts";
import { agentsRenderers, spawnRenderers } from "../cards/session-tools.ts";
import { shareCompiledCode } from "../host/compile-cache.ts";
import { STAMPS } from "../host/details.ts";
import { loadAddon } from "../host/native.ts";
import { modelNames, placeOptions } from "../host/options.ts";
import type { PiApi, PiContext, ToolDefinition, ToolOutput } from "../host/pi.ts";
import type { Stamp } from "../host/stored.ts";

/** What a call asks for; pi has checked it against the tool's schema. */
interface SpawnParams {
	task: string;
	label?: string;
	agentId?: string;
	model?: string;
	thinking?: string;
	runTimeoutSeconds?: number;
	cleanup?: string;
}

type Implementation = Pick<ToolDefinition, "execute" | "renderCall" | "renderResult" | "annotations">;

export class SessionTools {
	private readonly pi: PiApi;
	private readonly host: BackgroundHost;
	/** Calls that were refused: pi flags them in a `tool_result` handler. */
	private readonly failed = new Set<string>();
	private readonly implementations: Readonly<Record<string, Implementation>>;

	constructor(pi: PiApi, host: BackgroundHost) {
		this.pi = pi;
		this.host = host;
		this.implementations = {
			sessions_spawn: {
				execute: async (id, params, signal, _onUpdate, context) =>
					await this.settle(id, () => this.spawn(params as SpawnParams, signal, context)),
				...spawnRenderers,
			},
			agents_list: {
				execute: async (id, _params, _signal, _onUpdate, context) => await this.settle(id, () => this.list(context)),
				...agentsRenderers,
				annotations: { readOnlyHint: true },
			},
		};
	}

	register(surfaces: readonly ToolSurface[]): void {
		for (const { name, label, description, promptSnippet, promptGuidelines, parameters } of surfaces) {
			const implementation = Object.hasOwn(this.implementations, name) ? this.implementations[name] : undefined;
			if (!implementation) continue;
			const tool: ToolDefinition = {
				...{ name, label, description, promptSnippet, promptGuidelines, parameters, exposure: "model-only" },
				...implementation,
			};
			this.pi.registerTool(tool);
		}
	}

	/** Tells once whether the call with this id was refused. */
	takeFailed(toolCallId: string): boolean {
		return this.failed.delete(toolCallId);
	}

	private async settle(id: string, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
		// A rejection is a programming error; the model still gets a result, and pi runs on.
		const output = await run().catch((error: unknown) =>
			refusal({ status: "error", error: error instanceof Error ? error.message : String(error) }),
		);
		if (output.isError) this.failed.add(id);
		return output;
	}

	private async spawn(params: SpawnParams, signal: AbortSignal | undefined, context: PiContext): Promise<ToolOutput> {
		const { native, problem } = loadAddon();
		if (!native) return refusal({ status: "error", error: problem });
		if (signal?.aborted) return refusal({ status: "error", error: "aborted before anything was started" });
		shareCompiledCode();
		const { task, label, agentId, model, thinking, runTimeoutSeconds, cleanup } = params;
		const options: SpawnOptions = { ...placeOptions(this.pi, context), task };
		if (label !== undefined) options.label = label;
		if (agentId !== undefined) options.agent = agentId;
		if (model !== undefined) options.childModel = model;
		if (thinking !== undefined) options.childThinking = thinking;
		if (runTimeoutSeconds !== undefined) options.runTimeoutSeconds = runTimeoutSeconds;
		if (cleanup !== undefined) options.cleanup = cleanup;
		options.models = modelNames(context);
		const receipt = await native.spawnSession(options, this.host.callbacks(context));
		return receipt.status === "accepted" ? answer(receipt, STAMPS.receipt) : refusal(receipt);
	}

	private async list(context: PiContext): Promise<ToolOutput> {
		const { native, problem } = loadAddon();
		if (!native) return refusal({ status: "error", error: problem });
		const agents: SpawnableAgents = await native.listSpawnable(placeOptions(this.pi, context));
		return answer(agents, STAMPS.agents);
	}
}

/** The model reads what the session keeps, without saying of it what it is. */
function answer(said: SpawnReceipt | SpawnableAgents, stamp: Stamp): ToolOutput {
	return { content: [{ type: "text", text: JSON.stringify(said) }], details: { ...stamp, ...said } };
}

function refusal(receipt: SpawnReceipt): ToolOutput {
	return { ...answer(receipt, STAMPS.receipt), isError: true };
}
