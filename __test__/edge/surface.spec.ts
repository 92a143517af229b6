/** The available parts and their state: agents, configuration, the tools to register, the doctor. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import {
	describeTools,
	discoverAgents,
	doctor,
	loadConfig,
	type SurfaceOptions,
	type ToolSurface,
	type ToolSurfaces,
} from "../../native.js";
import { packageDir } from "../support/versions.ts";
import { allows } from "../support/warden.ts";
import { Scene, single } from "./scene.ts";

const builtins = ["explorer", "researcher", "reviewer", "implementer", "tester", "worker"];

/** As where there is no warden, and so no sandbox either. */
const noWarden = { PI_SUBAGENT_WARDEN: "" };

function surfaceOf(scene: Scene, change: Partial<SurfaceOptions> = {}): SurfaceOptions {
	return { cwd: scene.project, agentDir: scene.agentDir, ...change };
}

const reviewed = join(packageDir, "crates/agents/tests/snapshots/suite__policy__surface_builtins.snap");

describe("discovery", () => {
	it("finds the builtins without other agents", async (t) => {
		const { agents, shadowed, diagnostics } = await discoverAgents(surfaceOf(new Scene(t, "")));
		assert.deepEqual([agents.map(({ name }) => name), shadowed, diagnostics], [builtins, [], []]);
		for (const agent of agents) {
			assert.deepEqual(
				[agent.source, agent.readonly, agent.path, agent.runnable],
				["builtin", agent.name !== "worker", undefined, true],
			);
			assert.ok(agent.description.length > 0 && !agent.description.includes("\n"));
		}
	});

	it("gives readonly agents a shell only if the kernel enforces it", async (t) => {
		const explorer = async (change: Partial<SurfaceOptions>) => {
			const { agents } = await discoverAgents(surfaceOf(new Scene(t, ""), change));
			return [agents[0]?.tools.includes("bash"), agents[0]?.dropped.map(({ tool }) => tool)];
		};
		const reading = { cwd: "/", config: {} };
		if (allows("landlock")) assert.deepEqual(await explorer(reading), [true, []]);
		assert.deepEqual(await explorer({ config: { sandbox: "off" } }), [false, ["bash"]]);
		assert.deepEqual(await explorer({ env: noWarden }), [false, ["bash"]]);
	});

	it("orders by source and name, prefers the nearer agent and names the hidden one", async (t) => {
		const scene = new Scene(t, "");
		const define = (place: string, name: string, more = "") =>
			scene.write(place, `---\nname: ${name}\n${more}---\nLook.`);
		define("agent/agents/zoe.md", "zoe");
		define("agent/agents/adam.markdown", "adam");
		define("agent/agents/both.md", "both");
		define("project/.pi/agents/both.md", "both", "description: The nearer one.\n");
		define("project/.pi/agents/explorer.md", "explorer");
		scene.write("project/.pi/agents/README.md", "# Not an agent\n");
		scene.write("project/.pi/agents/notes.txt", "---\nname: notes\n---\n");
		mkdirSync(join(scene.project, "deep/er"), { recursive: true });
		const { agents, shadowed, diagnostics } = await discoverAgents(
			surfaceOf(scene, { cwd: join(scene.project, "deep/er") }),
		);
		assert.deepEqual(
			agents.map(({ name, source }) => `${name} ${source}`),
			[
				...builtins.slice(1).map((name) => `${name} builtin`),
				"adam user",
				"zoe user",
				"both project",
				"explorer project",
			],
		);
		assert.equal(agents.find(({ name }) => name === "both")?.description, "The nearer one.");
		const hidden = shadowed.map(({ name, source, by }) => `${name} ${source} by ${by}`).sort();
		assert.deepEqual([hidden, diagnostics], [["both user by project", "explorer builtin by project"], []]);
	});

	it("names file, line and column of each mistake, and finds the other agents", async (t) => {
		const scene = new Scene(t, "");
		const broken = {
			"noname.md": ["---\nname: 12\n---\nx", "FRONTMATTER_NAME_MISSING"],
			"readonly.md": ["---\nname: a\nreadonly: maybe\n---\nx", "FRONTMATTER_READONLY_INVALID"],
			"tools.md": ["---\nname: b\ntools: 5\n---\nx", "FRONTMATTER_TOOLS_INVALID"],
			"syntax.md": ["---\nname: c\n\ttools: read\n---\nx", "FRONTMATTER_SYNTAX"],
			"twice.md": ["---\nname: d\nname: e\n---\nx", "FRONTMATTER_SYNTAX"],
			"large.md": [`---\nname: f\n---\n${"x".repeat(257 * 1024)}`, "AGENT_FILE_READ_FAILED"],
		} as const;
		for (const [name, [text]] of Object.entries(broken)) scene.write(`agent/agents/${name}`, text);
		symlinkSync("/no/such/agent.md", scene.path("agent/agents/dangling.md"));
		scene.write("agent/agents/fine.md", "---\nname: fine\n---\nx");
		const { agents, diagnostics } = await discoverAgents(surfaceOf(scene));
		assert.ok(agents.some(({ name }) => name === "fine"));
		for (const [name, [, code]] of Object.entries({ ...broken, "dangling.md": ["", "AGENT_FILE_READ_FAILED"] })) {
			const found = diagnostics.filter(({ path }) => path?.endsWith(`/${name}`));
			assert.deepEqual(
				found.map((diagnostic) => diagnostic.code),
				[code],
				name,
			);
			if (code.startsWith("FRONTMATTER")) assert.ok((found[0]?.line ?? 0) >= 1 && (found[0]?.column ?? 0) >= 1, name);
		}
	});

	it("lists an agent that its file restricts as one that cannot write", async (t) => {
		const scene = new Scene(t, "");
		const tools = ["read", "write", "edit", "bash"].map((name) => ({ name }));
		for (const field of ["readOnly: true", "disallowedTools: Write, Edit, Bash", "allowed_paths: [docs]"]) {
			scene.write("agent/agents/own.md", `---\nname: own\n${field}\n---\nx`);
			const options = surfaceOf(scene, { tools, config: { allowWrite: true }, env: noWarden });
			const own = (await discoverAgents(options)).agents.find(({ name }) => name === "own");
			assert.deepEqual([own?.canWrite, own?.tools], [false, ["read"]], field);
		}
	});

	it("names a child's tools, and the agents that cannot run here", async (t) => {
		const scene = new Scene(t, "");
		scene.write("agent/agents/writer.md", "---\nname: writer\ntools: Read, Write, Bash\n---\nWrite.");
		scene.write("agent/agents/none.md", "---\nname: none\ntools: []\n---\nThink.");
		const tools = ["read", "write", "bash"].map((name) => ({ name }));
		const find = async (name: string, config = {}) =>
			(await discoverAgents(surfaceOf(scene, { tools, config, env: noWarden }))).agents.find(
				(agent) => agent.name === name,
			);
		assert.deepEqual((await find("writer"))?.tools, ["read"]);
		assert.deepEqual((await find("writer", { allowWrite: true }))?.tools, ["read", "write", "bash"]);
		assert.deepEqual([(await find("none"))?.tools, (await find("none"))?.runnable], [[], true]);
		const researcher = await find("researcher");
		assert.equal(researcher?.runnable, false);
		assert.match(researcher?.problem ?? "", /needs one of/);
	});

	it("never fails for any directory", async (t) => {
		const scene = new Scene(t, "");
		for (const cwd of [join(scene.root, "missing"), "", "/", scene.write("file", "")]) {
			const { agents } = await discoverAgents(surfaceOf(scene, { cwd, agentDir: join(scene.root, "missing") }));
			assert.deepEqual(
				agents.map(({ name }) => name),
				builtins,
			);
		}
	});
});

