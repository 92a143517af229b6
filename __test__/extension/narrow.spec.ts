/** Cards, widget and panel in the narrowest terminals (28 to 60 columns) and the widest (200). */

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import type { TUI } from "@earendil-works/pi-tui";
import { stopClocks } from "../../extension/cards/cards.ts";
import { reportLines } from "../../extension/commands/report.ts";
import { guardedComponent } from "../../extension/host/guarded.ts";
import type { Widget } from "../../extension/host/pi.ts";
import { Pen } from "../../extension/ui/pen.ts";
import { plainText } from "../../extension/ui/text.ts";
import { showWidget } from "../../extension/ui/widget.ts";
import type { DisplayItem, RunDetails, SingleResult, TaskProgress } from "../../native.js";
import { aRun, BackgroundDouble, endedRun } from "./background-double.ts";
import { Card } from "./drawn-card.ts";
import { PanelDouble, settle } from "./drawn-panel.ts";
import { answer, HostDouble, USAGE } from "./package-copy.ts";
import { PLAIN, standingIn } from "./standing-in.ts";

const NOW = Date.UTC(2026, 0, 1, 9);
const WIDTHS = [28, 36, 44, 60, 200];
const MODEL = "anthropic/claude-sonnet-4-5";
const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
const CALLS: DisplayItem[] = [
	{ type: "toolCall", name: "read", args: { path: "src/config/settings/load.rs", offset: 1, limit: 40 } },
	{ type: "toolCall", name: "bash", args: { command: "cargo test --workspace --locked" } },
];
const PLAN = [
	{ agent: "explorer", task: "find the loader of the configuration" },
	{ agent: "code-reviewer", task: "review the last commit" },
	{ agent: "tester", task: "run the tests" },
];
const ERROR = { code: "SUBAGENT_FAILED", message: "it broke" } as const;

function progress(index: number, state: TaskProgress["state"], more: Partial<TaskProgress> = {}): TaskProgress {
	const { agent = "" } = PLAN[index] ?? {};
	return { agent, state, attempt: 1, elapsedMs: 0, sinceEventMs: 0, usage: NOTHING, turnCount: 0, ...more };
}

function result(index: number, more: Partial<SingleResult> = {}): SingleResult {
	const [base] = answer("The loader is in `load.rs`.").details.results;
	assert.ok(base);
	return { ...base, ...PLAN[index], usage: USAGE, durationMs: 3_210, model: MODEL, displayItems: CALLS, ...more };
}

const atWork = { elapsedMs: 12_300, usage: USAGE, turnCount: 3, model: MODEL, displayItems: CALLS };
const failed = { outcome: "failed", exitCode: 1, error: ERROR.message } as const;
const skipped = { outcome: "skipped", exitCode: 1, attempts: 0, durationMs: 0 } as const;

function many(tool: "parallel" | "chain", details: Partial<RunDetails>, isFailure = false): Card {
	const card = new Card({ [tool === "chain" ? "steps" : "tasks"]: PLAN }, `subagent_${tool}`);
	const all = { mode: tool, results: [], ...details } as RunDetails;
	return details.tasks ? card.update(all) : card.finish(all, "", isFailure);
}

const running = [progress(0, "completed", { ...atWork, text: "Found." }), progress(1, "running", atWork)];
const single = () => new Card({ agent: "code-reviewer", task: PLAN[0]?.task });
const CARDS: Record<string, () => Card> = {
	"one running": () =>
		single().update({
			...{ mode: "single", results: [] },
			streaming: { ...progress(1, "running", atWork), hasText: false } as NonNullable<RunDetails["streaming"]>,
		}),
	"one done": () => single().finish({ mode: "single", results: [result(1)] }),
	"one failed": () => single().finish({ mode: "single", results: [result(1, failed)], error: ERROR }, "", true),
	"parallel running": () => many("parallel", { tasks: [...running, progress(2, "queued", { position: 1 })] }),
	"parallel done": () => many("parallel", { results: [result(0), result(1), result(2)] }),
	"parallel failed": () => many("parallel", { results: [result(0), result(1, failed), result(2)], error: ERROR }),
	"chain running": () => many("chain", { tasks: [...running, progress(2, "waiting")] }),
	"chain done": () => many("chain", { results: [result(0), result(1), result(2)] }),
	"chain failed": () =>
		many("chain", { results: [result(0), result(1, failed), result(2, skipped)], error: ERROR }, true),
};

