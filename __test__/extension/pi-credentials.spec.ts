/** A child's private agent directory and pi: what works in it, what comes back from it, and the lock both sides take. */

import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, readFileSync, renameSync, symlinkSync, utimesSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, before, beforeEach, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import { refreshToken } from "../../extension/refresh.ts";
import { ModelServer, oldestPi, packageDir, piCommand, piVersions, runPrint, say, World } from "../support/pi.ts";

/** Long enough for pi to be a child of somebody who waits, short enough for a test. */
const patienceMs = 20_000;

/** pi's own: from then on the lock of a holder that does not renew it is taken over. */
const staleMs = 30_000;

type Release = () => Promise<void>;

/** The package that both versions of pi take their locks with. */
interface Lockfile {
	lock(file: string, options: { realpath?: boolean; retries: number; stale: number }): Promise<Release>;
	lockSync(file: string, options?: { realpath?: boolean }): () => void;
	check(file: string, options: { realpath?: boolean; stale: number }): Promise<boolean>;
}

const lockfile = createRequire(piCommand(oldestPi)[1])("proper-lockfile") as Lockfile;

/** How each version of pi takes the lock. */
const lockOptions: Record<string, { realpath?: boolean }> = { "0.87.1": { realpath: false }, "1.5.2": {} };

/** The addon's part, driven line by line. */
class Host {
	readonly #child: ChildProcess;
	readonly #answers: AsyncIterator<string>;

