/** The pi program that is started as a child, and its arguments. */

import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { describe, it } from "node:test";

import { type RunOptions, startRun } from "../../native.js";
import { answers, Scene, shape, single, textOf } from "./scene.ts";

/** Writes down its arguments, one a line, and its environment. */
const logsArguments = `printf '%s\\n' "$@" > $here/argv; env > $here/env; ${answers}`;

/** A package of pi whose script is ours. */
function hostingPi(scene: Scene, version: string): Partial<RunOptions> {
	const name = "@earendil-works/pi-coding-agent";
	scene.write("host/package.json", JSON.stringify({ name, version }));
	scene.pi("host/dist/cli.js", `: > $here/hosted; cat > $here/task; ${logsArguments}`);
	return { hostExecutable: "/bin/sh", hostScript: scene.path("host/dist/cli.js") };
}

describe("the child", () => {
	it("is the hosting pi, and gets the options of its version", async (t) => {
		for (const [version, knows] of [
			["1.6.0", true],
			["0.87.1", false],
		] as const) {
			const scene = new Scene(t, "");
			const { piCommand: _, ...options } = { ...scene.options, ...hostingPi(scene, version) };
			const result = await startRun(options).result();
			assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
			assert.equal(scene.read("hosted"), "");
			assert.equal(scene.read("argv").includes("--no-mcp\n"), knows, version);
		}
	});

	it("is pi from PATH without a hosting pi", async (t) => {
		const scene = new Scene(t, "");
		scene.pi("bin/pi", `cat > $here/task; ${logsArguments}`);
		chmodSync(scene.path("bin/pi"), 0o755);
		const { piCommand: _, ...options } = scene.options;
		const script = scene.write("some-other-program.js", "");
		const env = { ...options.env, PATH: `${scene.path("bin")}:${process.env.PATH}` };
		const result = await startRun({ ...options, env, hostExecutable: "/bin/sh", hostScript: script }).result();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("is the program that the user configures, and never a project's", async (t) => {
		const scene = new Scene(t, "");
		const command = (name: string) => scene.pi(name, `: > $here/${name}.ran; cat > $here/task; ${answers}`);
		const configure = (piCommand: string[]) => JSON.stringify({ subagents: { piCommand } });
		scene.write("agent/subagents.json", configure(command("user.sh")));
		scene.write("project/.pi/subagents.json", configure(command("project.sh")));
		const { piCommand: _, ...options } = scene.options;
		assert.deepEqual(shape(await startRun(options).result()), [undefined, 0, "completed", false]);
		assert.equal(scene.read("user.sh.ran"), "");
		assert.throws(() => scene.read("project.sh.ran"));
	});

	it("gets an explicit list of tools, its model, and nothing else", async (t) => {
		const scene = new Scene(t, logsArguments);
		const tools = [{ name: "read" }, { name: "grep" }, { name: "bash" }, { name: "lsp", extension: "/ext/lsp.ts" }];
		const paint = { name: "paint", extension: "/ext/paint.ts" };
		await scene.run({ tools: [...tools, paint], model: "fake/m1", thinking: "low" });
		const argv = scene.read("argv");
		for (const part of [
			"--mode\njson\n",
			"--tools\nread,grep,lsp\n",
			"--model\nfake/m1\n",
			"--thinking\nlow\n",
			"--no-extensions\n-e\n/ext/lsp.ts\n",
		]) {
			assert.ok(argv.includes(part), argv);
		}
		assert.ok(!argv.includes("paint") && !argv.includes("look around"));
	});

	it("gets no tools instead of all of them", async (t) => {
		const scene = new Scene(t, logsArguments);
		scene.write("agent/agents/thinker.md", "---\nname: thinker\ntools: []\n---\nThink.");
		scene.write("agent/agents/shell.md", "---\nname: shell\nreadonly: true\ntools: bash\n---\nRun.");
		for (const agent of ["thinker", "shell"]) {
			const result = await scene.run({ agent, tools: [{ name: "bash" }] });
			assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
			assert.match(scene.read("argv"), /^--no-tools$/m);
			assert.doesNotMatch(scene.read("argv"), /^--tools$/m);
			if (agent === "shell") assert.match(single(result).diagnostics?.join() ?? "", /`bash` was dropped/);
		}
	});

	it("is marked as a child in its environment", async (t) => {
		const scene = new Scene(t, logsArguments);
		const handle = scene.start({ config: { env: { COLOUR: "red" } } });
		await handle.result();
		const env = scene.read("env").split("\n");
		for (const line of [
			"PI_SUBAGENT_CHILD=1",
			"PI_SUBAGENT_DEPTH=1",
			"PI_SUBAGENT_MAX_DEPTH=1",
			"PI_SUBAGENT_ALLOW_LSP=1",
			"PI_SUBAGENT_LSP_ACTIONS=definition,references,hover,signature,symbols,diagnostics,workspace-diagnostics,servers",
			"PI_SUBAGENT_ASK=",
			`PI_SUBAGENT_RUN_ID=${handle.runId}`,
			"COLOUR=red",
			`PATH=${process.env.PATH}`,
		]) {
			assert.ok(env.includes(line), line);
		}
	});

	it("sees the environment as it was at the start", async (t) => {
		const scene = new Scene(t, logsArguments);
		process.env.PSN_EDGE_COLOUR = "blue";
		const handle = scene.start();
		process.env.PSN_EDGE_COLOUR = "green";
		await handle.result();
		delete process.env.PSN_EDGE_COLOUR;
		assert.match(scene.read("env"), /^PSN_EDGE_COLOUR=blue$/m);
	});
});