function runs() {
	const [createdMs, startedMs] = [NOW - 9_000, NOW - 9_000];
	return [
		aRun({ task: "say what it does", agent: "code-reviewer", state: "queued", position: 2, startedMs: NOW }),
		aRun({ label: "find the loader", lastTool: "read src/config/load.rs", usage: USAGE, startedMs: NOW - 62_000 }),
		endedRun(aRun({ label: "audit of the settings", result: "Three findings in load.rs.", createdMs, startedMs })),
		endedRun(aRun({ label: "tests", error: "no credit", createdMs, startedMs }), { outcome: "failed" }),
	];
}

function widget(width: number): string[] {
	const background = new BackgroundDouble();
	const host = new HostDouble();
	let shown: Widget | undefined;
	const terminal = standingIn<TUI>({ requestRender: () => {}, terminal: standingIn<TUI["terminal"]>({ rows: 40 }) });
	host.user = {
		setWidget: (_key, content) => {
			shown = content && guardedComponent("the widget", content(terminal, PLAIN));
		},
	};
	const close = showWidget(host.context(), background.background);
	background.now(...runs());
	const lines = (shown?.render(width) ?? []).map((line) => plainText(line).trimEnd());
	close();
	return lines;
}

async function panel(width: number): Promise<string[]> {
	const double = new PanelDouble(new BackgroundDouble(...runs()));
	[double.columns, double.rows] = [width, 24];
	await settle();
	return double.lines();
}

function report(title: string, lines: readonly object[], width: number): string[] {
	const data = { kind: "subagents-report", version: 1, title, lines, text: "" };
	return (reportLines(data, new Pen(PLAIN, width)) ?? []).map((line) => plainText(line).trimEnd());
}

beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: NOW }));
afterEach(() => {
	stopClocks();
	mock.timers.reset();
});

/** Fails if a line has one of the faults that a reader notices first. */
function assertTidy(lines: readonly string[], what: string): void {
	const text = lines.join("\n");
	for (const line of lines) {
		assert.doesNotMatch(line, /·$/, `${what}: a separator without a second part\n${text}`);
		assert.doesNotMatch(line, /· …$/, `${what}: a part without words\n${text}`);
		assert.doesNotMatch(line, /^\s*…$/, `${what}: a line without words\n${text}`);
		assert.doesNotMatch(line, /anthropic\/claude[\w.-]*…/, `${what}: a model without its end\n${text}`);
	}
}

