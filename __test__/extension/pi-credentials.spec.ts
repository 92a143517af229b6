/** The private agent directory of a real child: working features, returned data, and pi's lock around both. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
	chmodSync,
	existsSync,
	lstatSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	utimesSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { refreshToken } from "../../extension/host/callbacks.ts";
import type { SingleResult } from "../../native.js";
import {
	call,
	delegate,
	eventually,
	lastEnd,
	type ModelRequest,
	makeGate,
	newestPi,
	oldestPi,
	piCommand,
	piVersions,
	type RpcSession,
	runOf,
	runPrint,
	Stage,
	type Step,
	say,
	startRpc,
	survivors,
	until,
} from "../support/pi.ts";
import { allows } from "../support/warden.ts";

/** Longer than any step here takes, short enough for a test. */
const patienceMs = 30_000;

/** Longer than an impatient host would wait for the lock. */
const restlessMs = 800;

/** pi's own: from then on the lock of a holder that does not renew it is taken over. */
const staleMs = 30_000;

const minuteMs = 60_000;

/** The time limit of the pi of all tests of one version. */
const hostLimitMs = 3 * minuteMs;

/** The package that both versions of pi take their locks with. */
interface Lockfile {
	lock(file: string, options: { realpath?: boolean; stale: number }): Promise<() => Promise<void>>;
}

const lockfilePath = createRequire(piCommand(oldestPi)[1]).resolve("proper-lockfile");
const lockfile = createRequire(import.meta.url)(lockfilePath) as Lockfile;

/** The lock options of each version of pi. */
const lockOptions: Record<string, { realpath?: boolean }> = { [oldestPi]: { realpath: false }, [newestPi]: {} };

/** Hands out tokens, each once good for an hour. */
class TokenServer {
	spent: string[] = [];
	/** A refresh waits for it. */
	gate: Promise<void> = Promise.resolve();
	/** Opens when a process wants a token. */
	asked = makeGate();
	readonly #server: Server;

	private constructor() {
		this.#server = createServer(async (request, response) => {
			const old = decodeURIComponent(request.url?.slice(1) ?? "");
			this.asked.open();
			await this.gate;
			this.spent.push(old);
			const count = this.spent.length;
			const token = { access: `access-${count}`, refresh: `refresh-${count}`, expires: Date.now() + 3_600_000 };
			response.end(JSON.stringify(token));
		});
	}

	static async start(): Promise<TokenServer> {
		const server = new TokenServer();
		server.#server.listen(0, "127.0.0.1");
		await once(server.#server, "listening");
		return server;
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
	}

	/** Begins anew for the next test. */
	reset(): void {
		this.spent = [];
		this.gate = Promise.resolve();
		this.asked = makeGate();
	}

	async close(): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		this.#server.closeAllConnections();
		await closed;
	}
}

/** An extension that brings a provider to log in to, and runs the commands of its child's model as pi itself could. */
function corporate(modelUrl: string, tokenUrl: string): string {
	return `
import { execFileSync } from "node:child_process";
export default function (pi) {
	pi.on("tool_call", ({ toolName, input }) => {
		if (toolName !== "bash") return;
		return { block: true, reason: execFileSync("sh", ["-c", input.command], { encoding: "utf8" }) };
	});
	pi.registerProvider("corp", {
		name: "Corporate", baseUrl: ${JSON.stringify(modelUrl)}, api: "openai-completions",
		models: [{ id: "corp-model", name: "Corp", reasoning: false, input: ["text"], contextWindow: 100000, maxTokens: 1000,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
		oauth: {
			name: "Corporate (SSO)",
			async login() { throw new Error("nobody is here"); },
			async refreshToken({ refresh }) {
				return await (await fetch(${JSON.stringify(tokenUrl)} + encodeURIComponent(refresh))).json();
			},
			getApiKey: ({ access }) => access,
		},
	});
}
`;
}

/** An extension with one tool. */
function tool(name: string): string {
	return `export default (pi) => pi.registerTool({ name: "${name}", label: "A knot", description: "Ties",
	parameters: { type: "object", properties: {} }, async execute() { return { content: [], details: {} }; } });
`;
}

