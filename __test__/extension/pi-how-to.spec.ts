/** The settings and commands of `docs/how-to.md` in real pi: each has the effect that the page names. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { discoverAgents } from "../../native.js";
import { pathsBelow } from "../support/files.ts";
import {
	call,
	delegate,
	fail,
	lastEnd,
	type ModelRequest,
	onStage,
	packageDir,
	parent,
	runJson,
	runOf,
	runPrint,
	type Stage,
	say,
	says,
	spawn,
	startRpc,
	textOf,
	newestPi as version,
} from "../support/pi.ts";
import { cannotConfine } from "../support/warden.ts";

const sections = readFileSync(join(packageDir, "docs/how-to.md"), "utf8").split(/^## /m);

/** The blocks of a section in this language, in order. */
function blocks(section: string, language: string): string[] {
	const text = sections.find((part) => part.startsWith(section)) ?? assert.fail(section);
	return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);
}

/** Writes the configuration of a section into the home. */
function configure({ world }: Stage, section: string): void {
	world.writeAgentDir("subagents.json", blocks(section, "json")[0] ?? assert.fail(section));
}

const children = {
	...parent(),
	break: () => [fail(400)],
	connect: ({ userText, toolAnswers }: ModelRequest) =>
		toolAnswers.length > 0
			? [say(toolAnswers[0]?.text ?? "")]
			: [call("bash", { command: userText.slice("connect ".length) })],
	write: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length > 0 ? [say("Written.")] : [call("write", { path: "new.txt", content: "new\n" })],
};