describe("in any width", () => {
	for (const [name, make] of Object.entries(CARDS)) {
		it(`the card of ${name} is tidy`, () => {
			for (const width of WIDTHS) {
				assertTidy(make().lines(width), `${width}`);
				const card = make();
				card.expanded = true;
				assertTidy(card.lines(width), `${width}, expanded`);
			}
		});
	}

	it("the first line of a card loses whole words only", () => {
		const heads = (width: number) => Object.values(CARDS).map((make) => make().lines(width)[0]);
		assert.deepEqual(heads(28), [
			"● code-reviewer · 12s",
			"✓ code-reviewer · 3.2s",
			"✗ code-reviewer · failed",
			"● parallel · 3 tasks",
			"✓ parallel · 3 tasks",
			"⚠ parallel · 2 of 3…",
			"● chain · step 2 of 3",
			"✓ chain · 3 steps · 9.6s",
			"✗ chain · stopped at step…",
		]);
		assert.deepEqual(heads(36), [
			"● subagent code-reviewer · 12s",
			"✓ subagent code-reviewer · 3.2s",
			"✗ subagent code-reviewer · failed",
			"● subagent parallel · 3 tasks",
			"✓ subagent parallel · 3 tasks",
			"⚠ subagent parallel · 2 of 3…",
			"● subagent chain · step 2 of 3",
			"✓ subagent chain · 3 steps · 9.6s",
			"✗ subagent chain · stopped at step…",
		]);
	});

	it("the rows of tasks name their agents in full", () => {
		for (const width of WIDTHS) {
			const rows = CARDS["parallel running"]?.().lines(width).slice(1, 4) ?? [];
			for (const [index, { agent }] of PLAN.entries()) assert.ok(rows[index]?.includes(agent), rows.join("\n"));
		}
	});

	it("the card of a background call has the id of its run", () => {
		const head = (width: number) => {
			const card = new Card({ agentId: "explorer", task: "find the loader" }, "sessions_spawn");
			const key = "agent:explorer:subagent:00000000-0000-4000-8000-000000000000";
			const details = {
				kind: "subagent-receipt",
				version: 1,
				status: "accepted",
				runId: "1a2b3c4d",
				childSessionKey: key,
			};
			return card.finish(details as never).lines(width)[0];
		};
		assert.equal(head(28), "→ explorer · 1a2b3c4d");
		assert.equal(head(40), "→ explorer · 1a2b3c4d · started");
		assert.equal(head(60), "→ background explorer · started · 1a2b3c4d · find the loader");
	});

	it("a separator neither ends a line nor begins one", () => {
		const isolation = { branch: "subagent/0badcafe", commits: 1, files: 1, insertions: 1, deletions: 0 };
		const more = { changes: ["a.ts"], isolation, runId: "0badcafe" };
		for (let width = 24; width < 100; width++) {
			const lines = single()
				.finish({ mode: "single", results: [result(1, more)] })
				.lines(width);
			for (const line of lines) assert.doesNotMatch(line, /^\s*·|·$/, lines.join("\n"));
		}
	});

	it("a model loses its provider before its name", () => {
		assert.equal(CARDS["one done"]?.().lines(28).at(-1), "  …/claude-sonnet-4-5");
		assert.equal(CARDS["one done"]?.().lines(36).at(-1), `  ${MODEL}`);
	});

	it("the widget has names instead of beginnings of activities in a narrow terminal", () => {
		assert.deepEqual(widget(28), [" ○ say what it…       0s", " ● find the…       1m02s", " /subagents"]);
		assert.deepEqual(widget(36), [" ○ say what it does      0s", " ● find the loader    1m02s", " /subagents"]);
		assert.deepEqual(widget(60), [
			" ○ say what it does      0s  queued #2",
			" ● find the loader    1m02s  read src/config/load.rs",
			" /subagents",
		]);
	});

	it("the widget keeps its columns together in a wide terminal", () => {
		const [, row = ""] = widget(200);
		assert.match(row, / {2}read src\/config\/load\.rs {1,60}↑12\.4k ↓932$/);
		assert.ok(row.length < 150, row);
	});

	it("the panel is tidy, and its first line loses whole parts", async () => {
		for (const width of WIDTHS) assertTidy(await panel(width), `${width}`);
		assert.equal((await panel(28))[0], " 1 running · 1 failed");
		assert.equal((await panel(44))[0], " Sub-agents · 1 running · 1 failed");
		assert.deepEqual((await panel(28)).slice(-2), [" enter open  s stop", " ? keys  escape close"]);
	});

	it("a report has no separator at the end of a line", () => {
		const text = "read, bash, edit, write · anthropic/claude-sonnet-4-5 · `allowWrite` is off";
		for (const width of WIDTHS) assertTidy(report("Agents", [{ mark: "ok", name: "worker", text }], width), `${width}`);
	});
});
