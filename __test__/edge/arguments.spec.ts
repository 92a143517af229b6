/** Wrong arguments are the caller's mistake and are reported at once. Everything else is data. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import * as addon from "../../native.js";
import { answers, Scene, shape, textOf } from "./scene.ts";

/** Calls with arguments that the types forbid. */
type Loose = (...args: unknown[]) => unknown;
const start = addon.startRun as Loose;

describe("startRun", () => {
	const rows: Record<string, [change: Record<string, unknown>, says: RegExp]> = {
		"no agent": [{ agent: undefined }, /`?agent`?/],
		"no task": [{ task: undefined }, /`?task`?/],
		"no cwd": [{ cwd: undefined }, /`?cwd`?/],
		"agent null": [{ agent: null }, /agent/],
		"agent of a wrong type": [{ agent: 5 }, /Number 5.*RunOptions\.agent/],
		"task of a wrong type": [{ task: ["look"] }, /RunOptions\.task/],
		"cwd of a wrong type": [{ cwd: new URL("file:///tmp") }, /SurfaceOptions\.cwd/],
		"agentDir of a wrong type": [{ agentDir: 5 }, /SurfaceOptions\.agentDir/],
		"env of a wrong type": [{ env: { A: 1 } }, /SurfaceOptions\.env/],
		"piCommand of a wrong type": [{ piCommand: "pi" }, /SurfaceOptions\.piCommand/],
		"a word of piCommand of a wrong type": [{ piCommand: ["pi", 5] }, /SurfaceOptions\.piCommand/],
		"tools of a wrong type": [{ tools: ["read"] }, /SurfaceOptions\.tools/],
		"aborted of a wrong type": [{ aborted: "yes" }, /RunOptions\.aborted/],
		"config with a function": [{ config: { enabled: () => true } }, /SurfaceOptions\.config/],
	};
	for (const [label, [change, says]] of Object.entries(rows)) {
		it(`throws at once and names what is wrong: ${label}`, (t) => {
			const scene = new Scene(t, answers);
			assert.throws(() => start({ ...scene.options, ...change }), says);
			assert.ok(!scene.wasStarted);
		});
	}

	it("throws at once for invalid callbacks, and names them", (t) => {
		const { options } = new Scene(t, answers);
		assert.throws(() => start(options, 5), /onUpdate|on_update|function/i);
		for (const name of ["confirm", "refresh", "ask"]) {
			assert.throws(() => start(options, undefined, { [name]: 5 }), new RegExp(`HostCallbacks\\.${name}`));
		}
		for (const nothing of [undefined, null, "explorer", 5]) assert.throws(() => start(nothing), Error);
	});

	it("passes on an exception of the caller's own options", (t) => {
		const { options } = new Scene(t, answers);
		const bad = Object.defineProperty({ ...options }, "task", {
			get() {
				throw new RangeError("mine");
			},
		});
		assert.throws(() => start(bad), { name: "RangeError", message: "mine" });
	});

	it("survives a circular or endless configuration", (t) => {
		const { options } = new Scene(t, answers);
		const cycle: Record<string, unknown> = {};
		cycle.self = cycle;
		let deep: Record<string, unknown> = {};
		for (let depth = 0; depth < 100_000; depth++) deep = { deep };
		for (const config of [cycle, deep]) assert.throws(() => start({ ...options, config }), /config/);
	});

	it("treats undefined as absent, and ignores unknown fields", async (t) => {
		const scene = new Scene(t, answers);
		const ignored = {
			parentSessionFile: undefined,
			model: undefined,
			tools: undefined,
			aborted: undefined,
			colour: "red",
		};
		const handle = start(
			{ ...scene.options, ...ignored, config: { ...scene.options.config, model: undefined } },
			null,
			undefined,
		) as addon.RunHandle;
		assert.deepEqual(shape(await handle.result()), [undefined, 0, "completed", false]);
	});

	it("reports a configuration that is not an object as a mistake", async (t) => {
		const scene = new Scene(t, answers);
		for (const config of ["x", 5, [], true]) {
			const result = await (start({ ...scene.options, config }) as addon.RunHandle).result();
			assert.equal(result.details.error?.code, "INVALID_INPUT", textOf(result));
		}
	});
});

