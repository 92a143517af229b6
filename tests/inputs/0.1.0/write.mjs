/**
 * Writes `files.json` and `runs.sql`: the agent directory and the project of a user of version 0.1.0. Its pi was killed.
 *
 * It needs Node 24, git, and a checkout of commit 0923902e with its addon and its warden:
 *
 *     git worktree add --detach ../0.1.0 0923902e && cd ../0.1.0
 *     npm ci && npx napi build --platform --no-const-enum --js index.js --dts index.d.ts
 *     cargo build -p pi-subagent-warden && cp target/debug/pi-subagent-warden .
 *     node ../pi-subagent-native/tests/inputs/0.1.0/write.mjs "$PWD"
 *
 * Paths of the machine become `{root}`, `{package}` and `{node}`.
 */

import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
	appendFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const [checkout = "", root = realpathSync(mkdtempSync(join(tmpdir(), "psn-"))), role = "writer", ...words] =
	process.argv.slice(2);
const [agentDir, project] = [join(root, "agent"), join(root, "project")];
const sessionFile = join(agentDir, "sessions/project/conversation.jsonl");
const fakePi = join(checkout, "fake-pi/fake-pi.mjs");
const options = {
	cwd: project,
	agentDir,
	sessionId: "0190a5b0-0000-7000-8000-000000000001",
	parentSessionFile: sessionFile,
};
const say = (/** @type {object} */ line) => void process.stdout.write(`${JSON.stringify(line)}\n`);

const plays = (/** @type {unknown[]} */ ...steps) => ({ env: { FAKE_PI_SCENARIO: JSON.stringify(steps) } });
/** The title of questions of the tool `ask`. */
const asks = "pi-subagent-ask:0b7e3c1a-8f1d-4f0e-9d5e-2f6a1c3b4d5e";
const readme = { write: "README.md", text: "# A tested project\n" };

/** The settings of the user. */
const settings = {
	allowWrite: true,
	announce: { mode: "never" },
	maxConcurrent: 4,
	piCommand: [process.execPath, fakePi],
};

const agents = {
	"agent/agents/mender.md":
		"---\nname: mender\ndescription: Mends the project.\ntools: read, write, bash\nisolation: private\n---\nMend it.\n",
	"agent/agents/asks.md":
		"---\nname: asks\ndescription: Asks the conversation.\nreadonly: true\ntools: read\nask: parent\n---\nAsk.\n",
	"project/.pi/agents/house.md":
		"---\nname: house\ndescription: Knows the house.\nreadonly: true\ntools: read\n---\nYou know the house.\n",
};

