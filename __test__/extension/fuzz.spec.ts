/**
 * All of our registrations with pi, given thousands of invalid values. Nothing throws, no line is too wide or moves the
 * cursor, and valid stored data is drawn without an error.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setImmediate as later } from "node:timers/promises";
import type { Component } from "@earendil-works/pi-tui";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { BackgroundEvent, CommandReport } from "../../native.js";
import { announced, announcementOf } from "./announcement-double.ts";
import { hostile, mutated, Random } from "./mutations.ts";
import { answer, backgroundRun, deliveredEventOf, HostDouble, PackageCopies, USAGE } from "./package-copy.ts";

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122);
const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 1_200);
const FAILED = /^✗ pi-subagent-native: /;

const copies = new PackageCopies();
after(() => copies.remove());

type Renderer = (...args: never[]) => Component | undefined;

/** A host that keeps every renderer. */
class Host extends HostDouble {
	readonly renderers = new Map<string, Renderer>();

	override registerMessageRenderer(type: string, renderer: Renderer): void {
		this.renderers.set(`message ${type}`, renderer);
	}

	override registerEntryRenderer(type: string, renderer: Renderer): void {
		this.renderers.set(`entry ${type}`, renderer);
	}
}

const plain = (text: string) => text;
const styles = {
	bold: plain,
	italic: plain,
	underline: plain,
	strikethrough: plain,
	bg: (_: string, text: string) => text,
};
const THEMES = [
	{ ...styles, fg: (_: string, text: string) => text },
	{
		...styles,
		fg: (color: string, text: string) => `\u001b[3${color.length % 8}m${text}\u001b[39m`,
		bold: (text: string) => `\u001b[1m${text}\u001b[22m`,
	},
	{
		...styles,
		fg: (color: string) => {
			throw new Error(`Unknown theme color: ${color}`);
		},
	},
];

const item = { type: "toolCall", name: "read", args: { path: "/project/src/main.ts", offset: 1, limit: 20 } };
const textItem = { type: "text", text: "First the **loader**.\n\n- one\n- two" };
const result = {
	...answer("It is in `load.rs`.").details.results[0],
	...{
		displayItems: [textItem, item],
		model: "fake/big",
		stopReason: "stop",
		sessionFile: "/s/1.jsonl",
		supervision: "warden",
	},
	...{
		sandbox: { enforced: true, mechanism: ["landlock"] },
		resources: { peakRssBytes: 1e8, cpuMs: 900, processes: 3 },
	},
	...{ changes: ["src/a.rs", "src/b.rs"], diagnostics: ["lsp was dropped"] },
};
const live = {
	...{
		state: "running",
		attempt: 1,
		usage: USAGE,
		turnCount: 2,
		elapsedMs: 4_000,
		sinceEventMs: 200,
		model: "fake/big",
	},
	displayItems: [textItem, item],
};
const error = { code: "SUBAGENT_FAILED", message: "it failed: 500 overloaded" };
const stamp = { kind: "subagent-run", version: 1 };

/** The stored data of pi's own example under the same tool name. */
const example = {
	...{ mode: "single", agentScope: "user", projectAgentsDir: null },
	results: [
		{
			...{ agent: "scout", agentSource: "user", task: "look", exitCode: 0, stderr: "", model: "m", stopReason: "stop" },
			messages: [{ role: "assistant", content: [{ type: "text", text: "found" }] }],
			usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0, contextTokens: 9, turns: 1 },
		},
	],
};

const DETAILS: readonly unknown[] = [
	{ ...stamp, mode: "single", runId: "1a2b3c4d", results: [result] },
	{ mode: "single", results: [{ ...result, exitCode: 1, outcome: "failed", error: "gone", output: undefined }], error },
	{ ...stamp, mode: "single", results: [], streaming: live },
	{ ...stamp, mode: "parallel", results: [result, { ...result, outcome: "idle_timeout", error: "silent" }], error },
	{ mode: "chain", results: [result, { ...result, outcome: "skipped", attempts: 0 }] },
	{
		...stamp,
		mode: "parallel",
		results: [],
		tasks: [live, live].map((task) => ({ ...task, agent: "a", text: "so far" })),
	},
	{ ...stamp, mode: "management", results: [], error },
	{ ...stamp, version: 2, mode: "single", results: ["other"] },
	{
		status: "accepted",
		runId: "1a2b3c4d",
		childSessionKey: "agent:explorer:subagent:x",
		note: "later",
		warnings: ["w"],
	},
	{ status: "forbidden", error: "maxChildren" },
	{
		agents: [{ id: "explorer", description: "Finds code", source: "builtin", readonly: true, model: "m" }],
		defaultAgent: "explorer",
	},
	example,
	undefined,
];