/** Adds a user's data that a child needs too. */
function bring({ world }: Stage): void {
	world.writeAgentDir("AGENTS.md", "The user's own rule: seven knots.\n");
	world.writeAgentDir("extensions/knot.ts", tool("web_search"));
	// A package that settings name by a path from the agent directory, as `pi install <folder>` writes it.
	const settings = JSON.parse(readFileSync(join(world.agentDir, "settings.json"), "utf8")) as object;
	world.writeAgentDir("settings.json", JSON.stringify({ ...settings, packages: ["../../bowline"] }));
	world.writeAgentDir("../../bowline/extensions/bowline.ts", tool("fetch_content"));
	world.writeAgentDir(
		"agents/knotter.md",
		"---\nname: knotter\ndescription: Ties\ntools: read, web_search, fetch_content\n---\nTie.\n",
	);
}

interface Entry {
	type: string;
	access?: string;
	refresh?: string;
	expires?: number;
	team?: string;
	key?: string;
}

type Credentials = Record<string, Entry>;

/** A command that changes the credentials in the child's own agent directory, and plants an extension there. */
function plant(change: string): string {
	const program = `
const { readFileSync, rmSync, mkdirSync, writeFileSync } = require("fs");
const own = process.env.PI_CODING_AGENT_DIR;
const auth = JSON.parse(readFileSync(own + "/auth.json", "utf8"));
${change}
writeFileSync(own + "/auth.json", JSON.stringify(auth));
rmSync(own + "/extensions");
mkdirSync(own + "/extensions");
writeFileSync(own + "/extensions/planted.ts", "export default () => {};");
let refused = "";
try { writeFileSync(own + "/settings.json", "{}"); } catch ({ code }) { refused = code; }
console.log("settings", refused, "planted");`;
	return `node -e '${program}'`;
}

/** Everything that must not come back, next to a token that may. */
const greedy = `
auth.planted = { type: "api_key", key: "k" };
auth.other.key = "!touch planted";
auth.second = { ...auth.second, access: "theirs", expires: auth.second.expires + 1 };
auth.corp = { ...auth.corp, team: "y", key: "k", env: { PATH: "/" }, type: "oauth" };`;

/** A token of another account, in the place of a valid one. */
const stranger = `auth.corp = { ...auth.corp, access: "theirs", refresh: "theirs", expires: auth.corp.expires + 1 };`;

/** A token that would be a command where pi takes it for a key. */
const command = `auth.corp = { ...auth.corp, access: "!touch planted", expires: auth.corp.expires + 1 };`;

/** A child's steps when it asks its model. */
type Answer = (request: ModelRequest) => Step[] | Promise<Step[]>;

const done: Answer = () => [say("Done.")];

/** A user who is logged in to a provider whose model the children use, and a pi of theirs that starts them. */
class Login {
	readonly stage: Stage;
	readonly tokens: TokenServer;
	readonly rpc: RpcSession;
	readonly file: string;
	/** The children's own credentials at the time of their requests. */
	copies: Credentials[] = [];
	/** The directories of the runs. */
	runs: string[] = [];
	/** The steps of a child with the task `go`. */
	answer = done;

	private constructor(stage: Stage, tokens: TokenServer) {
		const { world, server } = stage;
		this.stage = stage;
		this.tokens = tokens;
		this.file = join(world.agentDir, "auth.json");
		world.writeAgentDir("extensions/corp.ts", corporate(server.baseUrl, tokens.url));
		bring(stage);
		// A login is present when pi starts, and has its final value later.
		this.write(60 * minuteMs);
		this.rpc = startRpc(world, { limitMs: hostLimitMs });
	}

	static async open(version: string): Promise<Login> {
		const go: Answer = async (request) => {
			login.note();
			return await login.answer(request);
		};
		const login = new Login(await Stage.open({ version, children: { go } }), await TokenServer.start());
		await login.rpc.send({ type: "get_state" });
		return login;
	}

	/** Begins anew for the next test. */
	reset(): void {
		rmSync(this.ownFile, { force: true });
		this.tokens.reset();
		this.copies = [];
		this.runs = [];
		this.answer = done;
	}

	async close(): Promise<void> {
		try {
			await this.stage.close();
		} finally {
			await this.tokens.close();
		}
	}

	/** Returns the path of an agent's own credentials. */
	get ownFile(): string {
		return join(this.stage.world.agentDir, "subagents", "auth", "explorer.json");
	}

	/** The user's credentials. */
	get stored(): Credentials {
		return credentialsIn(this.file);
	}