describe("the configuration", () => {
	it("has the defaults without a file", async (t) => {
		const scene = new Scene(t, "");
		const { values, sources, diagnostics, broken } = await loadConfig(surfaceOf(scene));
		assert.deepEqual(
			[diagnostics, broken, sources.map(({ present }) => present).includes(true)],
			[[], undefined, false],
		);
		const { enabled, maxDepth, timeoutMs, idleTimeoutMs, graceMs, allowWrite, projectAgentPolicy, output } = values;
		assert.deepEqual(
			{ enabled, maxDepth, timeoutMs, idleTimeoutMs, graceMs, allowWrite, projectAgentPolicy, output },
			{
				enabled: true,
				maxDepth: 1,
				timeoutMs: 900_000,
				idleTimeoutMs: 180_000,
				graceMs: 5000,
				allowWrite: false,
				projectAgentPolicy: "confirm",
				output: { maxBytes: 51_200, maxLines: 2000, maxTotalBytes: 524_288 },
			},
		);
	});

	it("lets a project only tighten, and reports ignored keys", async (t) => {
		const scene = new Scene(t, "");
		const user = scene.write(
			"agent/subagents.json",
			'{"subagents":{"timeoutMs":60000,"allowWrite":true,"piCommand":["mine"]}}',
		);
		const settings =
			'{\n"subagents":{"timeoutMs":90000,\n"idleTimeoutMs":1000,\n"piCommand":["theirs"],\n"model":"x/y"}}';
		const project = scene.write("project/.pi/subagents.json", settings);
		const { values, sources, diagnostics } = await loadConfig(surfaceOf(scene));
		assert.deepEqual(
			[values.timeoutMs, values.idleTimeoutMs, values.piCommand, values.allowWrite],
			[60_000, 1000, ["mine"], true],
		);
		assert.deepEqual(sources, [
			{ origin: "user", path: user, present: true },
			{ origin: "project", path: project, present: true },
		]);
		const at = (line: number) =>
			diagnostics.find((diagnostic) => diagnostic.path === project && diagnostic.line === line)?.message ?? "";
		assert.match(at(2), /timeoutMs/);
		assert.match(at(4), /piCommand/);
		assert.match(at(5), /model/);
	});

	it("reports the position of each mistake in a file", async (t) => {
		const scene = new Scene(t, "");
		const path = scene.write("agent/subagents.json", '{"subagents":{\n"model": 1,\n"typo": 1,\n"graceMs": -5}}');
		const { diagnostics, broken, values } = await loadConfig(surfaceOf(scene));
		assert.deepEqual(
			diagnostics.map(({ line }) => line),
			[2, 3, 4],
		);
		assert.ok(diagnostics.every((diagnostic) => diagnostic.path === path && (diagnostic.column ?? 0) >= 1));
		assert.deepEqual([broken, values.model], [undefined, null]);
		scene.write("agent/subagents.json", '{"subagents":{\n"maxDepth": "one" }}');
		const restricting = await loadConfig(surfaceOf(scene));
		assert.deepEqual([restricting.broken?.path, restricting.broken?.line], [path, 2]);
		scene.write("agent/subagents.json", '{"subagents":{\n  "maxDepth": }\n}');
		const worse = await loadConfig(surfaceOf(scene));
		assert.deepEqual([worse.broken?.path, worse.broken?.line, worse.broken?.severity], [path, 2, "error"]);
	});

	it("takes the caller's own values, and rejects wrong ones", async (t) => {
		const scene = new Scene(t, "");
		scene.write("agent/subagents.json", '{"subagents":{"maxDepth":0}}');
		const { values } = await loadConfig(
			surfaceOf(scene, { config: { maxDepth: 2, output: { maxLines: 50 }, model: undefined } }),
		);
		assert.deepEqual([values.maxDepth, values.output], [2, { maxBytes: 51_200, maxLines: 50, maxTotalBytes: 524_288 }]);
		for (const config of [{ maxDepth: "x" }, { nothing: 1 }, { output: 5 }, { timeoutMs: 1.5 }]) {
			await assert.rejects(loadConfig(surfaceOf(scene, { config })), new RegExp(`\`${Object.keys(config)[0]}`));
		}
	});
});

