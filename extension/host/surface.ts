/** What the tools look like while the addon, which describes them, cannot be loaded. */

import type { ToolSurface, ToolSurfaces } from "../../index.js";

const TEXT = { type: "string", minLength: 1 };

export function surfacesWithoutAddon(problem: string): ToolSurfaces {
	const tasks = { type: "array", minItems: 1, items: object({ agent: TEXT, cwd: TEXT, task: TEXT }, "agent", "task") };
	return {
		register: true,
		tools: [
			unusable("subagent", "Subagent", "one task", object({ agent: TEXT, task: TEXT }, "agent", "task")),
			unusable("subagent_parallel", "Subagents in parallel", "tasks", object({ tasks }, "tasks")),
			unusable("subagent_chain", "Chain of subagents", "steps", object({ steps: tasks }, "steps")),
			unusable(
				"sessions_spawn",
				"Background subagent",
				"background work",
				object({ agentId: TEXT, task: TEXT }, "task"),
			),
			unusable("agents_list", "Background agents", "nothing yet: list who would take it", object({})),
		],
		notices: [problem],
	};
}

function unusable(name: string, label: string, what: string, parameters: Record<string, unknown>): ToolSurface {
	const promptSnippet = `Delegate ${what} to sub-agents (not usable now)`;
	const description = `Delegates ${what} to sub-agents. Not usable now: the native addon is missing.`;
	return { name, label, description, promptSnippet, promptGuidelines: [], parameters };
}

function object(properties: Record<string, unknown>, ...required: string[]): Record<string, unknown> {
	return { type: "object", properties, required, additionalProperties: false };
}
