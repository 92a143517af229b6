"use strict";

/**
 * Blocks, inside a child, every tool call its run does not allow, whatever other extensions registered. A second wall:
 * pi's own allow-list keeps such tools from the model, this also stops calls that one tool makes to another.
 *
 * CommonJS, and only that: each run has this file at a path of its own, and anything else pi would load by way of a
 * compiler, in every child anew, which makes its start slower by half and leaves a file in the temporary directory.
 */

/** @import { ExtensionAPI, ToolDefinition, ToolCallEvent, ToolCallEventResult, ToolResultEvent } from "@earendil-works/pi-coding-agent" */

/** Absent in a Node before 22.3, where nobody looks whether a file has changed. */
const fs = process.getBuiltinModule?.("node:fs");

/** pi's tools that change a file. */
const CHANGES = new Set(["edit", "write"]);

/** Language-server actions that change files or the server; no configuration allows them. */
const NEVER_ALLOWED_LSP_ACTIONS = new Set(["rename", "codeaction", "restart"]);

/** How the prompt begins that asks for an announcement once the work is done. No tool runs for it. */
const ANNOUNCING = "Your work on the task is done, and its result is kept.";

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/**
 * What the run allows, as the parent wrote it into the child's environment.
 *
 * @typedef {object} ChildPolicy
 * @property {ReadonlySet<string> | undefined} tools `undefined`: the parent said nothing, so nothing is allowed.
 * @property {boolean} lsp
 * @property {ReadonlySet<string>} lspActions
 * @property {string | undefined} asks The tool `ask` as JSON, if the agent may ask.
 * @property {string | undefined} submits The tool that submits the result, if the agent has to.
 * @property {boolean} holdsTurns The parent grants each turn, because a budget bounds them.
 * @property {boolean} ownShell Only pi's own `bash` may run: nothing else starts its commands in a sandbox.
 */

/**
 * @param {Environment} environment
 * @returns {ChildPolicy}
 */
function readPolicy(environment) {
	return {
		tools: environment.PI_SUBAGENT_TOOLS === undefined ? undefined : names(environment.PI_SUBAGENT_TOOLS),
		lsp: environment.PI_SUBAGENT_ALLOW_LSP === "1",
		lspActions: names(environment.PI_SUBAGENT_LSP_ACTIONS ?? ""),
		asks: environment.PI_SUBAGENT_ASK,
		submits: environment.PI_SUBAGENT_SUBMIT,
		holdsTurns: environment.PI_SUBAGENT_HOLDS_TURNS === "1",
		ownShell: environment.PI_SUBAGENT_OWN_SHELL === "1",
	};
}

/**
 * Says why a call is blocked, or nothing when it may run.
 *
 * @param {ChildPolicy} policy
 * @param {string} tool
 * @param {unknown} input
 * @returns {string | undefined}
 */
function blockReason(policy, tool, input) {
	if (!policy.tools) {
		return `Tool \`${tool}\` is blocked: PI_SUBAGENT_TOOLS is not set, so this sub-agent may use no tool.`;
	}
	if (!isListed(policy.tools, tool)) {
		const allowed = [...policy.tools].join(", ") || "none";
		return `Tool \`${tool}\` is not allowed in this sub-agent. Allowed tools: ${allowed}.`;
	}
	return tool === "lsp" ? lspBlockReason(policy, input) : undefined;
}

/**
 * `mcp__server__*` stands for every tool of a server, as in pi's own lists.
 *
 * @param {ReadonlySet<string>} tools
 * @param {string} tool
 * @returns {boolean}
 */
function isListed(tools, tool) {
	if (tools.has(tool)) return true;
	return [...tools].some((entry) => entry.endsWith("*") && tool.startsWith(entry.slice(0, -1)));
}

/**
 * @param {ChildPolicy} policy
 * @param {unknown} input
 * @returns {string | undefined}
 */
