import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, describe, it } from "node:test";
import type { Native } from "../../extension/host/native.ts";
import { bundle } from "../../scripts/lib/bundle.mjs";
import { packageDir } from "../support/versions.ts";
import { consent, question } from "./asked-questions.ts";
import { answer, type LoadedExtension, PackageCopies, StubAddon, SURFACES } from "./package-copy.ts";

const copies = new PackageCopies();
const started: LoadedExtension[] = [];

async function start(...options: Parameters<PackageCopies["load"]>): Promise<LoadedExtension> {
	const loaded = await copies.load(...options);
	started.push(loaded);
	return loaded;
}

afterEach(async () => {
	for (const { host } of started.splice(0)) await host.emit("session_shutdown");
});
after(() => copies.remove());

describe("the tools", () => {
	it("tell the addon the hosting pi's version and features", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		await call();
		const { options } = addon.runs[0] ?? assert.fail("no run was started");
		assert.deepEqual(
			{ ...options, hostExecutable: "", hostScript: "" },
			{
				agent: "explorer",
				task: "find it",
				callId: "call-1",
				sessionId: "session",
				cwd: "/project",
				tools: [{ name: "read" }, { name: "grep" }, { name: "made" }, { name: "web_search", extension: "/ext/web.ts" }],
				hostExecutable: "",
				hostScript: "",
				parentSessionFile: "/sessions/s.jsonl",
				model: "fake/big",
				modelFromExtension: false,
				extensionProviders: [],
				extensionOnlyProviders: [],
				sessionKeys: [],
				takenNames: [],
				skills: [{ name: "review", path: "/skills/review/SKILL.md" }],
				thinking: "high",
				aborted: false,
			},
		);
		assert.equal(options.hostExecutable, process.execPath);
	});

	it("convert arguments to the schema, and throw the model's message for a mistake", async () => {
		const { host } = await start();
		await host.emit("session_start");
		const prepared = (args: unknown) => host.tools.get("sessions_spawn")?.prepareArguments?.(args);
		assert.deepEqual(prepared({ task: "look", agent: "a", label: "" }), { task: "look", agentId: "a" });
		for (const odd of [null, undefined, {}])
			assert.throws(() => prepared(odd), /^Error: `task` is missing\.\nThe tool did/);
		assert.throws(() => prepared({ task: "look", agent: "a", agentId: "b" }), /give only `agentId`/);
	});

	it("pass arguments on unchanged without the addon, so that the call explains its absence", async () => {
		const { host } = await start({ brokenAddon: "throw new Error('no such file');" });
		await host.emit("session_start");
		assert.deepEqual(host.tools.get("subagent")?.prepareArguments?.({ any: 1 }), { any: 1 });
	});

	it("pass each kind of call to its function, with only the fields of the schema", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		const tasks = [{ agent: "explorer", cwd: "lib", task: "find it" }];
		const foreign = { cwd: "/elsewhere", config: { enabled: true } };
		const chosen = { cwd: "lib", model: "fake/small", thinking: "low" };
		await call({ agent: "explorer", task: "find it", ...chosen, config: { enabled: true } });
		await call({ tasks, ...foreign }, { tool: "subagent_parallel" });
		await call({ steps: tasks, ...foreign }, { tool: "subagent_chain" });
		assert.deepEqual(
			addon.runs.map(({ by, options }) => [
				by,
				options.agent,
				options.tasks,
				options.steps,
				options.cwd,
				options.config,
			]),
			[
				["startRun", "explorer", undefined, undefined, "/project", undefined],
				["startParallel", undefined, tasks, undefined, "/project", undefined],
				["startChain", undefined, undefined, tasks, "/project", undefined],
			],
		);
		const [single] = addon.runs;
		assert.deepEqual(
			[single?.options.childCwd, single?.options.childModel, single?.options.childThinking],
			["lib", "fake/small", "low"],
		);
	});

	it("pass updates on as they arrive, and none after the result", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		let late = () => {};
		addon.run = async (_options, update) => {
			update(answer("one"));
			update(answer("two"));
			late = () => update(answer("three"));
			return answer("done");
		};
		const seen: string[] = [];
		await call(undefined, { onUpdate: ({ content: [part] }) => seen.push(part?.type === "text" ? part.text : "") });
		late();
		assert.deepEqual(seen, ["one", "two"]);
	});

	it("flag a failed call once, and only that call", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		addon.run = async ({ agent = "" }) => ({ ...answer(agent), isError: agent === "bad" });
		await call({ agent: "bad", task: "x" }, { id: "a" });
		await call({ agent: "good", task: "x" }, { id: "b" });
		const flags = async (toolCallId: string) => await host.emit("tool_result", { toolName: "subagent", toolCallId });
		assert.deepEqual(await flags("b"), [undefined]);
		assert.deepEqual(await flags("a"), [{ isError: true }]);
		assert.deepEqual(await flags("a"), [undefined]);
	});

	it("turn a rejected run, and a failed start, into a result", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		const rejected = async () => {
			throw new Error("a bug");
		};
		const thrown = () => {
			throw new Error("a bug");
		};
		for (const run of [rejected, thrown]) {
			addon.run = run;
			for (const tool of ["subagent", "subagent_parallel", "subagent_chain"]) {
				const { isError, content } = await call(undefined, { tool });
				assert.deepEqual([isError, content[0]?.text], [true, "the run ended unexpectedly: a bug"]);
			}
		}
	});

	it("forward an abort, also from before the call", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		addon.run = async (_options, _update, _host, aborted) => {
			await aborted;
			return answer("partial");
		};
		const controller = new AbortController();
		const running = call(undefined, { signal: controller.signal });
		controller.abort();
		await running;
		await call(undefined, { signal: AbortSignal.abort() });
		assert.deepEqual(
			addon.runs.map(({ options, aborts }) => [options.aborted, aborts.length]),
			[
				[false, 1],
				[true, 1],
			],
		);
	});

	it("ask the user, and do not ask without a UI", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start", {}, host.context({ mode: "rpc" }));
		host.user.confirm = async (title) => title === "yes";
		addon.run = async ({ agent: title = "" }, _update, { confirm, ask }) => {
			const request = consent("", title);
			return answer(`${ask ? "asks" : "asks nobody"}, ${await confirm?.(request)}`);
		};
		const text = async (agent: string, context = host.context()) =>
			(await call({ agent, task: "x" }, { context })).content[0]?.text;
		assert.deepEqual([await text("yes"), await text("no")], ["asks, true", "asks, false"]);
		assert.equal(await text("yes", host.context({ hasUI: false, mode: "print" })), "asks nobody, undefined");
	});

	it("close withdrawn dialogs", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start", {}, host.context({ mode: "rpc" }));
		const closed: string[] = [];
		host.user.input = (title, _placeholder, { signal } = {}) =>
			new Promise((resolve) => {
				signal?.addEventListener("abort", () => {
					closed.push(title);
					resolve(undefined);
				});
			});
		addon.run = async (_options, _update, { ask, withdraw }) => {
			const asked = ask?.(question("input", { id: 7, title: "Where?" }));
			withdraw?.(7);
			return answer(`answered with ${JSON.stringify(await asked)}`);
		};
		assert.equal((await call()).content[0]?.text, "answered with {}");
		assert.deepEqual(closed, ["explorer asks: Where?"]);
	});

	it("end their runs with the session, and waits for them", async () => {
		const { host, addon, call } = await start();
		await host.emit("session_start");
		let ended = false;
		addon.run = async (_options, _update, _host, aborted) => {
			await aborted;
			await new Promise(setImmediate);
			ended = true;
			return answer("partial");
		};
		const running = call();
		await new Promise(setImmediate);
		await host.emit("session_shutdown");
		assert.equal(ended, true);
		assert.deepEqual(addon.runs[0]?.aborts, ["close"]);
		await running;
	});
});

