/**
 * Entry point for pi. It imports nothing that can fail, because one extension that fails to load ends pi.
 * In a child of this package only the guard is registered: a sub-agent delegates nothing.
 */

import type { EarlyCall, ToolSurfaces } from "../index.js";
import { announce, withPolicy } from "./announce.ts";
import { stopClocks } from "./card-state.ts";
import childGuard from "./child-guard.cjs";
import { registerCommands } from "./commands.ts";
import { shareCompiledCode } from "./compile-cache.ts";
import { EarlyCalls } from "./early.ts";
import { callOptions, surfaceOptions } from "./host.ts";
import { loadAddon } from "./native.ts";
import type { PiApi, PiContext } from "./pi.ts";
import { rememberedSurfaces, rememberSurfaces } from "./remembered.ts";
import { Runs } from "./runs.ts";
import { surfacesWithoutAddon } from "./surface.ts";
import { SubagentTools, type ToolName } from "./tools.ts";

export default function subagentNative(pi: PiApi): void {
	if (process.env.PI_SUBAGENT_CHILD === "1") {
		childGuard(pi);
		return;
	}
	const runs = new Runs();
	const tools = new SubagentTools(pi, runs);
	const early = new EarlyCalls((tool, callId, context) => bootEarly(pi, tool, callId, context));
	let surfaces: ToolSurfaces | undefined;
	const remembered = rememberedSurfaces();
	if (remembered) tools.register(remembered.tools);

	registerCommands(pi);

	// Without a terminal of its own pi dies of Ctrl+C at once, and a child in its own process group hears nothing of it.
	const interrupted = () => {
		void Promise.all([early.close(), runs.close()]).finally(() => process.kill(process.pid, "SIGINT"));
	};

	pi.on("session_start", async (_event, context) => {
		runs.takeOver(context.sessionManager.getSessionId());
		if (!context.hasUI) process.once("SIGINT", interrupted);
		surfaces = await describe(pi, context);
		rememberSurfaces(surfaces);
		if (surfaces.register) tools.register(surfaces.tools);
		else if (remembered) switchOff(pi, remembered);
		announce(surfaces.notices, context);
	});

	pi.on("before_agent_start", (event) => {
		if (!surfaces?.register || !pi.getActiveTools().includes("subagent")) return undefined;
		const systemPrompt = withPolicy(event.systemPrompt, surfaces);
		return systemPrompt === undefined ? undefined : { systemPrompt };
	});

	pi.on("message_update", (event, context) => early.update(event, context));
	pi.on("message_end", (event) => early.messageEnded(event));
	pi.on("tool_execution_end", ({ toolCallId }) => early.finished(toolCallId));
	pi.on("agent_end", () => early.clear());

	pi.on("tool_result", (event) => (tools.takeFailed(event.toolCallId) ? { isError: true } : undefined));

	pi.on("session_shutdown", async ({ reason }, context) => {
		stopClocks();
		process.off("SIGINT", interrupted);
		if (reason === "reload") runs.handOver(context.sessionManager.getSessionId());
		else await runs.close();
		await early.close();
	});
}

function switchOff(pi: PiApi, { tools }: ToolSurfaces): void {
	const off = new Set(tools.map(({ name }) => name));
	pi.setActiveTools(pi.getActiveTools().filter((name) => !off.has(name)));
}

function bootEarly(pi: PiApi, tool: ToolName, callId: string, context: PiContext): EarlyCall | undefined {
	if (!pi.getActiveTools().includes(tool)) return undefined;
	shareCompiledCode();
	return loadAddon().native?.bootEarly({ ...callOptions(pi, context, callId), tool });
}

async function describe(pi: PiApi, context: PiContext): Promise<ToolSurfaces> {
	const { native, problem } = loadAddon();
	if (!native) return surfacesWithoutAddon(problem);
	try {
		return await native.describeTools(surfaceOptions(pi, context));
	} catch (error) {
		return surfacesWithoutAddon(`the tools could not be described: ${error instanceof Error ? error.message : error}`);
	}
}
