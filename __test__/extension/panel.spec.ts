/** The panel of background runs: its content, its keys, and the cost of a frame. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { type TuiMouseEvent, visibleWidth } from "@earendil-works/pi-tui";
import type { RunRecord } from "../../extension/background/registry.ts";
import { loadAddon } from "../../extension/host/native.ts";
import { Pen } from "../../extension/ui/pen.ts";
import { shownOf, widgetLines } from "../../extension/ui/widget.ts";
import type { Transcript } from "../../native.js";
import { aRun, aWorkflow, BackgroundDouble, endedRun, report } from "./background-double.ts";
import { KEYS, PanelDouble, passing, settle } from "./drawn-panel.ts";
import { PLAIN, standingIn } from "./standing-in.ts";

const NOW = Date.UTC(2026, 0, 1, 9);
const usage = { input: 12_400, output: 932, cacheRead: 40_210, cacheWrite: 0, cost: 0.0231, turns: 3 };

/** A text of 3 kB without a line end. */
const paragraph = `${Array.from({ length: 150 }, (_, file) => `File ${file} is read, `).join("")}so these are the newest words.`;

beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: NOW }));
afterEach(() => mock.timers.reset());

/** A run of the workflow `review`. */
function placed(key: string, run: Partial<RunRecord> = {}): RunRecord {
	return aRun({ isForeground: true, workflow: { id: "review", key, project: "/project" }, ...run });
}

async function open(...runs: RunRecord[]): Promise<{ panel: PanelDouble; background: BackgroundDouble }> {
	const background = new BackgroundDouble(...runs);
	const panel = new PanelDouble(background);
	await settle();
	return { panel, background };
}

/** Returns the text and calls of a child that reads one file after another. */
function walk(steps: number): Transcript["entries"] {
	const stages = Array.from({ length: steps }, (_, step): Transcript["entries"] => [
		{ role: "assistant", text: `Step ${step}: I look at the **loader**.` },
		{ role: "toolCall", name: "read", text: `read src/load-${step}.rs` },
		{ role: "toolResult", name: "read", text: Array.from({ length: 12 }, (_, line) => `line ${line}`).join("\n") },
	]);
	return [{ role: "user", text: "find the loader" }, ...stages.flat()];
}

