/** The package's cost in each request of real pi: the tool's definition, and its part of the system prompt. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";

import {
	delegate,
	lastEnd,
	type ModelRequest,
	packageDir,
	piVersions,
	type RpcSession,
	Stage,
	startRpc,
	textOf,
} from "../support/pi.ts";

const { describeTools } = createRequire(import.meta.url)(`${packageDir}/native.js`) as typeof import("../../native.js");

/** Tokens, about four characters each, that everything this package adds to a request may take. */
const maxTokens = 1_300;

/** With it `researcher` can run, so that all six builtins are offered. */
const webTools = `const parameters = { type: "object", properties: {} };
export default (pi) => {
	for (const name of ["web_search", "fetch_content", "get_search_content"]) {
		pi.registerTool({ name, label: name, description: name, parameters, execute: async () => ({ content: [], details: {} }) });
	}
};
`;

function definitionIn(request: ModelRequest | undefined, name = "subagent") {
	const tool = request?.tools.find((candidate) => candidate.function.name === name);
	return tool?.function ?? assert.fail(`the request offers no ${name}`);
}

function countIn(text: string, part: string): number {
	return text.split(part).length - 1;
}

for (const version of piVersions) {
	describe(`requests of pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;

		before(async () => {
			stage = await Stage.open({ version });
			rpc = startRpc(stage.world, { args: ["-e", stage.world.writeAgentDir("web.ts", webTools)] });
			await rpc.prompt("Hello?");
			await rpc.prompt(delegate({ agent: "explorer", task: "look around" }));
			stage.world.writeAgentDir("agents/late.md", "---\nname: late\ndescription: Came later\n---\nLate.\n");
			await rpc.prompt(delegate({ agent: "late", task: "say I run all the same" }));
		});

		after(() => stage.close());

		test("define the tools with the same bytes over all turns, all six builtins once", async () => {
			const [first, ...others] = stage.server.requests.filter(({ isParent }) => isParent);
			const tools = JSON.stringify(first?.tools);
			assert.equal(others.length, 4);
			for (const request of others) assert.equal(JSON.stringify(request.tools), tools);
			const { description = "", parameters } = definitionIn(first);
			const listed = description.split("\n").flatMap((line) => /^- (\w+)( \([a-z ]+\))?:/.exec(line)?.[1] ?? []);
			assert.deepEqual(listed, ["explorer", "researcher", "reviewer", "implementer", "tester", "worker"]);
			const { required, additionalProperties } = parameters ?? {};
			assert.deepEqual([required, additionalProperties], [["agent", "task"], false]);
			const { tools: described } = await describeTools({ cwd: stage.world.cwd, agentDir: stage.world.agentDir });
			for (const { name } of described.slice(1)) {
				const other = definitionIn(first, name);
				assert.match(other.description ?? "", /`(subagent|sessions_spawn)`|in the background/);
				for (const agent of listed) assert.ok(!other.description?.includes(agent), `${name} lists ${agent}`);
			}
		});

		test("hold policy, snippet and guidelines once each, in every turn", async () => {
			const surface = await describeTools({ cwd: stage.world.cwd, agentDir: stage.world.agentDir });
			const heading = surface.delegationPolicy?.split("\n")[0] ?? "no policy";
			const system = new Set(
				stage.server.requests.filter(({ isParent }) => isParent).map((request) => request.systemText),
			);
			assert.equal(system.size, 1, "the system prompt is the same in every turn");
			for (const text of system) {
				const guidelines = surface.tools.flatMap(({ promptSnippet, promptGuidelines }) => [
					...(promptSnippet ? [promptSnippet] : []),
					...promptGuidelines,
				]);
				for (const part of [heading, ...guidelines]) {
					assert.equal(countIn(text, part), 1, part);
				}
			}
		});

		test(`take at most ${maxTokens} tokens`, async () => {
			const [request] = stage.server.requests;
			const tools = ["web_search", "read"].map((tool) => ({ name: tool }));
			const surface = await describeTools({ cwd: stage.world.cwd, agentDir: stage.world.agentDir, tools });
			const counted = surface.tools.map(({ name, promptSnippet, promptGuidelines }) => {
				const { description, parameters } = definitionIn(request, name);
				const guidelines = promptGuidelines.length > 0 ? promptGuidelines : undefined;
				return JSON.stringify({ name, description, promptSnippet, promptGuidelines: guidelines, parameters });
			});
			const { delegationPolicy = "" } = surface;
			const tokens = [...counted, delegationPolicy].join("").length / 4;
			assert.ok(delegationPolicy.length > 0 && tokens <= maxTokens, `${tokens} tokens`);
		});

		test("list an agent that came later from the next session on; it runs by name before", async () => {
			assert.equal(textOf(lastEnd(rpc.log)), "I run all the same");
			await rpc.send({ type: "new_session" });
			const from = stage.server.requests.length;
			await rpc.prompt("Hello?");
			assert.match(
				definitionIn(stage.server.requests[from]).description ?? "",
				/\n- late \(cannot write here\): Came later/,
			);
		});
	});
}
