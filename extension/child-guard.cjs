"use strict";

/**
 * Blocks every tool call in a child that its run does not allow, including calls of tools from other extensions. It is a
 * second line of defence: pi's allow-list hides such tools from the model, and the guard also stops calls that one tool
 * makes to another.
 *
 * It is a single CommonJS file. Each run has this file at a path of its own. pi would load any other format through a
 * compiler, again in every child; that makes a child's start slower by half and leaves a file in the temporary
 * directory.
 */

/** @import { ExtensionAPI, ExtensionContext, ToolDefinition, ToolCallEvent, ToolCallEventResult, ToolResultEvent } from "@earendil-works/pi-coding-agent" */

/** Absent in Node before 22.3; the guard does not check there whether a file has changed. */
const fs = process.getBuiltinModule?.("node:fs");
const os = process.getBuiltinModule?.("node:os");
const paths = process.getBuiltinModule?.("node:path");
const urls = process.getBuiltinModule?.("node:url");

/** pi's tools that change files. */
const CHANGES = new Set(["edit", "write"]);

/** Language-server actions that change files or the server; no configuration allows them. */
const NEVER_ALLOWED_LSP_ACTIONS = new Set(["rename", "codeaction", "restart"]);

/** The first words of the prompt that asks for an announcement after the work is done. No tool may run for it. */
const ANNOUNCING = "Your work on the task is done, and its result is kept.";
/** The first words of the prompt that asks for a report after the time is up. No tool may run for it, either. */
const REPORTING = "Your time for this task is up.";

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/**
 * The permissions of the run, which the parent writes into the child's environment.
 *
 * @typedef {object} ChildPolicy
 * @property {ReadonlySet<string> | undefined} tools `undefined` if the parent sent no list; no tool is allowed then.
 * @property {boolean} lsp
 * @property {ReadonlySet<string>} lspActions
 * @property {string | undefined} asks The `ask` tool as JSON, if the agent may ask.
 * @property {string | undefined} submits The tool that submits the result, if the agent has to submit one.
 * @property {boolean} holdsTurns The parent grants each turn, because a budget limits the turns.
 * @property {boolean} ownShell Only pi's own `bash` may run, because only its commands run in the sandbox.
 * @property {string | undefined} agentDir pi's agent directory, if the child is sandboxed.
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
		agentDir: environment.PI_SUBAGENT_OWN_SHELL === "1" ? environment.PI_CODING_AGENT_DIR : undefined,
	};
}

/**
 * Returns the reason why a call is blocked, or `undefined` if it may run.
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
 * Returns true if `tool` is in the list. `mcp__server__*` matches every tool of a server, as in pi's own lists.
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
 * Returns the reason why a shell is blocked that an extension registered instead of pi's.
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
	return "Tool `bash` is blocked: an extension provides it, and the sandbox covers only pi's own shell.";
}

/** Spaces that pi replaces in paths. */
const SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;

/**
 * Returns the path that pi's tools use for a named one.
 *
 * @param {string} named
 * @param {string} cwd
 * @returns {string}
 */
