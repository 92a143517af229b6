/**
 * The configuration that a child of real pi gets from a user who has installed everything that pi can load: only the
 * requested parts.
 */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import type { SingleResult } from "../../native.js";
import {
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	newestPi,
	piCommand,
	piVersions,
	type RpcSession,
	runOf,
	Stage,
	say,
	startRpc,
} from "../support/pi.ts";

/** Loaded before any pi: writes down its command line and every file of the user's that it reads. */
const recorder = `const fs = require("node:fs");
const { HOME, PI_SUBAGENT_CHILD } = process.env;
if (process.argv[1]?.endsWith("cli.js")) {
	const root = require("node:path").dirname(HOME);
	const record = fs.openSync(HOME + (PI_SUBAGENT_CHILD ? "/child" : "/parent"), "a");
	const note = (what) => fs.writeSync(record, JSON.stringify(what) + "\\n");
	note({ argv: process.argv.slice(2), pid: process.pid });
	const watch = (owner, names) => {
		for (const name of names) {
			const original = owner[name];
			owner[name] = function (path, ...rest) {
				if (String(path).startsWith(root)) note({ read: String(path) });
				return original.call(this, path, ...rest);
			};
		}
	};
	watch(fs, ["readFileSync", "readFile", "openSync", "open", "createReadStream"]);
	watch(fs.promises, ["readFile", "open"]);
	require("node:module").syncBuiltinESMExports();
}
`;

/** Makes a provider, and where pi can, a model that picks another one for each request. */
function models(baseUrl: string): string {
	const limits = 'input: ["text"], contextWindow: 100000, maxTokens: 1000';
	const cost = "{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }";
	return `pi.registerProvider("corp", {
		name: "Corporate", baseUrl: "${baseUrl}", api: "openai-completions", apiKey: "key",
		models: [{ id: "corp-model", name: "Corp", reasoning: false, ${limits}, cost: ${cost} }],
	});
	pi.registerVirtualModel?.({
		provider: "router", id: "auto", name: "Auto",
		route: (request, { modelRegistry }) => ({ model: modelRegistry.find("corp", "corp-model"), thinkingLevel: "off" }),
	});`;
}

/** An extension that leaves a mark, has a tool, and adds to the system prompt. */
function extension(name: string, more = ""): string {
	return `import { appendFileSync } from "node:fs";
export default (pi) => {
	const who = process.env.PI_SUBAGENT_CHILD ? "child" : "parent";
	appendFileSync(process.env.HOME + "/loaded", who + " ${name}\\n");
	pi.registerTool({
		name: "${name}_tool", label: "${name}", description: "Belongs to ${name}",
		parameters: { type: "object", properties: {} },
		execute: async () => ({ content: [{ type: "text", text: "${name} has worked" }], details: {} }),
	});
	pi.on("before_agent_start", (event) => ({ systemPrompt: event.systemPrompt + "\\n${name} was here" }));
	${more}
};
`;
}

function skill(name: string): string {
	return `---\nname: ${name}\ndescription: The skill named ${name}\n---\nTie.\n`;
}

/** A server with one tool, which leaves a mark with the process that has started it. */
const knotServer = `import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
appendFileSync(process.argv[2], process.ppid + "\\n");
const tools = [{ name: "tie", description: "Ties", inputSchema: { type: "object", properties: {} } }];
for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) continue;
	const welcome = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "knots", version: "1" } };
	const answer = { content: [{ type: "text", text: "tied" }] };
	const result = method === "initialize" ? welcome : method === "tools/list" ? { tools } : method === "tools/call" ? answer : {};
	process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
}
`;

const extensions = ["packaged", "project", "settings", "user"];
const skills = ["home-skill", "packaged-skill", "project-skill", "settings-skill", "user-skill"];
const contexts = ["The user counts in base seven.", "The project counts in base nine."];

/** The settings that only one way of loading reads from a file. */
const kinds = {
	extensions: /(?:extensions|listed)\/\w+\.ts$/,
	prompts: /prompts\//,
	skills: /SKILL\.md$/,
	themes: /themes\//,
	servers: /mcp\.json$/,
	context: /AGENTS\.md$|CLAUDE\.md$/,
};
type Kind = keyof typeof kinds;

