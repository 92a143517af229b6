/**
 * Records the session files that real pi writes, for the tests of the transcript reader:
 * `node __test__/support/record-session.ts` writes `tests/inputs/sessions/<version>.jsonl`.
 *
 * Paths of this machine and the text of system prompts are replaced.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { call, fail, ModelServer, packageDir, piVersions, type Script, say, startRpc, World } from "./pi.ts";

const extension = `export default (pi) => {
	pi.on("session_start", () => pi.appendEntry("notes", { seen: 1 }));
	pi.on("before_agent_start", () => ({ message: { customType: "hint", content: "A hint.", display: true } }));
};
`;

/** The model's texts in the conversation, turn by turn; it is asked for summaries in between. */
const conversation = [
	[say("Reading two files."), call("read", { path: "README.md", limit: 3 }), call("ls", { path: "." })],
	[say("It is a readme.\nNothing else is there.")],
	[call("bash", { command: "echo one; exit 3" })],
	[fail(500)],
	[say("It failed with 3.")],
];

function script(): Script {
	const turns = conversation.values();
	return (request) => {
		const isSummary = /summari[sz]/i.test(JSON.stringify(request.messages));
		return isSummary ? [say("A summary of what was said.")] : (turns.next().value ?? [say("That was all.")]);
	};
}

async function record(version: string): Promise<string> {
	const server = await ModelServer.start(script());
	const settings = {
		retry: { enabled: true, maxRetries: 2, baseDelayMs: 100 },
		compaction: { enabled: true, keepRecentTokens: 1 },
	};
	const world = new World({ version, baseUrl: server.baseUrl, settings });
	try {
		const session = join(world.root, "session.jsonl");
		const args = ["--session", session, "-ne", "-e", world.writeAgentDir("notes.ts", extension)];
		const rpc = startRpc(world, { args });
		await rpc.prompt("What is in README.md?");
		await rpc.send({ type: "compact" });
		await rpc.send({ type: "set_session_name", name: "Readme" });
		await rpc.send({ type: "set_thinking_level", level: "off" });
		await rpc.prompt("Run something that fails.");
		await rpc.close();
		const text = readFileSync(session, "utf8").replaceAll(world.cwd, "/home/user/project");
		const lines = text.replaceAll(world.root, "/home/user").split("\n").filter(Boolean);
		const shorter = (key: string, value: unknown) =>
			key === "sections" ? "(omitted)" : key === "description" ? "(omitted)" : value;
		return lines.map((line) => `${JSON.stringify(JSON.parse(line), shorter)}\n`).join("");
	} finally {
		await world.close();
		await server.close();
	}
}

const directory = join(packageDir, "tests/inputs/sessions");
mkdirSync(directory, { recursive: true });
for (const version of piVersions) {
	const session = await record(version);
	writeFileSync(join(directory, `${version}.jsonl`), session);
	console.log(`${version}: ${session.length} bytes`);
}