describe("the list", () => {
	const loader = () =>
		aRun({
			label: "find the loader",
			lastTool: "read src/load.rs",
			usage,
			startedMs: NOW - 62_000,
		});

	it("has a line for each run, newest first, and the details of the chosen run", async () => {
		const { panel } = await open(
			aRun({
				task: "say what it does",
				agent: "reviewer",
				state: "queued",
				position: 2,
				createdMs: NOW + 9,
				startedMs: NOW,
			}),
			loader(),
			endedRun(aRun({ label: "audit", result: "Three findings.", createdMs: NOW - 9_000, startedMs: NOW - 9_000 })),
			endedRun(aRun({ label: "tests", error: "no credit", createdMs: NOW - 9_001, startedMs: NOW - 9_001 }), {
				outcome: "failed",
			}),
		);
		await panel.press("j");
		assert.deepEqual(panel.lines().slice(0, 11), [
			" Sub-agents · 1 running · 1 queued · 1 completed · 1 failed · ↑12.4k ↓932 · $0.02",
			` ${"─".repeat(98)}`,
			"     # run               agent       time  doing                                      tokens",
			"   ○ 1 say what it does  reviewer      0s  queued #2",
			" ▸ ● 2 find the loader   explorer   1m02s  read src/load.rs                           ↑12.4k ↓932",
			"   ✓ 3 audit             explorer    3.0s  Three findings.",
			"   ✗ 4 tests             explorer    3.0s  failed: no credit",
			"",
			` ── find the loader ${"─".repeat(79)}`,
			"   → read src/load.rs",
			"   3 turns · ↑12.4k ↓932 R40.2k · $0.02 · scripted/scripted-model",
		]);
		assert.equal(panel.foot, "enter open  s stop  m message  i info  l log  a all runs  ? keys  escape close");
	});

	it("begins with the changes that wait, and does not call an ended run foreground", async () => {
		const task =
			"Add src/retry.js with a helper that retries a failed download, and say what it does when it gives up.";
		const stopped = { outcome: "aborted", changesState: "unapplied", error: "cancelled by user" } as const;
		const { panel } = await open(endedRun(aRun({ isForeground: true, task }), stopped));
		panel.columns = 80;
		assert.match(panel.text, /⚠ 1 Add .* {2}not applied yet, stopped\n/);
		panel.columns = 200;
		assert.match(panel.text, /⚠ 1 Add src\/retry\.js with a helper that retries a…/);
	});

	it("shows a workflow as a row with its runs below it, and follows them", async () => {
		const first = placed("src/a.ts", { usage, startedMs: NOW - 62_000 });
		const { panel, background } = await open(aRun({ label: "other" }), first);
		panel.columns = 80;
		background.shown = [aWorkflow({ phase: "read", runs: [first] })];
		await passing(11_000);
		const rows = () => panel.lines().slice(3, 8);
		assert.deepEqual(rows(), [
			" ▸ ● - review                        read · 1 running",
			"   ● 2   src/a.ts  explorer   1m13s",
			"   ● 1 other       explorer     10s",
			"",
			" ── review ────────────────────────────────────────────────────────────────────",
		]);
		panel.columns = 140;
		const failed = endedRun(placed("src/b.ts"), { outcome: "failed", error: "no credit" });
		background.now(placed("merge"), failed, endedRun(first, { result: "Fine." }));
		await passing(200);
		assert.match(panel.text, /● - review .* read · 1 running, 1 completed, 1 without a result/);
		background.shown = [aWorkflow({ phase: "merge", runs: background.stored.toReversed(), cost: 0.5 })];
		await passing(3_500);
		assert.match(panel.text, /● - review .* merge · 1 running, 1 completed, 1 without a result/);
		assert.match(panel.text, /✓ 3 {3}src\/a\.ts .*\n.* ✗ 2 {3}src\/b\.ts .* failed: no credit\n.* ● 1 {3}merge/);
		await panel.press("g", KEYS.enter);
		assert.match(panel.text, /▸ ● \+ review/);
		assert.doesNotMatch(panel.text, /src\/a\.ts/);
		assert.equal(panel.foot, "enter show runs  s stop  i info  a all runs  ? keys  escape close");
		await panel.press(KEYS.enter, "j");
		assert.equal(panel.foot.includes("enter open"), true, panel.foot);
		await panel.press(KEYS.left);
		assert.match(panel.text, /▸ ● \+ review/);
	});

	it("marks a workflow with a run that asks, also if its runs are hidden, and opens the question", async () => {
		const run = placed("src/a.ts", { pendingQuestion: "Delete build/?" });
		const { panel, background } = await open(run);
		background.shown = [aWorkflow({ runs: [run] })];
		await passing(11_000);
		await panel.press("g", KEYS.enter);
		assert.match(panel.text, /^ ▸ \? \+ review .* 1 running$/m);
		assert.match(panel.text, /\n {3}\? find the loader \(explorer\) asks: Delete build\/\?\n/);
		assert.equal(panel.foot, "enter show runs  o question  s stop  i info  a all runs  ? keys  escape close");
		await panel.press("o");
		assert.deepEqual(panel.answered, [run.runId]);
		background.now(placed("src/a.ts"));
		await passing(3_000);
		await panel.press("o");
		assert.match(panel.text, /^ ▸ ● \+ review/m);
		assert.deepEqual(panel.answered, [run.runId]);
	});

	it("shows the runs of a workflow that continues, unless the user has hidden them", async () => {
		const stopped = endedRun(placed("src/a.ts"), { outcome: "interrupted" });
		for (const isHidden of [false, true]) {
			const { panel, background } = await open();
			background.shown = [aWorkflow({ state: "interrupted", runs: [stopped] })];
			await passing(11_000);
			assert.match(panel.text, /▸ ⚠ \+ review .* interrupted · 1 without a result/);
			if (isHidden) await panel.press(KEYS.enter, KEYS.enter);
			const again = placed("src/a.ts");
			background.now(again);
			background.shown = [aWorkflow({ runs: [again] })];
			await passing(11_000);
			assert.match(panel.text, isHidden ? /▸ ● \+ review/ : /▸ ● - review .*\n.* ● 1 {3}src\/a\.ts/);
		}
	});

	it("counts the runs that its rows stand for", async () => {
		const done = Array.from({ length: 12 }, (_, file) => endedRun(placed(`src/${file}.ts`)));
		const replaced = endedRun(placed("src/0.ts"), { outcome: "aborted", createdMs: NOW - 9_000 });
		const { panel, background } = await open(aRun({ label: "other" }), replaced);
		background.shown = [aWorkflow({ runs: done })];
		await passing(11_000);
		assert.match(panel.text, /^ Sub-agents · 1 running · 12 completed\n/);
	});

	it("has no runs to show for a workflow without runs, and says which keys are for a run", async () => {
		const { panel, background } = await open();
		background.shown = [aWorkflow({ phase: "read" })];
		await passing(11_000);
		assert.match(panel.text, /^ ▸ ● +review .* read$/m);
		assert.equal(panel.foot, "s stop  i info  a all runs  ? keys  escape close");
		for (const key of ["m", "d", "l", "b"]) {
			await panel.press(key);
			assert.equal(panel.foot, "this key is for a run: choose one of the workflow “review”");
		}
		assert.deepEqual(background.commands, []);
	});

	it("leaves out the workflows of other projects at once", async () => {
		const { panel, background } = await open();
		background.shown = [aWorkflow({ id: "far", name: "far", project: "/far", state: "interrupted" })];
		await panel.press("a");
		await passing(3_000);
		assert.match(panel.text, /⚠ +far/);
		background.workflows = () => new Promise(() => {});
		await panel.press("a");
		assert.doesNotMatch(panel.text, /far/);
	});

	it("leaves out the stopped run of a key that has completed since", async () => {
		const stopped = endedRun(placed("src/a.ts"), { outcome: "aborted" });
		const done = endedRun(placed("src/a.ts"), { result: "Fine." });
		const { panel, background } = await open(done, stopped);
		background.shown = [aWorkflow({ state: "completed", runs: [done], completed: 1 })];
		await passing(11_000);
		await panel.press("g", KEYS.enter);
		assert.match(panel.text, /▸ ✓ - review .* completed · 1 completed/);
		assert.equal(panel.lines().filter((line) => line.includes("src/a.ts")).length, 1, panel.text);
		assert.doesNotMatch(panel.text, /⚠/);
	});

	it("keeps the runs of an ended workflow hidden, and shows the next steps of a stopped one", async () => {
		const { panel, background } = await open();
		const run = endedRun(placed("src/a.ts"), { outcome: "aborted" });
		background.shown = [aWorkflow({ state: "stopped", unfinished: 1, runs: [run] })];
		await passing(11_000);
		assert.match(panel.text, /▸ ⚠ \+ review .* stopped · 1 without a result/);
		assert.match(panel.text, /it was stopped: 0 of 1 run completed\n/);
		assert.match(panel.text, /`\/subagents resume review` continues it/);
		await panel.press(KEYS.enter, "j", KEYS.enter);
		assert.match(panel.text, /^ ⚠ /, "a run that the list lacks has its transcript");
	});

	it("tells long names apart, also if each character takes two columns", async () => {
		const same = "設定の読み込みを調べる".repeat(3);
		const after = "そして報告する".repeat(3);
		const ends = ["一", "二"];
		for (const label of [(end: string) => same + end, (end: string) => same + end + after]) {
			const { panel } = await open(...ends.map((end) => aRun({ label: label(end) })));
			panel.columns = 80;
			const names = panel.lines().filter((line) => /^ [▸ ] ● \d/.test(line));
			const shown = names.map((line) => ends.filter((end) => line.includes(end)).join());
			assert.deepEqual(shown.sort(), ["一", "二"], names.join("\n"));
		}
	});

	it("shows the newest words of a long paragraph, and the first words of a result", async () => {
		const audit = endedRun(aRun({ label: "audit", createdMs: NOW - 9_000 }), { result: paragraph });
		const { panel } = await open(aRun({ label: "loader", text: paragraph }), audit);
		const rows = () => panel.lines().filter((line) => /^ [▸ ] [●✓]/.test(line));
		assert.deepEqual(rows(), [
			" ▸ ● 1 loader  explorer      0s  …148 is read, File 149 is read, so these are the newest words.",
			"   ✓ 2 audit   explorer    3.0s  waiting to be read: File 0 is read, File 1 is read, File 2 is…",
		]);
		assert.match(panel.text, /── loader [\s\S]* so these are the\s+newest words\.\n/, "the details show the end, too");
		panel.columns = 40;
		assert.match(rows()[0] ?? "", /^ ▸ ● 1 loader {6}0s {2}….*newest words\.$/);
	});

	it("shows why a run waits for the quota of its provider, and when it tries again", async () => {
		const retry = { attempt: 1, atMs: NOW + 600_000, error: "the quota of anthropic is used up" };
		const { panel } = await open(aRun({ label: "loader", state: "awaiting_quota", retry }));
		panel.columns = 140;
		assert.match(panel.text, /^ Sub-agents · 1 waiting for quota\n/);
		assert.match(
			panel.text,
			/\n ▸ ↻ 1 loader .* waiting for quota, next try in 10m\S*: the quota of anthropic is used up\n/,
		);
		await panel.press(KEYS.enter);
		assert.match(panel.text, /^ ↻ loader · explorer · 0s · waiting for quota, next try in 10m/);
	});

	it("shows the context use of the chosen run, below the list and above its transcript", async () => {
		const context = { tokens: 82_000, window: 200_000 };
		const { panel } = await open(aRun({ label: "loader", usage, context }));
		assert.match(
			panel.text,
			/\n {3}3 turns · ↑12\.4k ↓932 R40\.2k · \$0\.02 · 41\.0%\/200k · scripted\/scripted-model\n/,
		);
		await panel.press(KEYS.enter);
		assert.match(panel.text, /^ ● loader · .* · \$0\.02 · 41\.0%\/200k\n/);
	});

	it("names the key for the changes of a run, if it has some", async () => {
		const run = aRun({ label: "fix", isIsolated: true });
		const { panel, background } = await open(run);
		assert.doesNotMatch(panel.foot, /diff/);
		for (const changesState of ["unapplied", "applied", "in_place"] as const) {
			background.now(endedRun(run, { changesState }));
			await passing(200);
			assert.match(panel.foot, /^enter open {2}r resume {2}d diff {2}/);
		}
		for (const changesState of ["undone", "discarded"] as const) {
			const { panel } = await open(endedRun(aRun(), { changesState, archivedMs: 1 }));
			assert.match(panel.foot, /^enter open {2}i info {2}/, `nothing can be done: ${changesState}`);
		}
	});

	it("has the runs of other sessions whose work waits, and says so", async () => {
		const { panel, background } = await open();
		background.waiting = [endedRun(aRun({ label: "fix", session: "another" }), { changesState: "unapplied" })];
		await passing(12_000);
		assert.match(panel.text, /✓ 1 fix .* not applied yet, another session/);
		assert.match(panel.foot, /d diff/);
		await panel.press("d");
		assert.deepEqual(background.commands, [`diff ${background.waiting[0]?.key}`]);
	});

	it("keeps the chosen run while others appear and disappear", async () => {
		const [one, two, three] = [aRun({ label: "three" }), aRun({ label: "two" }), aRun({ label: "one" })];
		const { panel, background } = await open(one, two, three);
		await panel.press("j");
		assert.match(panel.text, /▸ ● 2 two/);
		background.now(aRun({ label: "new" }), three, two, one);
		await passing(150);
		assert.match(panel.text, /▸ ● 3 two/);
		// It is removed: the one in its place.
		background.now(three, one);
		await passing(12_000);
		assert.match(panel.text, /▸ ● 2 three/);
	});

	it("shows the result of an ended run, and asks for it once", async () => {
		const run = aRun({ label: "audit" });
		const { panel, background } = await open(run);
		let asked = 0;
		const { runs } = background;
		background.runs = async (...args) => {
			asked += 1;
			return await runs.apply(background, args);
		};
		background.now(endedRun(run, { result: "Three findings.", endedMs: NOW - 9_000 }));
		await passing(200);
		assert.match(panel.text, /✓ 1 audit +explorer +0\.0s +Three findings\./);
		// If the store has lost it, no further question is sent.
		background.now(endedRun(aRun()));
		background.stored = [];
		await passing(3_000);
		assert.ok(asked <= 3, `${asked}`);
	});

	it("explains how to begin without runs, and shows the problem if runs are unknown", async () => {
		const { panel, background } = await open();
		assert.match(
			panel.text,
			/No runs in this session, and no earlier work waits in this project\.\n\n.*sessions_spawn/,
		);
		background.runs = async () => {
			throw new Error("the store is locked");
		};
		await passing(12_000);
		assert.match(panel.text, /The runs cannot be listed: the store is locked/);
		await panel.press("?", "q", "q");
		assert.ok(panel.isClosed);
	});

	it("shows the runs of all sessions, and their changes, when asked", async () => {
		const own = aRun({ label: "own" });
		const { panel, background } = await open(own);
		const other = aRun({ label: "other", session: "another" });
		background.others = [other];
		assert.doesNotMatch(panel.text, /other/);
		await panel.press("a");
		assert.match(panel.text, /Sub-agents · all sessions[\s\S]*● \d other[\s\S]*a own runs/);
		background.others = [endedRun(other)];
		await passing(2_500);
		assert.match(panel.text, /✓ \d other/);
		await panel.press("a");
		assert.doesNotMatch(panel.text, /other/);
	});

	it("scrolls to keep the chosen run visible, by lines, pages and ends", async () => {
		const { panel } = await open(
			...Array.from({ length: 50 }, (_, index) => aRun({ label: `run ${50 - index}` })).reverse(),
		);
		panel.rows = 12;
		const chosen = () => /▸ ● +(\d+) run/.exec(panel.text)?.[1];
		const seen: (string | undefined)[] = [];
		for (const key of [KEYS.down, KEYS.pageDown, KEYS.pageDown, KEYS.up, "G", KEYS.down, KEYS.pageUp, KEYS.home, "k"]) {
			await panel.press(key);
			seen.push(chosen());
		}
		assert.deepEqual(seen, ["2", "11", "20", "19", "50", "50", "41", "1", "1"]);
	});
});

