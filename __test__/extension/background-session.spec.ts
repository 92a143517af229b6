/** The tools, the cards, the message and the events of background work, with an addon that a test scripts. */

import assert from "node:assert/strict";
import { after, afterEach, describe, it } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { RunRecord } from "../../extension/background/registry.ts";
import { announcementLines } from "../../extension/cards/cards.ts";
import type { ToolRenderContext } from "../../extension/host/pi.ts";
import { Pen } from "../../extension/ui/pen.ts";
import { announced, announcementOf } from "./announcement-double.ts";
import { answer, backgroundRun, type LoadedExtension, PackageCopies } from "./package-copy.ts";
import { PLAIN, standingIn } from "./standing-in.ts";

const copies = new PackageCopies();
let loaded: LoadedExtension | undefined;

async function start(...options: Parameters<PackageCopies["load"]>): Promise<LoadedExtension> {
	loaded = await copies.load(...options);
	await loaded.host.emit("session_start", { reason: "startup" });
	return loaded;
}

afterEach(async () => await loaded?.host.emit("session_shutdown", { reason: "quit" }));
after(() => copies.remove());

const theme = PLAIN;

/** A card as pi holds it: the call, and its result once there is one. */
function card({ host }: LoadedExtension, tool: string, args: unknown, more: Partial<ToolRenderContext> = {}) {
	const state = {};
	const { renderCall, renderResult } = host.tools.get(tool) ?? assert.fail(`${tool} is not registered`);
	return (result?: { details: unknown; isError?: boolean }, width = 80): string[] => {
		const known = { isPartial: !result, isError: result?.isError === true };
		const usual = { state, args, executionStarted: true, expanded: false, invalidate: () => {} };
		const context = standingIn<ToolRenderContext>({ ...usual, ...known, ...more });
		const drawn = [renderCall(args, theme, context)];
		const text = "as text";
		if (result) {
			const output = { content: [{ type: "text", text }], details: result.details };
			drawn.push(renderResult(output, { expanded: false, isPartial: false }, theme, context));
		}
		return drawn.flatMap((part) => part.render(width)).map((line) => line.trimEnd());
	};
}

describe("sessions_spawn", () => {
	it("passes on the request and the hosting pi, and returns the receipt", async () => {
		const { addon, call } = await start();
		const params = { task: "look", label: "a", agentId: "explorer", model: "x/y", thinking: "low" };
		const limits = { runTimeoutSeconds: 60, cleanup: "delete" };
		const { content, details } = await call({ ...params, ...limits }, { tool: "sessions_spawn", id: "call-7" });
		const [options] = addon.spawned;
		const { task, label, agent, childModel, childThinking, runTimeoutSeconds, cleanup } = options ?? {};
		assert.deepEqual(
			{ task, label, agent, childModel, childThinking, runTimeoutSeconds, cleanup },
			{
				task: "look",
				label: "a",
				agent: "explorer",
				childModel: "x/y",
				childThinking: "low",
				...limits,
			},
		);
		assert.deepEqual([options?.sessionId, options?.model, options?.thinking], ["session", "fake/big", "high"]);
		const { kind: _kind, version: _version, ...fields } = addon.receipt;
		assert.deepEqual(JSON.parse(content[0]?.text ?? ""), fields);
		assert.deepEqual(details, addon.receipt);
	});

	it("flags a refusal, an aborted call, and a failing or missing addon", async () => {
		const { host, addon, call } = await start();
		const refused = async (id: string, options = {}) => {
			const { content } = await call({ task: "look" }, { tool: "sessions_spawn", id, ...options });
			assert.deepEqual(await host.emit("tool_result", { toolCallId: id }), [{ isError: true }]);
			return content[0]?.text ?? "";
		};
		const receipt = { status: "forbidden", error: "8 of 8 children run (maxChildren)" } as const;
		addon.receipt = { kind: "subagent-receipt", version: 1, ...receipt };
		assert.deepEqual(JSON.parse(await refused("a")), receipt);
		assert.match(await refused("b", { signal: AbortSignal.abort() }), /^stopped before/);
		assert.equal(addon.spawned.length, 1);
		addon.spawnSession = async () => {
			throw new Error("a bug");
		};
		assert.match(await refused("c"), /a bug/);
	});

	it("does not delay an aborted call, and stops a run that is accepted anyway", async () => {
		const { addon, call } = await start();
		const receipt = Promise.withResolvers<typeof addon.receipt>();
		const asked = Promise.withResolvers<void>();
		addon.spawnSession = async () => {
			asked.resolve();
			return await receipt.promise;
		};
		addon.listSpawnable = addon.spawnSession as never;
		const turn = new AbortController();
		const calls = ["sessions_spawn", "agents_list"].map((tool) =>
			call({ task: "look" }, { tool, signal: turn.signal }),
		);
		await asked.promise;
		turn.abort();
		for (const { content } of await Promise.all(calls)) assert.match(content[0]?.text ?? "", /^stopped/);
		const [view] = addon.views;
		assert.deepEqual(view?.used, []);
		receipt.resolve(addon.receipt);
		await receipt.promise;
		await new Promise(setImmediate);
		assert.deepEqual(view?.used, [["sessions_stop", { sessionKey: addon.receipt.childSessionKey }]]);
	});

	it("is drawn as one line, with its warning or error below", async () => {
		const extension = await start();
		const args = {
			task: "find\nthe \u001b[31mloader and everything that it loads",
			label: "loader",
			agentId: "explorer",
		};
		const draw = card(extension, "sessions_spawn", args);
		assert.deepEqual(draw(), ["○ background explorer · loader · find the loader and everything that it loads"]);
		const receipt = { status: "accepted", runId: "1a2b3c4d", childSessionKey: "agent:explorer:subagent:u" };
		assert.deepEqual(draw({ details: receipt }, 50), ["→ background explorer · started · loader"]);
		const warned = { ...receipt, warnings: ["model `x` is not known"] };
		assert.deepEqual(card(extension, "sessions_spawn", args)({ details: warned })[1], "  model `x` is not known");
		const failed = card(extension, "sessions_spawn", { task: "x" })({
			details: { status: "error", error: "no" },
			isError: true,
		});
		assert.deepEqual(failed, ["✗ background subagent · x", "  no"]);
		assert.deepEqual(card(extension, "sessions_spawn", null)({ details: undefined }), [
			"→ background subagent · started",
			"  as text",
		]);
	});
});

