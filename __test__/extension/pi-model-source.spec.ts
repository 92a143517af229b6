/** Models and keys that only the host's command line brings: children of real pi get them, or the call is refused first. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
	delegate,
	detailsOf,
	lastEnd,
	model,
	onStage,
	piVersions,
	provider,
	runJson,
	runOf,
	runPrint,
	type Stage,
	type StageOptions,
	say,
	survivors,
	textOf,
} from "../support/pi.ts";

const request = delegate({ agent: "explorer", task: "say hello" });
const corpModel = ["--model", "corp/corp-model"];

/** An extension that adds its name to the system prompt. */
function noting(name: string, more = ""): string {
	return `export default (pi) => {
	pi.on("before_agent_start", (event) => ({ systemPrompt: event.systemPrompt + "\\nHere is ${name}." }));
	${more}
};
`;
}

/** An extension that also registers a provider. */
function corporate({ server: { baseUrl } }: Stage): string {
	return noting(
		"corp",
		`pi.registerProvider("corp", {
		name: "Corporate", baseUrl: ${JSON.stringify(baseUrl)}, api: "openai-completions", apiKey: "key",
		models: [{ id: "corp-model", name: "Corp", reasoning: false, input: ["text"], contextWindow: 100000, maxTokens: 1000,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
	});`,
	);
}

/** The models and extensions of all children. */
function children(stage: Stage): [model: string, extensions: string[]][] {
	const extensions = (text: string) => [...text.matchAll(/Here is (\w+)\./g)].map(([, name = ""]) => name);
	return stage.childRequests().map(({ model, systemText }) => [model, extensions(systemText)]);
}

/** Puts an extension where pi keeps a package that its command line names. */
function installTemporarily({ world }: Stage, name: string, text: string): void {
	const kind = createHash("sha256").update("npm-").digest("hex").slice(0, 8);
	const folder = join(world.agentDir, "tmp", "extensions", "npm", kind, "node_modules", name);
	mkdirSync(folder, { recursive: true });
	writeFileSync(
		join(folder, "package.json"),
		JSON.stringify({ name, version: "1.0.0", pi: { extensions: ["./a.ts"] } }),
	);
	writeFileSync(join(folder, "a.ts"), text);
}

/** Every way in which a command line brings a provider, as the arguments for it. */
const ways: [way: string, place: (stage: Stage) => string[]][] = [
	[
		"a relative path",
		(stage) => {
			stage.world.write("tools/corp.ts", corporate(stage));
			return ["-e", "tools/corp.ts"];
		},
	],
	[
		"a package of npm",
		(stage) => {
			installTemporarily(stage, "corp", corporate(stage));
			return ["--extension", "npm:corp"];
		},
	],
	[
		"a trusted project's directory",
		(stage) => {
			stage.world.write(".pi/extensions/corp.ts", corporate(stage));
			return ["--approve"];
		},
	],
];