describe("the panel", () => {
	it("follows the wheel of a mouse", async () => {
		const { panel } = await open(...Array.from({ length: 5 }, (_, index) => aRun({ label: `run ${index}` })));
		const chosen = () => /▸ ● +(\d+) run/.exec(panel.text)?.[1];
		for (const [wheelDelta, run] of [
			[2, "3"],
			[-1, "2"],
			[-100, "1"],
		] as const) {
			panel.component.handleMouse(standingIn<TuiMouseEvent>({ type: "wheel", wheelDelta }));
			assert.equal(chosen(), run, panel.text);
		}
	});

	it("counts the time that a queued run has waited", async () => {
		const queued = aRun({ state: "queued", position: 2, createdMs: NOW - 65_000 });
		delete queued.startedMs;
		const { panel } = await open(queued);
		assert.match(panel.text, / 1m05s {2}queued #2/);
	});

	it("shows a newer report in the place of the one that it refreshes", async () => {
		const { panel, background } = await open(aRun({ label: "loader" }));
		let log = "the first line";
		background.answer = () => report(log);
		await panel.press("l");
		assert.match(panel.text, /the first line/);
		log = "the second line";
		await panel.press("u");
		assert.match(panel.text, /the second line/);
		assert.doesNotMatch(panel.text, /the first line/);
		await panel.press(KEYS.escape);
		assert.match(panel.text, /▸ ● 1 loader/, "it is one page");
	});
});

describe("the details of a waiting run", () => {
	for (const [columns, line] of [
		[40, "   ? the confi… (worker) asks: Delete…"],
		[60, "   ? the config loader (worker) asks: Delete build/ and…"],
		[80, "   ? the config loader (worker) asks: Delete build/ and all of its caches?"],
	] as const) {
		it(`show the question with the whole name of its run if there is room: ${columns} columns`, async () => {
			const title = "Delete build/ and all of its caches?";
			const { panel } = await open(aRun({ label: "the config loader", agent: "worker", pendingQuestion: title }));
			panel.columns = columns;
			assert.equal(
				panel.text.split("\n").find((row) => row.includes(") asks")),
				line,
			);
		});
	}

	it("show the question, which a key opens", async () => {
		const run = aRun({ label: "cleanup", agent: "worker", pendingQuestion: "Delete build/?" });
		const { panel, background } = await open(run);
		assert.match(panel.text, /▸ \? 1 cleanup {2}worker +0s {2}asks: Delete build\/\?\n/);
		assert.match(panel.text, /\n {3}\? cleanup \(worker\) asks: Delete build\/\?\n/);
		assert.match(panel.foot, /^enter open {2}o question {2}s stop/);
		await panel.press("o");
		assert.deepEqual(panel.answered, [run.runId]);
		await panel.press(KEYS.enter);
		assert.match(panel.text, /No text yet\.\n \? cleanup \(worker\) asks: Delete build\/\?\n/);
		const { pendingQuestion: _asked, ...quiet } = run;
		background.now(quiet);
		await passing(200);
		assert.doesNotMatch(panel.text, /asks/);
		assert.doesNotMatch(panel.foot, /question/);
		await panel.press("o");
		assert.equal(panel.answered.length, 1);
	});

	it("show a call, a pause of the model, or another attempt", async () => {
		const ended = endedRun(aRun({ label: "config", result: "It is read once." }), { endedMs: NOW - 60_000 });
		const { panel, background } = await open(
			aRun({ label: "plan", isForeground: true, lastTool: "ls ." }),
			aRun({ label: "audit", retry: { attempt: 1, atMs: NOW + 2_500, error: "overloaded" } }),
			ended,
		);
		background.background.setUndelivered([ended]);
		await passing(200);
		assert.match(panel.text, /↻ 1 audit +explorer +0s {2}retry 1 in 3s · overloaded/);
		assert.match(panel.text, /● 2 plan +explorer +0s {2}foreground: ls \./);
		assert.match(panel.text, /✓ 3 config +explorer +0\.0s {2}waiting to be read: It is read once\./);
		background.background.setUndelivered([]);
		await passing(200);
		assert.match(panel.text, /✓ 3 config +explorer +0\.0s {2}It is read once\./);
	});
});

describe("keys with an effect", () => {
	it("stop a run only when pressed twice, and show the result", async () => {
		const run = aRun({ label: "loader" });
		const { panel, background } = await open(run);
		await panel.press("s");
		assert.match(panel.foot, /^s again stops it and everything it started; other keys cancel: “loader”$/);
		await panel.press(KEYS.escape);
		assert.match(panel.foot, /^enter open/);
		await panel.press("s", "j", "s", KEYS.up);
		assert.deepEqual(background.commands, []);
		await panel.press("s", "s");
		assert.deepEqual(background.commands, [`stop ${run.key}`]);
		assert.equal(panel.foot, `done: stop ${run.key}`);

		// The row of a stopped run says it.
		background.answer = () => ({ ...report("stopped loader"), isOnCard: true });
		await panel.press("s", "s");
		assert.match(panel.foot, /^enter open/);

		background.answer = () => report("`loader` has already ended", true);
		await panel.press("s", "s");
		assert.equal(panel.foot, "`loader` has already ended");
		background.answer = () => Promise.reject(new Error("the addon is gone"));
		await panel.press("s", "s");
		assert.equal(panel.foot, "stop failed: the addon is gone");
		await passing(7_000);
		assert.match(panel.foot, /escape close/);

		background.now(endedRun(run));
		await panel.press("s");
		assert.equal(panel.foot, "“loader” has already ended");
		await panel.press("r");
		assert.equal(panel.foot, "r again continues it, although it has completed; other keys cancel: “loader”");
		await panel.press("r");
		assert.equal(background.commands.at(-1), `resume ${run.key}`);
	});

	it("send a message, in which no letter is a command", async () => {
		const run = aRun({ label: "loader" });
		const { panel, background } = await open(run);
		await panel.press("m");
		assert.equal(panel.foot, "Message to “loader”    enter send  escape cancel");
		await panel.type("stop? squ");
		// Later events do not remove the line.
		background.now({ ...run, text: "more" });
		await passing(1_500);
		await panel.press(KEYS.backspace, KEYS.backspace, "\u001b[200~o\n世界\u001b[201~");
		assert.equal(panel.foot, "Message to “loader” stop? so 世界");
		assert.ok(panel.raw().at(-1)?.trimEnd().endsWith("世界\u001b_pi:c\u0007\u001b[7m \u001b[27m"));
		await panel.press(KEYS.enter);
		assert.deepEqual(background.commands, [`send ${run.key} stop? so 世界`]);
		// Nothing is nothing to send.
		await panel.press("m", " ", KEYS.enter, "m", "x", KEYS.escape);
		assert.equal(background.commands.length, 1);
		assert.ok(!panel.isClosed);
	});

	it("stop, continue and describe the chosen workflow", async () => {
		const { panel, background } = await open(placed("src/a.ts"));
		background.shown = [aWorkflow(), aWorkflow({ id: "every night", name: "nightly", state: "interrupted" })];
		await passing(11_000);
		const started: unknown[] = [];
		panel.follow = (report) => started.push(report.workflow);
		await panel.press("g", "s");
		assert.equal(panel.foot, "s again stops the workflow and all of its runs; other keys cancel: “review”");
		await panel.press("s", "r");
		assert.match(panel.foot, /the workflow “review” is running/);
		const script = { path: "/project/review.ts", sha256: "0", importsFile: "/imports.jsonl" };
		background.answer = (line) => ({ ...report(`done: ${line}`), workflow: script });
		await panel.press("G");
		assert.equal(panel.foot, "s give up  r continue  i info  a all runs  ? keys  escape close");
		await panel.press("r", "i");
		const words = background.commands.map((line) => line.replace(/workflow:[0-9a-f]{32}$/, "KEY"));
		assert.deepEqual(words, ["stop KEY", "resume KEY", "info KEY"], "a run may have the same name");
		assert.equal(new Set(background.commands.map((line) => line.split(" ")[1])).size, 2);
		assert.deepEqual(started[1], script);
	});

	it("of another project shows its project, and is not continued here", async () => {
		const { panel, background } = await open();
		const other = { state: "stopped", project: "/projects/other", isOtherProject: true, word: "workflow:0f" } as const;
		background.shown = [aWorkflow(other)];
		await panel.press("a");
		await passing(3_000);
		assert.match(panel.text, /⚠ +review .* in other · stopped/);
		assert.match(panel.text, /start pi in the project other to continue it/);
		assert.match(panel.text, /discard --yes workflow:0f/);
		await panel.press("r");
		assert.match(panel.foot, /the workflow “review” belongs to the project other: a pi there can continue it/);
		assert.deepEqual(background.commands, []);
	});

	it("show the output of the commands, and return", async () => {
		const run = aRun({ label: "loader" });
		const { panel, background } = await open(run);
		background.answer = (line) => ({
			isError: false,
			title: `Report of ${line.split(" ")[0]}`,
			text: "",
			lines: Array.from({ length: 60 }, (_, index) => ({ name: `field ${index}`, text: "value" })),
		});
		await panel.press("i");
		assert.match(panel.text, /^ Report of info\n[\s\S]*field 59/, "its answer is at its end");
		await panel.press(KEYS.home);
		assert.match(panel.text, /^ Report of info\n[^\n]*\n[^\n]*field 0/);
		await panel.press(KEYS.pageDown);
		assert.match(panel.text, /field 30/);
		await panel.press(KEYS.left, "l");
		assert.match(panel.text, /^ Report of log\n[\s\S]*field 59/);
		assert.deepEqual(background.commands, [`info ${run.key}`, `log ${run.key} 200 tools`]);
		await panel.press("q", "?");
		assert.match(panel.text, /^ Keys\n[\s\S]*stop it and everything it started/);
		await panel.press(KEYS.escape, KEYS.escape);
		assert.ok(panel.isClosed);
		assert.equal(panel.dones, 1);
	});

	it("act on the changes in a diff, after a question, and show the outcome there and in the list", async () => {
		const run = endedRun(aRun({ label: "fix" }), { changesState: "unapplied" });
		const { panel, background } = await open(run);
		background.answer = (line) => {
			const states = { apply: "applied", "apply --abort": "unapplied", discard: "discarded" } as const;
			const name = line.replace(` ${run.key}`, "").replace(" --yes", "");
			if (name in states) background.stored = [{ ...run, changesState: states[name as keyof typeof states] }];
			return report(`done: ${name}`);
		};
		await panel.press("d");
		assert.match(panel.foot, /^a apply {2}x discard {2}\? keys/, "nothing is to be undone");
		await panel.press("u", "a");
		assert.equal(panel.foot, "a again applies it to your files; other keys cancel: “fix”");
		await panel.press("n");
		assert.deepEqual(background.commands, [`diff ${run.key}`], "the default is No");
		await panel.press("a", "a");
		assert.match(panel.text, /done: apply\n/);
		assert.match(panel.foot, /^x discard {2}u undo {2}\? keys/);
		await panel.press("u");
		assert.equal(panel.foot, "u again undoes the apply; other keys cancel: “fix”");
		await panel.press("u");
		assert.match(panel.text, /done: apply --abort\n/);
		await panel.press("x");
		assert.equal(panel.foot, "x again deletes the only copy; other keys cancel: “fix”");
		await panel.press("x");
		assert.match(panel.text, /done: discard\n/);
		assert.equal(panel.foot, "? keys  escape back");
		const moved = ["diff", "apply", "apply --abort", "discard"].map((name) => `${name} ${run.key}`);
		assert.deepEqual(background.commands, [...moved.slice(0, 3), `${moved[3]} --yes`]);
		await panel.press("q");
		assert.match(panel.text, /✓ 1 fix .* discarded/);
		assert.doesNotMatch(panel.foot, /diff/);
	});

	it("never end the preview of a result within code or a table", async () => {
		const code = `It is this:\n\n\`\`\`js\n${"call();\n".repeat(40)}\`\`\`\n`;
		const table = `The files:\n\n| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(40)}`;
		for (const result of [code, table]) {
			const { panel } = await open(endedRun(aRun({ label: "fix", result, usage })));
			for (const [columns, rows] of [
				[28, 24],
				[40, 24],
				[80, 30],
				[120, 40],
			] as const) {
				[panel.columns, panel.rows] = [columns, rows];
				const lines = panel.lines();
				const more = lines.findIndex((line) => /^ {3}… \d+ more lines$/.test(line));
				assert.match(lines[more - 1] ?? "", result === code ? /^ {3}```$/ : /┘$|files/, panel.text);
				assert.match(lines[more + 1] ?? "", /^ {3}3 turns/, "the costs are shown");
			}
		}
	});

	it("are not offered again after a refusal, and the difference is still below it", async () => {
		const run = endedRun(aRun({ label: "fix" }), { changesState: "unapplied" });
		const { panel, background } = await open(run);
		background.answer = (line) => report(line.split(" ")[0] ?? "", line.startsWith("apply"));
		await panel.press("d", "a", "a");
		assert.match(panel.text, /✗ apply/);
		assert.equal(panel.foot, "? keys  escape back");
		await panel.press("a", "x", "u");
		assert.deepEqual(background.commands, [`diff ${run.key}`, `apply ${run.key}`]);
		await panel.press("q");
		assert.match(panel.foot, /^a apply {2}x discard/);
	});

	it("ask with all words of the question; only the name is shortened", async () => {
		const task = "Add src/retry.js with a helper that retries.";
		const { panel } = await open(endedRun(aRun({ task }), { changesState: "unapplied" }));
		panel.columns = 80;
		await panel.press("d", "x");
		assert.equal(panel.foot, "x again deletes the only copy; other keys cancel: “Add src/retry.js with a…”");
		assert.equal(panel.lines().length, panel.rows);
		panel.columns = 28;
		assert.deepEqual(panel.lines().slice(-4), [
			" x again deletes the only",
			" copy; other keys cancel:",
			" “Add src/retry.js with a",
			" helper that…”",
		]);
		assert.equal(panel.lines().length, panel.rows);
	});

	it("undo the changes of a run that wrote to the user's files", async () => {
		const run = endedRun(aRun({ label: "fix" }), { changesState: "in_place" });
		const { panel, background } = await open(run);
		await panel.press("d");
		assert.match(panel.foot, /^u undo {2}\? keys/);
		await panel.press("a", "x", "u");
		assert.equal(panel.foot, "u again undoes it in your files; other keys cancel: “fix”");
		await panel.press("u");
		assert.deepEqual(background.commands, [`diff ${run.key}`, `undo ${run.key}`]);
	});

	it("are the user's own if pi lets them be chosen", async () => {
		const { panel, background } = await open(aRun({ label: "two" }), aRun({ label: "one" }));
		panel.bound.setUserBindings({
			"tui.select.down": "ctrl+n",
			"tui.select.confirm": [],
			"tui.select.cancel": "x",
			"tui.editor.cursorLeft": "ctrl+x",
		});
		await panel.press("\u000e");
		assert.match(panel.text, /▸ ● 2/);
		assert.match(panel.foot, /^enter open .* x close$/);
		await panel.press("?");
		assert.match(panel.text, /ctrl\+n down j +the run below/);
		await panel.press("x", "m", "a", "b", "\u0018", "c", KEYS.enter);
		assert.match(background.commands.at(-1) ?? "", /^send .* acb$/);
		await panel.press("x");
		assert.ok(panel.isClosed);
	});
});

describe("a transcript", () => {
	async function opened(steps: number, run = aRun({ label: "loader" })) {
		const { panel, background } = await open(run);
		const entries = walk(steps);
		background.transcripts.set(run.key, entries);
		await panel.press(KEYS.enter);
		return { panel, background, run, entries };
	}

	it("follows the file as it grows, with text that is not in the file yet", async () => {
		const { panel, background, run, entries } = await opened(40);
		assert.match(panel.text, /^ ● loader · explorer · 0s · scripted-model\n[\s\S]*Step 39[\s\S]*… 6 more lines\n/);
		background.now({ ...run, text: "And now I" });
		await passing(1_000);
		assert.match(panel.text, /more lines\n\n {3}And now I\n/);
		entries.push({ role: "assistant", text: "And now I am done." });
		background.now(
			endedRun(run, { text: "And now I am done.", outcome: "hard_timeout", status: "timeout", error: "out of time" }),
		);
		await passing(1_000);
		assert.match(panel.text, /And now I am done\.\n\n +✗ timed out · 3\.0s\n +out of time\n/);
		assert.equal(panel.text.match(/And now I/g)?.length, 1);
		assert.match(panel.foot, /r resume/);
	});

	it("stays at the reader's position, and follows again at its end", async () => {
		const { panel, background, run, entries } = await opened(40);
		await panel.press(KEYS.pageUp, KEYS.up);
		const read = panel.lines().slice(2, -2);
		assert.match(panel.foot, /^end follow/);
		entries.push({ role: "assistant", text: "News." });
		background.now({ ...run, lastTool: "ls" });
		await passing(1_000);
		assert.deepEqual(panel.lines().slice(2, -2), read);
		await panel.press(KEYS.pageDown, KEYS.pageDown);
		assert.match(panel.text, /News\./);
		assert.match(panel.foot, /up scroll/);
	});

	it("loads earlier entries when its beginning is reached", async () => {
		const { panel, background, entries } = await opened(400);
		for (let pages = 0; pages < 30; pages++) await panel.press(KEYS.pageUp);
		const before = panel.text;
		await passing(1_000);
		// The screen keeps its content.
		const [, , , ...there] = before.split("\n").slice(0, -2);
		assert.ok(panel.text.includes(there.join("\n")));
		await panel.press(KEYS.home);
		await passing(4_000);
		assert.match(panel.text, /\n\n ❯ find the loader\n\n {3}Step 0/);
		// Each time twice as much: no more is read than twice the file, and once more.
		assert.ok(background.handedOut < entries.length * 4, `${background.handedOut}`);
	});

	it("hides tool results on request", async () => {
		const { panel, background } = await opened(40);
		assert.match(panel.text, /→ read src\/load-39\.rs/);
		await panel.press("t");
		await passing(500);
		assert.match(panel.text, /Step 30[\s\S]*Step 39/);
		assert.doesNotMatch(panel.text, /→ read/);
		assert.equal(background.asked.at(-1)?.tools, false);
		await panel.press("t");
		await passing(500);
		assert.match(panel.text, /→ read src\/load-39\.rs/);
	});

	it("shows the reason and the result if there is no transcript", async () => {
		const run = endedRun(aRun({ label: "old", result: "It was **fine**." }), { archivedMs: NOW - 60_000 });
		const { panel, background } = await open(run, endedRun(aRun({ label: "quiet" })));
		background.read = () => {
			throw new Error("no file");
		};
		await panel.press("j", KEYS.enter);
		assert.match(panel.text, /The transcript was archived .*\n\n +It was fine\./);
		await panel.press(KEYS.escape, "k", KEYS.enter);
		assert.match(panel.text, /no file\n\n +✓ completed/);
		background.read = () => [];
		await panel.press(KEYS.escape, KEYS.enter);
		assert.match(panel.text, /No text\./);
	});

	it("stays readable when its run is removed, and offers nothing that needs the run", async () => {
		const { panel, background } = await opened(3);
		background.now();
		await passing(12_000);
		assert.match(panel.text, /Step 2/);
		assert.doesNotMatch(panel.foot, /stop/);
		await panel.press("s", "s", "m", "q");
		assert.deepEqual(background.commands, []);
		assert.match(panel.text, /No runs in this session/);
	});
});

describe("the screen", () => {
	const wild =
		"世界 🚀👩‍👩‍👧‍👦 e\u0301\u0301 \u001b[31mred\u0007\t\u202e and a_word_without_any_blank_in_it_that_goes_on_and_on";

	it("never has a line wider than the terminal, nor more lines than it", async () => {
		const runs = [
			aRun({ label: wild, agent: wild, model: wild, lastTool: wild, text: wild, task: wild.repeat(20), usage }),
			endedRun(
				aRun({ task: wild, result: `# ${wild}\n\`\`\`\n${wild}\n\`\`\`\n`, error: wild, transcript: `/${wild}` }),
				{
					outcome: "failed",
				},
			),
			aRun({ label: "", task: "", state: "queued", position: 1_000_000 }),
			...Array.from({ length: 20 }, () => aRun({ startedMs: NOW - 1e10 })),
		];
		const { panel, background } = await open(...runs);
		for (const { key } of runs) {
			background.transcripts.set(key, [
				...(["user", "assistant", "toolCall", "toolResult"] as const).map((role) => ({ role, text: wild, name: wild })),
				{ role: "toolResult", text: `${wild}\n`.repeat(9), isError: true },
			]);
		}
		background.answer = () => ({ ...report(wild), lines: [{ name: wild, text: wild, indent: 4 }] });
		const views: string[][] = [["G"], [KEYS.enter], ["s"], ["i"], ["q", "m", ...wild], [KEYS.escape, "?"]];
		for (const keys of views) {
			await panel.press(...keys);
			for (const [columns, rows] of [1, 2, 3, 7, 12, 24, 40, 60, 84, 100, 116, 240].flatMap((c) =>
				[1, 2, 3, 10, 16, 50].map((r) => [c, r] as const),
			)) {
				Object.assign(panel, { columns, rows });
				const lines = panel.raw();
				assert.equal(lines.length, rows, `${keys} at ${columns}x${rows}`);
				for (const line of lines) {
					const width = visibleWidth(line);
					assert.ok(width <= columns, `${width} > ${columns}, ${keys}: ${JSON.stringify(line)}`);
				}
			}
		}
	});

	it("draws any data of the addon, also of another release", async () => {
		const odd = [undefined, null, 0, -1, Number.NaN, "", "x", [], {}, [null], { title: 1 }, true, "1e999", () => {}];
		const parts = { label: "a", lastTool: "ls .", text: "I look.", result: "Done.", usage };
		const whole: Record<string, unknown> = { ...aRun(parts) };
		const views = [[], ["G"], [KEYS.enter], ["t"], [KEYS.end], ["q", "i"], ["q"]];
		let drawn = 0;
		for (const name of [
			...Object.keys(whole),
			"question",
			"retry",
			"error",
			"partial",
			"endedMs",
			"position",
			"outcome",
		]) {
			for (const [index, value] of odd.entries()) {
				const run = {
					...whole,
					state: index % 2 === 0 ? "running" : "ended",
					[name]: value,
				} as unknown as RunRecord;
				const { panel, background } = await open(run, aRun());
				const above = widgetLines(shownOf(background.background), 40, NOW, new Pen(PLAIN, 60));
				background.read = () =>
					[{ role: value, text: value, name: value, isError: value }] as unknown as Transcript["entries"];
				background.answer = () => ({ isError: true, title: "", lines: [], text: "" });
				for (const keys of views) {
					await panel.press(...keys);
					drawn += 1;
					assert.doesNotMatch(panel.text + above, /pi-subagent-native: /, `${name}: ${String(value)}`);
				}
				panel.component.dispose();
			}
		}
		assert.ok(drawn > 2_500, `${drawn}`);
	});

	it("makes room for a dialog, and comes back after it", async () => {
		const { panel } = await open(aRun());
		panel.component.focused = false;
		assert.deepEqual(panel.raw(), []);
		panel.component.focused = true;
		assert.equal(panel.raw().length, 30);
	});

	it("closes with its session, and leaves no timer behind", async () => {
		const { panel, background } = await open(aRun());
		background.background.leave();
		await settle();
		assert.ok(panel.isClosed);
		assert.equal(panel.dones, 1);
		const { requests } = panel;
		await passing(20_000);
		assert.equal(panel.requests, requests);
		// pi takes it away itself when it replaces its extensions.
		const other = await open(aRun());
		other.panel.component.dispose();
		await settle();
		assert.ok(other.panel.isClosed, "the panel of the other command is closed");
		const before = other.panel.requests;
		other.background.now(aRun());
		await passing(5_000);
		assert.equal(other.panel.requests, before);
	});

	it("has one view of a run that the user opened before the panel could", async () => {
		const run = aRun({ label: "late" });
		const background = new BackgroundDouble();
		background.others = [run];
		background.transcripts.set(run.key, walk(1));
		const panel = new PanelDouble(background, run.key);
		await settle();
		await panel.press("a", KEYS.enter);
		background.now(run);
		await passing(2_000);
		assert.match(panel.text, /Step 0/);
		await panel.press("q");
		assert.match(panel.text, /Sub-agents · all sessions/);
	});

	it("reports a missing session", async () => {
		const background = new BackgroundDouble();
		background.background.leave();
		const panel = new PanelDouble(background);
		await settle();
		assert.ok(panel.isClosed);
		assert.match(panel.notes.join(), /not available in this session/);
	});
});

describe("the cost of a frame", () => {
	it("is nothing while nothing changes, and ten layouts a second at most", async () => {
		const runs = Array.from({ length: 50 }, (_, index) => aRun({ label: `run ${index}` }));
		const { panel, background } = await open(...runs);
		panel.raw();
		const { painted } = panel;
		// pi draws its spinner many times a second.
		for (let frame = 0; frame < 1_000; frame++) panel.raw();
		assert.equal(panel.painted, painted);
		const { requests } = panel;
		for (let round = 0; round < 200; round++) {
			background.now(...runs.map((run) => ({ ...run, text: `${round}` })));
			mock.timers.tick(10);
		}
		assert.ok(panel.requests - requests <= 23, `${panel.requests - requests} in 2 s`);
		// For clocks, once a second.
		const ticking = panel.requests;
		await passing(10_000);
		assert.ok(panel.requests - ticking <= 12, `${panel.requests - ticking} in 10 s`);
	});

	it("passes the runs on once per change, and reads no JSON for a frame", async (test) => {
		const { native } = loadAddon();
		assert.ok(native);
		const passed = test.mock.method(native.Panel.prototype, "setRuns");
		const palette = test.mock.method(native, "Palette");
		const parsed = test.mock.method(JSON, "parse");
		const counters = [passed, palette, parsed].map(({ mock }) => mock);
		const text = "word ".repeat(400);
		for (const count of [5, 50]) {
			const runs = Array.from({ length: count }, (_, index) =>
				aRun({ task: `Look in src/store/${index}.rs. ${text}`, text, usage }),
			);
			const { panel, background } = await open(...runs, endedRun(aRun({ result: text, partial: text })));
			panel.raw();
			for (const counter of counters) counter.resetCalls();
			for (let round = 0; round < 3; round++) {
				background.now(...runs.map((run) => ({ ...run, text: `Round ${round}. ${text}` })));
				await passing(100);
				panel.raw();
			}
			assert.deepEqual(
				counters.map((counter) => counter.callCount()),
				[3, 0, 0],
				`${count} runs`,
			);
		}
	});

	it("lays the newest text out once per change, and not while it is out of sight", async () => {
		const run = aRun({ text: paragraph });
		const { panel, background } = await open(run);
		background.transcripts.set(run.key, walk(100));
		await panel.press(KEYS.enter);
		await passing(2_000);
		const { laidOut } = panel;
		await passing(3_000);
		assert.match(panel.text, /these are the newest words/);
		assert.equal(panel.laidOut, laidOut, "the same text");
		background.now({ ...run, text: `${paragraph} And more.` });
		await passing(200);
		assert.match(panel.text, /And more/);
		assert.ok(panel.laidOut > laidOut, "another text");
		await panel.press(KEYS.pageUp, KEYS.pageUp, KEYS.pageUp);
		const above = panel.laidOut;
		for (let round = 0; round < 5; round++) {
			background.now({ ...run, text: `${paragraph} Round ${round}.` });
			await passing(200);
			panel.raw();
		}
		assert.equal(panel.laidOut, above, "out of sight");
	});

	it("does not grow with the number of runs, nor with the transcript", async () => {
		const cost = async (count: number, steps: number) => {
			const runs = Array.from({ length: count }, () => aRun({ text: "I **look**." }));
			const { panel, background } = await open(...runs);
			const [run] = runs;
			assert.ok(run);
			panel.raw();
			let before = panel.laidOut;
			await panel.press("j");
			panel.raw();
			const list = panel.laidOut - before;
			let reads = 0;
			const entries = walk(steps).map((entry) => ({
				...entry,
				get text() {
					reads += 1;
					return entry.text;
				},
			}));
			background.read = () => entries;
			await panel.press(KEYS.home, KEYS.enter);
			panel.raw();
			const handed = background.handedOut;
			reads = 0;
			before = panel.laidOut;
			for (let second = 0; second < 20; second++) {
				entries.push({ role: "assistant", text: `News ${second}.` } as (typeof entries)[number]);
				background.now({ ...run, text: `${second}` });
				await passing(500);
				panel.raw();
			}
			return { list, frame: panel.laidOut - before, handed: background.handedOut - handed, looks: reads };
		};
		const few = await cost(30, 100);
		// Of 10 MB of such entries no more is read, checked or drawn than of 30 kB.
		const many = await cost(500, 30_000);
		assert.ok(many.list <= few.list * 1.5, JSON.stringify({ few, many }));
		assert.ok(many.frame <= few.frame * 1.1, JSON.stringify({ few, many }));
		assert.ok(many.handed <= few.handed, JSON.stringify({ few, many }));
		assert.ok(many.looks <= few.looks * 1.1, JSON.stringify({ few, many }));
	});
});