function pathOf(named, cwd) {
	const plain = named.replace(SPACES, " ").replace(/^@/, "");
	const home = plain.replace(/^~(?=\/|$)/, () => os?.homedir() ?? "~");
	return paths?.resolve(cwd, /^file:\/\//.test(home) ? (urls?.fileURLToPath(home) ?? home) : home) ?? home;
}

/** The maximum number of links in the place of a missing file, as in the kernel. */
const MAX_LINKS = 40;

/**
 * Returns the path of the file that a write to `path` would change or create, without links.
 *
 * @param {string} path An absolute path.
 * @param {number} [links] The number of links that may still be followed.
 * @returns {string}
 */
function writtenPath(path, links = MAX_LINKS) {
	if (!fs || !paths) return path;
	try {
		return fs.realpathSync(path);
	} catch {
		const directory = paths.dirname(path);
		if (directory === path) return path;
		const real = paths.join(writtenPath(directory, links), paths.basename(path));
		try {
			// A write creates the missing target of a link.
			return links > 0 ? writtenPath(paths.resolve(paths.dirname(real), fs.readlinkSync(real)), links - 1) : real;
		} catch {
			return real;
		}
	}
}

/**
 * Returns a function that gives the reason why a change in pi's agent directory is blocked: files there name programs
 * that pi starts outside of the tools' sandbox.
 *
 * @param {ChildPolicy} policy
 * @returns {(event: ToolCallEvent, cwd: string) => string | undefined}
 */
function protectAgentDir({ agentDir }) {
	const real = agentDir && writtenPath(agentDir);
	return ({ toolName, input }, cwd) => {
		const named = Object(input).path;
		if (!real || !paths || !CHANGES.has(toolName) || typeof named !== "string") return undefined;
		const path = writtenPath(pathOf(named, cwd));
		if (path !== real && !path.startsWith(real + paths.sep)) return undefined;
		return `\`${named}\` is in pi's agent directory, where a sandboxed sub-agent may change no file.`;
	};
}

/**
 * Registers a tool that the parent describes, with its implementation.
 *
 * @param {Pick<ExtensionAPI, "registerTool">} pi
 * @param {object} tool
 * @param {(...call: any[]) => Promise<object>} execute
 */
function register(pi, tool, execute) {
	pi.registerTool(/** @type {ToolDefinition} */ (/** @type {unknown} */ ({ ...tool, execute })));
}

/**
 * Registers the tool that agents ask with, and sends its key to the parent before the model starts. At that time no
 * tool has run that could send another key. The key stays in this process: a process that knew it could let a model
 * answer the question of a permission hook.
 *
 * @param {Pick<ExtensionAPI, "on" | "registerTool">} pi
 * @param {{ tool: object; prefix: string; answered: string; declined: string }} asks
 */
function registerAsk(pi, { tool, prefix, answered, declined }) {
	const key = `${prefix}${crypto.randomUUID()}`;
	register(pi, tool, async (_id, { question, options = [] }, signal, _onUpdate, { ui }) => {
		const until = signal && { signal };
		const title = `${key} ${question}`;
		const answer = await (options.length > 0 ? ui.select(title, options, until) : ui.input(title, undefined, until));
		return { content: [{ type: "text", text: answer ? `${answered}: ${answer}` : declined }], details: {} };
	});
	// The parent sends no answer. Waiting for one would block the boot of an early child, because the parent does not
	// read its output yet.
	pi.on("session_start", (_event, { ui }) => {
		ui.input(key).catch(() => undefined);
	});
}

/**
 * Registers the tool that ends the work with a result. pi checks the result against the parameters and returns errors
 * to the model.
 *
 * @param {Pick<ExtensionAPI, "registerTool">} pi
 * @param {object} tool
 */
function registerSubmit(pi, tool) {
	register(pi, tool, async (_id, submitted) => {
		// The host reads the details; the model does not see them.
		return { content: [{ type: "text", text: "Submitted." }], details: { submitted }, terminate: true };
	});
}

/**
 * Returns the path and a stamp that changes with the file's content, or `undefined` if there is no file.
 *
 * @param {unknown} named The path in the form that pi's tools accept.
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
 * Returns a function that gives the reason why a change of a file is blocked: another process changed the file since
 * this child last read or changed it.
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
		// A file that changes during the read counts as changed.
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

/** The name of the status that reports the child's context use to the parent. */
const CONTEXT_STATUS = "pi-subagent-context";

/**
 * Reports the context use that pi computes: after each turn, and after a compaction, when pi does not know it.
 *
 * @param {Pick<ExtensionAPI, "on">} pi
 */
function reportContext(pi) {
	const report = (/** @type {unknown} */ _event, /** @type {ExtensionContext | undefined} */ context) => {
		const usage = context?.getContextUsage?.();
		if (usage) context?.ui.setStatus(CONTEXT_STATUS, `${usage.tokens ?? "?"}/${usage.contextWindow}`);
		return undefined;
	};
	pi.on("turn_end", report);
	pi.on("session_compact", report);
}

/**
 * The interval at which the guard checks for a granted turn, in milliseconds. A shorter one gains nothing next to the
 * time of a request.
 */
const GRANT_CHECK_MS = 5;
/** The longest interval, for a child that waits for the turns of other children. */
const MAX_GRANT_CHECK_MS = 80;

/**
 * Delays each request to the model until the parent has granted its turn. The parent appends a line break to this file
 * for each turn. pi waits for the `context` handlers before it sends a request, and also before it repeats a failed
 * one.
 *
 * @param {Pick<ExtensionAPI, "on">} pi
 */
function holdTurns(pi) {
	if (!fs) return;
	const length = () => {
		const size = fs.statSync(__filename, { throwIfNoEntry: false })?.size;
		if (size !== undefined) return size;
		console.error(`the turn cannot begin: \`${__filename}\` no longer exists`);
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
 * @param {{ isSecond?: boolean }} [copy] `isSecond` is true for the second copy of the guard in a child. That copy
 * registers no tool, because pi refuses an extension that registers another extension's tool.
 */
function childGuard(pi, { isSecond = false } = {}) {
	const policy = readPolicy(process.env);
	if (policy.asks && !isSecond) registerAsk(pi, JSON.parse(policy.asks));
	if (policy.submits && !isSecond) registerSubmit(pi, JSON.parse(policy.submits));
	// The parent appends the grants to the first copy's file.
	if (policy.holdsTurns && !isSecond) holdTurns(pi);
	if (!isSecond) reportContext(pi);
	const staleReason = watchFiles(pi);
	const agentDirReason = protectAgentDir(policy);
	let isLastTurn = false;
	pi.on("before_agent_start", (/** @type {{ prompt?: string }} */ { prompt }) => {
		// An extension's message that starts a turn is not a prompt, and does not widen the permissions.
		if (prompt !== undefined) isLastTurn = [ANNOUNCING, REPORTING].some((words) => prompt.startsWith(words));
		return undefined;
	});
	pi.on("tool_call", (/** @type {ToolCallEvent} */ event, /** @type {ExtensionContext | undefined} */ context) => {
		const over = "The work is done; no tool runs any more.";
		const reason = isLastTurn
			? over
			: (blockReason(policy, event.toolName, event.input) ??
				shellBlockReason(policy, pi, event.toolName) ??
				agentDirReason(event, context?.cwd ?? process.cwd()) ??
				staleReason(event));
		return /** @type {ToolCallEventResult | undefined} */ (reason === undefined ? undefined : { block: true, reason });
	});
}

childGuard.blockReason = blockReason;
childGuard.readPolicy = readPolicy;
module.exports = childGuard;
