/** A session of pi's own example of an extension with a tool `subagent`. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { ModelServer, type Script } from "./model-server.ts";
import { startRpc } from "./rpc.ts";
import { call, say } from "./steps.ts";
import { piCommand } from "./versions.ts";
import { World } from "./world.ts";

/** The content of a line of a session file. */
export type Entry = Record<string, unknown> & { id: string; message?: Record<string, unknown> };

const scout = "---\nname: scout\ndescription: Looks around\n---\nLook around.\n";

/** A parent that calls the example in two of its ways, and the child of the example. */
const conversation: Script = (request) => {
	const { userText, toolAnswers } = request;
	if (userText.includes("Look for the loader")) return [say("**It is in** `load.rs`.")];
	if (!userText.startsWith("Delegate")) return [say("Yes.")];
	if (toolAnswers.length > 0) return [say("That was all.")];
	const task = { agent: "scout", task: "Look for the loader" };
	return [
		call("subagent", task),
		call("subagent", { tasks: [task, task] }),
		call("subagent", { agent: "nobody", task: "x" }),
	];
};

/** The session that pi writes with the extension that it ships as an example of the same tool. */
export async function exampleSession(version: string): Promise<Entry[]> {
	const server = await ModelServer.start(conversation);
	const [, program] = piCommand(version);
	const example = join(dirname(program), "../../examples/extensions/subagent/index.ts");
	const world = new World({ version, baseUrl: server.baseUrl });
	try {
		world.writeAgentDir("agents/scout.md", scout);
		const session = join(world.root, "session.jsonl");
		const rpc = startRpc(world, { args: ["--session", session, "-ne", "-e", example] });
		await rpc.prompt("Delegate");
		await rpc.close();
		return readFileSync(session, "utf8")
			.split("\n")
			.filter(Boolean)
			.map((line) => JSON.parse(line) as Entry);
	} finally {
		await world.close().finally(() => server.close());
	}
}
