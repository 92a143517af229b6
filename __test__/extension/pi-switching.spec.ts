/** Real pi in the home of a user who comes from another harness and follows `docs/switching.md`. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";

import {
	backgroundStage,
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	onStage,
	packageDir,
	piCommand,
	type RpcSession,
	runOf,
	type Stage,
	say,
	says,
	spawn,
	startRpc,
	startTui,
	textOf,
	newestPi as version,
} from "../support/pi.ts";
import { allows } from "../support/warden.ts";

/** The reason why no agent can write here, if so. */
const cannot = (["landlock", "mount-ns", "tools"] as const).every((ability) => allows(ability))
	? false
	: "this machine cannot keep a child in its tree";

const sections = readFileSync(join(packageDir, "docs/switching.md"), "utf8").split(/^## /m);

/** The blocks of a section in this language. */
function blocks(section: string, language: string): string[] {
	const text = sections.find((part) => part.startsWith(section)) ?? "";
	return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);
}

/** Puts the configuration of a section, by its position, into the home. */
function configure({ world }: Stage, section: string): void {
	const [text] = blocks(section, "json");
	assert.ok(text, section);
	world.writeAgentDir("subagents.json", text);
}

/** The files that the section about the example wants removed, relative to pi's directory. */
function filesToRemove(): string[] {
	const table = sections[1]?.split("\n\n").find((part) => part.startsWith("| File |")) ?? "";
	return table.split("\n").flatMap((row) => {
		const codes = [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
		const folder = (codes.pop() ?? "").replace("~/.pi/agent/", "");
		// A row names a folder, or files and at last their folder.
		return codes.length > 0 ? codes.map((name) => `${folder}/${name}`) : [folder].filter(Boolean);
	});
}

/** The text of a call's result. */
async function answer(rpc: RpcSession, agent: string, task = "say found"): Promise<string> {
	await rpc.prompt(delegate({ agent, task }));
	return textOf(lastEnd(rpc.log));
}

/** A parent that makes one call and repeats its result. */
const calling =
	(tool: string, args: Record<string, unknown>) =>
	({ toolAnswers }: ModelRequest) => [toolAnswers.length === 0 ? call(tool, args) : say(toolAnswers[0]?.text ?? "")];

const steps = [
	{ agent: "worker", task: "write it" },
	{ agent: "reviewer", task: "see it" },
];
const children = {
	Parallel: calling("subagent_parallel", {
		tasks: [
			{ agent: "scout", task: "say one" },
			{ agent: "planner", task: "say two" },
		],
	}),
	Chain: calling("subagent_chain", { steps }),
	write: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length === 0 ? [call("write", { path: "new.txt", content: "new text\n" })] : [say("written")],
	see: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length === 0 ? [call("read", { path: "new.txt" })] : [say(`seen: ${toolAnswers[0]?.text}`)],
	search: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length === 0 ? [call("web_search", {})] : [say(toolAnswers[0]?.text ?? "")],
};

/** A package like devkit-pi: its configuration switches its tool `subagent` off, and its other tools remain. */
const DEVKIT = `
import { readFileSync } from "node:fs";
import { join } from "node:path";
const file = join(process.env.HOME, ".pi/agent/extensions/devkit-pi/config.json");
const isOn = () => { try { return JSON.parse(readFileSync(file, "utf8")).subagents.enabled; } catch { return true; } };
const tool = (name, properties, text) => ({
	name, label: name, description: name, parameters: { type: "object", properties },
	execute: async () => ({ content: [{ type: "text", text: text() }], details: {} }),
});
export default (pi) => {
	const task = { agent: { type: "string" }, task: { type: "string" } };
	if (isOn() && process.env.PI_SUBAGENT_CHILD !== "1") pi.registerTool(tool("subagent", task, () => "from devkit"));
	for (const name of ["web_search", "fetch_content", "get_search_content", "convert_content", "lsp"])
		pi.registerTool(tool(name, {}, () => \`\${name}: \${process.env.PI_SUBAGENT_LSP_ACTIONS}\`));
};
`;

describe(`the steps of docs/switching.md in pi ${version}`, () => {
	test("let a user of pi's example keep scout and planner", async () => {
		await onStage({ version, load: "install", children }, async (stage) => {
			const { world } = stage;
			const example = join(dirname(piCommand(version)[1]), "../../examples/extensions/subagent");
			const home = (path: string) => join(world.agentDir, path);
			const link = (from: string, to: string) => {
				mkdirSync(home(to), { recursive: true });
				const names = readdirSync(join(example, from)).filter((name) => /\.(ts|md)$/.test(name));
				for (const name of names) symlinkSync(join(example, from, name), home(join(to, name)));
			};
			link(".", "extensions/subagent");
			for (const folder of ["agents", "prompts"]) link(folder, folder);

			assert.equal(filesToRemove().length, 6);
			for (const path of filesToRemove()) rmSync(home(path), { recursive: true });
			const tui = await startTui(world, { rows: 60 });
			await tui.typeCommand("subagents");
			assert.doesNotMatch(await tui.screen(), /collision|conflict/i);
			await tui.close();

			const rpc = startRpc(world);
			assert.equal(await answer(rpc, "scout"), "found");
			await rpc.prompt("Parallel");
			assert.match(rpc.log.answer, /\[1\/2\] scout ✓.*one.*\[2\/2\] planner ✓.*two/s);
			await rpc.prompt("/implement a cache");
			assert.match(stage.server.requests.at(-1)?.userText ?? "", /Goal: a cache.*`subagent_chain`/s);
			await rpc.close();
		});
	});

	test("let a reviewer see the change that a worker made in the same chain", { skip: cannot }, async () => {
		await onStage({ version, children }, async (stage) => {
			const rpc = startRpc(stage.world);
			stage.configure({ allowWrite: true });
			await rpc.prompt("Chain");
			assert.match(rpc.log.answer, /^seen: ENOENT.*\/subagents apply/s);
			configure(stage, "From pi's example");
			await rpc.prompt("Chain");
			assert.match(rpc.log.answer, /^seen: new text/);
			await rpc.close();
		});
	});

	test("let agents use the tools of devkit-pi once its sub-agents are off", async () => {
		await onStage({ version, load: "none", children }, async (stage) => {
			const { world } = stage;
			const folder = join(world.root, "devkit-pi");
			mkdirSync(folder);
			const manifest = { name: "devkit-pi", version: "0.1.0", pi: { extensions: ["./index.mjs"] } };
			writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
			writeFileSync(join(folder, "index.mjs"), DEVKIT);
			for (const source of [folder, packageDir]) await stage.run("install", source);
			const text = sections.find((part) => part.startsWith("From devkit-pi")) ?? "";
			const [, off = "", path = ""] = /write `(\{.*?\})` to `~\/\.pi\/agent\/(.*?)`/.exec(text) ?? [];
			world.writeAgentDir(path, off);
			configure(stage, "From devkit-pi");

			const rpc = startRpc(world);
			assert.match(await rpc.notices("/subagents doctor"), /✓ configuration +~\/\.pi\/agent\/subagents\.json\n/);
			assert.equal(
				await answer(rpc, "researcher", "search now"),
				"web_search: definition,references,symbols,diagnostics",
			);
			const agent =
				"---\nname: api\ndescription: Reviews\nreadonly: 1\ntools: read, lsp, convert_content\n---\nReview.\n";
			world.writeAgentDir("agents/api.md", agent);
			assert.equal(await answer(rpc, "api"), "found");
			assert.deepEqual(stage.childRequests().at(-1)?.toolNames, ["read", "lsp"]);
			assert.match(runOf(lastEnd(rpc.log)).diagnostics?.join() ?? "", /convert_content.*readonly/);
			await rpc.close();
		});
	});

	test("let sessions_spawn work with an agent, TOOLS.md and keys of OpenClaw", async () => {
		const stage = await backgroundStage({ version });
		try {
			const { world } = stage;
			world.writeAgentDir("agents/research.md", blocks("From OpenClaw", "markdown")[0] ?? "");
			world.writeAgentDir("TOOLS.md", "The camera is called porch.\n");
			configure(stage, "From OpenClaw");
			const file = join(world.agentDir, "subagents.json");
			writeFileSync(file, readFileSync(file, "utf8").replace('"haiku"', '"thinker"'));

			const rpc = startRpc(world);
			assert.doesNotMatch(await rpc.notices("/subagents agents"), /CONFIG_/);
			await rpc.prompt(spawn({ task: "say hello", agentId: "research", label: "look", cleanup: "keep" }));
			await rpc.log.waitFor(says("Heard success: hello"), 30_000);
			const child = stage.server.requests.find(
				({ wholeUserText, isChild }) => isChild && wholeUserText.includes("hello"),
			);
			assert.ok(child, "the child has sent a request");
			assert.match(child.systemText, /The camera is called porch\./);
			assert.deepEqual([child.model, child.toolNames], ["scripted-thinker", ["read"]]);
			assert.match(await rpc.notices("/subagents list"), /research "look" · completed/);
			// An agent's limit counts in the background, the key for all runs does not.
			stage.configure({ timeoutMs: 60_000, agents: { "*": { timeoutMs: 1_500 } } });
			await rpc.prompt(spawn({ task: "hang now", agentId: "research" }));
			await rpc.log.waitFor(says("Heard timeout"), 30_000);
			// OpenClaw's word for the shell is understood, and reported.
			stage.configure({ tools: { deny: ["exec"] } });
			assert.match(await rpc.notices("/subagents agents"), /no tool has the name `exec`; it denies `bash`/);
			await rpc.close();
		} finally {
			await stage.close();
		}
	});

	test("let the agent files of Claude Code run where they are", async () => {
		await onStage({ version }, async (stage) => {
			const { world } = stage;
			const folder = join(world.home, ".claude/agents/review");
			mkdirSync(folder, { recursive: true });
			writeFileSync(join(folder, "code-reviewer.md"), blocks("From Claude Code", "markdown")[0] ?? "");
			const skipped =
				"---\ndescription: Mends: one mistake after the other.\ntools: Read, Edit\ncolor: red\n---\nMend.\n";
			world.write(".claude/agents/mender.md", skipped);
			world.write("CLAUDE.md", "The word is xyzzy.\n");
			configure(stage, "From Claude Code");

			const asked: string[] = [];
			const rpc = startRpc(world, {
				answer: ({ title = "", message = "" }) => {
					asked.push(`${title}\n${message}`);
					return { confirmed: true };
				},
			});
			assert.match(await rpc.notices("/subagents agents"), /✓ code-reviewer .*`sonnet` has no login here/s);
			assert.equal(await answer(rpc, "code-reviewer"), "found");
			const child = stage.childRequests().at(-1);
			assert.deepEqual(child?.toolNames.slice(0, 3), ["read", "grep", "find"]);
			assert.ok(child.systemText.includes("The word is xyzzy."));
			assert.equal(await answer(rpc, "mender"), "found");
			assert.ok(asked.length === 1 && asked[0]?.includes(".claude/agents/mender.md"), asked.join("\n"));
			for (const agent of ["Explore", "Plan", "general-purpose"]) assert.equal(await answer(rpc, agent), "found");
			await rpc.close();
		});
	});
});