	get storedText(): string {
		return readFileSync(this.file, "utf8");
	}

	/** Writes the credentials; the token is good for so long. */
	write(leftMs: number): Credentials {
		const expires = Date.now() + leftMs;
		const credentials = {
			corp: { type: "oauth", access: "a", refresh: "first", expires, team: "x" },
			other: { type: "api_key", key: "k" },
			second: { type: "oauth", access: "b", refresh: "unused", expires },
		};
		// A link would be written through.
		rmSync(this.file, { force: true });
		this.stage.world.writeAgentDir("auth.json", JSON.stringify(credentials, null, 2));
		return credentials;
	}

	/** Without a time limit, an expiring token is not refreshed for a child. */
	configure(timeoutMs: number): void {
		this.stage.configure({ model: "corp/corp-model", inheritExtensions: "all", timeoutMs });
	}

	/** Notes the credentials of the child that asks its model. */
	note(): void {
		const run = this.stage.runDirectory();
		if (!this.runs.includes(run)) this.runs.push(run);
		this.copies.push(credentialsIn(join(this.stage.childAgentDir(), "auth.json")));
	}

	async delegate(task = "go"): Promise<SingleResult> {
		await this.rpc.prompt(delegate({ agent: "explorer", task }), patienceMs);
		const run = runOf(lastEnd(this.rpc.log));
		assert.equal(run.outcome, "completed", run.error);
		return run;
	}

	/** Lets the user's own pi ask the provider's model. */
	async use(): Promise<void> {
		const { code, stdout, stderr } = await runPrint(this.stage.world, "Go.", { args: ["--model", "corp/corp-model"] });
		assert.deepEqual([code, stdout], [0, "Yes.\n"], stderr);
	}

	/** Waits until only pi itself remains, so that the child's run has almost ended. */
	async childIsGone(): Promise<void> {
		// Its warden stays until the host has read the files that it needs.
		const others = () =>
			survivors(this.stage.world.mark).filter(({ command }) => !command.includes("pi-subagent-warden"));
		await eventually(() => others().length <= 1, "the end of the child");
	}
}

function credentialsIn(file: string): Credentials {
	return JSON.parse(readFileSync(file, "utf8")) as Credentials;
}

/** Returns a user's credentials after a token has come back: the rest is unchanged. */
function withToken(before: Credentials, token: number, expires: number | undefined): Credentials {
	const { corp } = before;
	return { ...before, corp: { ...corp, access: `access-${token}`, refresh: `refresh-${token}`, expires } as Entry };
}

/** A child whose pi plants something in its own directory, which its shell cannot, once it has asked its model. */
function planting(change: string): Answer {
	return ({ toolAnswers: [answer] }) => {
		if (!answer) return [call("bash", { command: plant(change) })];
		assert.match(answer.text, allows("mount-ns") ? /settings EROFS planted\s*$/ : /planted\s*$/);
		return [say("Done.")];
	};
}

/** Returns the caller's notices about credentials. */
function notices({ diagnostics = [] }: SingleResult): string[] {
	return diagnostics.filter((line) => !line.includes("`lsp` was dropped"));
}

/** The caller's notice when a child's new token is saved. */
const renewed = ["the child renewed the expiring login for `corp`, and its new token is now in your credentials"];

/** Only the run's session remains, and no file of the child's is in the user's directory. */
function assertNothingPlanted(login: Login): void {
	const [run = ""] = login.runs;
	const { agentDir } = login.stage.world;
	assert.deepEqual(readdirSync(run), ["session.jsonl"]);
	assert.deepEqual(readdirSync(join(agentDir, "extensions")), ["corp.ts", "knot.ts"]);
	assert.ok(existsSync(join(agentDir, "settings.json")));
	assert.notEqual(readFileSync(join(agentDir, "settings.json"), "utf8"), "{}");
}