const ARGUMENTS: readonly unknown[] = [
	{ agent: "explorer", task: "find the loader\nand read it" },
	{
		tasks: [
			{ agent: "a", task: "b", cwd: "/x" },
			{ agent: "c", task: "d" },
		],
	},
	{ steps: [{ agent: "a", task: "{previous}" }] },
	{ task: "look", label: "a name", agentId: "explorer", model: "x/y", thinking: "low", runTimeoutSeconds: 60 },
	{},
	null,
];

const ended = backgroundRun("run-a", {
	...{ state: "ended", status: "success", outcome: "completed", result: "Result of **a**.\n\n```ts\nlet x = 1;\n```" },
	...{
		startedMs: 2_000,
		endedMs: 9_000,
		label: "config",
		model: "fake/big",
		notes: ["a note"],
		transcript: "/t.jsonl",
	},
});
const failedRun = { ...ended, status: "error" as const, outcome: "failed" as const, error: "500", partial: "so far" };
const message = {
	...{ deliveryIds: ["d1", "d2"], runIds: ["run-a", "run-b"], text: "Background run has ended", triggerTurn: true },
	runs: [ended, failedRun],
	deliveredEvent: deliveredEventOf(["d1", "d2"], [ended, failedRun]),
	questions: [],
};
const report: CommandReport = {
	...{ isError: false, title: "Background runs", text: "Background runs\n\n● a  b" },
	lines: [{ mark: "running", name: "1a2b3c4d", text: "find it", indent: 1 }, { text: "below" }],
};

const CONTENTS: readonly unknown[] = [
	"as text",
	[{ type: "text", text: "as text" }],
	[{ type: "image", data: "x" }],
	[],
];

const EVENTS: readonly (readonly [name: string, payload: object])[] = [
	["input", { text: "x", source: "interactive" }],
	["before_agent_start", { systemPrompt: "You are pi.", prompt: "x" }],
	["agent_start", {}],
	["message_update", { assistantMessageEvent: { type: "toolcall_start", contentIndex: 0, partial: { content: [] } } }],
	[
		"message_update",
		{
			assistantMessageEvent: {
				...{ type: "toolcall_delta", contentIndex: 0, delta: '{"agent":"ex' },
				partial: { content: [{ type: "toolCall", id: "c", name: "subagent" }] },
			},
		},
	],
	[
		"message_update",
		{ assistantMessageEvent: { type: "toolcall_end", contentIndex: 0, toolCall: { arguments: null } } },
	],
	["message_end", { message: { role: "assistant", stopReason: "stop", content: [] } }],
	["message_end", { message: { role: "custom", customType: "subagent-announcement" } }],
	["tool_execution_end", { toolCallId: "c", toolName: "subagent", result: {}, isError: false }],
	["tool_result", { toolCallId: "c", toolName: "subagent" }],
	["agent_end", { messages: [] }],
	["agent_before_settle", { entries: [], continue: false }],
	["agent_settled", { aborted: false }],
];

const KEYS = [
	"a",
	"j",
	"k",
	"m",
	"l",
	"i",
	"s",
	"?",
	"\r",
	"\u001b",
	"\u001b[A",
	"\u001b[B",
	"\u001b[200~paste\n\u001b[201~",
	"日",
];

