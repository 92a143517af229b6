import assert from "node:assert/strict";
import {
	appendFileSync,
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
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

	it("blocks another shell if only pi's own is sandboxed", () => {
		const handlers = new Map<string, (event: object) => unknown>();
		const env = { PI_SUBAGENT_TOOLS: "bash,read", PI_SUBAGENT_OWN_SHELL: "1" };
		const before = { ...process.env };
		let source = "builtin";
		Object.assign(process.env, env);
		try {
			childGuard({
				on: (event: string, handler: (event: object) => unknown) => handlers.set(event, handler),
				getAllTools: () => ["read", "bash"].map((name) => ({ name, sourceInfo: { source } })),
			} as never);
		} finally {
			for (const name of Object.keys(env)) delete process.env[name];
			Object.assign(process.env, before);
		}
		const calls = (toolName: string) => handlers.get("tool_call")?.({ toolName, input: { command: "ls" } });
		assert.equal(calls("bash"), undefined);
		source = "local";
		assert.match(JSON.stringify(calls("bash")), /an extension provides it/);
		assert.equal(calls("read"), undefined);
	});

	it("blocks a change of a file that another program has changed since the child read it", () => {
		const directory = mkdtempSync(join(tmpdir(), "guard-"));
		const path = join(directory, "a.txt");
		const handlers = new Map<string, (event: object) => unknown>();
		const before = process.env.PI_SUBAGENT_TOOLS;
		process.env.PI_SUBAGENT_TOOLS = "read,edit,write,bash";
		try {
			childGuard({ on: (event: string, handler: (event: object) => unknown) => handlers.set(event, handler) } as never);
		} finally {
			if (before === undefined) delete process.env.PI_SUBAGENT_TOOLS;
			else process.env.PI_SUBAGENT_TOOLS = before;
		}
		let calls = 0;
		/** Calls a tool, which does this unless it is blocked; returns whether it was. */
		const use = (toolName: string, works?: () => void, isError = false) => {
			const event = { toolName, toolCallId: `c${calls++}`, input: { path } };
			const blocked = handlers.get("tool_call")?.(event);
			if (blocked) return JSON.stringify(blocked);
			works?.();
			handlers.get("tool_result")?.({ ...event, isError });
			return undefined;
		};
		const put = (text: string) => () => writeFileSync(path, text);
		try {
			assert.equal(use("write", put("new")), undefined, "a new file can be written");
			assert.equal(use("edit", put("its own edit")), undefined);
			assert.equal(use("write", put("its own again")), undefined);
			put("of another writer")();
			assert.match(use("edit") ?? "", /has changed since you last read it.*Read it again/);
			assert.match(use("write") ?? "", /has changed/, "a second change is blocked too");
			assert.equal(use("read", undefined, true), undefined);
			assert.match(use("edit") ?? "", /has changed/, "a failed read does not count");
			assert.equal(use("read"), undefined);
			assert.equal(use("edit", put("fine")), undefined);
			assert.equal(use("read", put("changed while it was read")), undefined);
			assert.match(use("edit") ?? "", /has changed/);
			rmSync(path);
			assert.equal(use("write", put("made again")), undefined, "a removed file can be written");
		} finally {
			rmSync(directory, { recursive: true });
		}
	});

	it("blocks a change in pi's agent directory of a sandboxed child, by any path", (context) => {
		const directory = realpathSync(mkdtempSync(join(tmpdir(), "guard-")));
		context.after(() => rmSync(directory, { recursive: true }));
		const { HOME } = process.env;
		process.env.HOME = directory;
		context.after(() => Object.assign(process.env, { HOME }));
		const tree = join(directory, "tree");
		const agent = join(directory, "agent");
		for (const path of [tree, agent, `${agent}-other`]) mkdirSync(path);
		writeFileSync(join(agent, "auth.json"), "{}");
		symlinkSync(agent, join(tree, "to directory"));
		symlinkSync("../agent/auth.json", join(tree, "to-file"));
		symlinkSync("to directory/bin", join(tree, "to-nothing"));
		symlinkSync("loop", join(tree, "loop"));
		const blocked = (environment: Record<string, string>) => {
			const handlers = new Map<string, (event: object, context: object) => unknown>();
			const before = { ...process.env };
			Object.assign(process.env, { PI_SUBAGENT_TOOLS: "read,edit,write", ...environment });
			try {
				childGuard({ on: (event: string, handler: () => unknown) => handlers.set(event, handler) } as never);
				return (toolName: string, path: unknown) =>
					JSON.stringify(handlers.get("tool_call")?.({ toolName, input: { path } }, { cwd: tree }) ?? "");
			} finally {
				for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
				Object.assign(process.env, before);
			}
		};
		const sandboxed = blocked({ PI_SUBAGENT_OWN_SHELL: "1", PI_CODING_AGENT_DIR: join(tree, "to directory") });
		const inside = [
			agent,
			join(agent, "auth.json"),
			join(agent, "new/deep/file"),
			"../agent/settings.json",
			"~/agent/auth.json",
			`@${agent}/models.json`,
			pathToFileURL(join(agent, "bin/rg")).href,
			"to directory/auth.json",
			"to\u00a0directory/auth.json",
			"to-file",
			"to-nothing",
			"to-nothing/rg",
			"missing/../to-nothing",
		];
		for (const path of inside) {
			for (const tool of ["write", "edit"]) assert.match(sandboxed(tool, path), /agent directory/, `${tool} ${path}`);
			assert.equal(sandboxed("read", path), '""');
		}
		for (const path of ["a.txt", "new/b.txt", "loop", `${agent}-other/x`, "../agent.txt", undefined]) {
			assert.equal(sandboxed("write", path), '""', path);
		}
		assert.equal(blocked({ PI_CODING_AGENT_DIR: agent })("write", join(agent, "x")), '""', "without a sandbox");
	});

	it("runs no tool during an announcement, and runs tools again afterwards", () => {
		const handlers = new Map<string, (event: object) => unknown>();
		const before = process.env.PI_SUBAGENT_TOOLS;
		process.env.PI_SUBAGENT_TOOLS = "read";
		try {
			childGuard({ on: (event: string, handler: (event: object) => unknown) => handlers.set(event, handler) } as never);
		} finally {
			if (before === undefined) delete process.env.PI_SUBAGENT_TOOLS;
			else process.env.PI_SUBAGENT_TOOLS = before;
		}
		const prompt = (text: string) => handlers.get("before_agent_start")?.({ prompt: text });
		const calls = () => handlers.get("tool_call")?.({ toolName: "read", input: {} });
		prompt("Look around.");
		assert.equal(calls(), undefined);
		assert.equal(prompt("Your work on the task is done, and its result is kept. Write the announcement…"), undefined);
		assert.deepEqual(calls(), { block: true, reason: "The work is done; no tool runs any more." });
		// From pi 1.2 on: an extension's message starts a turn, and there is no prompt.
		handlers.get("before_agent_start")?.({ messageType: "custom", message: { customType: "note" } });
		assert.deepEqual(calls(), { block: true, reason: "The work is done; no tool runs any more." });
		prompt("Go on.");
		assert.equal(calls(), undefined);
	});

	it("delays each request until its turn has been granted, or the work is aborted", async (t) => {
		const directory = mkdtempSync(join(tmpdir(), "psn-"));
		t.after(() => rmSync(directory, { recursive: true }));
		const file = join(directory, "guard.cjs");
		copyFileSync(fileURLToPath(new URL("../../extension/child-guard.cjs", import.meta.url)), file);
		const handlers = new Map<string, (event: object, context?: object) => Promise<undefined>>();
		process.env.PI_SUBAGENT_HOLDS_TURNS = "1";
		t.after(() => delete process.env.PI_SUBAGENT_HOLDS_TURNS);
		createRequire(import.meta.url)(file)({ on: handlers.set.bind(handlers) });
		t.mock.timers.enable({ apis: ["setTimeout"] });
		/** Returns true if a request of this turn is still held a second later. */
		const isWaiting = async (request: Promise<undefined> | undefined) => {
			let isSent = false;
			request?.then(() => {
				isSent = true;
			});
			for (let round = 0; round < 10; round++) {
				t.mock.timers.tick(100);
				await nextRound();
			}
			return !isSent;
		};
		const request = (signal?: AbortSignal) => handlers.get("context")?.({}, { signal });

		handlers.get("turn_start")?.({});
		const first = request();
		assert.equal(await isWaiting(first), true);
		appendFileSync(file, "\n");
		assert.equal(await isWaiting(first), false);
		assert.equal(await isWaiting(request()), false, "another request of the same turn is not delayed");
		handlers.get("turn_start")?.({});
		const abort = new AbortController();
		const second = request(abort.signal);
		assert.equal(await isWaiting(second), true);
		abort.abort();
		assert.equal(await isWaiting(second), false);
	});
});
