/**
 * A child of real pi makes no network requests by itself. A pi driven by commands refreshes the tokens of all logins at
 * its start; in a sandboxed child's copy of them that would log the user out.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
	eventually,
	finish,
	lastEnd,
	makeGate,
	onStage,
	piCommand,
	piVersions,
	runOf,
	type Stage,
	say,
	startJson,
	startRpc,
	until,
} from "../support/pi.ts";
import { piece } from "../support/pieces.ts";
import { differences, type Snapshot, snapshot } from "../support/snapshot.ts";
import { allows } from "../support/warden.ts";

/** Several times the time in which a pi refreshes tokens at its start. */
const restlessMs = 800;

/** A login whose token has expired. */
const stale = { gateway: { type: "oauth", access: "old", refresh: "first", expires: Date.now() - 60_000 } };

/** Says that a child is up, where any child may write. */
const witness = `module.exports = () => {
	if (process.env.PI_SUBAGENT_CHILD) require("node:fs").writeFileSync(process.env.TMPDIR + "/up", "");
};
`;

/** Serves a provider that pi logs in to and asks for its models, and notes each request. */
class Gateway {
	readonly requests: string[] = [];
	readonly asked: Promise<void>;
	readonly #server: Server;

	private constructor() {
		const asked = Promise.withResolvers<void>();
		this.asked = asked.promise;
		this.#server = createServer(({ method, url }, response) => {
			this.requests.push(`${method} ${url}`);
			asked.resolve();
			const token = { access_token: "new", refresh_token: "second", expires_in: 3_600 };
			response.end(JSON.stringify(method === "POST" ? token : { baseUrl: this.url, models: [] }));
		});
	}

	static async start(): Promise<Gateway> {
		const gateway = new Gateway();
		gateway.#server.listen(0, "127.0.0.1");
		await once(gateway.#server, "listening");
		return gateway;
	}

	get url(): string {
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	async close(): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		this.#server.closeAllConnections();
		await closed;
	}
}

/** Logs the user in to a provider that no run uses, with a pi that may use the network. */
function logIn({ world }: Stage, gateway: Gateway): string {
	const models = JSON.parse(readFileSync(join(world.agentDir, "models.json"), "utf8")) as { providers: object };
	const provider = { name: "Gateway", baseUrl: `${gateway.url}/v1`, oauth: "radius" };
	world.writeAgentDir("models.json", JSON.stringify({ providers: { ...models.providers, gateway: provider } }));
	delete world.env.PI_OFFLINE;
	return world.writeAgentDir("auth.json", JSON.stringify(stale));
}

/** The programs behind `grep` and `find`, as pi has fetched them, or nowhere to be found. */
function provide({ world }: Stage, there: boolean): void {
	if (there) {
		for (const name of ["rg", "fd"]) chmodSync(world.writeAgentDir(`bin/${name}`, "#!/bin/sh\n"), 0o755);
		return;
	}
	const [node] = piCommand(world.version);
	const folder = join(world.root, "bin");
	mkdirSync(folder);
	symlinkSync(node, join(folder, "node"));
	world.env.PATH = folder;
}

/** Returns all files except those of conversations, of this package, and of sandboxed children. */
function files({ world }: Stage): Snapshot {
	const places = readdirSync(world.tmp).filter((name) => name.startsWith("pi-subagent-") || name === "up");
	const without = [
		...["sessions", "subagents"].map((name) => join(world.agentDir, name)),
		...places.map((name) => join(world.tmp, name)),
	];
	const all = snapshot([world.home, world.cwd, world.tmp], without);
	return new Map([...all].filter(([, line]) => line.startsWith("mode 100")));
}

/** Returns true if a child is running, sandboxed or not. */
function isUp({ world }: Stage): boolean {
	const places = readdirSync(world.tmp).filter((name) => name.startsWith("pi-subagent-"));
	return ["", ...places].some((name) => existsSync(join(world.tmp, name, "up")));
}

interface Case {
	label: string;
	sandboxed: boolean;
	/** True if nothing has to be fetched. */
	complete: boolean;
}

const cases: Case[] = [
	{ label: "in the sandbox", sandboxed: true, complete: true },
	{ label: "outside of it", sandboxed: false, complete: true },
	{ label: "in the sandbox, although it might have to fetch a program", sandboxed: true, complete: false },
	{ label: "outside of it, although it might have to fetch a program", sandboxed: false, complete: false },
];

for (const version of piVersions) {
	describe(`an unused login, in pi ${version}`, () => {
		test("is used by any pi that takes commands and may use the network", async () => {
			const gateway = await Gateway.start();
			try {
				await onStage({ version, load: "none" }, async (stage) => {
					const auth = logIn(stage, gateway);
					const rpc = startRpc(stage.world);
					await gateway.asked;
					await eventually(() => readFileSync(auth, "utf8").includes("second"), "the refreshed token");
					await rpc.close();
				});
			} finally {
				await gateway.close();
			}
		});

		for (const { label, sandboxed, complete } of cases) {
			const skip = sandboxed && !allows("landlock") && "no sandbox here";
			test(`is not used by a spare child and its run, ${label}`, { skip }, async () => {
				const gateway = await Gateway.start();
				const [begin, go] = [makeGate(), makeGate()];
				const children = {
					wait: ({ toolAnswers }: { toolAnswers: unknown[] }) => {
						if (toolAnswers.length > 0) return [say("Done.")];
						const head = piece(0, { id: "call", name: "subagent", args: '{"agent":"explorer","task":"lin' });
						const tail = piece(0, { args: 'ger"}' });
						return [until(begin.opened), head, until(go.opened), tail, finish("tool_calls")];
					},
					linger: async () => {
						await delay(restlessMs);
						return [say("I have lingered.")];
					},
				};
				try {
					await onStage({ version, children }, async (stage) => {
						const { world } = stage;
						const auth = logIn(stage, gateway);
						provide(stage, complete);
						const inheritExtensions = [world.writeAgentDir("witness.cjs", witness)];
						stage.configure({ sandbox: sandboxed ? "required" : "off", inheritExtensions });
						// In this mode pi itself asks for nothing at its start.
						const { log, finished } = startJson(world, "wait");
						await stage.server.waitFor(({ userText }) => userText === "wait");
						const before = files(stage);
						begin.open();
						await eventually(() => isUp(stage), "the start of the child before its call is complete");
						await delay(restlessMs);
						assert.deepEqual(gateway.requests, []);
						assert.deepEqual(differences(before, files(stage)), []);
						if (sandboxed) {
							const copy = readFileSync(join(stage.childAgentDir(), "auth.json"), "utf8");
							assert.deepEqual(JSON.parse(copy), stale);
						}
						go.open();
						await finished;
						const run = runOf(lastEnd(log));
						assert.deepEqual([run.outcome, run.output], ["completed", "I have lingered."], run.error);
						assert.deepEqual(gateway.requests, []);
						assert.equal(readFileSync(auth, "utf8"), JSON.stringify(stale));
					});
				} finally {
					await gateway.close();
				}
			});
		}
	});
}