/** The allowed escapes in a line besides text: styles, links, and the cursor's position. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
const STYLES = /\u001b_pi:c\u0007|\u001b\[[\d;:]*m|\u001b\]8;[^\u0007\u001b]*(?:\u0007|\u001b\\)/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;

class Fuzz {
	readonly random: Random;
	drawn = 0;
	failures: string[] = [];

	constructor(seed: number) {
		this.random = new Random(seed);
	}

	/** Draws a component at some widths, the way pi does. */
	draw(component: Component | undefined, given: unknown, mayFail: boolean): void {
		if (!component) return;
		for (const width of [this.random.pick([1, 2, 5, 20, 60, 80, 80, 120, 200]), this.random.below(130)]) {
			const lines = component.render(width);
			this.drawn++;
			for (const line of lines) {
				assert.equal(typeof line, "string");
				const wide = visibleWidth(line);
				assert.ok(wide <= width, `${wide} > ${width}: ${JSON.stringify(line)} of ${inspected(given)}`);
				assert.ok(
					!CONTROLS.test(line.replace(STYLES, "")),
					`the line contains a control sequence: ${JSON.stringify(line)} of ${inspected(given)}`,
				);
			}
			if (!mayFail) assert.doesNotMatch(lines[0] ?? "", FAILED, inspected(given));
			if (this.random.chance(0.2)) component.invalidate();
		}
	}

	value(sample: unknown, mayFail: boolean): unknown {
		return mayFail ? hostile(this.random, sample) : mutated(this.random, sample);
	}
}

function inspected(value: unknown): string {
	try {
		return JSON.stringify(value)?.slice(0, 3_000) ?? String(value);
	} catch {
		return "something that is no JSON";
	}
}

/** Runs `rounds` of `play`, each from a seed of its own that a failure names. */
async function fuzz(rounds: number, play: (fuzz: Fuzz, mayFail: boolean) => void | Promise<void>): Promise<number> {
	let drawn = 0;
	for (let round = 0; round < rounds; round++) {
		const seed = SEED + round;
		const fuzz = new Fuzz(seed);
		try {
			await play(fuzz, seed % 4 === 3);
		} catch (error) {
			const why = error instanceof Error ? error.stack : error;
			assert.fail(`the run with FUZZ_SEED=${seed} fails: ${why}`);
		}
		drawn += fuzz.drawn;
	}
	return drawn;
}

async function open() {
	const host = new Host();
	const { addon } = await copies.load({ host });
	await host.emit("session_start", { reason: "startup" });
	return { host, addon };
}

describe("a session with random data", () => {
	it("is drawn: cards", async (test) => {
		const { host } = await open();
		const drawn = await fuzz(ROUNDS / 2, (fuzz, mayFail) => {
			const { random } = fuzz;
			const tool = random.pick([...host.tools.values()]);
			const [args, details, content] = [ARGUMENTS, DETAILS, CONTENTS].map((samples) =>
				fuzz.value(random.pick(samples), mayFail),
			);
			const isPartial = random.chance(0.4);
			const context = {
				...{ args, state: {}, cwd: "/project", toolCallId: "c", argsComplete: true, invalidate() {}, showImages: true },
				...{
					executionStarted: random.chance(0.6),
					isPartial,
					expanded: random.chance(0.5),
					isError: random.chance(0.3),
				},
				...(random.chance(0.5) && { keyText: () => "ctrl+o" }),
				lastComponent: undefined as unknown,
			};
			const theme = random.pick(THEMES) as never;
			const given = { tool: tool.name, args, details, content, context: { ...context, state: undefined } };
			const call = tool.renderCall(args, theme, context as never);
			fuzz.draw(call, given, mayFail);
			const options = { expanded: context.expanded, isPartial };
			const isText = Array.isArray(content) && content.every((part) => typeof part === "object" && part !== null);
			// pi draws the content itself, and would have failed before.
			const output = { content: isText || mayFail ? content : [{ type: "text", text: "as text" }], details } as never;
			const first = tool.renderResult(output, options, theme, context as never);
			fuzz.draw(first, given, mayFail);
			const later = { ...context, isPartial: false, lastComponent: first } as never;
			fuzz.draw(tool.renderResult(output, { ...options, isPartial: false }, theme, later), given, mayFail);
			fuzz.draw(tool.renderCall(args, theme, later), given, mayFail);
		});
		await later();
		assert.ok(drawn >= ROUNDS * 3, `${drawn}`);
		test.diagnostic(`${drawn} cards drawn`);
		await host.emit("session_shutdown", { reason: "quit" });
	});

	it("is drawn: messages and entries", async (test) => {
		const { host } = await open();
		const written = announcementOf(message).details;
		await host.commands.get("subagents")?.handler("doctor", host.context());
		const entries = host.entries.map(({ data }) => data);
		const spans = {
			title: "t",
			lines: [{ line: [{ text: "a", color: "accent", bold: true }], hang: 2 }],
			text: "t\n\na",
		};
		const samples = [
			written,
			{ ...(written as object), kind: undefined, version: undefined },
			...entries,
			report,
			spans,
		];
		const drawn = await fuzz(ROUNDS / 2, (fuzz, mayFail) => {
			const { random } = fuzz;
			for (const [name, renderer] of host.renderers) {
				const data = fuzz.value(random.pick(samples), mayFail);
				const entry = { customType: name, content: random.pick(CONTENTS), details: data, data };
				const options = {
					expanded: random.chance(0.5),
					outputPad: 1,
					...(random.chance(0.5) && { keyText: () => "ctrl+o" }),
				};
				fuzz.draw(renderer(entry as never, options as never, random.pick(THEMES) as never), entry, mayFail);
			}
		});
		assert.ok(drawn >= ROUNDS, `${drawn}`);
		test.diagnostic(`${drawn} messages and entries drawn`);
		await host.emit("session_shutdown", { reason: "quit" });
	});
});

