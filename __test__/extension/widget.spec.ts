/** The background runs above the editor. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { type TUI, visibleWidth } from "@earendil-works/pi-tui";

import { guardedComponent } from "../../extension/host/guarded.ts";
import type { Widget } from "../../extension/host/pi.ts";
import { plainText } from "../../extension/ui/text.ts";
import { showWidget } from "../../extension/ui/widget.ts";
import { aRun, aWorkflow, BackgroundDouble, endedRun } from "./background-double.ts";
import { HostDouble } from "./package-copy.ts";
import { PLAIN, standingIn } from "./standing-in.ts";

const NOW = Date.UTC(2026, 0, 1, 9);
/** The line of the command in a narrow terminal. */
const COMMAND = " /subagents";
const usage = { input: 12_400, output: 932, cacheRead: 0, cacheWrite: 0, cost: 0.0231, turns: 3 };

beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: NOW }));
afterEach(() => mock.timers.reset());

/** The widget as pi holds it. */
class Above {
	rows = 40;
	requests = 0;
	mounts = 0;
	widget: Widget | undefined;
	readonly takeAway: () => void;

	constructor(background: BackgroundDouble) {
		const host = new HostDouble();
		const above = this;
		const terminal = standingIn<TUI>({
			requestRender: () => {
				this.requests += 1;
			},
			get terminal() {
				return { rows: above.rows };
			},
		});
		host.user = {
			setWidget: (key, content) => {
				assert.equal(key, "subagents");
				this.widget?.dispose();
				this.mounts += content ? 1 : 0;
				this.widget = content && guardedComponent("the widget", content(terminal, PLAIN));
			},
		};
		this.takeAway = showWidget(host.context(), background.background);
	}

	lines(width = 100): string[] {
		return (this.widget?.render(width) ?? []).map((line) => plainText(line).trimEnd());
	}
}