function lspBlockReason(policy, input) {
	if (!policy.lsp) return "Tool `lsp` is switched off for sub-agents (allowLspTools).";
	const action = typeof input === "object" && input !== null && "action" in input ? input.action : undefined;
	if (typeof action !== "string") return "Tool `lsp` needs an `action` that this sub-agent may use.";
	if (policy.lspActions.has(action) && !NEVER_ALLOWED_LSP_ACTIONS.has(action.toLowerCase())) return undefined;
	const allowed = [...policy.lspActions].filter((name) => !NEVER_ALLOWED_LSP_ACTIONS.has(name.toLowerCase()));
	return `lsp action \`${action}\` is not allowed in this sub-agent. Allowed actions: ${allowed.join(", ") || "none"}.`;
}

/**
 * @param {string} list
 * @returns {ReadonlySet<string>}
 */
function names(list) {
	return new Set(
		list
			.split(",")
			.map((name) => name.trim())
			.filter((name) => name !== ""),
	);
}

/**
 * Says why a shell is blocked that an extension has put in the place of pi's.
 *
 * @param {ChildPolicy} policy
 * @param {Pick<ExtensionAPI, "getAllTools">} pi
 * @param {string} tool
 * @returns {string | undefined}
 */
function shellBlockReason(policy, pi, tool) {
	if (!policy.ownShell || tool !== "bash") return undefined;
	const source = pi.getAllTools().find(({ name }) => name === tool)?.sourceInfo.source;
	if (source === "builtin") return undefined;
	return "Tool `bash` is blocked: an extension provides it, and the sandbox holds only pi's own shell.";
}

/**
 * A tool as the parent describes it, with what it does.
 *
 * @param {Pick<ExtensionAPI, "registerTool">} pi
 * @param {object} tool
 * @param {(...call: any[]) => Promise<object>} execute
 */
function register(pi, tool, execute) {
	pi.registerTool(/** @type {ToolDefinition} */ (/** @type {unknown} */ ({ ...tool, execute })));
}

/**
 * Registers the tool with which an agent asks, and tells the parent its key before the model works: no tool has run by then
 * that could say another one. The key stays in this process, because whoever knew it could have a gate's question answered
 * by a model.
 *
 * @param {Pick<ExtensionAPI, "on" | "registerTool">} pi
 * @param {{ tool: object; prefix: string; heard: string; declined: string }} asks
 */
function registerAsk(pi, { tool, prefix, heard, declined }) {
	const key = `${prefix}${crypto.randomUUID()}`;
	register(pi, tool, async (_id, { question, options = [] }, signal, _onUpdate, { ui }) => {
		const until = signal && { signal };
		const title = `${key} ${question}`;
		const answer = await (options.length > 0 ? ui.select(title, options, until) : ui.input(title, undefined, until));
		return { content: [{ type: "text", text: answer ? `${heard}: ${answer}` : declined }], details: {} };
	});
	// The parent answers with nothing. Waiting for that would keep an early child, whose output nobody reads yet, from booting.
	pi.on("session_start", (_event, { ui }) => {
		ui.input(key).catch(() => undefined);
	});
}

/**
 * Registers the tool that ends the work with a result. pi checks it against the parameters, and what is wrong goes back to
 * the model.
 *
 * @param {Pick<ExtensionAPI, "registerTool">} pi
 * @param {object} tool
 */
function registerSubmit(pi, tool) {
	register(pi, tool, async (_id, submitted) => {
		// The host reads the details; they are not shown to the model.
		return { content: [{ type: "text", text: "Submitted." }], details: { submitted }, terminate: true };
	});
}

/**
 * What tells one content of a file from another; `undefined` where there is no file.
 *
 * @param {unknown} named The path as a tool of pi is given it.
 */
function stampOf(named) {
	if (typeof named !== "string" || !fs) return undefined;
	const plain = named.replace(/^@/, "").replace(/^~(?=\/|$)/, process.env.HOME ?? "~");
	try {
		const path = fs.realpathSync(plain);
		const { dev, ino, size, mtimeNs, ctimeNs } = fs.statSync(path, { bigint: true });
		return { path, stamp: [dev, ino, size, mtimeNs, ctimeNs].join() };
	} catch {
		return undefined;
	}
}

/**
 * Says why a change of a file is blocked: since this child read or changed it, somebody else has.
 *
 * @param {Pick<ExtensionAPI, "on">} pi
 * @returns {(event: ToolCallEvent) => string | undefined}
 */