for (const version of piVersions) {
	const skip = !allows("landlock") && "no sandbox here, so no private agent directory";
	describe(`credentials in pi ${version}`, { skip }, () => {
		let login: Login;
		before(async () => {
			login = await Login.open(version);
		});
		beforeEach(() => login.reset());
		after(() => login.close());

		test("a child works with the user's context, extensions and packages, and none of its own files remain", async () => {
			login.stage.configure({ inheritExtensions: "all" });
			await login.rpc.prompt(delegate({ agent: "knotter", task: "say hello" }));
			const run = runOf(lastEnd(login.rpc.log));
			assert.deepEqual([run.outcome, run.output, run.diagnostics], ["completed", "hello", undefined]);
			const request = login.stage.childRequests().at(-1);
			assert.match(request?.systemText ?? "", /seven knots/);
			assert.deepEqual(request?.toolNames.toSorted(), ["fetch_content", "read", "web_search"]);
			assert.deepEqual(readdirSync(join(run.sessionFile ?? "", "..")), ["session.jsonl"]);
		});

		test("an agent's own credentials have precedence, and its token is written back to its source", async () => {
			const { stage, tokens, ownFile } = login;
			const before = login.write(60 * minuteMs);
			const own: Credentials = {
				corp: { type: "oauth", access: "own", refresh: "own-first", expires: Date.now() + minuteMs },
				scripted: { type: "api_key", key: "own-key" },
			};
			stage.world.writeAgentDir("subagents/auth/explorer.json", JSON.stringify(own));
			chmodSync(ownFile, 0o600);
			login.configure(0);
			assert.deepEqual(notices(await login.delegate()), renewed);
			assert.deepEqual(tokens.spent, ["own-first"], "only the child has refreshed the token");
			const [copy] = login.copies;
			assert.equal(copy?.other?.key, "k", "the user's key applies if the agent has none");
			assert.deepEqual(login.stored, before);
			assert.deepEqual(credentialsIn(ownFile).corp?.refresh, "refresh-1");
			assert.deepEqual(stage.childRequests().at(-1)?.authorization, "Bearer access-1");
			// Before the key of models.json, and for a child that is not confined, too.
			stage.configure({ sandbox: { mode: "off" } });
			await login.delegate();
			assert.deepEqual(stage.childRequests().at(-1)?.authorization, "Bearer own-key");
			chmodSync(ownFile, 0o644);
			const [notice = ""] = notices(await login.delegate()).filter((line) => line.includes("auth"));
			assert.match(notice, /explorer\.json`: its mode is 644; expected 600/);
			assert.deepEqual(stage.childRequests().at(-1)?.authorization, "Bearer scripted-key");
			assert.deepEqual(stage.parentRequests().at(-1)?.authorization, "Bearer scripted-key");
		});

		test("a token that a child exchanged for a good one is rejected, with a notice", async () => {
			// Good for long enough for the run's limit, and for pi itself.
			login.configure(2 * minuteMs);
			login.write(10 * minuteMs);
			const before = login.storedText;
			login.answer = planting(stranger);
			const run = await login.delegate();
			assert.deepEqual(login.tokens.spent, [], "no process refreshed the token");
			assert.equal(notices(run).length, 1);
			assert.match(notices(run)[0] ?? "", /`corp` was not saved: the copied token is valid for another 9 minutes/);
			assert.equal(login.storedText, before);
			assertNothingPlanted(login);
		});

		test("a token that pi would run as a command is rejected, with a notice", async () => {
			login.configure(0);
			login.write(minuteMs);
			const before = login.storedText;
			login.answer = planting(command);
			const run = await login.delegate();
			assert.equal(notices(run).length, 1);
			assert.match(notices(run)[0] ?? "", /new token for `corp` was not saved: .*would be a command/);
			assert.equal(login.storedText, before);
			assertNothingPlanted(login);
		});

		test("the host refreshes a token once that would expire within the run's limit", async () => {
			const { tokens } = login;
			// Not so soon that pi itself would refresh it.
			login.write(10 * minuteMs);
			// Tokens live an hour here, so the new one is not good for long enough either; asking again is of no use.
			login.configure(120 * minuteMs);
			await login.delegate();
			await login.delegate();
			assert.deepEqual(tokens.spent, ["first"]);
			assert.equal(login.copies.at(-1)?.corp?.refresh, "refresh-1", "the token was refreshed before it was copied");
			assert.equal(login.stored.corp?.refresh, "refresh-1");
			assert.equal(login.stored.corp?.team, undefined, "pi itself has stored the refreshed token");
		});

		test("a refresh by another pi of the user is waited for, so that no spent token is copied", async () => {
			const { tokens, stage } = login;
			login.configure(0);
			login.write(minuteMs);
			// Of a login that has changed its pi takes note first, for which it needs the lock.
			await login.rpc.prompt("Look.");
			const gate = makeGate();
			tokens.gate = gate.opened;
			const users = login.use();
			await tokens.asked.opened;
			const from = stage.server.requests.length;
			const run = login.delegate("go when they are done");
			await stage.server.waitFor(({ userText }) => userText.includes("when they are done"));
			await delay(restlessMs);
			assert.equal(stage.childRequests(from).length, 0);
			gate.open();
			await Promise.all([run, users]);
			assert.deepEqual(tokens.spent, ["first"]);
			assert.equal(login.copies[0]?.corp?.refresh, "refresh-1");
		});

		for (const linked of [false, true]) {
			const what = linked ? "linked credentials" : "credentials";
			test(`only a token that a child refreshes is written back to ${what}, and only without pi's lock`, async () => {
				const locked = makeGate();
				let release: (() => Promise<void>) | undefined;
				login.answer = async (request) => {
					const steps = await planting(greedy)(request);
					if (request.toolAnswers.length === 0) return steps;
					release = await lockfile.lock(login.file, { ...lockOptions[version], stale: staleMs });
					locked.open();
					return steps;
				};
				login.configure(0);
				const before = login.write(minuteMs);
				const target = join(login.stage.world.root, "dotfiles.json");
				if (linked) {
					renameSync(login.file, target);
					symlinkSync(target, login.file);
				}
				const ends = () => login.rpc.log.toolEnds("subagent").length;
				const endsBefore = ends();
				const run = login.delegate();
				await Promise.race([locked.opened, run]);
				await login.childIsGone();
				await delay(restlessMs);
				assert.deepEqual(login.stored, before);
				assert.equal(ends(), endsBefore, "the run waits for the lock");
				await release?.();
				assert.deepEqual(notices(await run), renewed);
				assert.deepEqual(login.tokens.spent, ["first"], "only the child has refreshed the token");
				const [, copy] = login.copies;
				assert.deepEqual(
					[copy?.other?.key, copy?.planted?.key],
					["!touch planted", "k"],
					"the child's copy contains the planted keys",
				);
				assert.deepEqual(login.stored, withToken(before, 1, copy?.corp?.expires));
				assert.equal(login.storedText, JSON.stringify(login.stored, null, 2), "the file has the format of pi");
				assertNothingPlanted(login);
				assert.equal(lstatSync(login.file).isSymbolicLink(), linked);
				for (const file of [login.file, target]) assert.ok(!existsSync(`${file}.lock`));
				if (linked) return;
				// The user's own pi goes on with it.
				await login.use();
				assert.deepEqual(login.tokens.spent, ["first"]);
			});
		}

		// The host alone takes it over, and every pi makes its lock in the same way.
		if (version !== newestPi) return;
		test("a dead holder's lock is taken over once it is stale", async () => {
			/** The remaining time until the lock is stale when the child answers. */
			const leftMs = 2_500;
			const asked = makeGate();
			const gate = makeGate();
			login.answer = () => {
				asked.open();
				return [until(gate.opened), say("Done.")];
			};
			login.configure(0);
			const before = login.write(minuteMs);
			const run = login.delegate();
			await Promise.race([asked.opened, run]);
			const [node] = piCommand(version);
			const script = `require(${JSON.stringify(lockfilePath)}).lockSync(${JSON.stringify(login.file)}); process.kill(process.pid, "SIGKILL")`;
			assert.throws(() => execFileSync(node, ["-e", script], { stdio: "ignore" }));
			const lock = `${login.file}.lock`;
			assert.ok(lstatSync(lock).isDirectory(), "the lock of the dead holder exists");
			const taken = (Date.now() - staleMs + leftMs) / 1000;
			utimesSync(lock, taken, taken);
			const answered = performance.now();
			gate.open();
			assert.deepEqual(notices(await run), renewed);
			const waited = performance.now() - answered;
			assert.ok(waited > leftMs - 20, `the lock was taken over after ${waited} ms`);
			assert.deepEqual(login.stored, withToken(before, 1, login.copies[0]?.corp?.expires));
			assert.ok(!existsSync(lock));
		});
	});
}

test("a pi without an exported runtime refuses a token request without harm", async () => {
	const registry = {
		getRegisteredNativeProvider: () => undefined,
		getRegisteredProviderConfig: () => undefined,
		getProviderAuth: async () => undefined,
	};
	assert.equal(await refreshToken(() => registry, "corp", 1_000), false);
});
