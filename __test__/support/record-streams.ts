/**
 * Records the event streams of real pi, for the tests of the collector and of the stand-in:
 * `node __test__/support/record-streams.ts [--pi VERSION] [NAME…]` writes `tests/inputs/streams/VERSION/NAME.jsonl`.
 * Names that start with `rpc-` are recorded in RPC mode, the others in JSON mode. The default is everything, with both
 * supported versions.
 *
 * The recorder replaces paths of this machine, ports and the text of system prompts.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
	call,
	drop,
	endAll,
	fail,
	hang,
	ModelServer,
	type PiEvent,
	packageDir,
	piVersions,
	type RpcSession,
	raw,
	type Script,
	type Step,
	say,
	startJson,
	startRpc,
	think,
	type UiAnswer,
	type UiRequest,
	usage,
	World,
} from "./pi.ts";

/** A session in RPC mode. */
interface RpcStory {
	script: Script;
	/** Drives pi until its input ends. */
	drive: (rpc: RpcSession) => Promise<unknown>;
	extension?: string;
	answer?: (request: UiRequest) => UiAnswer | undefined;
}

/** One prompt in JSON mode. */
interface JsonStory {
	script: Script;
	/** Arguments before the prompt. */
	args?: string[];
	/** The prompt; `Work.` by default. */
	prompt?: string;
	/** The signal that pi gets, and the event after which it is sent. */
	interrupt?: { signal: NodeJS.Signals; after: (event: PiEvent) => boolean };
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

const rpcStories: Record<string, RpcStory> = {
	prompt: {
		script: () => [say("Hello there", { size: 4 }), usage({ input: 1000, output: 3, cached: 600 })],
		drive: async (rpc) => {
			await rpc.send({ type: "get_state" });
			await rpc.prompt("Say hello.");
			await rpc.send({ type: "get_last_assistant_text" });
			await rpc.send({ type: "get_messages" });
		},
	},
	tool: {
		script: onceThen([say("Reading."), call("read", { path: "README.md" })], say("It is a readme.")),
		drive: (rpc) => rpc.prompt("What is it?"),
	},
	steer: {
		script: onceThen([call("bash", { command: "sleep 1; echo done" })], say("As you wish.")),
		drive: async (rpc) => {
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
		drive: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(saying);
			await rpc.send({ type: "steer", message: "Wrap up." });
			await work;
		},
	},
	"steer-idle": {
		script: ({ messages }) => [say(`You said ${messages.length} messages.`)],
		drive: async (rpc) => {
			await rpc.send({ type: "steer", message: "Before anything." });
			await rpc.prompt("Work.");
		},
	},
	"abort-text": {
		script: () => [say("So far so good", { size: 4 }), hang()],
		drive: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(saying);
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"abort-tool": {
		script: onceThen([call("bash", { command: "echo begun; sleep 60" })], say("Never said.")),
		drive: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(started);
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"abort-retry": {
		script: () => [fail(500)],
		drive: async (rpc) => {
			const work = rpc.prompt("Work.");
			await rpc.log.waitFor(({ type }) => type === "auto_retry_start");
			await rpc.send({ type: "abort" });
			await work;
		},
	},
	"abort-idle": {
		script: () => [say("Done.")],
		drive: async (rpc) => {
			await rpc.send({ type: "abort" });
			await rpc.prompt("Work.");
			await rpc.send({ type: "abort" });
		},
	},
	questions: {
		script: () => [say("All answered.")],
		extension: asking,
		answer: ({ title = "" }) => answers[title],
		drive: (rpc) => rpc.prompt("Ask."),
	},
	handled: {
		script: () => [say("Done.")],
		extension: asking,
		drive: (rpc) => rpc.send({ type: "prompt", message: "/nothing at all" }),
	},
	refused: {
		script: () => [say("So far"), hang()],
		drive: async (rpc) => {
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
	"error-500": { script: () => [fail(500)], drive: (rpc) => rpc.prompt("Work.") },
	"error-429": {
		script: failingOnce(fail(429, { body: { error: { message: "Rate limit reached. Please try again in 1.5s." } } })),
		drive: (rpc) => rpc.prompt("Work."),
	},
	"error-429-header": {
		script: failingOnce(fail(429, { retryAfter: 90 })),
		drive: (rpc) => rpc.prompt("Work."),
	},
	length: {
		script: () => [say("Cut off in the midd"), { type: "finish", reason: "length" }],
		drive: (rpc) => rpc.prompt("Work."),
	},
};

/** A chunk that reports usage before any text, as some providers do. */
const earlyUsage = `data: ${JSON.stringify({
	id: "early",
	object: "chat.completion.chunk",
	choices: [{ index: 0, delta: { role: "assistant", content: null }, finish_reason: null }],
	usage: { prompt_tokens: 1000, completion_tokens: 40, total_tokens: 1040 },
})}\n\n`;

const words = "the quick brown fox jumps over one lazy dog and then writes a short plain report\nabout it ".repeat(6);
const asked = ({ type, message }: PiEvent) =>
	type === "message_end" && (message as { role?: string } | undefined)?.role === "user";
const waits: Script = () => [hang()];
const drips: Script = () => [say(words, { size: 10, everyMs: 100 }), hang()];
const sleeps: Script = onceThen([call("bash", { command: "sleep 600" })], say("Never said."));

/** Returns a predicate that is true from the `count`th event on that `matches`. */
function nth(count: number, matches: (event: PiEvent) => boolean): (event: PiEvent) => boolean {
	let seen = 0;
	return (event) => matches(event) && ++seen >= count;
}

/** Makes a story for each signal that ends pi in the middle of its work. */
function interrupted(
	name: string,
	script: Script,
	after: () => (event: PiEvent) => boolean,
): Record<string, JsonStory> {
	const signals: NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"];
	return Object.fromEntries(
		signals.map((signal) => [`${name}-${signal}`, { script, interrupt: { signal, after: after() } }]),
	);
}

const jsonStories: Record<string, JsonStory> = {
	plain: { script: () => [say("Hello there")] },
	"plain-500b-20d": { script: () => [say(words.slice(0, 500), { size: 25 })] },
	"tool-bash": {
		script: onceThen(
			[call("bash", { command: "echo out; echo err >&2; exit 3" })],
			say("The tool answered; all done."),
		),
	},
	"tool-read": { script: onceThen([call("read", { path: "README.md" })], say("The tool answered; all done.")) },
	"tool-ls-not-enabled": { script: onceThen([call("ls", { path: "." })], say("The tool answered; all done.")) },
	"tool-ls-enabled": {
		script: onceThen([call("ls", { path: "." })], say("The tool answered; all done.")),
		args: ["--tools", "ls,read"],
	},
	thinking: {
		script: () => [
			raw(earlyUsage),
			think("the quick brown fox jumps over one lazy dog", { size: 10 }),
			say("thought about it."),
		],
		args: ["--model", "scripted/scripted-thinker", "--thinking", "low"],
	},
	"err500-retries": { script: () => [fail(500)] },
	"err500-once-recovers": { script: failingOnce(fail(500)) },
	"err429-recovers": { script: failingOnce(fail(429)) },
	err400: { script: () => [fail(400)] },
	err401: { script: () => [fail(401)] },
	"drop-midstream": { script: () => [say(words.slice(0, 50), { size: 10 }), drop()] },
	"no-such-flag": { script: () => [say("Never said.")], args: ["-Z"] },
	"empty-prompt": { script: () => [say("Never said.")], prompt: "" },
	...interrupted("hang", waits, () => asked),
	...interrupted("drip", drips, () => nth(8, saying)),
	...interrupted("bashsleep", sleeps, () => started),
};

/** Shortens long texts without interest: texts under `description`, and everything under `sections`. */
function clean(value: unknown, key: string, replace: (text: string) => string): unknown {
	if (typeof value === "string") return key === "description" ? "(omitted)" : replace(value);
	if (Array.isArray(value)) return value.map((item) => clean(item, "", replace));
	if (value === null || typeof value !== "object") return value;
	const inner = (name: string, item: unknown) => (key === "sections" ? "(omitted)" : clean(item, name, replace));
	return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inner(name, item)]));
}

/** Runs `tell` with a world and a scripted model, and returns what pi printed, cleaned. */
async function recorded(
	version: string,
	script: Script,
	settings: Record<string, unknown>,
	drive: (world: World) => Promise<string>,
): Promise<string> {
	const server = await ModelServer.start(script);
	const world = new World({ version, baseUrl: server.baseUrl, settings });
	try {
		const stdout = await drive(world);
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

function recordRpc(version: string, name: string, { script, drive, extension, answer }: RpcStory): Promise<string> {
	const settings = { retry: { enabled: true, maxRetries: 2, baseDelayMs: 200 } };
	return recorded(version, script, settings, async (world) => {
		const loaded = extension ? ["-e", world.writeAgentDir("asking.ts", extension)] : [];
		const args = ["--no-session", "-ne", ...loaded];
		const rpc = startRpc(world, { args, ...(answer && { answer: (request) => answer(request) }) });
		await drive(rpc);
		if (name !== "rpc-handled") await rpc.log.waitFor(settled);
		return (await rpc.close()).stdout;
	});
}

function recordJson(version: string, { script, args = [], prompt = "Work.", interrupt }: JsonStory): Promise<string> {
	const settings = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 200 } };
	return recorded(version, script, settings, async (world) => {
		const session = startJson(world, prompt, { args: ["--no-session", "-ne", ...args] });
		if (interrupt) {
			await session.log.waitFor(interrupt.after);
			session.pi.kill(interrupt.signal);
		}
		const { stdout } = await session.finished;
		// A pi that a signal ends leaves the commands of its shell running.
		await endAll(world.mark);
		return stdout;
	});
}

const wanted = process.argv.slice(2);
const chosen = wanted[0] === "--pi" ? wanted.splice(0, 2).slice(1) : piVersions;
const stories: [string, (version: string) => Promise<string>][] = [
	...Object.entries(jsonStories).map(([name, story]): [string, (version: string) => Promise<string>] => [
		name,
		(version) => recordJson(version, story),
	]),
	...Object.entries(rpcStories).map(([short, story]): [string, (version: string) => Promise<string>] => {
		const name = `rpc-${short}`;
		return [name, (version) => recordRpc(version, name, story)];
	}),
];
for (const version of chosen) {
	const folder = join(packageDir, "tests/inputs/streams", version);
	mkdirSync(folder, { recursive: true });
	for (const [name, record] of stories) {
		if (wanted.length > 0 && !wanted.includes(name)) continue;
		const stream = await record(version);
		writeFileSync(join(folder, `${name}.jsonl`), stream);
		console.log(`${version} ${name}: ${stream.length} bytes`);
	}
}