function watchFiles(pi) {
	const known = /** @type {Map<string, string>} */ (new Map());
	const reading = /** @type {Map<string, ReturnType<typeof stampOf>>} */ (new Map());
	pi.on("tool_result", (/** @type {ToolResultEvent} */ { toolName, toolCallId, input, isError }) => {
		const begun = reading.get(toolCallId);
		reading.delete(toolCallId);
		// A file that changes while it is read has changed since.
		const seen = toolName === "read" ? begun : CHANGES.has(toolName) ? stampOf(input.path) : undefined;
		if (seen && !isError) known.set(seen.path, seen.stamp);
		return undefined;
	});
	return ({ toolName, toolCallId, input }) => {
		const now = CHANGES.has(toolName) || toolName === "read" ? stampOf(Object(input).path) : undefined;
		if (toolName === "read") reading.set(toolCallId, now);
		const before = now && known.get(now.path);
		if (!now || toolName === "read" || before === undefined || before === now.stamp) return undefined;
		return `\`${now.path}\` has changed since you last read it, and not by your \`edit\` or \`write\`. Read it again, then change it.`;
	};
}

/** How often the guard checks whether a turn has been granted. A shorter wait is lost in the time of a request. */
const GRANT_CHECK_MS = 5;
/** The longest pause, for a child that waits for the turns of others. */
const MAX_GRANT_CHECK_MS = 80;

/**
 * Holds each request to the model until the parent has granted its turn: the parent adds a line break to this file for each turn.
 *
 * pi waits for `context` before it sends the request, also when it repeats one that failed.
 *
 * @param {Pick<ExtensionAPI, "on">} pi
 */
function holdTurns(pi) {
	if (!fs) return;
	const length = () => {
		const size = fs.statSync(__filename, { throwIfNoEntry: false })?.size;
		if (size !== undefined) return size;
		console.error(`the turn cannot begin: \`${__filename}\` is gone`);
		process.exit(1);
	};
	const before = length();
	let turns = 0;
	pi.on("turn_start", () => {
		turns += 1;
	});
	pi.on("context", async (_event, context) => {
		let pause = GRANT_CHECK_MS;
		while (length() < before + turns && !context?.signal?.aborted) {
			await new Promise((resolve) => setTimeout(resolve, pause));
			pause = Math.min(2 * pause, MAX_GRANT_CHECK_MS);
		}
		return undefined;
	});
}

/**
 * Registers the guard. The policy is read once, so that nothing in the child can loosen it later.
 *
 * @param {Pick<ExtensionAPI, "on" | "getAllTools" | "registerTool">} pi
 * @param {{ isSecond?: boolean }} [copy] Whether this is the guard's second copy in a child: pi refuses an extension that
 *   registers another one's tool.
 */
function childGuard(pi, { isSecond = false } = {}) {
	const policy = readPolicy(process.env);
	if (policy.asks && !isSecond) registerAsk(pi, JSON.parse(policy.asks));
	if (policy.submits && !isSecond) registerSubmit(pi, JSON.parse(policy.submits));
	// The grants are lines in the first copy's own file.
	if (policy.holdsTurns && !isSecond) holdTurns(pi);
	const staleReason = watchFiles(pi);
	let isAnnouncing = false;
	pi.on("before_agent_start", (/** @type {{ prompt?: string }} */ { prompt }) => {
		// An extension's message that starts a turn is no prompt, and allows nothing that was not allowed before.
		if (prompt !== undefined) isAnnouncing = prompt.startsWith(ANNOUNCING);
		return undefined;
	});
	pi.on("tool_call", (/** @type {ToolCallEvent} */ event) => {
		const over = "The work is done; no tool runs any more.";
		const reason = isAnnouncing
			? over
			: (blockReason(policy, event.toolName, event.input) ??
				shellBlockReason(policy, pi, event.toolName) ??
				staleReason(event));
		return /** @type {ToolCallEventResult | undefined} */ (reason === undefined ? undefined : { block: true, reason });
	});
}

childGuard.blockReason = blockReason;
childGuard.readPolicy = readPolicy;
module.exports = childGuard;
