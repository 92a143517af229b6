/** Permission hooks: children that may write refuse the same calls as the user's extensions in real pi. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";

import { doctor } from "../../native.js";
import {
	backgroundStage,
	call,
	delegate,
	lastEnd,
	type ModelRequest,
	packageDir,
	piVersions,
	type RpcSession,
	runPrint,
	Stage,
	say,
	says,
	spawn,
	startRpc,
	textOf,
	type UiAnswer,
	type UiRequest,
} from "../support/pi.ts";
import { allows } from "../support/warden.ts";

/** Refuses `shred`. */
const secondHook = `export default (pi) => {
	pi.on("tool_call", ({ input }) => (/shred/.test(input.command) ? { block: true, reason: "No shredding." } : undefined));
};
`;

/** Refuses `rm -rf`, and asks where the command says so. */
const hook = `export default (pi) => {
	pi.on("tool_call", async ({ toolName, input }, { ui }) => {
		if (toolName !== "bash" || !input.command.includes("rm -rf")) return undefined;
		if (input.command.includes("kept") && (await ui.confirm("Dangerous", input.command))) return undefined;
		return { block: true, reason: "The hook says no." };
	});
};
`;

const worker = "---\nname: worker\nreadonly: false\ndescription: Works.\ntools: read, bash\n---\nWork.\n";

/** A child that runs commands in sequence and reports their results. */
const runs =
	(...commands: string[]) =>
	({ toolAnswers }: ModelRequest) => {
		const command = commands[toolAnswers.length];
		if (command) return [call("bash", { command })];
		return [say(`It said: ${toolAnswers.map(({ text }) => text.trim()).join(" ")}`)];
	};

const children = {
	wipe: runs("rm -rf victim", "shred victim", "echo fine"),
	ask: runs("rm -rf kept", "ls kept", "rm -rf kept"),
};

/** A hook, or another extension, that tells that it was loaded. */
const extensionSource = (watches: boolean) => `import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
appendFileSync(process.env.LOADED, fileURLToPath(import.meta.url) + "\\n");
export default (pi) => { ${watches ? 'pi.on("tool_call", () => undefined);' : ""} };
`;

/** Every way in which pi finds extensions; those under \`no\` it does not load. */
function layOut(stage: Stage, ignores: boolean): void {
	const { world } = stage;
	const put = (path: string, text = extensionSource(true)) => world.writeAgentDir(path, text);
	const manifest = (extensions: unknown, more = {}) =>
		JSON.stringify({ version: "1.2.3", ...more, pi: { extensions } });
	put("extensions/file.ts");
	put("extensions/plain.ts", extensionSource(false));
	put("extensions/no.ts");
	put("extensions/no-exact.js");
	put("extensions/folder/index.ts");
	put("extensions/folder/lib/no.ts");
	put("extensions/manifest/package.json", manifest(["./src/one.ts", "src/gone.ts"]));
	put("extensions/manifest/src/one.ts");
	put("extensions/manifest/index.ts");
	put("extensions/odd/package.json", '{"name":[],"pi":{"extensions":"x"}}');
	put("extensions/odd/index.js");
	put("extensions/node_modules/no/index.ts");
	put("extensions/.no.ts");
	put("extensions/empty/readme.md", "tool_call");
	put("elsewhere/named.ts");
	put("elsewhere/folder/a.ts");
	put("elsewhere/folder/no-b.ts");
	put("packages/globs/package.json", manifest(["src/*.ts", "!src/no*.ts"]));
	put("packages/globs/src/yes.ts");
	put("packages/globs/src/no.ts");
	put("packages/convention/extensions/yes.ts");
	put("packages/filtered/extensions/yes.ts");
	put("packages/filtered/extensions/no.ts");
	put("packages/off/extensions/no.ts");
	put("packages/chosen/extensions/yes.ts");
	put("packages/chosen/extensions/no.ts");
	put("npm/node_modules/@some/hook/package.json", manifest(["./hook.ts"], { name: "@some/hook" }));
	put("npm/node_modules/@some/hook/hook.ts");
	put("git/github.com/some/hook/extensions/hook.ts");
	put("git/example.com/deep/er/hook/package.json", manifest(["hook.ts"]));
	put("git/example.com/deep/er/hook/hook.ts");
	symlinkSync(join(world.agentDir, "elsewhere/named.ts"), join(world.agentDir, "extensions/link.ts"));
	mkdirSync(join(world.agentDir, "real"), { recursive: true });
	put("real/index.ts");
	symlinkSync(join(world.agentDir, "real"), join(world.agentDir, "extensions/linked"));
	if (ignores) {
		put("extensions/.gitignore", "ignored.ts\n");
		put("extensions/ignored.ts");
	}
	world.write(".pi/extensions/project.ts", extensionSource(true));
	const settings = JSON.parse(readFileSync(join(world.agentDir, "settings.json"), "utf8"));
	writeFileSync(
		join(world.agentDir, "settings.json"),
		JSON.stringify({
			...settings,
			extensions: ["elsewhere/named.ts", "./elsewhere/folder", "!**/no-b.ts", "!no.ts", "-extensions/no-exact.js"],
			packages: [
				"./packages/globs",
				join(world.agentDir, "packages/convention"),
				{ source: "packages/filtered", extensions: ["!**/no.ts"] },
				{ source: "packages/off", extensions: [] },
				{ source: "packages/chosen", autoload: false, extensions: ["+extensions/yes.ts"] },
				"npm:@some/hook@^1.0.0",
				"git:github.com/some/hook@v1",
				"ssh://git@example.com/deep/er/hook.git",
				"npm:not-installed",
			],
		}),
	);
}