describe("the widget", () => {
	it("has a line for each active run, and disappears without any", () => {
		const background = new BackgroundDouble();
		const above = new Above(background);
		assert.equal(above.widget, undefined);
		const loader = aRun({ label: "find the loader", startedMs: NOW - 62_000, lastTool: "read src/load.rs", usage });
		const queued = aRun({ task: "say what it does", state: "queued", position: 2, startedMs: NOW });
		background.now(queued, loader, endedRun(aRun({ label: "audit" }), { endedMs: NOW - 9_000 }));
		assert.deepEqual(above.lines(), [
			" ○ say what it does  explorer      0s  queued #2                           /subagents",
			" ● find the loader   explorer   1m02s  read src/load.rs                                ↑12.4k ↓932",
		]);
		assert.deepEqual(above.lines(40), [
			" ○ say what it…       0s  queued #2",
			" ● find the…       1m02s  read …/load.rs",
			COMMAND,
		]);
		background.now(endedRun(queued, { endedMs: NOW - 9_000 }), endedRun(loader, { endedMs: NOW - 9_000 }));
		assert.equal(above.widget, undefined);
	});

	it("moves no column while an activity grows, and leaves room for the command that opens the panel", () => {
		const run = aRun({ label: "loader", usage });
		const background = new BackgroundDouble();
		const above = new Above(background);
		for (const width of [40, 60, 80, 120, 200]) {
			const columns = new Set<string>();
			for (const words of [1, 4, 12, 60]) {
				background.now({ ...run, text: "it is read there ".repeat(words) }, aRun({ label: "other" }));
				const lines = above.lines(width);
				const text = lines.join("\n");
				assert.equal(text.match(/\/subagents/g)?.length, 1, text);
				columns.add(`${lines.length} ${lines[0]?.indexOf("/subagents")} ${lines[0]?.indexOf("↑")}`);
			}
			assert.equal(columns.size, 1, `${width}: ${[...columns].join(", ")}`);
		}
	});

	it("has one line for a running workflow in place of its runs", () => {
		const background = new BackgroundDouble();
		const above = new Above(background);
		const run = (key: string, words: string) =>
			aRun({ isForeground: true, workflow: { id: "review", key, project: "/project" }, text: words });
		const runs = [run("src/a.ts", "I read a.ts."), run("src/b.ts", "I read b.ts.")];
		const other = aRun({ label: "other", lastTool: "read src/load.rs" });
		background.now(...runs, other);
		background.running(aWorkflow({ phase: "read", live: 2, completed: 3, cost: 0.04, runs }));
		assert.deepEqual(above.lines(80), [
			" ● review                    read · 2 running, 3 completed · $0.04…   /subagents",
			" ● other   explorer      0s  read src/load.rs",
		]);
		// Its newest run has no words yet.
		const silent = run("src/c.ts", "");
		background.now(...runs, silent);
		background.running(aWorkflow({ phase: "read", live: 3, runs: [...runs, silent] }));
		assert.deepEqual(above.lines(80), [
			" ● review          read · 3 running · I read b.ts.                    /subagents",
		]);
		// A script may be between two runs.
		background.now();
		background.running(aWorkflow({ phase: "merge", completed: 5 }));
		assert.deepEqual(above.lines(80), [
			" ● review          merge · 5 completed                                /subagents",
		]);
		background.running();
		assert.equal(above.widget, undefined);
	});

	it("tells the runs of one agent apart by their tasks, in a narrow terminal too", () => {
		const background = new BackgroundDouble(
			aRun({ task: "Look for dead code in\nthe loader" }),
			aRun({ task: "Look for dead code in src/store/mod.rs and list it" }),
			aRun({ task: "Look for dead code in src/store/schema.rs and list it" }),
		);
		const above = new Above(background);
		assert.deepEqual(above.lines(60), [
			" ● Look for dead code…      0s",
			" ● …mod.rs and list it      0s",
			" ● …schema.rs and…          0s",
			COMMAND,
		]);
		assert.deepEqual(above.lines(40), [
			" ● Look for…          0s",
			" ● …mod.rs and…       0s",
			" ● …schema.rs…        0s",
			COMMAND,
		]);
	});

	it("shortens such a task to the available width", () => {
		const tasks = ["one", "two"].map((file) => aRun({ task: `Look for dead code in the files of src/${file}.rs` }));
		const above = new Above(new BackgroundDouble(...tasks));
		assert.deepEqual(above.lines(), [
			" ● Look for dead code in…one.rs  explorer      0s                                         /subagents",
			" ● Look for dead code in…two.rs  explorer      0s",
		]);
	});

	it("shows the latest activity: text, a call with the end of its path, or the reason for a retry", () => {
		const run = aRun({ label: "loader", lastTool: "read extension/panel/transcript/transcript-window.ts" });
		const background = new BackgroundDouble(run);
		const above = new Above(background);
		assert.equal(above.lines(60)[0], " ● loader      0s  read …/transcript/transcript-window.ts");
		background.now({ ...run, text: "Now I know." });
		assert.equal(above.lines(60)[0], " ● loader      0s  Now I know.");
		background.now({ ...run, retry: { attempt: 2, maxAttempts: 3, atMs: NOW + 4_500, error: "overloaded" } });
		assert.match(above.lines(60)[0] ?? "", /^ ↻ loader {6}0s {2}retry 2 of 3 in 5s · overloaded$/);
		background.now({ ...run, lastTool: "$ cargo test --workspace --all-features -- src/store" });
		assert.equal(above.lines(60)[0], " ● loader      0s  $ cargo test --workspace --all-features…");
	});

	it("shows the newest words of a long paragraph, after an ellipsis and from a whole word", () => {
		const text = `${Array.from({ length: 150 }, (_, file) => `File ${file} is read, `).join("")}these are the newest words.`;
		const run = aRun({ label: "loader", text });
		const background = new BackgroundDouble(run);
		const above = new Above(background);
		assert.deepEqual(above.lines(60), [" ● loader      0s  …149 is read, these are the newest words.", COMMAND]);
		assert.deepEqual(above.lines(40), [" ● loader      0s  …the newest words.", COMMAND]);
		background.now({ ...run, text: `${text} And newer.` });
		assert.deepEqual(above.lines(40), [" ● loader      0s  …words. And newer.", COMMAND]);
	});

	it("leaves out foreground runs, and runs whose question is shown", () => {
		const background = new BackgroundDouble(
			aRun({ label: "loader" }),
			aRun({ label: "cleanup", pendingQuestion: "Delete build/ and everything in it?" }),
			aRun({ label: "audit", isForeground: true }),
		);
		const above = new Above(background);
		assert.deepEqual(above.lines(60), [" ● loader      0s", COMMAND]);
	});

	it("keeps a run until its result is in the session", () => {
		const run = aRun({ label: "config", startedMs: NOW - 60_000 });
		const ended = endedRun(run, { endedMs: NOW - 1 });
		const background = new BackgroundDouble(run);
		const above = new Above(background);
		// The result is not here yet: it may be gathered with others.
		background.now(ended);
		assert.deepEqual(above.lines(), [" ✓ config · waiting to be read · /subagents"]);
		background.background.setUndelivered([ended]);
		mock.timers.tick(60_000);
		assert.deepEqual(above.lines(), [" ✓ config · waiting to be read · /subagents"]);
		const loader = ` ● loader  explorer      0s${" ".repeat(63)}/subagents`;
		background.now(aRun({ label: "loader" }), ended);
		assert.deepEqual(above.lines(), [loader, " ✓ config · waiting to be read"]);
		background.background.setUndelivered([]);
		assert.deepEqual(above.lines(), [loader]);
		const failed = endedRun(run, { endedMs: NOW - 1, outcome: "failed", timesResumed: 1 });
		background.now(failed);
		background.background.setUndelivered([failed]);
		assert.deepEqual(above.lines(), [" ✗ config · failed · waiting to be read · /subagents"]);
		background.background.leave();
		assert.equal(above.widget, undefined);
		// If no result can arrive, it does not wait for one.
		background.now(endedRun(aRun(), { endedMs: Date.now() }));
		mock.timers.tick(5_000);
		assert.equal(above.widget, undefined);
	});

	it("counts the runs without a line", () => {
		const background = new BackgroundDouble(
			...Array.from({ length: 8 }, (_, index) => aRun({ label: `run ${index}` })),
		);
		const above = new Above(background);
		assert.equal(above.lines().length, 6);
		assert.equal(above.lines().at(-1), " +3 more · /subagents shows all");
		above.rows = 10;
		above.widget?.invalidate();
		assert.equal(above.lines().length, 2);
		assert.equal(above.lines().at(-1), " +7 more · /subagents shows all");
	});

	it("never has a line wider than the terminal", () => {
		const wild = "世界 🚀 e\u0301 \u001b[31mred\u0007\t\u202e a_word_without_any_blank_in_it_that_goes_on";
		const runs = Array.from({ length: 9 }, () => aRun({ label: wild, agent: wild, lastTool: wild, usage }));
		const above = new Above(new BackgroundDouble(...runs));
		for (let width = 1; width < 130; width++) {
			for (const line of above.widget?.render(width) ?? []) assert.ok(visibleWidth(line) <= width, line);
		}
	});

	it("ticks once a second, only while it shows something, and not after its removal", () => {
		const run = aRun({ label: "one", startedMs: NOW + 5_000 });
		const background = new BackgroundDouble();
		const above = new Above(background);
		mock.timers.tick(5_000);
		assert.equal(above.requests, 0);
		background.now(run);
		const { requests } = above;
		mock.timers.tick(5_000);
		assert.equal(above.requests - requests, 5);
		assert.match(above.lines().join(), / 5s/);
		background.now(endedRun(run));
		const after = above.requests;
		mock.timers.tick(5_000);
		assert.equal(above.requests, after);

		background.now(run);
		above.takeAway();
		background.now(aRun());
		assert.equal(above.widget, undefined);
		mock.timers.tick(5_000);
		assert.equal(above.mounts, 2);
	});

	it("comes back when pi has dropped it", () => {
		const background = new BackgroundDouble(aRun({ label: "one" }));
		const above = new Above(background);
		above.widget?.dispose();
		above.widget = undefined;
		background.now(aRun({ label: "two" }));
		assert.match(above.lines().join(), /two/);
	});
});