describe("agents_list", () => {
	it("returns the startable agents, and is drawn as one line", async () => {
		const extension = await start();
		const { details } = await extension.call({}, { tool: "agents_list" });
		const draw = card(extension, "agents_list", {});
		assert.deepEqual(draw({ details }), ["✓ agents_list · explorer"]);
		const expanded = card(extension, "agents_list", {}, { expanded: true })({ details });
		assert.deepEqual(expanded[1], "  explorer (builtin, readonly)  Finds code");
	});
});

describe("/stop", () => {
	it("ends the turn, the waiting calls and the background runs, and shows the report", async () => {
		const { host, addon, call } = await start();
		addon.run = async (_options, _update, _host, aborted) => {
			await aborted;
			return answer("partial");
		};
		const turn = new AbortController();
		const running = call(undefined, { signal: turn.signal });
		host.idle = false;
		const abort = () => {
			host.aborts += 1;
			turn.abort();
		};
		await host.commands.get("stop")?.handler("", host.context({ abort }));
		await running;
		assert.deepEqual([host.aborts, addon.runs[0]?.aborts, addon.views[0]?.commands], [1, [undefined], ["stop all"]]);
		assert.equal(host.entries.length, 1, "only the report of the addon is shown");
	});
});

describe("/subagents answer", () => {
	it("reports that no run asks, or no run with that name", async () => {
		const { host } = await start();
		for (const line of ["answer", "answer cleanup"])
			await host.commands.get("subagents")?.handler(line, host.context());
		const lines = host.entries.map(({ data }) => (data as { lines: { text: string }[] }).lines[0]?.text);
		assert.deepEqual(lines, [
			"No sub-agent waits for an answer in this terminal",
			"No sub-agent waits for an answer in this terminal",
		]);
	});
});