describe("registration", () => {
	it("registers only the guard in a child", async () => {
		process.env.PI_SUBAGENT_CHILD = "1";
		try {
			const { host } = await start();
			await host.emit("session_start");
			assert.deepEqual(host.handled(), ["tool_result", "before_agent_start", "tool_call"]);
			assert.equal(host.tools.size + host.commands.size, 0);
		} finally {
			delete process.env.PI_SUBAGENT_CHILD;
		}
	});

	it("omits a tool that it cannot run", async () => {
		const { host, addon } = await start();
		const unknown = { ...SURFACES.tools[0], name: "toString" } as (typeof SURFACES.tools)[number];
		addon.surfaces = { ...SURFACES, tools: [...SURFACES.tools, unknown] };
		await host.emit("session_start");
		assert.deepEqual(
			[...host.tools.keys()],
			SURFACES.tools.map(({ name }) => name),
		);
	});

	it("registers no tool if the configuration says so, and disables a tool that a reload has restored", async () => {
		const off = new StubAddon();
		off.surfaces = { ...SURFACES, register: false };
		const fresh = await start({ addon: off });
		await fresh.host.emit("session_start");
		assert.equal(fresh.host.tools.size, 0);

		const before = await start();
		await before.host.emit("session_start");
		before.addon.surfaces = off.surfaces;
		const reloaded = before.reload();
		const names = SURFACES.tools.map(({ name }) => name);
		assert.deepEqual([...reloaded.host.tools.keys()], names, "the tools exist before `session_start`");
		reloaded.host.active.push("read");
		await reloaded.host.emit("session_start");
		assert.deepEqual(reloaded.host.active, ["read"]);
	});

	it("hides every tool from scripts, and declares read-only tools", async () => {
		const { host } = await start();
		await host.emit("session_start");
		const { describeTools } = createRequire(import.meta.url)(`${packageDir}/native.js`) as Native;
		const { tools } = await describeTools({ cwd: process.cwd() });
		assert.deepEqual(new Set(tools.map(({ exposure }) => exposure)), new Set(["model-only"]));
		const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
		assert.deepEqual(reading, ["agents_list", "sessions_list", "sessions_history"]);
		for (const { name, exposure } of SURFACES.tools) assert.equal(host.tools.get(name)?.exposure, exposure);
	});

	it("registers the tool for scripts only in a pi that knows tool exposures", async () => {
		const registered = async (hasExposures: boolean) => {
			const { host } = await start();
			const all = host.getAllTools.bind(host);
			host.getAllTools = () => all().map((tool) => (hasExposures ? { ...tool, exposure: "direct" } : tool));
			await host.emit("session_start");
			return host.tools.get("subagent_run");
		};
		assert.equal(await registered(false), undefined);
		const tool = await registered(true);
		assert.equal(tool?.exposure, "codemode");
		assert.deepEqual(tool?.outputSchema, {});
		// A script gets the errors of its own arguments.
		assert.equal(tool?.prepareArguments, undefined);
	});

	it("reports once that a restart is needed after the package on disk has changed", async () => {
		const loaded = await start();
		const module = join(loaded.folder, bundle);
		const text = readFileSync(module, "utf8");
		const notes = async () => {
			const { host } = loaded.reload();
			for (const _ of [1, 2]) await host.emit("session_start", { reason: "reload" });
			return host.notes;
		};
		assert.deepEqual(await notes(), []);
		const [version = ""] = /(?<=^\/\/ pi-subagent-native )\S+/.exec(text) ?? [];
		writeFileSync(module, text.replace(` ${version} `, " 99.0.0 "));
		const [update = "", ...more] = await notes();
		assert.match(update, /this pi still runs \d\S*, while 99\.0\.0 is installed; restart pi/);
		assert.deepEqual(more, []);
		writeFileSync(module, text.replace(/ [0-9a-f]{16}\./, " 0123456789abcdef."));
		assert.match((await notes()).join(), /another build of it is installed; restart pi/);
		// As in the middle of an update.
		for (const there of ["", "// pi-sub"]) {
			writeFileSync(module, there);
			assert.deepEqual(await notes(), []);
		}
		rmSync(module);
		assert.deepEqual(await notes(), []);
	});

	it("names the source position of a failure", async () => {
		const { host, addon } = await start();
		addon.surfaces = undefined as never;
		await host.emit("session_start");
		await new Promise(setImmediate);
		assert.match(host.notes.join(), /\(tools\.ts:\d+:\d+\)/);
	});

	it("keeps two copies of the package separate", async () => {
		const [one, other] = [await start(), await start()];
		await one.host.emit("session_start");
		assert.equal(other.reload().host.tools.size, 0, "the other copy registers no tools");
		await other.host.emit("session_start");
		await one.host.emit("session_shutdown", { reason: "quit" });
		assert.deepEqual([one.addon.ended, other.addon.ended], [1, 0]);
	});

	it("works without the addon, and says what to do", async () => {
		const { host, call } = await start({ brokenAddon: "throw new Error('no binary for this platform');" });
		await host.emit("session_start");
		assert.match(
			host.notes.join(),
			/could not be loaded .*no binary for this platform.*pi install npm:pi-subagent-native/,
		);
		for (const { name: tool } of SURFACES.tools) {
			const result = await call(undefined, { tool });
			assert.equal(result.isError, true);
			assert.match(result.content[0]?.text ?? "", /no binary for this platform/);
		}
		await host.commands.get("subagents")?.handler("doctor", host.context());
		assert.match(JSON.stringify(host.entries), /no binary for this platform/);
	});

	it("shows a notice once", async () => {
		const { host, addon } = await start();
		addon.surfaces = { ...SURFACES, notices: ["line 3: unknown key"] };
		await host.emit("session_start");
		await host.emit("session_start");
		assert.deepEqual(host.notes, ["pi-subagent-native: line 3: unknown key"]);
	});

	it("appends the delegation policy once, and only if the tool is active", async () => {
		const { host } = await start();
		await host.emit("session_start");
		const prompt = async (systemPrompt: string) => await host.emit("before_agent_start", { systemPrompt });
		assert.deepEqual(await prompt("You are pi."), [{ systemPrompt: "You are pi.\n\nDelegate focused work." }]);
		assert.deepEqual(await prompt("You are pi.\n\nDelegate focused work."), [undefined]);
		host.active = [];
		assert.deepEqual(await prompt("You are pi."), [undefined]);
	});
});

