/**
 * Records what real pi writes in RPC mode, for the tests of the collector and of the stand-in:
 * `node __test__/support/record-rpc.ts [name…]` writes `tests/inputs/streams/<version>/rpc-<name>.jsonl`.
 *
 * Paths of this machine, ports and the text of system prompts are replaced.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import {
	call,
	fail,
	hang,
	ModelServer,
	type PiEvent,
	packageDir,
	piVersions,
	type RpcSession,
	type Script,
	type Step,
	say,
	startRpc,
	type UiAnswer,
	type UiRequest,
	usage,
	World,
} from "./pi.ts";

interface Story {
	script: Script;
	/** What is done with pi, until its input ends. */
	tell: (rpc: RpcSession) => Promise<unknown>;
	extension?: string;
	answer?: (request: UiRequest) => UiAnswer | undefined;
}

const settled = ({ type }: PiEvent) => type === "agent_settled";
const started = ({ type }: PiEvent) => type === "tool_execution_start";
const saying = ({ type, assistantMessageEvent: event }: PiEvent) =>
	type === "message_update" && (event as PiEvent).type === "text_delta";

/** Asks everything that can be asked, and tells what needs no answer, before the work begins. */
const asking = `export default (pi) => {
	pi.on("before_agent_start", async (_event, ctx) => {
		ctx.ui.notify("Some questions first.", "info");
		ctx.ui.setStatus("asking", "asking…");
		ctx.ui.setWidget("asking", ["one", "two"]);
		const answers = [
			await ctx.ui.confirm("Go on?", "It may take a while."),
			await ctx.ui.select("Which branch?", ["main", "next – “später”"]),
			await ctx.ui.select("Nobody answers", ["a", "b"], { timeout: 200 }),
			await ctx.ui.input("Whose name?", "Ada"),
			await ctx.ui.editor("Edit the plan", "1. look\\n2. leap\\n"),
		];
		ctx.ui.setStatus("asking", undefined);
		return { message: { customType: "answers", content: JSON.stringify(answers), display: true } };
	});
	pi.registerCommand("nothing", { description: "Does nothing.", handler: async () => {} });
};
`;

const answers: Record<string, UiAnswer> = {
	"Go on?": { confirmed: true },
	"Which branch?": { value: "next – “später”" },
	"Whose name?": { value: "Grace" },
	"Edit the plan": { cancelled: true },
};

/** Fails once, then answers. */
const failingOnce =
	(error: Step): Script =>
	({ index }) =>
		index === 0 ? [error] : [say("Recovered.")];

const onceThen =
	(first: Step[], ...rest: Step[]): Script =>
	({ index }) =>
		index === 0 ? first : rest;