for (const version of piVersions) {
	const staged = (options: StageOptions, work: (stage: Stage) => Promise<void>) =>
		onStage({ version, ...options }, work);

	describe(`a model from an extension of the command line, pi ${version}`, () => {
		for (const [way, place] of ways) {
			test(`is known to a child whose host has it from ${way}`, async () => {
				await staged({}, async (stage) => {
					const args = [...place(stage), ...corpModel];
					const { log, stderr } = await runJson(stage.world, request, { args });
					assert.equal(textOf(lastEnd(log)), "hello", stderr);
					assert.deepEqual(children(stage), [["corp-model", ["corp"]]]);
				});
			});
		}

		test("is known to a child of `--no-extensions`, which loads nothing else", async () => {
			await staged({}, async (stage) => {
				stage.world.writeAgentDir("extensions/other.ts", noting("other"));
				const corp = stage.world.write("corp.ts", corporate(stage));
				const args = ["--no-extensions", "-e", corp, ...corpModel];
				const { log, stderr } = await runJson(stage.world, request, { args });
				assert.equal(textOf(lastEnd(log)), "hello", stderr);
				assert.deepEqual(children(stage), [["corp-model", ["corp"]]]);
			});
		});

		test("refuses the call before the start if the extension's file is missing", async () => {
			let remove = () => {};
			const Remove = () => {
				remove();
				return [say("Removed.")];
			};
			await staged({ children: { Remove } }, async (stage) => {
				const corp = stage.world.write("corp.ts", corporate(stage));
				remove = () => rmSync(corp);
				const args = ["-e", corp, ...corpModel, "Remove it"];
				const { log } = await runJson(stage.world, request, { args });
				const end = lastEnd(log);
				assert.deepEqual([end.isError, detailsOf(end).error?.code], [true, "INVALID_INPUT"]);
				assert.match(textOf(end), /model `corp\/corp-model` comes from an extension.*corp\.ts` no longer exists/);
				assert.equal(stage.childRequests().filter(({ userText }) => userText === "say hello").length, 0);
			});
		});

		test("refuses the call before the start if the configuration lets children load no extension", async () => {
			await staged({}, async (stage) => {
				stage.configure({ inheritExtensions: "none" });
				const corp = stage.world.write("corp.ts", corporate(stage));
				const args = ["-e", corp, ...corpModel];
				const { log } = await runJson(stage.world, request, { args });
				assert.match(textOf(lastEnd(log)), /model `corp\/corp-model` comes from an extension.*`inheritExtensions`/);
				assert.deepEqual(children(stage), []);
				const { stdout } = await runPrint(stage.world, "/subagents doctor", { args });
				assert.match(stdout, /^⚠ .*model `corp\/corp-model` comes from an extension.*`inheritExtensions`/m);
			});
		});
	});

	describe(`a key of the command line, pi ${version}`, () => {
		const key = "made-up-$HOME-key-0123456789";
		const withKey = ["--api-key", key, "--model", `${provider}/${model}`];

		test("reaches the child, is redacted, and is in no argument and no variable", async () => {
			let seen = "";
			const record = () => {
				const processes = survivors(mark).filter(({ command }) => !command.includes("--api-key"));
				const read = ({ pid, command }: { pid: number; command: string }) => {
					try {
						return `${command}\n${readFileSync(`/proc/${pid}/environ`, "utf8")}`;
					} catch {
						return command; // The process has ended in the meantime.
					}
				};
				seen = processes.map(read).join("\n");
				return [say(`The key is ${key}.`)];
			};
			let mark = "";
			await staged({ children: { tell: record } }, async (stage) => {
				mark = stage.world.mark;
				const prompt = delegate({ agent: "explorer", task: "tell me" });
				const { log, stderr } = await runJson(stage.world, prompt, { args: withKey });
				const end = lastEnd(log);
				assert.equal(runOf(end).exitCode, 0, `${textOf(end)} ${stderr}`);
				const [child] = stage.childRequests();
				assert.equal(child?.authorization, `Bearer ${key}`);
				assert.doesNotMatch(JSON.stringify(end), /made-up-/);
				assert.match(textOf(end), /The key is \[.*\]/);
				assert.match(seen, /PI_SUBAGENT_CHILD=1/);
				assert.doesNotMatch(seen, /made-up-/);
			});
		});

		test("overrides the stored login, and is overridden by the agent's own", async () => {
			await staged({}, async (stage) => {
				const stored = (name: string) => JSON.stringify({ [provider]: { type: "api_key", key: name } });
				stage.world.writeAgentDir("auth.json", stored("stored"));
				const child = async () => {
					const from = stage.server.requests.length;
					await runJson(stage.world, request, { args: withKey });
					return stage.childRequests(from)[0]?.authorization;
				};
				assert.equal(await child(), `Bearer ${key}`);
				const own = stage.world.writeAgentDir("subagents/auth/explorer.json", stored("own"));
				chmodSync(own, 0o600);
				assert.equal(await child(), "Bearer own");
				assert.equal(readFileSync(join(stage.world.agentDir, "auth.json"), "utf8"), stored("stored"));
			});
		});

		test("reaches a child without a sandbox and one in the background", async () => {
			await staged({}, async (stage) => {
				stage.configure({ sandbox: "off" });
				await runJson(stage.world, request, { args: withKey });
				assert.equal(stage.childRequests()[0]?.authorization, `Bearer ${key}`);
				const { stdout } = await runPrint(stage.world, "/subagents doctor", { args: withKey });
				assert.match(stdout, /`scripted`.*`--api-key`/);
				assert.doesNotMatch(stdout, /made-up-/);
				const from = stage.server.requests.length;
				await runPrint(stage.world, "/subagents run explorer say hello", { args: withKey });
				assert.equal(stage.childRequests(from)[0]?.authorization, `Bearer ${key}`);
			});
		});
	});
}
