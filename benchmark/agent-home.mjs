/**
 * Generates agent directories of pi. `bare` has only a model; `full` also has a typical collection of extensions,
 * skills, prompt templates, themes and MCP servers. Both have their own rules in `AGENTS.md`.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Random } from "./random.mjs";

/** The sizes of the collection. */
const counts = { extensions: 10, tools: 3, skills: 20, prompts: 20, themes: 5, servers: 2, serverTools: 12 };

/** The provider and model of both directories. No request is made unless a `baseUrl` is given. */
export const provider = "scripted";
export const model = "scripted-model";

/** An address without a server. */
const nowhere = "http://127.0.0.1:9/v1";

const random = new Random(11);

/** @param {number} length */
function prose(length) {
	let text = "";
	while (text.length < length) text += `${random.sentence()} `;
	return text.slice(0, length).trim();
}

/**
 * Makes an agent directory.
 *
 * @param {string} agentDir
 * @param {"bare" | "full"} kind
 * @param {{ node?: string, theme?: string, baseUrl?: string, settings?: object }} [more] the Node for MCP servers, a
 * theme of pi to derive themes from, the URL of the model, and further settings
 */
export function makeAgentHome(agentDir, kind, more = {}) {
	const write = (/** @type {string} */ path, /** @type {string} */ text) => {
		const whole = join(agentDir, path);
		mkdirSync(dirname(whole), { recursive: true });
		writeFileSync(whole, text);
	};
	const settings = { quietStartup: true, defaultProvider: provider, defaultModel: model, ...more.settings };
	write("settings.json", JSON.stringify(settings, null, "\t"));
	write("models.json", JSON.stringify({ providers: { [provider]: providerAt(more.baseUrl ?? nowhere) } }, null, "\t"));
	write("AGENTS.md", `# Rules\n\n${prose(40_000)}\n`);
	if (kind === "bare") return;
	for (let i = 0; i < counts.extensions; i++) write(`extensions/collected-${i}.ts`, extension(i));
	for (let i = 0; i < counts.skills; i++) {
		write(`skills/skill-${i}/SKILL.md`, `---\nname: skill-${i}\ndescription: ${words(25)}\n---\n\n${prose(6000)}\n`);
	}
	for (let i = 0; i < counts.prompts; i++) {
		write(`prompts/prompt-${i}.md`, `---\ndescription: ${words(10)}\n---\n\n${prose(1500)}\n`);
	}
	for (let i = 0; more.theme && i < counts.themes; i++) {
		write(`themes/theme-${i}.json`, JSON.stringify({ ...JSON.parse(more.theme), name: `theme-${i}` }));
	}
	write("mcp-server.mjs", mcpServer());
	const server = { command: more.node ?? process.execPath, args: [join(agentDir, "mcp-server.mjs")] };
	const servers = Array.from({ length: counts.servers }, (_, i) => [`server-${i}`, server]);
	write("mcp.json", JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, "\t"));
}

/** @param {string} baseUrl */
function providerAt(baseUrl) {
	const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
	const limits = { contextWindow: 200_000, maxTokens: 32_000 };
	const models = [{ id: model, name: "Scripted model", reasoning: false, input: ["text"], ...limits, cost }];
	return { baseUrl, api: "openai-completions", apiKey: "scripted-key", models };
}

/** @param {number} count */
function words(count) {
	return Array.from({ length: count }, () => random.word()).join(" ");
}

/**
 * Returns a typical extension: some tools with a schema, a command, handlers and helpers.
 *
 * @param {number} index
 */
function extension(index) {
	const tools = Array.from({ length: counts.tools }, (_, i) => tool(`collected_${index}_${i}`));
	const helpers = Array.from({ length: 12 }, (_, i) => helper(`help${i}`));
	return `import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

interface Note {
	at: number;
	text: string;
	tags?: readonly string[];
}

const notes: Note[] = [];

${helpers.join("\n\n")}

export default function (pi: ExtensionAPI): void {
${tools.join("\n")}
	pi.registerCommand("collected-${index}", {
		description: ${JSON.stringify(words(8))},
		handler: async (args, context) => {
			context.ui.notify(help0(notes, args), "info");
		},
	});
	pi.on("session_start", async () => {
		notes.push({ at: Date.now(), text: "started" });
	});
}
`;
}

/** @param {string} name */
function tool(name) {
	return `	pi.registerTool({
		name: "${name}",
		label: "${name}",
		description: ${JSON.stringify(words(20))},
		parameters: Type.Object({
			path: Type.String({ description: ${JSON.stringify(words(10))} }),
			limit: Type.Optional(Type.Number({ description: ${JSON.stringify(words(10))} })),
		}),
		async execute(_id, params) {
			notes.push({ at: Date.now(), text: params.path });
			return { content: [{ type: "text" as const, text: help1(notes, params.path) }], details: { count: notes.length } };
		},
	});`;
}

/** @param {string} name */
function helper(name) {
	return `function ${name}(list: readonly Note[], text: string): string {
	const found = list.filter((note) => note.text.includes(text) || note.tags?.some((tag) => tag === text));
	const sorted = [...found].sort((a, b) => a.at - b.at);
	return sorted.map((note, index) => \`\${index + 1}. \${note.text} (${words(3)})\`).join("\\n");
}`;
}

/** Returns an MCP server with some tools, over standard input and output. */
function mcpServer() {
	return `import { createInterface } from "node:readline";

const inputSchema = { type: "object", properties: { path: { type: "string" } } };
const description = ${JSON.stringify(words(20))};
const tools = Array.from({ length: ${counts.serverTools} }, (_, i) => ({ name: \`tool_\${i}\`, description, inputSchema }));

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	if (id === undefined) continue;
	const serverInfo = { name: "collected", version: "1" };
	const welcome = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo };
	const result = method === "initialize" ? welcome : method === "tools/list" ? { tools } : {};
	process.stdout.write(\`\${JSON.stringify({ jsonrpc: "2.0", id, result })}\\n\`);
}
`;
}
