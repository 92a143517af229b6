/** What the package costs in each request of real pi: the tool's definition, and words in the system prompt. */

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

const { describeTools } = createRequire(import.meta.url)(packageDir) as typeof import("../../index.js");

/** Tokens, about four characters each, that everything this package adds to a request may take. */
const maxTokens = 900;

/** With it `researcher` can run, so that all five builtins are offered. */
const webTools = `const parameters = { type: "object", properties: {} };
export default (pi) => {
	for (const name of ["web_search", "fetch_content", "get_search_content"]) {
		pi.registerTool({ name, label: name, description: name, parameters, execute: async () => ({ content: [], details: {} }) });
	}
};
`;

function definitionIn(request: ModelRequest | undefined) {
	const tool = request?.tools.find((candidate) => candidate.function.name === "subagent");
	return tool?.function ?? assert.fail("the request offers no subagent");
}

function countIn(text: string, part: string): number {
	return text.split(part).length - 1;
}

for (const version of piVersions) {
	describe(`requests of pi ${version}`, { timeout: 60_000 }, () => {
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

		test("define the tool with the same bytes over all turns, with all five builtins", () => {
			const [first, ...others] = stage.server.requests.filter(({ isParent }) => isParent);
			const tools = JSON.stringify(first?.tools);
			assert.equal(others.length, 4);
			for (const request of others) assert.equal(JSON.stringify(request.tools), tools);
			const { description = "", parameters } = definitionIn(first);
			const listed = description.split("\n").flatMap((line) => /^- (\w+)( \(readonly\))?:/.exec(line)?.[1] ?? []);
			assert.deepEqual(listed, ["explorer", "researcher", "reviewer", "implementer", "tester"]);
			const { required, additionalProperties } = parameters ?? {};
			assert.deepEqual([required, additionalProperties], [["agent", "task"], false]);
		});

		test("hold policy, snippet and guidelines once each, in every turn", async () => {
			const surface = await describeTools({ cwd: stage.world.cwd, agentDir: stage.world.agentDir });
			const heading = surface.delegationPolicy?.split("\n")[0] ?? "no policy";
			const system = new Set(
				stage.server.requests.filter(({ isParent }) => isParent).map((request) => request.systemText),
			);
			assert.equal(system.size, 1, "the system prompt is the same in every turn");
			for (const text of system) {
				for (const part of [heading, surface.promptSnippet, ...surface.promptGuidelines]) {
					assert.equal(countIn(text, part), 1, part);
				}
			}
		});

		test(`take at most ${maxTokens} tokens`, async () => {
			const [request] = stage.server.requests;
			const { name, description, parameters } = definitionIn(request);
			const tools = ["web_search", "read"].map((tool) => ({ name: tool }));
			const surface = await describeTools({ cwd: stage.world.cwd, agentDir: stage.world.agentDir, tools });
			const { promptSnippet, promptGuidelines, delegationPolicy = "" } = surface;
			const counted = JSON.stringify({ name, description, promptSnippet, promptGuidelines, parameters });
			const tokens = (counted.length + delegationPolicy.length) / 4;
			assert.ok(delegationPolicy.length > 0 && tokens <= maxTokens, `${tokens} tokens`);
		});

		test("list an agent that came later from the next session on; it runs by name before", async () => {
			assert.equal(textOf(lastEnd(rpc.log)), "I run all the same");
			await rpc.send({ type: "new_session" });
			const from = stage.server.requests.length;
			await rpc.prompt("Hello?");
			assert.match(definitionIn(stage.server.requests[from]).description ?? "", /\n- late: Came later/);
		});
	});
}