/** A line of the recorder. */
interface Line {
	argv?: string[];
	pid?: number;
	read?: string;
}

function kindsIn(lines: Line[]): Kind[] {
	const isRead = (kind: Kind) => lines.some(({ read }) => read !== undefined && kinds[kind].test(read));
	return (Object.keys(kinds) as Kind[]).filter(isRead).sort();
}

/** All observations of a child. */
interface Seen {
	run: SingleResult;
	request: ModelRequest;
	argv: string[];
	/** The kinds of files that were read. */
	kinds: Kind[];
	/** The extensions that were loaded. */
	extensions: string[];
	/** True if it has started the server. */
	server: boolean;
}

const plain = "---\nname: plain\ndescription: Plain\ntools: read\n---\nYou are plain.\n";

/** Definitions that ask for one thing each. */
const agents = {
	skilled: "tools: read\nskills: true",
	unread: "tools: read\ncontext: none",
	chosen: "tools: read\nextensions: extensions/user.ts",
	painter: "tools: read, user_tool",
	knotter: "tools: read, mcp__knots__tie",
	scripter: "tools: read, codemode",
	looper: "tools: read, tool_search, mcp__loops__tie",
	corporate: "tools: read\nmodel: corp/corp-model",
};

/** Makes a home with everything that pi loads by itself. */
function fill({ world, server }: Stage): void {
	const settings = JSON.parse(readFileSync(join(world.agentDir, "settings.json"), "utf8")) as object;
	const more = {
		defaultProjectTrust: "always",
		extensions: ["../../listed/settings.ts"],
		skills: ["../../listed/skills"],
		prompts: ["../../listed/prompts"],
		themes: ["../../listed/themes"],
		packages: ["../../package"],
	};
	world.writeAgentDir("settings.json", JSON.stringify({ ...settings, ...more }));
	const theme = JSON.stringify({ name: "never-read" });
	const places: [name: string, folder: string, extension: string][] = [
		["user", "", "extensions/user.ts"],
		["settings", "../../listed/", "settings.ts"],
		["packaged", "../../package/", "extensions/packaged.ts"],
		["project", `${relative(world.agentDir, world.cwd)}/.pi/`, "extensions/project.ts"],
	];
	for (const [name, folder, file] of places) {
		world.writeAgentDir(`${folder}${file}`, extension(name, name === "user" ? models(server.baseUrl) : ""));
		world.writeAgentDir(`${folder}skills/${name}-skill/SKILL.md`, skill(`${name}-skill`));
		world.writeAgentDir(`${folder}prompts/${name}-prompt.md`, "---\ndescription: A prompt\n---\nPrompt.\n");
		world.writeAgentDir(`${folder}themes/${name}-theme.json`, theme);
	}
	world.writeAgentDir("../../.agents/skills/home-skill/SKILL.md", skill("home-skill"));
	world.writeAgentDir("AGENTS.md", contexts[0] ?? "");
	world.write("CLAUDE.md", contexts[1] ?? "");
	world.writeAgentDir("APPEND_SYSTEM.md", "The user has more to say.");
	const file = world.writeAgentDir("../../server.mjs", knotServer);
	const [node] = piCommand(world.version);
	// The first is declared to the model. The second has to be searched for, as servers are by default.
	const loops = { command: node, args: [file, join(world.home, "servers")] };
	const knots = { ...loops, exposure: "direct" };
	world.writeAgentDir("mcp.json", JSON.stringify({ mcpServers: { knots, loops } }));
	world.writeAgentDir("agents/plain.md", plain);
	for (const [name, fields] of Object.entries(agents)) {
		world.writeAgentDir(
			`agents/${name}.md`,
			plain.replace("name: plain", `name: ${name}`).replace("tools: read", fields),
		);
	}
}

/** Calls the tool named in the task, with the rest of the task as arguments, and reports the result. */
function use({ toolAnswers, userText }: ModelRequest) {
	const [answer] = toolAnswers;
	const [, name = "", ...args] = userText.split(" ");
	return [answer ? say(answer.text) : call(name, args.join(" ") || {})];
}

