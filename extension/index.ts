/**
 * Entry point for pi. It imports nothing that can fail, because one extension that fails to load ends pi.
 * In a child of this package only the guard is registered: a sub-agent delegates nothing.
 */

import type { ToolSurface } from "../index.js";
import { announce, withPolicy } from "./announce.ts";
import { stopClocks } from "./card-state.ts";
import { guardTools } from "./child-guard.ts";
import { registerCommands } from "./commands.ts";
import { surfaceOptions } from "./host.ts";
import { loadAddon } from "./native.ts";
import type { PiApi, PiContext } from "./pi.ts";
import { rememberedSurface, rememberSurface } from "./remembered.ts";
import { Runs } from "./runs.ts";
import { SubagentTool, surfaceWithoutAddon } from "./tools.ts";

export default function subagentNative(pi: PiApi): void {
	if (process.env.PI_SUBAGENT_CHILD === "1") {
		guardTools(pi, process.env);
		return;
	}
	const runs = new Runs();
	const tool = new SubagentTool(pi, runs);
	let surface: ToolSurface | undefined;
	const early = rememberedSurface();
	if (early) pi.registerTool(tool.definition(early));

	registerCommands(pi);

	// Without a terminal of its own pi dies of Ctrl+C at once, and a child in its own process group hears nothing of it.
	const interrupted = () => {
		void runs.close().finally(() => process.kill(process.pid, "SIGINT"));
	};

	pi.on("session_start", async (_event, context) => {
		runs.takeOver(context.sessionManager.getSessionId());
		if (!context.hasUI) process.once("SIGINT", interrupted);
		surface = await describe(pi, context);
		rememberSurface(surface);
		if (surface.register) pi.registerTool(tool.definition(surface));
		else if (early) pi.setActiveTools(pi.getActiveTools().filter((name) => name !== early.name));
		announce(surface.notices, context);
	});

	pi.on("before_agent_start", (event) => {
		if (!surface?.register || !pi.getActiveTools().includes(surface.name)) return undefined;
		const systemPrompt = withPolicy(event.systemPrompt, surface);
		return systemPrompt === undefined ? undefined : { systemPrompt };
	});

	pi.on("tool_result", (event) => (tool.takeFailed(event.toolCallId) ? { isError: true } : undefined));

	pi.on("session_shutdown", async ({ reason }, context) => {
		stopClocks();
		process.off("SIGINT", interrupted);
		if (reason === "reload") runs.handOver(context.sessionManager.getSessionId());
		else await runs.close();
	});
}

async function describe(pi: PiApi, context: PiContext): Promise<ToolSurface> {
	const { native, problem } = loadAddon();
	if (!native) return surfaceWithoutAddon(problem);
	try {
		return await native.describeTools(surfaceOptions(pi, context));
	} catch (error) {
		return surfaceWithoutAddon(`the tool could not be described: ${error instanceof Error ? error.message : error}`);
	}
}