describe("/subagents", () => {
	it("leaves commands and completions to the addon, and draws its report", async () => {
		const { host, addon } = await start();
		await host.emit("session_start");
		const [view] = addon.views;
		const { commands } = host;
		for (const args of ["stop  1 ", "toString"]) await commands.get("subagents")?.handler(args, host.context());
		await commands.get("subagents")?.handler("", host.context({ mode: "rpc" }));
		assert.deepEqual(view?.commands, ["stop  1", "toString", "list"]);
		assert.deepEqual([host.entries.length, host.notes.length], [2, 1]);
		assert.deepEqual(commands.get("subagents")?.getArgumentCompletions("s"), [
			{ value: "stop", label: "stop", description: "" },
		]);
		assert.equal(
			commands.get("subagents")?.getArgumentCompletions("stop"),
			null,
			"a complete command has no completions",
		);
	});

	it("notifies in RPC mode and leaves the session alone", async () => {
		const { host, addon } = await start();
		await host.emit("session_start");
		await host.commands.get("subagents")?.handler("doctor", host.context({ mode: "rpc" }));
		assert.deepEqual([addon.views[0]?.commands, host.notes.length], [["doctor"], 1]);
		assert.deepEqual(host.entries, []);
	});

	it("shows a report only while pi runs, and stores the sanitized one", async () => {
		const lines = (text: string) => [{ mark: "added" as const, text }];
		const exact = { lines: lines("+KEY=secret;./x.sh"), text: "Changes\n\n+KEY=secret;./x.sh" };
		const kept = { title: "Changes", lines: lines("+KEY=[REDACTED]"), text: "Changes\n\n+KEY=[REDACTED]" };
		const { host, addon } = await start();
		await host.emit("session_start");
		const [view] = addon.views;
		if (!view) assert.fail("no session was opened");
		view.report = { ...kept, isError: false, exact };
		await host.commands.get("subagents")?.handler("diff 1a2b", host.context());
		const [{ data } = assert.fail("no entry was written")] = host.entries;
		assert.deepEqual(data, { kind: "subagents-report", version: 1, ...kept });
		assert.deepEqual(host.renderEntry?.({ data }, 40), [" Changes", "", " +KEY=secret;./x.sh"]);
		const stored: unknown = JSON.parse(JSON.stringify(data));
		assert.deepEqual(host.renderEntry?.({ data: stored }, 40), [" Changes", "", " +KEY=[REDACTED]"]);
		await host.commands.get("subagents")?.handler("diff 1a2b", host.context({ mode: "rpc" }));
		assert.deepEqual([host.notes, host.entries.length], [[exact.text], 1]);
	});

	it("draws the entry it leaves in the transcript within the width", async () => {
		const { host, addon } = await start();
		await host.emit("session_start");
		const text = "one two three four five six seven";
		const [view] = addon.views;
		if (!view) assert.fail("no session was opened");
		view.report = {
			isError: true,
			title: "Runs",
			lines: [{ mark: "running", name: "1a2b3c4d", text, indent: 1 }],
			text,
		};
		await host.commands.get("subagents")?.handler("list", host.context());
		const lines = host.renderEntry?.({ data: host.entries[0]?.data }, 30) ?? [];
		assert.deepEqual(lines, [
			" Runs",
			"",
			"   ● 1a2b3c4d  one two three",
			"               four five six",
			"               seven",
		]);
		for (const line of lines) assert.ok(line.length <= 30, line);
	});
});
