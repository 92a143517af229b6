import assert from "node:assert/strict";
import { describe, it } from "node:test";
import childGuard from "../../extension/child-guard.cjs";

const { blockReason, readPolicy } = childGuard;

const LSP = { PI_SUBAGENT_ALLOW_LSP: "1", PI_SUBAGENT_LSP_ACTIONS: "hover, definition,rename,codeAction" };

const cases: [
	label: string,
	environment: Record<string, string>,
	tool: string,
	input: unknown,
	blocked: RegExp | null,
][] = [
	["a tool on the list", { PI_SUBAGENT_TOOLS: "read, grep" }, "grep", {}, null],
	["a tool off the list", { PI_SUBAGENT_TOOLS: "read,grep" }, "bash", {}, /`bash` is not allowed.* read, grep\./],
	["the start of a name on the list", { PI_SUBAGENT_TOOLS: "read_all" }, "read", {}, /not allowed/],
	["an empty list", { PI_SUBAGENT_TOOLS: "" }, "read", {}, /Allowed tools: none/],
	["no list at all", {}, "read", {}, /PI_SUBAGENT_TOOLS is not set/],
	["an lsp action that is allowed", { ...LSP, PI_SUBAGENT_TOOLS: "lsp" }, "lsp", { action: "hover" }, null],
	[
		"an lsp action that is not",
		{ ...LSP, PI_SUBAGENT_TOOLS: "lsp" },
		"lsp",
		{ action: "symbols" },
		/hover, definition\./,
	],
	["rename although it is listed", { ...LSP, PI_SUBAGENT_TOOLS: "lsp" }, "lsp", { action: "rename" }, /`rename`/],
	[
		"code actions in any spelling",
		{ ...LSP, PI_SUBAGENT_TOOLS: "lsp" },
		"lsp",
		{ action: "codeAction" },
		/not allowed/,
	],
	["lsp without an action", { ...LSP, PI_SUBAGENT_TOOLS: "lsp" }, "lsp", {}, /needs an `action`/],
	[
		"lsp with an action that is no text",
		{ ...LSP, PI_SUBAGENT_TOOLS: "lsp" },
		"lsp",
		{ action: ["hover"] },
		/needs an/,
	],
	["lsp where it is off", { PI_SUBAGENT_TOOLS: "lsp", PI_SUBAGENT_ALLOW_LSP: "0" }, "lsp", { action: "hover" }, /off/],
	["lsp off the list", { ...LSP, PI_SUBAGENT_TOOLS: "read" }, "lsp", { action: "hover" }, /`lsp` is not allowed/],
];

describe("the guard in a child", () => {
	for (const [label, environment, tool, input, blocked] of cases) {
		it(`${blocked ? "blocks" : "allows"} ${label}`, () => {
			const reason = blockReason(readPolicy(environment), tool, input);
			if (blocked) assert.match(reason ?? "", blocked);
			else assert.equal(reason, undefined);
		});
	}

	it("allows a tool of an MCP server whose tools the list names by a pattern", () => {
		const policy = readPolicy({ PI_SUBAGENT_TOOLS: "read,mcp__git__*" });
		assert.equal(blockReason(policy, "mcp__git__log", {}), undefined);
		assert.match(blockReason(policy, "mcp__web__get", {}) ?? "", /not allowed/);
	});
});