/** The hooks that a report of the doctor names. */
const hooksIn = (message: string | undefined, home: string) => {
	const [, list = ""] = /load ([~/][^\n]*)/.exec(message ?? "") ?? [];
	return list.split(", ").map((path) => path.replace(/^~/, home));
};

for (const version of piVersions) {
	describe(`permission hooks in pi ${version}`, () => {
		test("are found where pi finds extensions", async () => {
			for (const [ignores, approves] of [
				[true, false],
				[false, true],
			]) {
				const stage = await Stage.open({ version });
				try {
					const log = join(stage.world.root, "loaded");
					Object.assign(stage.world.env, { LOADED: log });
					layOut(stage, ignores === true);
					const { stdout, stderr } = await runPrint(stage.world, "/subagents doctor", {
						args: approves ? ["--approve"] : [],
					});
					const loaded = readFileSync(log, "utf8").trim().split("\n");
					const hooks = [...new Set(loaded)].filter((path) => !path.endsWith("plain.ts"));
					const named = hooksIn(/permission hooks +(.*)/.exec(stdout)?.[1], stage.world.home);
					// pi names a file by the link that it has found, and the file itself by where it lies.
					const real = (path: string) =>
						path.replace("extensions/linked/", "real/").replace("extensions/link.ts", "elsewhere/named.ts");
					assert.deepEqual([...new Set(named.map(real))].sort(), [...new Set(hooks.map(real))].sort(), stdout + stderr);
					assert.equal(
						named.some((path) => path.endsWith("project.ts")),
						approves,
					);
					assert.ok(named.length >= 13, named.join("\n"));
					if (ignores) continue;

					const { checks } = await doctor({ cwd: stage.world.cwd, agentDir: stage.world.agentDir });
					const read = hooksIn(checks.find(({ area }) => area === "permission hooks")?.message, stage.world.home);
					const users = hooks.filter((path) => !path.endsWith("project.ts"));
					assert.deepEqual(
						[...new Set(read.map(real))].sort(),
						[...new Set(users.map(real))].sort(),
						"doctor finds the user's hooks without a host",
					);
				} finally {
					await stage.close();
				}
			}
		});

		describe("are found below the user's directory", () => {
			let stage: Stage;
			let rpc: RpcSession;
			let hookPath: string;
			let user: (request: UiRequest) => UiAnswer | undefined = () => ({ cancelled: true });

			before(async () => {
				stage = await backgroundStage({ version, children, load: "install" });
				hookPath = stage.world.writeAgentDir("extensions/hook.ts", hook);
				const named = stage.world.writeAgentDir("elsewhere/named.ts", secondHook);
				stage.world.writeAgentDir("agents/worker.md", worker);
				for (const folder of ["victim", "kept"]) stage.world.write(`${folder}/file`, "x");
				rpc = startRpc(stage.world, { args: ["--extension", named], answer: (asked) => user(asked) });
			});
			beforeEach(() => stage.configure({ allowWrite: true }));
			after(() => stage.close());

			async function resultOf(task: string, agent = "worker") {
				await rpc.prompt(delegate({ agent, task }));
				return lastEnd(rpc.log);
			}

			const hasVictim = () => existsSync(join(stage.world.cwd, "victim/file"));

			test("refuse the same calls in a child and no others, including hooks of the command line", async () => {
				assert.match(textOf(await resultOf("wipe it")), /It said: The hook says no\. No shredding\. fine/);
				assert.ok(hasVictim());
			});

			test("refuse in a background run", async () => {
				const from = rpc.log.events.length;
				await rpc.prompt(spawn({ task: "wipe it", agentId: "worker" }));
				await rpc.log.waitFor(says("Heard success: It said: The hook says no. No shredding. fine"), 30_000, from);
				await rpc.log.waitFor(
					({ type }) => type === "agent_settled",
					30_000,
					rpc.log.events.findIndex(says("Heard success")),
				);
				assert.ok(hasVictim());
			});

			test("ask the person, whose answer counts", async () => {
				const asked: unknown[] = [];
				const answers = [{ confirmed: false }, { confirmed: true }];
				user = ({ title, message }) => {
					asked.push([title, message]);
					return answers[asked.length - 1];
				};
				// In between the child checks the files.
				assert.match(textOf(await resultOf("ask before")), /It said: The hook says no\. file /);
				assert.ok(!existsSync(join(stage.world.cwd, "kept")));
				const question = ["worker asks: Dangerous", "rm -rf kept"];
				assert.deepEqual(asked, [question, question]);
			});

			test("are named by agents, and this package is not one", async () => {
				const text = await rpc.notices("/subagents agents worker");
				const lines = [...text.matchAll(/^ +hooks +(.*)$/gm)].map(([, line]) => line);
				const paths = "~/.pi/agent/elsewhere/named.ts, ~/.pi/agent/extensions/hook.ts";
				assert.deepEqual(lines, [paths], text);
				assert.ok(!lines.some((line) => line?.includes(packageDir)));
			});

			test("apply in a child that loads all extensions, too", async () => {
				stage.configure({ allowWrite: true, inheritExtensions: "all" });
				assert.match(textOf(await resultOf("wipe it")), /It said: The hook says no\. No shredding\. fine/);
				assert.ok(hasVictim());
			});

			test("refuse the run if one does not load", async () => {
				// A child loads the files that exist when it starts.
				const broken = `if (process.env.PI_SUBAGENT_CHILD) throw new Error("its rules are gone");\n${hook}`;
				writeFileSync(hookPath, broken);
				const from = stage.server.requests.length;
				const end = await resultOf("wipe it");
				assert.equal(end.isError, true);
				const words = `the permission hook \`${hookPath.replace(stage.world.home, "~")}\` did not load`;
				assert.ok(textOf(end).includes(words) && textOf(end).includes("its rules are gone"), textOf(end));
				assert.equal(stage.childRequests(from).length, 0, "no child sends a request");
				if (allows("landlock")) {
					const end = await resultOf("say that I need no hook", "explorer");
					assert.equal(textOf(end), "that I need no hook");
				}
				assert.ok(hasVictim());
			});
		});
	});
}