for (const version of piVersions) {
	describe(`a child of pi ${version} in a full home`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		/** New in 0.99: models that pick others, scripts, MCP servers. */
		const skip = version !== newestPi && "this pi has no such thing";

		before(async () => {
			stage = await Stage.open({ version, children: { use } });
			fill(stage);
			const required = join(stage.world.root, "recorder.cjs");
			writeFileSync(required, recorder);
			configure();
			rpc = startRpc(stage.world, { env: { NODE_OPTIONS: `--require=${required}` } });
		});

		after(() => stage.close());

		/** The sandbox refuses the children's files in the user's home. */
		function configure(more: Record<string, unknown> = {}): void {
			stage.configure({ sandbox: "off", allowWrite: true, ...more });
		}

		/** Lines of a file in the home that were written since. */
		function since(name: string, from = 0): string[] {
			const file = join(stage.world.home, name);
			return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(from).filter(Boolean) : [];
		}

		function recordOf(who: "child" | "parent", from = 0): Line[] {
			return since(who, from).map((line) => JSON.parse(line) as Line);
		}

		async function run(agent: string, task = "say hello"): Promise<Seen> {
			const from = stage.server.requests.length;
			const seen = ["child", "loaded", "servers"].map((name) => since(name).length);
			await rpc.prompt(delegate({ agent, task }));
			const run = runOf(lastEnd(rpc.log));
			assert.equal(run.outcome, "completed", run.error);
			const [request] = stage.childRequests(from);
			assert.ok(request);
			const lines = recordOf("child", seen[0]);
			const { argv = [], pid } = lines[0] ?? {};
			// The guard lies there, and what every run has.
			const ours = join(run.sessionFile ?? "", "..");
			return {
				run,
				request,
				argv,
				kinds: kindsIn(lines.filter(({ read }) => !read?.startsWith(ours))),
				extensions: since("loaded", seen[1])
					.flatMap((line) => (line.startsWith("child ") ? [line.slice("child ".length)] : []))
					.sort(),
				server: since("servers", seen[2]).includes(String(pid)),
			};
		}

		/** A run of the newest pi only: an agent's settings produce the same command line as the configuration's. */
		async function runOnce(agent: string): Promise<Seen[]> {
			return version === newestPi ? [await run(agent)] : [];
		}

		function knownSkills({ systemText }: ModelRequest): string[] {
			return skills.filter((name) => systemText.includes(name));
		}

		function knownContexts({ systemText }: ModelRequest): string[] {
			return contexts.filter((text) => systemText.includes(text));
		}

		test("its parent has everything", async () => {
			await rpc.prompt("Hello.");
			const { data } = await rpc.send({ type: "get_commands" });
			const names = (data as { commands: { name: string }[] }).commands.map(({ name }) => name);
			const commands = extensions.map((name) => `${name}-prompt`).concat(skills.map((name) => `skill:${name}`));
			assert.deepEqual(
				commands.filter((name) => !names.includes(name)),
				[],
			);
			const [request] = stage.server.requests;
			assert.ok(request);
			assert.deepEqual([knownSkills(request), knownContexts(request)], [skills, contexts]);
			const all = Object.keys(kinds).filter((kind) => kind !== "servers" || version === newestPi);
			assert.deepEqual(kindsIn(recordOf("parent")), all.sort());
			assert.match(request.systemText, /The user has more to say/);
			assert.deepEqual(
				since("loaded").toSorted(),
				extensions.map((name) => `parent ${name}`),
			);
			assert.equal(request.toolNames.includes("mcp__knots__tie"), version === newestPi);
		});

		test("gets the context and nothing else", async () => {
			const seen = await run("plain");
			assert.deepEqual(
				[seen.kinds, seen.extensions, seen.server, seen.request.toolNames],
				[["context"], [], false, ["read"]],
			);
			assert.deepEqual([knownContexts(seen.request), knownSkills(seen.request)], [contexts, []]);
			assert.doesNotMatch(seen.request.systemText, /was here|The user has more to say|mcp_servers/);
			assert.match(seen.request.systemText, /You are plain\./);
			assert.ok(seen.argv.includes("--no-themes") && seen.argv.includes("--no-prompt-templates"));
		});

		test("gets no context if the configuration or its agent says so", async () => {
			const byAgent = await runOnce("unread");
			configure({ inheritContext: "none" });
			try {
				for (const seen of [...byAgent, await run("plain")]) {
					assert.deepEqual([seen.kinds, knownContexts(seen.request)], [[], []]);
				}
			} finally {
				configure();
			}
		});

		test("sees all skills if the configuration or its agent says so", async () => {
			const byAgent = await runOnce("skilled");
			configure({ inheritSkills: true });
			try {
				for (const seen of [...byAgent, await run("plain")]) {
					assert.deepEqual([seen.kinds, knownSkills(seen.request)], [["context", "skills"], skills]);
					assert.deepEqual(seen.extensions, []);
				}
			} finally {
				configure();
			}
		});

		test("loads only the extension of a tool that it has", async () => {
			const seen = await run("painter", "use user_tool");
			assert.deepEqual([seen.extensions, seen.run.output], [["user"], "user has worked"]);
			assert.deepEqual(seen.request.toolNames.toSorted(), ["read", "user_tool"]);
		});

		test("loads the extensions that the configuration or its agent names", async () => {
			for (const byAgent of await runOnce("chosen")) assert.deepEqual(byAgent.extensions, ["user"]);
			const folder = join(stage.world.home, "package");
			configure({ inheritExtensions: [join(folder, "extensions", "packaged.ts")] });
			try {
				const seen = await run("plain");
				assert.deepEqual([seen.extensions, knownSkills(seen.request)], [["packaged"], []]);
				for (const { extensions } of await runOnce("painter")) {
					assert.deepEqual(extensions, ["packaged"], "only the extension of a granted tool is loaded");
				}
				// Naming a package names its content.
				configure({ inheritExtensions: [folder] });
				const whole = await run("plain");
				assert.deepEqual([whole.extensions, knownSkills(whole.request)], [["packaged"], ["packaged-skill"]]);
			} finally {
				configure();
			}
		});

		test("loads every extension if the configuration says so, and nothing else", async () => {
			configure({ inheritExtensions: "all" });
			try {
				const seen = await run("plain");
				assert.deepEqual([seen.extensions, seen.server, knownSkills(seen.request)], [extensions, false, []]);
				assert.match(seen.request.systemText, /project was here/);
				assert.deepEqual(seen.kinds, ["context", "extensions"]);
			} finally {
				configure();
			}
		});

		test("loads every extension when its own model comes from one", async () => {
			const seen = await run("corporate");
			assert.deepEqual([seen.extensions, seen.request.model, seen.run.output], [extensions, "corp-model", "hello"]);
		});

		test("loads every extension when it inherits a model that picks others", { skip }, async () => {
			const before = { provider: "scripted", modelId: "scripted-model" };
			await rpc.send({ type: "set_model", provider: "router", modelId: "auto" });
			try {
				const seen = await run("plain");
				assert.deepEqual([seen.extensions, seen.request.model, seen.run.output], [extensions, "corp-model", "hello"]);
			} finally {
				await rpc.send({ type: "set_model", ...before });
			}
		});

		test("connects to MCP servers when it has a tool of one, and loads nothing else for it", { skip }, async () => {
			const seen = await run("knotter", "use mcp__knots__tie");
			assert.deepEqual([seen.server, seen.run.output, seen.extensions], [true, "tied", []]);
			assert.deepEqual(seen.request.toolNames.toSorted(), ["mcp__knots__tie", "read"]);
		});

		test("finds a server's undeclared tools if it can search for tools", { skip }, async () => {
			const from = stage.server.requests.length;
			const seen = await run("looper", 'use tool_search {"query":"tie"}');
			assert.deepEqual([seen.request.toolNames.toSorted(), seen.server], [["read", "tool_search"], true]);
			const found = ["mcp__loops__tie", "read", "tool_search"];
			assert.deepEqual(stage.childRequests(from).at(-1)?.toolNames.toSorted(), found);
		});

		test("has scripts when it has the tool for them, and none of the servers", { skip }, async () => {
			const seen = await run("scripter");
			assert.deepEqual([seen.request.toolNames.toSorted(), seen.server], [["codemode", "read"], false]);
		});
	});
}