describe("random events, commands and calls", () => {
	it("end nothing", async (test) => {
		const { host, addon } = await open();
		const view = addon.views[0] ?? assert.fail("no session was opened");
		const widgets: Component[] = [];
		const screens: (Component & { handleInput(data: string): void; focused: boolean; dispose(): void })[] = [];
		let theme: unknown = THEMES[0];
		const terminal = { requestRender() {}, terminal: { rows: 30, columns: 80 } } as never;
		host.user.setWidget = (_key, content) => {
			if (content) widgets.push(content(terminal, theme as never));
		};
		const bindings = { matches: () => false, getKeys: () => [] };
		host.user.custom = async (factory) => {
			screens.push((await factory(terminal, theme as never, bindings as never, () => {})) as never);
		};
		const event: BackgroundEvent = {
			...{ runs: [backgroundRun("run-c"), ended], deliveries: announced(message), notices: ["a notice"] },
			runEvents: [{ event: "subagent:started", run: backgroundRun("run-c") }],
		};
		let played = 0;
		const drawn = await fuzz(ROUNDS / 6, async (fuzz, mayFail) => {
			const { random } = fuzz;
			theme = random.pick(THEMES);
			const [name, payload] = random.pick(EVENTS);
			await host.emit(name, fuzz.value(payload, mayFail) as object);
			host.session = fuzz.value(
				[{ type: "custom_message", customType: "subagent-announcement", details: {} }],
				false,
			) as [];
			try {
				view.send(fuzz.value(event, mayFail) as BackgroundEvent);
			} catch {
				// The addon offers the deliveries again.
			}
			view.report = fuzz.value(report, mayFail) as CommandReport;
			const line = random.pick(["", "list", "stop 1", "agents", "doctor", "\u001b[2J", "__proto__", "x".repeat(9_999)]);
			for (const { handler, getArgumentCompletions } of host.commands.values()) {
				void handler(line, host.context());
				const items = getArgumentCompletions(line);
				assert.ok(
					items === null || items.every(({ value, label }) => typeof value === "string" && label !== undefined),
				);
			}
			await later();
			for (const screen of screens.splice(0)) {
				screen.focused = true;
				for (let presses = random.below(6); presses > 0; presses--) {
					fuzz.draw(screen, view.report, true);
					screen.handleInput(random.pick(KEYS));
				}
				fuzz.draw(screen, view.report, true);
				screen.dispose();
			}
			for (const widget of widgets.splice(0)) fuzz.draw(widget, event, true);
			const tool = random.pick([...host.tools.values()]);
			const params = fuzz.value(random.pick(ARGUMENTS), mayFail);
			await tool.execute("c", params, undefined, () => {}, host.context()).catch(() => undefined);
			played++;
		});
		test.diagnostic(`${played} rounds of events, commands and calls; ${drawn} screens and widgets drawn`);
		await host.emit("session_shutdown", { reason: "quit" });
	});
});
