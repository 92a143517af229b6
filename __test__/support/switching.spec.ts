/**
 * The page for people who come from other harnesses. Every name of ours in its tables exists, and its examples load. Real pi
 * follows its steps in `pi-switching.spec.ts`; `tests/documents.rs` reads its lines for `/subagents`.
 */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { describeTools, discoverAgents, loadConfig } from "../../native.js";
import { packageDir } from "./versions.ts";

const page = readFileSync(join(packageDir, "docs/switching.md"), "utf8");
const root = mkdtempSync(join(tmpdir(), "psn-switching-"));
after(() => rmSync(root, { recursive: true, force: true }));

/** pi's own tools. */
const piTools = ["read", "grep", "find", "ls", "bash", "edit", "write"];
/** Names that are neither a key, a field, a tool nor an agent. */
const others = ["{previous}", "*", "inherit", "sonnet", "mode", "/stop"];
/** The names in the first column of a reference table. */
const firstCells = (name: string, header: string) => {
	const tables = readFileSync(join(packageDir, "docs", name), "utf8").split(/\n\n/);
	const rows = tables.filter((table) => table.startsWith(header)).flatMap((table) => table.split("\n").slice(2));
	return rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, key = ""]) => key));
};
const configKeys = firstCells("configuration.md", "| Key |");
const settingKeys = firstCells("agents.md", "| Key |").map((key) => `agents.NAME.${key}`);
const agentFields = firstCells("agents.md", "| Field |");

/** A home with one agent file or configuration of the user. */
function place(files: Record<string, string>): { cwd: string; agentDir: string } {
	const home = mkdtempSync(join(root, "home-"));
	const agentDir = join(home, "agent");
	for (const folder of ["agent/agents", "project/.git"]) mkdirSync(join(home, folder), { recursive: true });
	for (const [path, text] of Object.entries(files)) writeFileSync(join(agentDir, path), text);
	return { cwd: join(home, "project"), agentDir };
}

/** The messages about a configuration. */
async function complaints(subagents: unknown): Promise<string[]> {
	const { diagnostics } = await loadConfig(place({ "subagents.json": JSON.stringify({ subagents }) }));
	return diagnostics.map(({ message }) => message);
}

const agentFile = (...fields: string[]) =>
	["---", "name: shown", "description: Shown.", ...fields, "---", "Work.", ""].join("\n");

/** The agent of a file, and the messages about the file. */
async function loaded(file: string, config: Record<string, unknown> = {}) {
	const { agents, diagnostics } = await discoverAgents({ ...place({ "agents/shown.md": file }), config });
	const agent = agents.find(({ source }) => source === "user");
	assert.ok(agent, file);
	return { agent, messages: diagnostics.map(({ message }) => message) };
}

/** `a.b: value` as an object; a bare word is a text. */
function settings(code: string): unknown {
	const [path = "", value = ""] = code.split(/: (.*)/);
	const read = /^(true|false|\d+|".*")$/.test(value) ? JSON.parse(value) : value;
	const names = path.replace("NAME", "explorer").split(".");
	return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), read);
}

/** The rows of the tables that translate names. */
const rows = page
	.split("\n\n")
	.filter((part) => /^\| There.* \| Here \|/.test(part))
	.flatMap((table) => table.split("\n").slice(2))
	.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
	.map(([, there = "", here = ""]) => ({ there, here }));

const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const surface = await describeTools(place({}));
const { agents: builtins } = await discoverAgents(place({}));
const known = new Set([
	...configKeys,
	...settingKeys,
	...agentFields,
	...piTools,
	...others,
	...builtins.map(({ name }) => name),
	...surface.tools.flatMap(({ name, parameters }) => [name, ...Object.keys(parameters.properties ?? {})]),
]);

/** Returns true if a code of the second column is a name of ours, or a setting that is accepted. */
async function isOurs(code: string): Promise<boolean> {
	if (known.has(code) || code.startsWith("/subagents")) return true;
	const [name = "", value] = code.split(/: (.*)/);
	if (value === undefined) return false;
	if (known.has(name) && /^(true|false|\d+|".*")$/.test(value) && (await complaints(settings(code))).length === 0)
		return true;
	return agentFields.includes(name) && (await loaded(agentFile(code))).messages.length === 0;
}

