/**
 * Blocks, inside a child, every tool call its run does not allow, whatever other extensions registered. A second wall:
 * pi's own allow-list keeps such tools from the model, this also stops calls that one tool makes to another.
 */

import type { PiApi, ToolCallEvent, ToolCallVerdict } from "./pi.ts";

/** Language-server actions that change files or the server; no configuration allows them. */
const NEVER_ALLOWED_LSP_ACTIONS = new Set(["rename", "codeaction", "restart"]);

type Environment = Readonly<Record<string, string | undefined>>;

/** What the run allows, as the parent wrote it into the child's environment. */
export interface ChildPolicy {
	/** `undefined`: the parent said nothing, so nothing is allowed. */
	tools: ReadonlySet<string> | undefined;
	lsp: boolean;
	lspActions: ReadonlySet<string>;
}

export function readPolicy(environment: Environment): ChildPolicy {
	return {
		tools: environment.PI_SUBAGENT_TOOLS === undefined ? undefined : names(environment.PI_SUBAGENT_TOOLS),
		lsp: environment.PI_SUBAGENT_ALLOW_LSP === "1",
		lspActions: names(environment.PI_SUBAGENT_LSP_ACTIONS ?? ""),
	};
}

/** Says why a call is blocked, or nothing when it may run. */
export function blockReason(policy: ChildPolicy, tool: string, input: unknown): string | undefined {
	if (!policy.tools) {
		return `Tool \`${tool}\` is blocked: PI_SUBAGENT_TOOLS is not set, so this sub-agent may use no tool.`;
	}
	if (!isListed(policy.tools, tool)) {
		const allowed = [...policy.tools].join(", ") || "none";
		return `Tool \`${tool}\` is not allowed in this sub-agent. Allowed tools: ${allowed}.`;
	}
	return tool === "lsp" ? lspBlockReason(policy, input) : undefined;
}

/** `mcp__server__*` stands for every tool of a server, as in pi's own lists. */
function isListed(tools: ReadonlySet<string>, tool: string): boolean {
	if (tools.has(tool)) return true;
	return [...tools].some((entry) => entry.endsWith("*") && tool.startsWith(entry.slice(0, -1)));
}

function lspBlockReason(policy: ChildPolicy, input: unknown): string | undefined {
	if (!policy.lsp) return "Tool `lsp` is switched off for sub-agents (allowLspTools).";
	const action = typeof input === "object" && input !== null && "action" in input ? input.action : undefined;
	if (typeof action !== "string") return "Tool `lsp` needs an `action` that this sub-agent may use.";
	if (policy.lspActions.has(action) && !NEVER_ALLOWED_LSP_ACTIONS.has(action.toLowerCase())) return undefined;
	const allowed = [...policy.lspActions].filter((name) => !NEVER_ALLOWED_LSP_ACTIONS.has(name.toLowerCase()));
	return `lsp action \`${action}\` is not allowed in this sub-agent. Allowed actions: ${allowed.join(", ") || "none"}.`;
}

function names(list: string): ReadonlySet<string> {
	return new Set(
		list
			.split(",")
			.map((name) => name.trim())
			.filter((name) => name !== ""),
	);
}

/** Registers the guard. The policy is read once, so that nothing in the child can loosen it later. */
export function guardTools(pi: Pick<PiApi, "on">, environment: Environment): void {
	const policy = readPolicy(environment);
	pi.on("tool_call", (event: ToolCallEvent): ToolCallVerdict | undefined => {
		const reason = blockReason(policy, event.toolName, event.input);
		return reason === undefined ? undefined : { block: true, reason };
	});
}

export default function childGuard(pi: Pick<PiApi, "on">): void {
	guardTools(pi, process.env);
}