describe("the message", () => {
	const ended = { state: "ended", startedMs: 1_000, endedMs: 13_400 } as const;
	const good = backgroundRun("1a2b3c4d", { ...ended, status: "success", outcome: "completed", label: "loader" });
	const result = "# Found\n\nIt is in **loader.ts**.\n\n- one\n- two\n- three\n- four\n- five\n- six";

	function lines(runs: RunRecord[], width = 60, expanded = false): string[] {
		const message = { deliveryIds: ["d"], runIds: [], text: "text", triggerTurn: true, runs };
		const { content, details } = announcementOf(message);
		const drawn = announcementLines({ content, details }, expanded, new Pen(theme, width));
		for (const line of drawn) assert.ok(visibleWidth(line) <= width, line);
		return drawn.map((line) => line.trimEnd());
	}

	it("shows the agent, the outcome and the start of the answer; the rest when expanded", () => {
		assert.deepEqual(lines([{ ...good, result }]), [
			"✓ loader · explorer · 12s",
			"  Found",
			"  It is in **loader.ts**.".replaceAll("**", ""),
			"  - one",
			"  - two",
			"  - three",
			"  - four",
			"  … 2 more lines, ctrl+o to expand",
			"  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
		]);
		const transcript = "/sessions/child.jsonl";
		const all = lines([{ ...good, result, transcript, notes: ["a note"] }], 60, true);
		for (const part of ["  - six", "  a note", "  agent:explorer:subagent:key-1a2b3c4d", `  session ${transcript}`]) {
			assert.ok(all.includes(part), `${part} in ${all.join("\n")}`);
		}
	});

	it("distinguishes failures from requested ends, and several runs from each other", () => {
		const failed = {
			...backgroundRun("2b"),
			...ended,
			status: "error",
			outcome: "failed",
			error: "401: no key",
		} as const;
		const aborted = { ...backgroundRun("3c"), ...ended, status: "error", outcome: "aborted" } as const;
		const spent = { ...backgroundRun("5e"), ...ended, status: "error", outcome: "budget" } as const;
		const lost = {
			...backgroundRun("4d"),
			...ended,
			status: "unknown",
			outcome: "interrupted",
			partial: "So far.",
		} as const;
		const usage = "  3 turns · ↑12.4k ↓932 R40.2k · $0.02";
		assert.deepEqual(lines([failed, aborted, spent, lost]), [
			...["✗ find it · explorer · 12s · failed", "  401: no key", usage, ""],
			...["⚠ find it · explorer · 12s · stopped", usage, ""],
			...["⚠ find it · explorer · 12s · over budget", usage, ""],
			...[
				"⚠ find it · explorer · 12s · interrupted",
				"  last said:",
				"  So far.",
				"  to continue explorer: /subagents resume 4d",
				usage,
			],
		]);
		const heads = (["error", "timeout", "unknown"] as const).map((status) => {
			return lines([{ ...backgroundRun("6f"), ...ended, status }])[0];
		});
		const bare = "find it · explorer · 12s";
		assert.deepEqual(heads, [`✗ ${bare} · failed`, `✗ ${bare} · timed out`, `⚠ ${bare} · unknown`]);
	});

	it("shows who asks the conversation, the question and the choices", () => {
		const asked = {
			...{ runId: "1a2b3c4d", sessionKey: "agent:asks:subagent:x", agent: "asks", label: "colours\u001b[2J" },
			...{ task: "paint", question: "Which **colour**?", options: ["red", "green\u0007"] },
		};
		const details = { kind: "subagent-announcement", version: 1, deliveryIds: ["d"], runIds: ["1a2b3c4d"], runs: [] };
		const message = { content: "text", details: { ...details, questions: [asked] } };
		const drawn = announcementLines(message, false, new Pen(theme, 60)).map((line) => line.trimEnd());
		assert.deepEqual(drawn, ["? colours · asks · asks the conversation", "  Which colour?", "  - red", "  - green"]);
	});

	it("draws no control sequence, and survives foreign data", () => {
		const huge = { ...good, result: `\u001b]0;title\u0007${"word ".repeat(40_000)}`, label: "\u001b[2J\nlabel" };
		// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
		for (const line of lines([huge], 40, true)) assert.doesNotMatch(line, /[\u0000-\u001f]/);
		const foreign = announcementLines({ content: "Status: success", details: 7 }, false, new Pen(theme, 40));
		assert.deepEqual(foreign, ["Status: success"]);
	});
});

describe("events", () => {
	it("are emitted as the addon words them, regardless of other extensions", async () => {
		const { host, addon } = await start();
		const view = addon.views[0] ?? assert.fail("no session was opened");
		const run = { ...backgroundRun("1a2b3c4d"), task: "t".repeat(500) };
		const runEvents = [{ event: "subagent:started", run } as const, { event: "subagent:ended", run } as const];
		view.send({ runEvents });
		const ids = { deliveryIds: ["a"], runIds: [run.runId] };
		const delivered = { ...ids, runs: [run] };
		const message = {
			...ids,
			text: "Status: error",
			triggerTurn: false,
			runs: [run],
			questions: [],
			deliveredEvent: delivered,
		};
		view.send({ deliveries: announced(message) });
		await host.emit("agent_settled");
		assert.deepEqual(host.emitted, [
			{ channel: "subagent:started", data: run },
			{ channel: "subagent:ended", data: run },
			{ channel: "subagent:delivered", data: delivered },
		]);
	});
});