describe("the page about switching", () => {
	test("has a section and a table for each of four harnesses", () => {
		const sections = page.split(/^## /m).slice(1);
		const names = ["From pi's example", "From devkit-pi", "From OpenClaw", "From Claude Code"];
		assert.deepEqual(
			sections.map((section) => section.split("\n")[0]),
			names,
		);
		for (const section of sections)
			for (const part of ["| Here |", "**Remove**", "**Different**", "**Not available**"])
				assert.ok(section.includes(part), `${section.split("\n")[0]} has no ${part}`);
		assert.ok(rows.length >= 50, `only ${rows.length} rows were found`);
	});

	test("names only keys, fields, tools and agents that exist here", async () => {
		assert.ok(configKeys.length > 60 && settingKeys.length > 10 && agentFields.length > 20);
		for (const { there, here } of rows) {
			// Lines for `/subagents` may continue with further subcommands.
			const [, line] = /(`\/subagents .*)/.exec(here) ?? [];
			const named = codes(line === undefined ? here : here.replace(line, ""));
			for (const code of [...named, ...(here.startsWith("the same") ? codes(there) : [])])
				assert.ok(await isOurs(code), `| ${there} | ${here} |\nnames \`${code}\`, which does not exist`);
			assert.ok(codes(here).length > 0 || /^(none|the same)\b/.test(here), `| ${there} | ${here} |`);
		}
		for (const wrong of ["maxConcurent", "agents.NAME.modell", "isolation: worktree", "allowWrite: some", "/agents"])
			assert.ok(!(await isOurs(wrong)), `${wrong} was accepted`);
	});

	test("has every name of the table in the README", async () => {
		const readme = readFileSync(join(packageDir, "README.md"), "utf8");
		const table = readme.split("\n\n").find((part) => part.startsWith("| You come from |")) ?? "";
		const rows = table.split("\n").slice(2);
		assert.equal(rows.length, 4);
		for (const row of rows) {
			const [, , there = "", here = ""] = row.split("|");
			for (const code of codes(there)) assert.ok(page.includes(code), `README.md: ${code}`);
			for (const code of codes(here.replace(/`\/subagents .*/, "")).filter((name) => name !== "subagents.json"))
				assert.ok(await isOurs(code), `README.md: ${code}`);
		}
	});

	test("shows configurations and agent files that load without a message", async () => {
		const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text = ""]) => ({
			language,
			text,
		}));
		const configurations = blocks.filter(({ language }) => language === "json");
		const files = blocks.filter(({ language }) => language === "markdown");
		assert.ok(configurations.length >= 4 && files.length >= 2);
		for (const { text } of configurations) assert.deepEqual(await complaints(JSON.parse(text).subagents), [], text);
		for (const { text } of files) assert.deepEqual((await loaded(text)).messages, [], text);
	});

	test("states the effect of each field of Claude Code", async () => {
		const effect = async (...fields: string[]) => await loaded(agentFile(...fields), { allowWrite: true });
		const bare = await effect();
		assert.deepEqual(bare.agent.tools, ["read", "bash", "edit", "write"]);
		for (const mode of ["plan", "dontAsk"]) assert.ok((await effect(`permissionMode: ${mode}`)).agent.readonly, mode);
		for (const mode of ["default", "acceptEdits", "auto", "bypassPermissions", "manual"])
			assert.equal((await effect(`permissionMode: ${mode}`)).agent.readonly, false, mode);
		const hooked = (await effect("hooks:", "  PreToolUse:", "    - matcher: Bash")).agent;
		assert.deepEqual([hooked.readonly, hooked.tools.includes("bash")], [true, false]);
		const none = ["memory: user", "background: true", "color: red", "initialPrompt: x", "effort: high"];
		for (const field of [...none, "omitClaudeMd: true", "mcpServers: [github]"]) {
			const { agent, messages } = await effect(field);
			assert.match(messages.join("\n"), /is not an agent field and is ignored/, field);
			assert.deepEqual(agent.settings, bare.agent.settings, field);
		}
		assert.match((await effect("isolation: worktree")).agent.settings.join("\n"), /isolation private/);
		const denied = (await effect("tools: read, mcp__github__x, mcp__jira__*", "disallowedTools: mcp__github")).agent;
		assert.deepEqual(denied.tools, ["read", "mcp__jira__*"]);
	});

	test("states the tools of a read-only agent of devkit-pi", async () => {
		const { agent } = await loaded(agentFile("readonly: 1", "tools: read, lsp, convert_content"));
		assert.deepEqual([agent.readonly, agent.tools], [true, ["read", "lsp"]]);
	});
});