	constructor() {
		this.#child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
		if (!this.#child.stdout) throw new Error("no output");
		this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
	}

	async ask(...words: string[]): Promise<string> {
		this.#child.stdin?.write(`${words.join(" ")}\n`);
		const answer = await Promise.race([this.#answers.next(), delay(patienceMs, undefined, { ref: false })]);
		if (!answer || answer.done) throw new Error(`no answer to ${words[0]}`);
		return answer.value;
	}

	async kill(): Promise<void> {
		const gone = once(this.#child, "exit");
		this.#child.kill("SIGKILL");
		await gone;
	}

	async close(): Promise<void> {
		if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
		const gone = once(this.#child, "exit");
		this.#child.stdin?.end();
		await gone;
	}
}

let program = "";

before(
	() => {
		const args = ["build", "--no-default-features", "--example", "private_agent_dir", "--message-format", "json"];
		const output = execFileSync("cargo", args, {
			cwd: packageDir,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
			maxBuffer: 64 * 1024 * 1024,
		});
		const messages = output
			.split("\n")
			.filter(Boolean)
			.map((line) => JSON.parse(line) as { executable?: string | null });
		program = messages.findLast(({ executable }) => executable)?.executable ?? "";
	},
	{ timeout: 600_000 },
);

/** Hands out tokens, each once good for an hour. */
class TokenServer {
	readonly spent: string[] = [];
	/** A refresh waits for it. */
	gate: Promise<void> = Promise.resolve();
	readonly #server: Server;
	#waiting: (() => void) | undefined;
	readonly asked: Promise<void>;

	private constructor() {
		this.asked = new Promise((resolve) => {
			this.#waiting = resolve;
		});
		this.#server = createServer(async (request, response) => {
			const old = decodeURIComponent(request.url?.slice(1) ?? "");
			this.#waiting?.();
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

	async close(): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		this.#server.closeAllConnections();
		await closed;
	}
}

/** An extension that brings a provider to log in to, and asks for a token that is good for longer when it is told to. */
function corporate(modelUrl: string, tokenUrl: string): string {
	return `
import { writeFileSync } from "node:fs";
import { refreshToken } from ${JSON.stringify(join(packageDir, "extension", "refresh.ts"))};
export default function (pi) {
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
	const { TEST_VALID_FOR: validFor, TEST_ANSWER: answer } = process.env;
	if (!validFor) return;
	pi.on("session_start", async (_event, { modelRegistry }) => {
		const begun = performance.now();
		const done = await refreshToken(modelRegistry, "corp", Number(validFor));
		writeFileSync(answer, JSON.stringify({ done, ms: performance.now() - begun }));
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

interface Entry {
	type: string;
	access: string;
	refresh: string;
	expires: number;
	team?: string;
}

for (const version of piVersions) {
	describe(`pi ${version} and a private agent directory`, { timeout: 60_000 }, () => {
		let model: ModelServer;
		let tokens: TokenServer;
		let world: World;
		let host: Host;
		let at: string;

		beforeEach(async () => {
			model = await ModelServer.start(() => [say("Done.")]);
			tokens = await TokenServer.start();
			world = new World({ version, baseUrl: model.baseUrl });
			host = new Host();
			at = join(world.root, "private");
		});

		afterEach(async () => {
			await host.close();
			await world.close();
			await tokens.close();
			await model.close();
		});

		const authFile = () => join(world.agentDir, "auth.json");
		const readAuth = (folder = world.agentDir) =>
			JSON.parse(readFileSync(join(folder, "auth.json"), "utf8")) as Record<string, Entry>;

		function logIn(leftMs: number): Entry {
			world.writeAgentDir("extensions/corp.ts", corporate(model.baseUrl, tokens.url));
			const entry = { type: "oauth", access: "a", refresh: "first", expires: Date.now() + leftMs, team: "x" };
			world.writeAgentDir("auth.json", JSON.stringify({ corp: entry, other: { type: "api_key", key: "k" } }, null, 2));
			return entry;
		}

		async function create(): Promise<void> {
			assert.equal(await host.ask("create", world.agentDir, at), "ok []");
		}

		async function child(args: string[] = []): Promise<void> {
			const env = { PI_CODING_AGENT_DIR: at };
			const { code, stdout, stderr } = await runPrint(world, "Go.", { args, env });
			assert.equal(code, 0, stderr);
			assert.match(stdout, /Done\./);
		}

		test("a child works in it, with the user's context and an extension, and nothing of it stays", async () => {
			world.writeAgentDir("AGENTS.md", "The user's own rule: seven knots.\n");
			world.writeAgentDir("tools-of-mine/knot.ts", tool("knot"));
			// A package that settings name by a path from the agent directory, as `pi install <folder>` writes it.
			const settings = JSON.parse(readFileSync(join(world.agentDir, "settings.json"), "utf8")) as object;
			world.writeAgentDir("settings.json", JSON.stringify({ ...settings, packages: ["../../bowline"] }));
			world.writeAgentDir("../../bowline/extensions/bowline.ts", tool("bowline"));
			await create();
			await child(["-e", join(world.agentDir, "tools-of-mine/knot.ts"), "--tools", "read,knot,bowline"]);
			const [request] = model.requests;
			assert.match(JSON.stringify(request?.messages), /seven knots/);
			assert.deepEqual(request?.tools.map((tool) => tool.function.name).sort(), ["bowline", "knot", "read"]);
			assert.ok(!existsSync(join(world.agentDir, "sessions")), "the child's session is not the user's");
			assert.ok(!existsSync(authFile()), "the child's files are its own");
			assert.equal(await host.ask("drop"), "ok true");
			assert.ok(!existsSync(at));
			assert.ok(existsSync(join(world.agentDir, "tools-of-mine/knot.ts")));
		});

		test("a token that a child refreshes comes back, and nothing else", async () => {
			logIn(60_000);
			await create();
			await child(["--model", "corp/corp-model"]);
			assert.deepEqual(tokens.spent, ["first"]);
			assert.equal(readAuth().corp?.refresh, "first");
			const fresh = readAuth(at).corp;
			assert.equal(await host.ask("give-back", "other"), "ok Refused(NotLoggedIn)");
			assert.equal(await host.ask("give-back", "corp"), "ok Returned");
			const { access, refresh, expires } = fresh ?? {};
			assert.deepEqual(readAuth(), {
				corp: { type: "oauth", access, refresh, expires, team: "x" },
				other: { type: "api_key", key: "k" },
			});
			assert.equal(readFileSync(authFile(), "utf8"), JSON.stringify(readAuth(), null, 2), "written as pi writes it");
			// The user's own pi goes on with it.
			const { code, stderr } = await runPrint(world, "Go.", { args: ["--model", "corp/corp-model"] });
			assert.equal(code, 0, stderr);
			assert.deepEqual(tokens.spent, ["first"]);
		});

		test("a refresh by the user's pi is waited for, so that no spent token is copied", async () => {
			logIn(60_000);
			let open = () => {};
			tokens.gate = new Promise((resolve) => {
				open = resolve;
			});
			const users = runPrint(world, "Go.", { args: ["--model", "corp/corp-model"] });
			await tokens.asked;
			const created = create();
			await delay(300);
			open();
			await created;
			assert.equal(readAuth(at).corp?.refresh, "refresh-1");
			assert.equal((await users).code, 0);
		});

		test("pi waits for our lock", async () => {
			logIn(60_000);
			assert.match(await host.ask("lock", authFile(), "1000"), /^ok /);
			const users = runPrint(world, "Go.", { args: ["--model", "corp/corp-model"] });
			// Longer than pi takes to its first request without us.
			await delay(1_500);
			assert.deepEqual(tokens.spent, []);
			assert.equal(await host.ask("unlock"), "ok true");
			const { code, stderr } = await users;
			assert.equal(code, 0, stderr);
			assert.deepEqual(tokens.spent, ["first"]);
		});

		test("pi refreshes a token early when the host asks for one that is good for longer", async (context) => {
			logIn(600_000);
			const answer = join(world.root, "answer.json");
			const run = async (validForMs: number) => {
				const env = { TEST_VALID_FOR: String(validForMs), TEST_ANSWER: answer };
				const { code, stderr } = await runPrint(world, "Go.", { env });
				assert.equal(code, 0, stderr);
				return JSON.parse(readFileSync(answer, "utf8")) as { done: boolean; ms: number };
			};
			assert.equal((await run(300_000)).done, true);
			assert.deepEqual(tokens.spent, [], "good for long enough");
			const { done, ms } = await run(1_800_000);
			context.diagnostic(`refreshed within ${Math.round(ms)} ms`);
			assert.equal(done, true);
			assert.deepEqual(tokens.spent, ["first"]);
			assert.equal(readAuth().corp?.refresh, "refresh-1");
			assert.equal(readAuth().corp?.team, undefined, "pi stores what the provider returns");
			// Tokens live an hour here: the new one is stored, and it is said that it is too short.
			assert.equal((await run(7_200_000)).done, false);
			assert.deepEqual(tokens.spent, ["first", "refresh-1"]);
		});

		for (const linked of [false, true]) {
			const what = linked ? "linked credentials" : "credentials";
			test(`for ${what}, the package that pi locks with and we exclude each other`, async () => {
				logIn(60_000);
				const file = authFile();
				if (linked) {
					renameSync(file, join(world.root, "dotfiles.json"));
					symlinkSync(join(world.root, "dotfiles.json"), file);
				}
				const options = { ...lockOptions[version], retries: 0, stale: staleMs };
				const locked = (error: unknown) => (error as { code?: string }).code === "ELOCKED";

				const release = await lockfile.lock(file, options);
				assert.match(await host.ask("lock", file, "200"), /^no .*is held by another process/);
				await release();
				assert.match(await host.ask("lock", file, "200"), /^ok /);
				await assert.rejects(lockfile.lock(file, options), locked);
				assert.throws(() => lockfile.lockSync(file, lockOptions[version]), locked);
				assert.equal(await host.ask("unlock"), "ok true");
				await (await lockfile.lock(file, options))();
			});
		}

		test("a dead holder's lock is taken over, by us and from us", async () => {
			logIn(60_000);
			const file = authFile();
			const lock = `${file}.lock`;
			const options = { ...lockOptions[version], retries: 0, stale: staleMs };
			const age = (ms: number) => utimesSync(lock, (Date.now() - ms) / 1000, (Date.now() - ms) / 1000);

			const script = `require(${JSON.stringify(createRequire(piCommand(oldestPi)[1]).resolve("proper-lockfile"))}).lockSync(${JSON.stringify(file)}); process.kill(process.pid, "SIGKILL")`;
			assert.throws(() => execFileSync(process.execPath, ["-e", script], { stdio: "ignore" }));
			assert.ok(lstatSync(lock).isDirectory(), "it died with the lock");
			age(staleMs - 2_000);
			assert.match(await host.ask("lock", file, "200"), /^no /);
			age(staleMs + 1_000);
			assert.match(await host.ask("lock", file, "200"), /^ok /);

			await host.kill();
			assert.equal(await lockfile.check(file, options), true);
			age(staleMs + 1_000);
			await (await lockfile.lock(file, options))();
			assert.ok(!existsSync(lock));
			host = new Host();
		});
	});
}

test("where pi exports no runtime, asking for a token is refused and harms nothing", async () => {
	const registry = {
		getRegisteredNativeProvider: () => undefined,
		getRegisteredProviderConfig: () => undefined,
		getProviderAuth: async () => undefined,
	};
	assert.equal(await refreshToken(registry, "corp", 1_000), false);
});