describe("the tools to register", () => {
	it("are described in the same bytes each time, and as reviewed", async (t) => {
		const options = surfaceOf(new Scene(t, ""));
		const surface = await describeTools(options);
		assert.equal(JSON.stringify(await describeTools(options)), JSON.stringify(surface));
		assert.deepEqual([surface.register, surface.notices], [true, []]);
		const [single, ...others] = surface.tools;
		for (const name of builtins) {
			const kept = name === "worker" ? "cannot write here" : "readonly";
			assert.ok(single?.description.includes(`\n- ${name} (${kept}): `), name);
			assert.ok(!others.some(({ description }) => description.includes(name)), name);
		}
		// The names, labels and schemas in their order. `tests/policy.rs` of the agents wrote them.
		const [, , snapshot = ""] = readFileSync(reviewed, "utf8").split("---\n");
		const shown = ({ name, label, parameters }: ToolSurface) => ({ name, label, parameters });
		assert.deepEqual(surface.tools.map(shown), (JSON.parse(snapshot) as ToolSurfaces).tools.map(shown));
		const send = surface.tools.find(({ name }) => name === "sessions_send");
		const order = Object.keys(Object(send?.parameters.properties));
		assert.equal(order[0], "sessionKey", "the child boots while the message arrives");
		const { scriptTool } = surface;
		assert.deepEqual([scriptTool.name, scriptTool.exposure], ["subagent_run", "codemode"]);
		assert.deepEqual(Object.keys(scriptTool.parameters.properties as object), [
			"agent",
			"key",
			"model",
			"schema",
			"task",
		]);
		assert.deepEqual(scriptTool.outputSchema.required, ["status", "report", "runId", "cost"]);
		assert.ok(surface.delegationPolicy);
	});

	it("name the runnable agents, on one short line each", async (t) => {
		const scene = new Scene(t, "");
		scene.write("agent/agents/long.md", `---\nname: long\ndescription: ${"much ".repeat(100)}\n---\nx`);
		scene.write("agent/agents/broken.md", "---\nname: broken\nreadonly: maybe\n---\nx");
		for (let index = 0; index < 30; index++)
			scene.write(`agent/agents/m${index}.md`, `---\nname: many${index}\ndescription: One of many.\n---\nx`);
		const { tools, notices } = await describeTools(surfaceOf(scene, { tools: [{ name: "read" }] }));
		const description = tools[0]?.description ?? "";
		const lines = description.split("\n");
		const listed = lines.filter((line) => line.startsWith("- "));
		assert.equal(listed.length, 24);
		assert.ok(
			listed.every((line) => line.length <= 100),
			description,
		);
		assert.ok(description.includes("many29") && description.split("One of many.").length <= 25);
		assert.ok(!/\bbroken\b/.test(description) && !/\bresearcher\b/.test(description));
		assert.ok(notices.some((notice) => notice.includes("broken.md")));
	});

	it("are not registered if switched off, but are with a broken configuration", async (t) => {
		const scene = new Scene(t, "");
		assert.equal((await describeTools(surfaceOf(scene, { config: { enabled: false } }))).register, false);
		assert.equal(
			(await describeTools(surfaceOf(scene, { config: { injectDelegationPolicy: false } }))).delegationPolicy,
			undefined,
		);
		scene.write("agent/subagents.json", "{");
		const { register, notices } = await describeTools(surfaceOf(scene));
		assert.equal(register, true);
		assert.ok(
			notices.some((notice) => /subagents\.json:1:\d+/.test(notice)),
			notices.join(),
		);
	});
});