const stories: Record<string, Story> = {
	prompt: {
		script: () => [say("Hello there", { size: 4 }), usage({ input: 1000, output: 3, cached: 600 })],
		tell: async (rpc) => {
			await rpc.send({ type: "get_state" });
			await rpc.prompt("Say hello.");
			await rpc.send({ type: "get_last_assistant_text" });
			await rpc.send({ type: "get_messages" });
		},
	},
	tool: {
		script: onceThen([say("Reading."), call("read", { path: "README.md" })], say("It is a readme.")),
		tell: (rpc) => rpc.prompt("What is it?"),
	},
	steer: {
		script: onceThen([call("bash", { command: "sleep 1; echo done" })], say("As you wish.")),
		tell: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(started);
			await rpc.send({ type: "steer", message: "Wrap up." });
			await work;
		},
	},
	"steer-text": {
		script: ({ index }) => [
			say(index === 0 ? "A long answer, word by word." : "Wrapped up.", { size: 4, everyMs: 40 }),
		],
		tell: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(saying);
			await rpc.send({ type: "steer", message: "Wrap up." });
			await work;
		},
	},
	"steer-idle": {
		script: ({ messages }) => [say(`You said ${messages.length} messages.`)],
		tell: async (rpc) => {
			await rpc.send({ type: "steer", message: "Before anything." });
			await rpc.prompt("Work.");
		},
	},
	"abort-text": {
		script: () => [say("So far so good", { size: 4 }), hang()],
		tell: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(saying);
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"abort-tool": {
		script: onceThen([call("bash", { command: "echo begun; sleep 60" })], say("Never said.")),
		tell: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(started);
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"abort-retry": {
		script: () => [fail(500)],
		tell: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(({ type }) => type === "auto_retry_start");
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"abort-idle": {
		script: () => [say("Done.")],
		tell: async (rpc) => {
			await rpc.send({ type: "abort" });
			await rpc.prompt("Work.");
			await rpc.send({ type: "abort" });
		},
	},
	questions: {
		script: () => [say("All answered.")],
		extension: asking,
		answer: ({ title = "" }) => answers[title],
		tell: (rpc) => rpc.prompt("Ask."),
	},
	handled: {
		script: () => [say("Done.")],
		extension: asking,
		tell: (rpc) => rpc.send({ type: "prompt", message: "/nothing at all" }),
	},
	refused: {
		script: () => [say("So far"), hang()],
		tell: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(saying);
			await rpc.send({ type: "prompt", message: "And another thing." });
			await rpc.send({ type: "prompt", message: "Later.", streamingBehavior: "followUp" });
			await rpc.send({ type: "no_such_command" });
			rpc.pi.child.stdin?.write("{broken\n");
			await rpc.log.waitFor(({ command }) => command === "parse");
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"error-500": { script: () => [fail(500)], tell: (rpc) => rpc.prompt("Work.") },
	"error-429": {
		script: failingOnce(fail(429, { body: { error: { message: "Rate limit reached. Please try again in 1.5s." } } })),
		tell: (rpc) => rpc.prompt("Work."),
	},
	"error-429-header": {
		script: failingOnce(fail(429, { retryAfter: 90 })),
		tell: (rpc) => rpc.prompt("Work."),
	},
	length: {
		script: () => [say("Cut off in the midd"), { type: "finish", reason: "length" }],
		tell: (rpc) => rpc.prompt("Work."),
	},
};

/** What is long and of no interest: texts under `description`, and everything under `sections`. */
function clean(value: unknown, key: string, replace: (text: string) => string): unknown {
	if (typeof value === "string") return key === "description" ? "(omitted)" : replace(value);
	if (Array.isArray(value)) return value.map((item) => clean(item, "", replace));
	if (value === null || typeof value !== "object") return value;
	const inner = (name: string, item: unknown) => (key === "sections" ? "(omitted)" : clean(item, name, replace));
	return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(name, item)]));
}

async function record(version: string, name: string, { script, tell, extension, answer }: Story): Promise<string> {
	const server = await ModelServer.start(script);
	const world = new World({
		version,
		baseUrl: server.baseUrl,
		settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 200 } },
	});
	try {
		const loaded = extension ? ["-e", world.writeAgentDir("asking.ts", extension)] : [];
		const args = ["--no-session", "-ne", ...loaded];
		const rpc = startRpc(world, { args, ...(answer && { answer: (request) => answer(request) }) });
		await tell(rpc);
		if (name !== "handled") await rpc.log.waitFor(settled);
		const { stdout } = await rpc.close();
		const replacements: [string, string][] = [
			[world.cwd, "/home/user/project"],
			[world.home, "/home/user"],
			[world.root, "/home/user"],
			[server.baseUrl, "http://127.0.0.1:8080/v1"],
		];
		const replace = (text: string) => replacements.reduce((so, [from, to]) => so.replaceAll(from, to), text);
		const lines = stdout.split("\n").filter(Boolean);
		return lines.map((line) => `${JSON.stringify(clean(JSON.parse(line), "", replace))}\n`).join("");
	} finally {
		await world.close();
		await server.close();
	}
}

const wanted = process.argv.slice(2);
for (const version of piVersions) {
	for (const [name, story] of Object.entries(stories)) {
		if (wanted.length > 0 && !wanted.includes(name)) continue;
		const stream = await record(version, name, story);
		writeFileSync(join(packageDir, "tests/inputs/streams", version, `rpc-${name}.jsonl`), stream);
		console.log(`${version} ${name}: ${stream.length} bytes`);
	}
}
