/**
 * The descriptions of the tools, from the addon. Without the addon, the tools can still be called and return its
 * problem.
 */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ToolSurface, ToolSurfaces } from "../../index.js";
import { messageOf } from "../host/guard.ts";
import { loadAddon } from "../host/native.ts";
import { surfaceOptions } from "../host/options.ts";

/**
 * The last tool descriptions of this process. After `/reload`, pi draws the transcript again before `session_start`,
 * and draws a card only for a registered tool. This module is not evaluated again.
 */
let remembered: readonly ToolSurface[] = [];

export function rememberedTools(): readonly ToolSurface[] {
	return remembered;
}

export async function describeTools(pi: ExtensionAPI, context: ExtensionContext): Promise<ToolSurfaces> {
	const { native, problem } = loadAddon();
	let surfaces: ToolSurfaces;
	try {
		surfaces = native ? await native.describeTools(surfaceOptions(pi, context)) : withoutAddon(problem);
	} catch (error) {
		surfaces = withoutAddon(`the tools could not be described: ${messageOf(error)}`);
	}
	remembered = surfaces.register ? surfaces.tools : [];
	return surfaces;
}

const NAMES = ["subagent", "subagent_parallel", "subagent_chain", "sessions_spawn", "agents_list"];

function withoutAddon(problem: string): ToolSurfaces {
	const description = "Delegates work to sub-agents. Not usable now: the native addon is missing.";
	const promptSnippet = "Delegate work to sub-agents (not usable now)";
	const parameters = { type: "object", properties: {} };
	const same = { description, promptSnippet, promptGuidelines: [], parameters, exposure: "model-only" as const };
	const tools = NAMES.map((name) => ({ name, label: name, ...same }));
	return { register: true, tools, notices: [problem] };
}

/** Returns the system prompt with the delegation policy, or `undefined` if it is there already or disabled. */
export function withPolicy(systemPrompt: string, surfaces: ToolSurfaces | undefined): string | undefined {
	const policy = surfaces?.delegationPolicy;
	return !policy || systemPrompt.includes(policy) ? undefined : `${systemPrompt}\n\n${policy}`;
}