describe("the doctor", () => {
	const area = (report: Awaited<ReturnType<typeof doctor>>, name: string) =>
		report.checks.filter((check) => check.area === name);

	it("passes with a working pi, and leaves nothing", async (t) => {
		const scene = new Scene(t, "");
		const piCommand = scene.pi("version.sh", 'test "$1" = --version && echo 1.6.0');
		const report = await doctor(surfaceOf(scene, { piCommand }));
		assert.equal(report.ok, true, JSON.stringify(report));
		const [command] = area(report, "child command");
		assert.equal(command?.status, "ok");
		assert.match(command?.message ?? "", /1\.6\.0.*version\.sh/);
		for (const name of ["addon", "configuration", "agents", "supervision", "sandbox", "directories", "disk"]) {
			assert.ok(area(report, name).length > 0, name);
		}
		assert.deepEqual(scene.remainingFiles(), []);
	});

	it("reports an old or unknown version of pi", async (t) => {
		const scene = new Scene(t, "");
		for (const [says, status] of [
			["0.60.0", "warning"],
			["what version?", "warning"],
		]) {
			const report = await doctor(surfaceOf(scene, { piCommand: scene.pi("version.sh", `echo '${says}'`) }));
			assert.deepEqual([area(report, "child command")[0]?.status, report.ok], [status, true]);
		}
	});

	it("reports each problem with its fix", async (t) => {
		const scene = new Scene(t, "");
		const fine = scene.pi("fine.sh", "echo 1.6.0");
		const notExecutable = scene.write("plain", "#!/bin/sh\n");
		const badInterpreter = scene.write("bad", "#!/no/such\n");
		chmodSync(badInterpreter, 0o755);
		for (const [piCommand, says] of [
			[scene.pi("broken.sh", "echo 'cannot find module' >&2; exit 1"), /cannot find module/],
			[["no-such-pi"], /no-such-pi/],
			[[notExecutable], /plain/],
			[[badInterpreter], /bad/],
			[[], /piCommand/],
		] as const) {
			const report = await doctor(surfaceOf(scene, { piCommand: [...piCommand] }));
			const [command] = area(report, "child command");
			assert.deepEqual([report.ok, command?.status], [false, "error"]);
			assert.match(command?.message ?? "", says);
		}
		scene.write("agent/subagents.json", "{");
		const config = await doctor(surfaceOf(scene, { piCommand: fine }));
		assert.equal(config.ok, false);
		assert.ok(
			area(config, "configuration").some(
				({ status, message }) => status === "error" && message.includes("subagents.json:1:"),
			),
		);
	});

	it("reports that runs cannot be stored", async (t) => {
		const scene = new Scene(t, "");
		const piCommand = scene.pi("fine.sh", "echo 1.6.0");
		scene.write("agent/subagents", "a file in the way");
		const report = await doctor(surfaceOf(scene, { piCommand }));
		// The doctor's report must match a run's.
		const run = await scene.run();
		assert.match(single(run).error ?? "", /^session directory/);
		assert.ok(
			area(report, "directories").some(({ status }) => status === "error"),
			JSON.stringify(area(report, "directories")),
		);
		assert.equal(report.ok, false);
	});

	it("shows no secret", async (t) => {
		const scene = new Scene(t, "");
		const piCommand = scene.pi("leak.sh", 'echo "cannot use $MY_API_TOKEN" >&2; exit 1');
		const report = await doctor(surfaceOf(scene, { piCommand, env: { MY_API_TOKEN: "zebra-violin-41-cloud" } }));
		assert.ok(!JSON.stringify(report).includes("zebra-violin") && JSON.stringify(report).includes("[REDACTED]"));
	});
});