/** The pi of the user, until it is killed. */
async function conversation() {
	const addon = await import(pathToFileURL(join(checkout, "index.js")).href);
	const lastId = { value: /** @type {string | null} */ (null) };
	const enter = (/** @type {object} */ entry) => {
		const id = randomUUID().slice(0, 8);
		const line = { ...entry, id, parentId: lastId.value, timestamp: new Date().toISOString() };
		appendFileSync(sessionFile, `${JSON.stringify(line)}\n`);
		lastId.value = id;
	};
	const header = {
		type: "session",
		version: 3,
		id: options.sessionId,
		timestamp: new Date().toISOString(),
		cwd: project,
	};
	mkdirSync(join(sessionFile, ".."), { recursive: true });
	writeFileSync(sessionFile, `${JSON.stringify(header)}\n`);
	const message = (/** @type {object} */ fields) =>
		enter({ type: "message", message: { ...fields, timestamp: Date.now() } });
	const usage = {
		input: 10,
		output: 5,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: 15,
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const answered = (/** @type {object[]} */ content, stopReason = "stop") =>
		message({
			role: "assistant",
			content,
			api: "openai-completions",
			provider: "fake",
			model: "m1",
			usage,
			stopReason,
		});

	message({ role: "user", content: [{ type: "text", text: "Work on the project." }] });
	const called = async (/** @type {string} */ tool, /** @type {object} */ args, /** @type {Promise<any>} */ result) => {
		const id = `call_${tool}_${randomUUID().slice(0, 4)}`;
		answered([{ type: "toolCall", id, name: tool, arguments: args }], "toolUse");
		const { content, details, isError = false } = await result;
		message({ role: "toolResult", toolCallId: id, toolName: tool, content, details, isError });
		return details;
	};
	const host = { confirm: () => true };
	const one = { agent: "explorer", task: "Find the loader." };
	const said = plays({ call: "read", args: { path: "README.md" }, result: "# A project" }, { say: "You said: {task}" });
	await called("subagent", one, addon.startRun({ ...options, ...one, ...said }, undefined, host).result());
	const house = { agent: "house", task: "Describe the house." };
	await called("subagent", house, addon.startRun({ ...options, ...house, ...said }, undefined, host).result());
	const fails = { agent: "explorer", task: "Find what is not there." };
	await called(
		"subagent",
		fails,
		addon.startRun({ ...options, ...fails, ...plays({ stream: "So far" }, { fail: "529: overloaded" }) }).result(),
	);
	const tasks = [one, { agent: "reviewer", task: "Review the loader." }];
	await called("subagent_parallel", { tasks }, addon.startParallel({ ...options, tasks, ...said }).result());
	const steps = [one, { agent: "reviewer", task: "Review this: {previous}" }];
	await called("subagent_chain", { steps }, addon.startChain({ ...options, steps, ...said }).result());
	const writes = { agent: "mender", task: "Call the project tested." };
	await called(
		"subagent",
		writes,
		addon.startRun({ ...options, ...writes, ...plays(readme, { say: "It is called tested." }) }).result(),
	);

	/** @type {((message: any) => void)[]} */
	const waiting = [];
	const session = addon.openBackground({ ...options, delivered: [] }, (/** @type {any} */ { deliveries, notices }) => {
		if (notices) say({ notices });
		if (deliveries) waiting.shift()?.(deliveries);
	});
	const offered = () => new Promise((/** @type {(message: any) => void} */ resolve) => waiting.push(resolve));
	const spawned = async (/** @type {any} */ fields) => {
		const { agent: agentId, env, ...params } = fields;
		const receipt = await addon.spawnSession({ ...options, ...fields });
		const { kind: _kind, version: _version, ...text } = receipt;
		await called(
			"sessions_spawn",
			{ agentId, ...params },
			Promise.resolve({ content: [{ type: "text", text: JSON.stringify(text) }], details: receipt }),
		);
		return receipt.runId;
	};
	const first = offered();
	await spawned({ agent: "explorer", label: "delivered", task: "Count the tests.", ...said });
	const { deliveryIds, announcement } = await first;
	enter({ type: "custom_message", ...announcement });
	await session.delivered(deliveryIds);
	const second = offered();
	await spawned({ agent: "explorer", label: "undelivered", task: "Count the docs.", ...said });
	await second;
	const third = offered();
	await spawned({
		agent: "asks",
		label: "asking",
		task: "Paint it.",
		...plays(
			{ ask: "input", title: asks },
			{ ask: "select", title: `${asks} Which colour?`, options: ["red", "green"] },
			{ say: "I heard {answer}." },
		),
	});
	await third;
	const stalls = [{ stream: "so far" }, "hang"];
	await spawned({ agent: "explorer", label: "working", task: "Watch the tests.", ...plays(...stalls) });
	await spawned({
		agent: "mender",
		label: "writing",
		task: "Call it half done.",
		...plays({ write: "half.txt", text: "half\n" }, ...stalls),
	});
	void addon.startRun({ ...options, agent: "explorer", task: "Watch the docs.", ...plays(...stalls) }).result();
	const isBusy = (/** @type {any[]} */ runs) => runs.filter(({ text, asks }) => text || asks).length === 4;
	while (!isBusy(await session.runs())) await delay(50);
	await spawned({ agent: "explorer", label: "queued", task: "Wait for the others.", ...said });
	const { isError: _isError, text, title, lines } = await session.command("list");
	enter({
		type: "custom",
		customType: "subagents-report",
		data: { kind: "subagents-report", version: 1, title, lines, text },
	});
	say({ ready: (await session.runs()).map((/** @type {any} */ run) => [run.label ?? "", run.runId, run.state]) });
}

/** Another pi of the user. */
async function other() {
	const addon = await import(pathToFileURL(join(checkout, "index.js")).href);
	const session = addon.openBackground(
		{ ...options, sessionId: "other", parentSessionFile: undefined, delivered: [] },
		() => {},
	);
	say(await session.command(words.join(" ")));
}

/** Starts one of these processes and waits for a line of its output. */
async function started(/** @type {string[]} */ ...args) {
	const child = spawn(process.execPath, [fileURLToPath(import.meta.url), checkout, root, ...args], {
		stdio: ["pipe", "pipe", "inherit"],
	});
	const lines = createInterface({ input: child.stdout });
	for await (const line of lines) {
		process.stdout.write(`${args[0]}: ${line}\n`);
		const value = JSON.parse(line);
		if (value.ready || value.text) return { child, value };
	}
	throw new Error(`${args[0]} has ended`);
}

const killed = async (/** @type {import("node:child_process").ChildProcess} */ child) => {
	child.kill("SIGKILL");
	await new Promise((resolve) => child.once("exit", resolve));
};

const git = (/** @type {string[]} */ ...args) =>
	execFileSync("git", ["-c", "user.name=n", "-c", "user.email=n@localhost", ...args], { cwd: project });

/** Replaces what belongs to this machine. */
const portable = (/** @type {string} */ text) =>
	text.replaceAll(root, "{root}").replaceAll(checkout, "{package}").replaceAll(process.execPath, "{node}");

function files() {
	const found = readdirSync(root, { recursive: true, withFileTypes: true });
	const below = (/** @type {import("node:fs").Dirent[]} */ entries) =>
		entries.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
	const paths = below(found.filter((entry) => entry.isFile()));
	// git expects its directories.
	const empty = below(
		found.filter((entry) => entry.isDirectory() && readdirSync(join(entry.parentPath, entry.name)).length === 0),
	);
	const kept = paths.filter((path) => !/^agent\/subagents\/runs\.db/.test(path)).sort();
	return Object.fromEntries([
		...empty.sort().map((path) => [`${path}/`, ""]),
		...kept.map((path) => {
			execFileSync("chmod", ["u+r", join(root, path)]);
			const bytes = readFileSync(join(root, path));
			const text = bytes.toString();
			return [path, Buffer.from(text).equals(bytes) ? portable(text) : { base64: bytes.toString("base64") }];
		}),
	]);
}

function database() {
	const open = new DatabaseSync(join(agentDir, "subagents/runs.db"));
	const all = (/** @type {string} */ sql) => open.prepare(sql).all();
	const value = (/** @type {unknown} */ of) =>
		of === null ? "NULL" : typeof of === "string" ? `'${of.replaceAll("'", "''")}'` : `${of}`;
	const made = all("SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name");
	const rows = made
		.filter(({ type }) => type === "table")
		.flatMap(({ name }) =>
			all(`SELECT * FROM "${name}"`).map(
				(row) =>
					`INSERT INTO ${name} (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).map(value).join(", ")});`,
			),
		);
	const version = all("PRAGMA user_version")[0]?.user_version;
	open.close();
	return [...made.map(({ sql }) => `${sql};`), ...rows, `PRAGMA user_version = ${version};`].join("\n");
}

async function write() {
	for (const [path, text] of Object.entries({
		...agents,
		"agent/subagents.json": `${JSON.stringify({ subagents: settings }, undefined, "\t")}\n`,
		"project/README.md": "# A project\n",
	})) {
		mkdirSync(join(root, path, ".."), { recursive: true });
		writeFileSync(join(root, path), text);
	}
	git("init", "-q", "-b", "main", "--template=");
	git("add", "-A");
	git("commit", "-qm", "begin");
	const { child, value } = await started("conversation");
	const [, working] = value.ready.find((/** @type {string[]} */ run) => run[0] === "working");
	child.kill("SIGSTOP");
	const sender = await started("other", "send", working, "Look at the docs, too.");
	await killed(sender.child);
	await killed(child);
	// The wardens end the children.
	await delay(3_000);
	const here = new URL(".", import.meta.url);
	writeFileSync(
		new URL("runs.sql", here),
		`-- Written by version 0.1.0 (commit 0923902e) at ${Date.now()}; see write.mjs.\n${portable(database())}\n`,
	);
	writeFileSync(new URL("files.json", here), `${JSON.stringify(files(), undefined, "\t")}\n`);
	if (!process.env.KEEP) rmSync(root, { recursive: true, force: true });
	else console.log(root);
}

// The events of the addon keep no process alive.
if (role !== "writer") setInterval(() => {}, 60_000);
await { writer: write, conversation, other }[role]?.();