describe("the types of options", () => {
	const types = readFileSync(join(import.meta.dirname, "../../native.d.ts"), "utf8");
	/** Returns the names of an interface's own fields. */
	const fieldsOf = (name: string) => {
		const [, body = ""] = new RegExp(`^export interface ${name} \\{\n(.*?)^\\}`, "ms").exec(types) ?? [];
		return [...body.matchAll(/^ {2}(\w+)\??: /gm)].map(([, field = ""]) => field);
	};
	const nothing = () => {};
	const calls: Record<string, [call: Loose, own: Record<string, unknown>]> = {
		RunOptions: [start, {}],
		ParallelOptions: [addon.startParallel as Loose, { tasks: [] }],
		ChainOptions: [addon.startChain as Loose, { steps: [] }],
		SpawnOptions: [addon.spawnSession as Loose, {}],
		BackgroundOptions: [(options) => (addon.openBackground as Loose)(options, nothing), { delivered: [] }],
		EarlyOptions: [addon.bootEarly as Loose, { tool: "subagent", callId: "c" }],
	};
	for (const [name, [call, own]] of Object.entries(calls)) {
		it(`have only fields that the addon reads: ${name}`, (t) => {
			const { options } = new Scene(t, answers);
			const fields = [...fieldsOf(name), ...fieldsOf("SurfaceOptions")];
			assert.ok(fields.includes("cwd") && fields.length > fieldsOf("SurfaceOptions").length, name);
			for (const field of fields) {
				// An object of variables may be any object.
				const wrong = field === "env" ? { NAME: 5 } : Symbol("wrong");
				assert.throws(
					() => call({ ...options, ...own, [field]: wrong }),
					new RegExp(`Options\\.${field}`),
					`${name}.${field}`,
				);
			}
		});
	}
});

describe("a handle", () => {
	it("cannot be constructed, nor used as another object", () => {
		assert.throws(() => new (addon.RunHandle as unknown as new () => unknown)());
		for (const name of ["result", "abort", "steer"] as const) {
			const method = addon.RunHandle.prototype[name] as Loose;
			for (const other of [{}, new Map(), undefined]) assert.throws(() => method.call(other, "x"), TypeError);
		}
	});

	it("throws for arguments of a wrong type and stays usable", async (t) => {
		const handle = new Scene(t, answers).start();
		assert.throws(() => (handle.abort as Loose).call(handle, 5), /Number 5/);
		assert.throws(() => (handle.steer as Loose).call(handle));
		assert.deepEqual(shape(await handle.result()), [undefined, 0, "completed", false]);
	});
});

describe("the other functions", () => {
	const calls: Record<string, Loose> = {
		collectOutput: addon.collectOutput as Loose,
		collectOutputFile: addon.collectOutputFile as Loose,
		sanitizeOutput: addon.sanitizeOutput as Loose,
		inspectOutput: addon.inspectOutput as Loose,
		truncateOutput: addon.truncateOutput as Loose,
		truncateHead: addon.truncateHead as Loose,
		truncateTail: addon.truncateTail as Loose,
		discoverAgents: addon.discoverAgents as Loose,
		describeTools: addon.describeTools as Loose,
		loadConfig: addon.loadConfig as Loose,
		doctor: addon.doctor as Loose,
	};
	for (const [name, call] of Object.entries(calls)) {
		it(`fail for a wrong type, and end no host: ${name}`, async () => {
			for (const wrong of [undefined, null, 5, Symbol("s"), () => {}, new ArrayBuffer(8), { cwd: 5 }]) {
				await assert.rejects(async () => await call(wrong), Error);
			}
		});
	}

	it("read a time in milliseconds, which is above 32 bits", () => {
		const retry = { attempt: 1, atMs: Date.now() + 5_000 };
		assert.equal(addon.stateLabel({ state: "retrying", retry }).mark, "retrying");
		assert.throws(() => addon.stateLabel({ state: "retrying", retry: { ...retry, atMs: 0.5 } }), /integer|i64/);
	});

	it("skip a taken name of an unknown kind", () => {
		const takenNames = [
			{ kind: "tool", name: "subagent", path: "/a.ts" },
			{ kind: "theme", name: "subagent" },
		];
		const notices = addon.takenNameNotices as Loose;
		assert.deepEqual(
			notices({ cwd: process.cwd(), takenNames }),
			notices({ cwd: process.cwd(), takenNames: takenNames.slice(0, 1) }),
		);
	});

	it("draw in any width and height, and end no host", () => {
		const palette = new addon.Palette("{}");
		const keys = { up: "u", down: "d", pageUp: "p", pageDown: "n", end: "e", confirm: "c", cancel: "x" };
		const question = new addon.QuestionScreen("explorer asks", "Run it?", "rm -rf build", ["No", "Yes"]);
		const panel = new addon.Panel(true);
		const card = new addon.CallCard("subagent");
		card.ask(JSON.stringify({ agent: "explorer", task: "Find the loader." }));
		for (const size of [-1, 0, 1]) {
			const extent = { isExpanded: true, rows: size, nowMs: Date.now() };
			assert.ok(question.draw(palette, size, size, keys).length > 0);
			assert.ok(panel.draw(palette, size, { rows: size, theme: 1, keys: [], nowMs: Date.now() }).length > 0);
			assert.ok(card.head(palette, size, extent).length > 0);
			assert.ok(addon.drawText(palette, size, "dim", "A text").length > 0);
			assert.ok(addon.drawQuestionLine(palette, size, "Remove it?", "alt+a").length > 0);
			assert.deepEqual(addon.drawWidget(palette, size, "[]", "[]", "[]", size), []);
		}
	});
});