describe(`docs/how-to.md in pi ${version}`, () => {
	test("runs a project's agent in CI, and pi succeeds although an agent fails", { skip: cannotConfine }, async () => {
		await onStage({ version, children }, async (stage) => {
			const { world } = stage;
			world.write(".pi/agents/own.md", "---\nname: own\ndescription: Ours\nreadonly: true\n---\nWork.\n");
			const own = delegate({ agent: "own", task: "say found" });
			assert.match((await runPrint(world, own)).stdout, /`subagents\.nonInteractivePolicy` is `deny`/);
			configure(stage, "Run agents in CI");
			assert.match((await runPrint(world, own)).stdout, /The child says: found/);
			const failed = await runPrint(world, delegate({ agent: "reviewer", task: "break" }));
			assert.deepEqual([failed.code, /reviewer failed/.test(failed.stdout)], [0, true], failed.stdout);
			const doctor = await runPrint(world, "/subagents doctor");
			assert.match(doctor.stdout, /^✓ sandbox +landlock/m);
		});
	});

	test("gives two agents a cheap model, and the others the model of the session", async () => {
		await onStage({ version, children }, async (stage) => {
			configure(stage, "Use a cheap model");
			const file = join(stage.world.agentDir, "subagents.json");
			const text = readFileSync(file, "utf8");
			const rpc = startRpc(stage.world);
			await rpc.prompt(delegate({ agent: "explorer", task: "say found" }));
			assert.match(runOf(lastEnd(rpc.log)).modelNote ?? "", /`haiku`/);
			stage.world.writeAgentDir("subagents.json", text.replaceAll("haiku", "thinker"));
			for (const agent of ["explorer", "tester", "reviewer"]) await rpc.prompt(delegate({ agent, task: "say found" }));
			assert.deepEqual(
				stage.childRequests().map(({ model }) => model),
				["scripted-model", "scripted-thinker", "scripted-thinker", "scripted-model"],
			);
			assert.match(await rpc.notices("/subagents agents explorer"), /settings +`agents\.explorer`: model thinker/);
			await rpc.close();
		});
	});

	test("closes the network of an agent's shell, and takes away tools of the web", { skip: cannotConfine }, async () => {
		await onStage({ version, children }, async (stage) => {
			const { port } = new URL(stage.server.baseUrl);
			const program = `require("net").connect(${port}, "127.0.0.1", () => { console.log("connected"); process.exit(); }).on("error", ({ code }) => console.log(code))`;
			const task = `connect node -e '${program}'`;
			const rpc = startRpc(stage.world);
			await rpc.prompt(delegate({ agent: "explorer", task }));
			assert.match(textOf(lastEnd(rpc.log)), /^connected/);
			configure(stage, "Forbid the network");
			await rpc.prompt(delegate({ agent: "explorer", task }));
			assert.match(textOf(lastEnd(rpc.log)), /^E\w+/);
			assert.equal(runOf(lastEnd(rpc.log)).sandbox?.network, "off");
			await rpc.close();
			stage.configure({});
			const web = ["web_search", "fetch_content", "get_search_content", "mcp__server__tool"];
			const file = `---\nname: web\ndescription: Web\ntools: read, ${web.join(", ")}\n---\nWork.\n`;
			stage.world.writeAgentDir("agents/web.md", file);
			const { subagents } = JSON.parse(blocks("Forbid the network", "json")[0] ?? "");
			for (const [config, tools] of [
				[{ allowWrite: true }, ["read", ...web]],
				[{ allowWrite: true, ...subagents }, ["read"]],
			]) {
				const { cwd, agentDir } = stage.world;
				const { agents } = await discoverAgents({ cwd, agentDir, config });
				assert.deepEqual(agents.find(({ name }) => name === "web")?.tools, tools);
			}
		});
	});

	test("shows the cost of calls in pi's totals, and of background runs in the list", async () => {
		await onStage({ version, children }, async (stage) => {
			const rpc = startRpc(stage.world, { answer: () => ({ confirmed: true }) });
			const cost = async () => ((await rpc.send({ type: "get_session_stats" })).data as { cost: number }).cost;
			await rpc.prompt(spawn({ task: "say found" }));
			await rpc.log.waitFor(says("Heard success: found"), 30_000);
			const own = stage.server.requests.filter(({ isParent }) => isParent).length;
			assert.equal((await cost()).toFixed(6), (own * 0.0006).toFixed(6), "the background run does not count");
			assert.match(await rpc.notices("/subagents list"), /completed after .* · \$0\.0020/);
			assert.match(await rpc.notices("/subagents info last"), /usage .*est\. \$0\.0020/);
			const script =
				'import { workflow } from "pi-subagent-native";\nconst one = { key: "one", agent: "explorer", task: "say one" };\n';
			stage.world.write("costs.ts", `${script}await workflow("costs", {}, (wf) => wf.run(one));\n`);
			await rpc.notices("/subagents workflow costs.ts");
			await rpc.untilNotice("/subagents workflow", /workflow costs · .* completed .*\$0\.0020/);
			await rpc.close();
			const { log } = await runJson(stage.world, delegate({ agent: "explorer", task: "say found" }));
			const { usage } = lastEnd(log).result as { usage?: { cost: { total: number } } };
			assert.equal(usage?.cost.total.toFixed(5), "0.00198");
		});
	});

	test("uninstalls everything but the user's own files and pi's", { skip: cannotConfine }, async () => {
		await onStage({ version, load: "install", children }, async (stage) => {
			const { world } = stage;
			const shell = (script: string) =>
				execFileSync("sh", ["-ec", script], { cwd: world.cwd, env: world.env, encoding: "utf8" });
			stage.configure({ allowWrite: true });
			world.write(".pi/agents/own.md", "---\nname: own\ndescription: Ours\nreadonly: true\n---\nWork.\n");
			const rpc = startRpc(world, { env: { PI_SUBAGENT_LOG: "debug" }, answer: () => ({ confirmed: true }) });
			await rpc.prompt(delegate({ agent: "worker", task: "write it" }, { agent: "own", task: "say found" }));
			await rpc.prompt(spawn({ task: "say found" }));
			await rpc.log.waitFor(says("Heard success: found"), 30_000);
			await rpc.close();
			mkdirSync(join(world.tmp, "pi-subagent-0badcafe"));
			const before = pathsBelow(world.agentDir);
			for (const path of ["runs.db", "logs", "snapshots", "confirmed-agents.json"])
				assert.ok(before.includes(join("subagents", path)), path);
			assert.ok(before.some((path) => /^sessions\/.*\/[0-9a-f]{8}\/session\.jsonl$/.test(path)));

			const [remove = "", clean = "", branches = ""] = blocks("Uninstall completely", "sh");
			const [, command = ""] = /^pi (\w+) npm:pi-subagent-native\n$/.exec(remove) ?? assert.fail(remove);
			await stage.run(command, packageDir);
			shell(clean);
			const [list = "", erase = ""] = branches.split("\n");
			const branch = shell(list).trim();
			assert.match(branch, /^subagent\/[0-9a-f]{8}$/);
			shell(erase.replace("subagent/0badcafe", branch));

			const ofPi = /^(auth|models|models-store|settings|subagents)\.json$|^sessions(\/[^/]+(\/[^/]+\.jsonl)?)?$/;
			assert.deepEqual(
				pathsBelow(world.agentDir).filter((path) => !ofPi.test(path)),
				[],
			);
			assert.doesNotMatch(readFileSync(join(world.agentDir, "settings.json"), "utf8"), /subagent/);
			assert.deepEqual([shell(list), existsSync(join(world.tmp, "pi-subagent-0badcafe"))], ["", false]);
			assert.equal(shell("git status --porcelain").trim(), "?? .pi/");
		});
	});
});
