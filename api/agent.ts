/** Agents in code. The engine reads them as agent files, so both get the same checks. */

import type { Agent } from "../index.js";
import { checkAgentObject } from "./options.ts";

/** Returns the text of an agent file with the same definition. */
export function agentText(agent: Record<string, unknown>): string {
	const { prompt, ...fields }: Record<string, unknown> = { description: agent.name, ...agent };
	// JSON is YAML. Each field has a line of its own, as in a file.
	const lines = Object.entries(fields)
		.filter(([, value]) => value !== undefined)
		.map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
	return `---\n${lines.join("\n")}\n---\n${String(prompt)}\n`;
}

/** Checks an agent and returns it. */
export function defineAgent<const A extends Agent>(agent: A): A {
	checkAgentObject(agent, "agent");
	return agent;
}
