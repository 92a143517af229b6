import assert from "node:assert/strict";
import { afterEach, describe, it, mock } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import { stopClocks } from "../../extension/cards/cards.ts";
import { plainText } from "../../extension/ui/text.ts";
import type { RunDetails as CardDetails, DisplayItem, SingleResult, TaskProgress } from "../../native.js";
import { Card, pass } from "./drawn-card.ts";
import { USAGE } from "./package-copy.ts";

type TaskState = TaskProgress["state"];

const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };

const CALLS: DisplayItem[] = [
	{ type: "toolCall", name: "read", args: { path: "src/a.rs", offset: 1, limit: 40 } },
	{ type: "text", text: "Now the tests." },
	{ type: "toolCall", name: "bash", args: { command: "cargo test --workspace --locked" } },
];

const PLAN = [
	{ agent: "explorer", task: "find the loader" },
	{ agent: "reviewer", task: "review the last commit" },
	{ agent: "tester", task: "run the tests" },
	{ agent: "researcher", task: "read what the standard says" },
	{ agent: "explorer", task: "find the tests" },
	{ agent: "implementer", task: "plan the change" },
];

function at(index: number, state: TaskState, more: Partial<TaskProgress> = {}): TaskProgress {
	const { agent = "explorer" } = PLAN[index % PLAN.length] ?? {};
	return { agent, state, attempt: 1, elapsedMs: 0, sinceEventMs: 0, usage: NOTHING, turnCount: 0, ...more };
}

const atWork = { elapsedMs: 12_300, usage: USAGE, turnCount: 3, model: "fake/big", displayItems: CALLS };

/** One task in each state. */
const EVERY = [
	at(0, "completed", { ...atWork, elapsedMs: 8_230, text: "# Found\n\nThe loader is in `src/config/load.rs`." }),
	at(1, "running", { ...atWork, sinceEventMs: 3_100 }),
	at(2, "idle_timeout", { ...atWork, elapsedMs: 180_300, error: "no output for 180 s" }),
	at(3, "starting", { elapsedMs: 1_300 }),
	at(4, "retrying", { ...atWork, attempt: 2 }),
	at(5, "queued", { position: 1 }),
];

function update(tasks: TaskProgress[], mode: "parallel" | "chain" = "parallel"): CardDetails {
	return { mode, results: [], tasks };
}

function parallel(tasks: unknown = PLAN): Card {
	return new Card({ tasks }, "subagent_parallel");
}

function chain(steps: unknown): Card {
	return new Card({ steps }, "subagent_chain");
}

function result(index: number, more: Partial<SingleResult> = {}): SingleResult {
	return {
		...{ agent: "explorer", task: "", ...PLAN[index] },
		...{ exitCode: 0, usage: USAGE, outcome: "completed", attempts: 1, durationMs: 3_210, model: "fake/big" },
		...{ output: `Answer **${index + 1}**.`, displayItems: CALLS },
		...more,
	};
}

const skipped: Partial<SingleResult> = {
	...{ outcome: "skipped", exitCode: 1, attempts: 0, durationMs: 0, usage: NOTHING },
	...{ error: "not started: step 2 failed", output: "", displayItems: [] },
};

const start = "\u001b\\[";
const COLOURS = new RegExp(`${start}[\\d;]+m`, "g");

afterEach(() => {
	stopClocks();
	mock.timers.reset();
});

describe("the card of tasks under way", () => {
	it("has a line for each task and one for all", () => {
		assert.deepEqual(parallel().update(update(EVERY)).lines(120), [
			"● subagent parallel · 6 tasks",
			"  ✓ explorer      8.2s  find the loader              The loader is in src/… · 3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"  ● reviewer       12s  review the last commit       $ cargo test --workspace --locked · 3s ago · 3 turns · $0.02",
			"  ✗ tester       3m00s  run the tests                timed out (silent) · no output for 180 s · 3 turns · $0.02",
			"  ◐ researcher      1s  read what the standard says  starting",
			"  ↻ explorer       12s  find the tests               retrying, attempt 2 · $ cargo test --workspace… · 3 turns · $0.02",
			"  ○ implementer         plan the change              queued #1",
			"  1 completed · 1 failed · 3 running · 1 queued · 0s · 12 turns · ↑49.6k ↓3.7k R161k · $0.09 · fake/big",
		]);
	});

	it("omits the least important parts first in a narrow terminal", () => {
		const lines = (width: number) => parallel().update(update(EVERY)).lines(width).slice(1, 7);
		assert.deepEqual(lines(60), [
			"  ✓ explorer      8.2s  find the loader  The loader is in…",
			"  ● reviewer       12s  $ cargo test --workspace… · 3s ago",
			"  ✗ tester       3m00s  timed out (silent) · no output for…",
			"  ◐ researcher      1s  starting · read what the standard…",
			"  ↻ explorer       12s  find the tests   retrying, attempt 2",
			"  ○ implementer         queued #1 · plan the change",
		]);
		assert.deepEqual(lines(24), [
			"  ✓ explorer  8.2s",
			"  ● reviewer  12s",
			"  ✗ tester    timed out…",
			"  ◐ researc…  starting",
			"  ↻ explorer  retrying…",
			"  ○ impleme…  queued #1",
		]);
	});

	it("distinguishes tasks of one agent with the same beginning, also in a narrow terminal", () => {
		const files = ["src/a.rs", "src/b.rs", "src/config/load.rs"];
		const plan = files.map((file) => ({ agent: "reviewer", task: `Review one file for mistakes.\nIt is ${file}.` }));
		const tasks = plan.map(({ agent }) => ({ ...at(0, "running", atWork), agent }));
		for (const width of [60, 100]) {
			const rows = parallel(plan).update(update(tasks)).lines(width).slice(1, 4);
			for (const [index, row] of rows.entries()) assert.match(row, new RegExp(`12s  … ${files[index]?.slice(0, 11)}`));
		}
	});

	it("says which of them waits to ask its provider again", () => {
		const retry = { attempt: 1, maxAttempts: 3, atMs: Date.now() + 60_000, error: "overloaded" };
		const [, row = ""] = parallel()
			.update(update([at(1, "running", { ...atWork, retry })]))
			.lines(100);
		assert.match(row, /^ {2}↻ reviewer .* retry 1 of 3 in (?:1m00|59)s · overloaded/);
	});

	it("says without colour how each task goes", () => {
		const states: TaskState[] = [
			...(["waiting", "queued", "starting", "running", "retrying", "completed", "failed", "aborted"] as const),
			...(["idle_timeout", "hard_timeout", "budget", "killed", "skipped", "interrupted"] as const),
		];
		for (const width of [30, 60, 120]) {
			const rows = states.map((state) => {
				const [, row = ""] = parallel()
					.update(update([at(0, state, { elapsedMs: 1_000, attempt: 2 })]))
					.lines(width);
				return row.replace(/\d\S*s/, "");
			});
			assert.equal(new Set(rows).size, states.length, rows.join("\n"));
		}
	});

	it("keeps values that an update omits because they have not changed", () => {
		const card = parallel(PLAN.slice(1, 2)).update(update([at(1, "running", { ...atWork, text: "Now the tests." })]));
		card.lines();
		const { displayItems: _, ...rest } = atWork;
		const [, row = ""] = card.update(update([at(1, "running", { ...rest, elapsedMs: 14_000 })])).lines(60);
		assert.match(row, /● reviewer {2}14s {2}\$ cargo test/);
		card.expanded = true;
		assert.ok(
			card
				.update(update([at(1, "running", { ...rest, displayItems: [] })]))
				.lines()
				.includes("    Now the tests."),
		);
	});

	it("shows the start of a text that is newer than the last call", () => {
		const row = (text: string) => {
			const tasks = [at(1, "running", { ...atWork, text })];
			return parallel(PLAN.slice(1, 2)).update(update(tasks)).lines(60)[1] ?? "";
		};
		assert.match(row("Now the tests."), /\$ cargo test/);
		assert.match(row("# Answer\n\nAll **pass**, of"), /12s {2}All pass, of · 3 turns/);
		assert.match(row(`All **pass**, of which there are ${"many ".repeat(900)}`), /12s {2}All pass, of which there/);
	});

	it("shows the silence of a child, and lets the clocks run between updates", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = parallel(PLAN.slice(0, 2)).update(
			update([
				at(0, "running", { elapsedMs: 4_000, sinceEventMs: 1_500 }),
				at(1, "queued", { rateLimitedForMs: 9_400 }),
			]),
		);
		assert.match(card.lines()[1] ?? "", /explorer {2}4s {2}find the loader$/);
		pass(5_000);
		assert.match(card.lines()[1] ?? "", /explorer {2}9s {2}find the loader · 6s ago/);
		assert.match(card.lines()[2] ?? "", /reviewer {6}rate limit, 4s left/);
		pass(5_000);
		assert.match(card.lines()[1] ?? "", /explorer {2}14s {2}find the loader · silent for 11s/);
		assert.match(card.lines()[3] ?? "", /^ {2}1 running · 1 queued · 10s/);
		assert.ok(card.redraws <= 10, `${card.redraws}`);
	});

	it("shows the model with each task when they differ, else once", () => {
		const [one, other] = [at(0, "running", atWork), at(1, "running", { ...atWork, model: "fake/small" })];
		assert.match(
			parallel()
				.update(update([one, other]))
				.lines(160)[1] ?? "",
			/fake\/big$/,
		);
		const same = parallel()
			.update(update([one, at(1, "queued")]))
			.lines(160);
		assert.doesNotMatch(same[1] ?? "", /fake/);
		assert.match(same.at(-1) ?? "", /fake\/big$/);
	});

	it("expanded shows the activity of each running task", () => {
		const card = parallel().update(
			update([...EVERY.slice(0, 1), at(1, "running", { ...atWork, text: "It is green." })]),
		);
		card.expanded = true;
		assert.deepEqual(card.lines(100).slice(2, -1), [
			"  ● reviewer   12s  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"    review the last commit",
			"    read src/a.rs:1-40",
			"    $ cargo test --workspace --locked",
			"    It is green.",
		]);
	});

	for (const count of [1, 8, 64]) {
		it(`stays low with ${count} tasks for any text`, () => {
			const states = ["running", "queued", "completed", "failed", "starting"] as const;
			const text = "many words\n\n".repeat(400);
			const tasks = Array.from({ length: count }, (_, index) =>
				at(index, states[index % 5] ?? "queued", { ...atWork, text, displayItems: Array(90).fill(CALLS[0]) }),
			);
			const plan = tasks.map(({ agent }) => ({ agent, task: "long ".repeat(900) }));
			for (const rows of [undefined, 24, 60]) {
				for (const width of [20, 40, 80, 200]) {
					onTerminal(rows, () => {
						const card = parallel(plan).update(update(tasks));
						const collapsed = card.lines(width);
						assert.ok(collapsed.length <= 15, collapsed.join("\n"));
						card.expanded = true;
						const limit = rows === undefined ? 43 : Math.min(43, rows - 12);
						assert.ok(card.lines(width).length <= limit, `${rows} rows: ${card.lines(width).join("\n")}`);
					});
				}
			}
		});
	}

	it("shows running and failed tasks, and counts the others", () => {
		const tasks = Array.from({ length: 64 }, (_, index) => {
			if (index === 3) return at(index, "failed", { error: "it broke" });
			if (index < 8) return at(index, "completed", { elapsedMs: 1_000 });
			return index < 12 ? at(index, "running") : at(index, "queued", { position: index - 11 });
		});
		const lines = parallel().update(update(tasks)).lines();
		assert.equal(lines.filter((line) => /^ {2}●/.test(line)).length, 4);
		assert.equal(lines.filter((line) => /^ {2}✗/.test(line)).length, 1);
		assert.deepEqual(lines.slice(-2), [
			"  … 7 more completed, 47 more queued",
			"  7 completed · 1 failed · 4 running · 52 queued · 0s",
		]);
	});
});

describe("the card of a running chain", () => {
	it("numbers the steps and marks the current one", () => {
		const steps = [at(0, "completed", { elapsedMs: 900, text: "Yes." }), at(1, "running", atWork), at(2, "waiting")];
		assert.deepEqual(chain(PLAN.slice(0, 3)).update(update(steps, "chain")).lines(), [
			"● subagent chain · step 2 of 3",
			"  1 ✓ explorer  0.9s  Yes.",
			"→ 2 ● reviewer   12s  $ cargo test --workspace --locked · 3 turns · $0.02",
			"  3 ○ tester          waiting · run the tests",
			"  1 completed · 1 running · 1 waiting · 0s · 3 turns · ↑12.4k ↓932 R40.2k",
			"  $0.02 · fake/big",
		]);
	});
});

describe("the card of a call with arriving arguments", () => {
	/** pi's parsed arguments so far. */
	const arriving: [args: unknown, lines: string[]][] = [
		[undefined, ["○ subagent parallel"]],
		["", ["○ subagent parallel"]],
		[{}, ["○ subagent parallel"]],
		[{ tasks: [] }, ["○ subagent parallel"]],
		[{ tasks: [{}] }, ["○ subagent parallel · 1 task", "  ○ …"]],
		[{ tasks: [{ agent: "expl" }] }, ["○ subagent parallel · 1 task", "  ○ expl"]],
		[{ tasks: [{ agent: "explorer", task: "fi" }] }, ["○ subagent parallel · 1 task", "  ○ explorer  fi"]],
		[
			{ tasks: [{ agent: "explorer", task: "find it" }, { agent: "r" }] },
			["○ subagent parallel · 2 tasks", "  ○ explorer  find it", "  ○ r"],
		],
		[
			{
				tasks: [
					{ agent: "explorer", task: "find it" },
					{ agent: "researcher", task: "re" },
				],
			},
			["○ subagent parallel · 2 tasks", "  ○ explorer  find it", "  ○ researc…  re"],
		],
		[{ tasks: [null, 7, "x", { agent: 3, task: [] }] }, ["○ subagent parallel · 4 tasks", ...Array(4).fill("  ○ …")]],
		[{ tasks: "no list" }, ["○ subagent parallel"]],
	];
	for (const [args, lines] of arriving) {
		it(`shows the known part of ${JSON.stringify(args)}`, () => {
			const card = new Card(args, "subagent_parallel");
			card.executionStarted = false;
			assert.deepEqual(card.lines(), lines);
		});
	}

	it("shows steps with their numbers", () => {
		const card = chain([{ agent: "explorer", task: "find it" }, {}]);
		card.executionStarted = false;
		assert.deepEqual(card.lines(), ["○ subagent chain · 2 steps", "  1 ○ explorer  find it", "  2 ○ …"]);
	});

	it("draws nothing twice when the first update comes", () => {
		const card = parallel(PLAN.slice(0, 2));
		assert.equal(card.lines().length, 3);
		assert.equal(card.update(update([at(0, "queued"), at(1, "queued")])).lines().length, 4);
	});
});

describe("the card of ended tasks", () => {
	const failure = { code: "SUBAGENT_TIMEOUT", message: "no output for 180 s" } as const;

	it("names the failed tasks next to successful ones", () => {
		const results = [
			result(0),
			result(1, { outcome: "idle_timeout", exitCode: 124, error: failure.message }),
			result(2),
		];
		const card = parallel(PLAN.slice(0, 3)).finish({ mode: "parallel", results, error: failure });
		assert.deepEqual(card.lines(100), [
			"⚠ subagent parallel · 2 of 3 completed · ctrl+o to expand",
			"  ✓ explorer  3.2s  find the loader         Answer 1. · 3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"  ✗ reviewer  3.2s  review the last commit  timed out (silent) · no output for 180 s · $0.02",
			"  ✓ tester    3.2s  run the tests           Answer 3. · 3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"  2 completed · 1 failed · 9 turns · ↑37.2k ↓2.8k R121k · $0.07 · fake/big",
		]);
	});

	it("takes its duration from live updates, not from a stored session", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = parallel(PLAN.slice(0, 2)).update(update([at(0, "running"), at(1, "running")]));
		card.lines();
		pass(7_000);
		const ended: CardDetails = { mode: "parallel", results: [result(0), result(1)] };
		assert.equal(card.finish(ended).lines()[0], "✓ subagent parallel · 2 tasks · 7.0s · ctrl+o to expand");
		pass(60_000);
		assert.equal(card.lines()[0], "✓ subagent parallel · 2 tasks · 7.0s · ctrl+o to expand");
		assert.equal(
			parallel(PLAN.slice(0, 2)).finish(ended).lines()[0],
			"✓ subagent parallel · 2 tasks · ctrl+o to expand",
		);
	});

	it("shows the changed files", () => {
		const results = [
			result(0, { changes: ["src/a.rs", "src/b.rs"] }),
			result(1, { changes: ["src/b.rs"], runId: "00000001" }),
		];
		const card = parallel(PLAN.slice(0, 2)).finish({ mode: "parallel", results });
		assert.ok(card.lines().includes("  changed src/a.rs, src/b.rs"), card.lines().join("\n"));
		assert.ok(
			card.lines().includes("  in your files: /subagents diff 00000001 · /subagents undo 00000001"),
			card.lines().join("\n"),
		);
	});

	it("shows the files to check first, and each note on undo once", () => {
		const flagged = [".envrc", ".pi/x.ts"];
		const results = [result(0, { changes: flagged, flagged }), result(1, { changes: [".envrc"], flagged: [".envrc"] })];
		const card = parallel(PLAN.slice(0, 2)).finish({ mode: "parallel", results });
		assert.ok(card.lines().includes("  look at first .envrc, .pi/x.ts"), card.lines().join("\n"));

		const notes = ["it writes here; one", "it writes here; two", "it writes here; one"];
		const tasks = notes.map((undoNote, index) => at(index, "running", { undoNote }));
		const lines = parallel(PLAN.slice(0, 3)).update(update(tasks)).lines();
		assert.deepEqual(
			lines.filter((line) => line.includes("it writes here")),
			["  it writes here; one", "  it writes here; two"],
		);
	});

	it("stops a chain where it failed", () => {
		const results = [result(0), result(1, { outcome: "failed", exitCode: 1, error: "it broke" }), result(2, skipped)];
		const error = { code: "SUBAGENT_FAILED", message: "step 2: it broke" } as const;
		const card = chain(PLAN.slice(0, 3)).finish({ mode: "chain", results, error }, "", true);
		assert.deepEqual(card.lines(), [
			"✗ subagent chain · stopped at step 2 of 3 · 6.4s · ctrl+o to expand",
			"  1 ✓ explorer  3.2s  Answer 1. · 3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"  2 ✗ reviewer  3.2s  failed · it broke · 3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"  3 – tester          skipped · not started: step 2 failed",
			"  1 completed · 1 failed · 1 skipped · 6 turns · ↑24.8k ↓1.9k R80.4k · $0.05",
			"  fake/big",
		]);
	});

	it("distinguishes an abort and a used-up budget from a failure", () => {
		const stopped = [
			result(0, { outcome: "budget", exitCode: 1, error: "`budget.maxTurns` reached: 12 of 12" }),
			result(1, { outcome: "aborted", exitCode: 130, error: "cancelled by user" }),
		];
		const error = { code: "SUBAGENT_FAILED", message: "x" } as const;
		const lines = parallel(PLAN.slice(0, 2)).finish({ mode: "parallel", results: stopped, error }, "", true).lines();
		assert.equal(lines[0], "⚠ subagent parallel · 0 of 2 completed · ctrl+o to expand");
		assert.match(lines[1] ?? "", /⚠ explorer {2}3\.2s {2}over budget · `budget\.maxTurns` rea/);
		assert.match(lines[2] ?? "", /⚠ reviewer {2}3\.2s {2}stopped · Answer 2\./);
		assert.match(lines[3] ?? "", /^ {2}1 over budget · 1 stopped · 6 turns/);
	});

	it("gives a long error its own lines", () => {
		const long = `the provider said: ${"no ".repeat(60)}`;
		const failed = [
			result(0, { outcome: "failed", exitCode: 1, error: long }),
			result(1, { outcome: "killed", exitCode: 137, error: "`limits.memoryBytes` reached: 2.1 of 2.0 GB" }),
			result(2, {
				outcome: "aborted",
				exitCode: 130,
				error: "not started: cancelled by user",
				attempts: 0,
				durationMs: 0,
				usage: NOTHING,
			}),
		];
		const card = parallel(PLAN.slice(0, 3)).finish({ mode: "parallel", results: failed }, "", true);
		assert.deepEqual(card.lines(60), [
			"⚠ subagent parallel · 0 of 3 completed · ctrl+o to expand",
			"  ✗ explorer  3.2s  failed · 3 turns · $0.02",
			"      the provider said: no no no no no no no no no no no no",
			"      no no no no no no no no no no no no no no no no no no…",
			"  ✗ reviewer  3.2s  killed · 3 turns · $0.02",
			"      `limits.memoryBytes` reached: 2.1 of 2.0 GB",
			"  – tester          stopped before it started · Answer 3.",
			"  2 failed · 1 skipped · 6 turns · ↑24.8k ↓1.9k R80.4k",
			"  $0.05 · fake/big",
		]);
	});

	it("expanded shows everything of each task", () => {
		const sessionFile = "/s/session.jsonl";
		const results = [
			result(0, { output: "# Found\n\n- here", sessionFile }),
			result(1, { outcome: "failed", exitCode: 1, error: "it broke", output: "Half.", attempts: 2 }),
		];
		const card = parallel(PLAN.slice(0, 2)).finish({
			...{ mode: "parallel", results },
			error: { code: "SUBAGENT_FAILED", message: "it broke" },
		});
		card.expanded = true;
		assert.deepEqual(card.lines(), [
			"⚠ subagent parallel · 1 of 2 completed",
			"  ✓ explorer  3.2s",
			"    find the loader",
			"    read src/a.rs:1-40",
			"    Now the tests.",
			"    $ cargo test --workspace --locked",
			"",
			"    Found",
			"",
			"    - here",
			"",
			"    3 turns · ↑12.4k ↓932 R40.2k · $0.02 · fake/big",
			"    session /s/session.jsonl",
			"",
			"  ✗ reviewer  3.2s  failed",
			"    review the last commit",
			"    read src/a.rs:1-40",
			"    Now the tests.",
			"    $ cargo test --workspace --locked",
			"    it broke",
			"    last said:",
			"",
			"    Half.",
			"",
			"    3 turns · ↑12.4k ↓932 R40.2k · $0.02 · fake/big",
			"    attempts 2",
			"",
			"  1 completed · 1 failed · 6 turns · ↑24.8k ↓1.9k R80.4k · $0.05 · fake/big",
		]);
	});

	it("gives the reason why nothing was started", () => {
		const error = { code: "UNKNOWN_AGENT", message: "Unknown agent: x." } as const;
		const card = parallel([{ agent: "x", task: "y" }]).finish({ mode: "parallel", results: [], error }, "", true);
		assert.deepEqual(card.lines(), ["✗ subagent parallel", "  Unknown agent: x."]);
		const refused = parallel("no list").finish(undefined, "Validation failed", true);
		assert.deepEqual(refused.lines(), ["✗ subagent parallel", "  Validation failed"]);
	});

	it("draws the text of a result with an unknown outcome", () => {
		const unknown = { outcome: "evaporated" as SingleResult["outcome"], exitCode: 1, error: "gone" };
		const details = { mode: "parallel" as const, results: [result(0, unknown)] };
		const card = parallel(PLAN.slice(0, 1)).finish(details, "explorer evaporated: gone", true);
		assert.deepEqual(card.lines(), ["✗ subagent parallel", "  explorer evaporated: gone"]);
	});
});

describe("the card of hostile tasks", () => {
	it("never exceeds the terminal and lets no control sequence through", () => {
		const hostile = "\u001b[31m配置🚀\u202e\t\u001b]0;x\u0007".repeat(40) + "x".repeat(300);
		const item: DisplayItem = { type: "toolCall", name: hostile, args: { [hostile]: hostile } };
		const words = { agent: hostile, model: hostile, error: hostile, text: hostile, displayItems: [item] };
		const plan = [0, 1, 2].map(() => ({ agent: hostile, task: hostile }));
		const tasks = [at(0, "running", words), at(1, "failed", words), at(2, "queued", { ...words, position: 7 })];
		const results = tasks.map((_, index) =>
			result(index, {
				...{ agent: hostile, error: hostile, output: `| ${hostile} |\n\`\`\`\n${hostile}`, displayItems: [item] },
				...{ model: hostile, sessionFile: hostile, diagnostics: [hostile] },
				outcome: index === 1 ? "failed" : "completed",
			}),
		);
		for (let width = 20; width <= 200; width += width < 50 ? 3 : 30) {
			for (const mode of ["parallel", "chain"] as const) {
				const card = mode === "chain" ? chain : parallel;
				const cards = [
					card(plan),
					card(plan).update(update(tasks, mode)),
					card(plan).finish({ mode, results, error: { code: "SUBAGENT_FAILED", message: hostile } }, hostile, true),
				];
				for (const one of cards) {
					for (const expanded of [false, true]) {
						one.expanded = expanded;
						for (const line of one.coloured(width)) {
							assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
							assert.equal(plainText(line), line.replaceAll(COLOURS, ""));
						}
					}
				}
			}
		}
	});
});

function onTerminal(rows: number | undefined, work: () => void): void {
	const before = Object.getOwnPropertyDescriptor(process.stdout, "rows");
	Object.defineProperty(process.stdout, "rows", { value: rows, configurable: true });
	try {
		work();
	} finally {
		if (before) Object.defineProperty(process.stdout, "rows", before);
		else Reflect.deleteProperty(process.stdout, "rows");
	}
}
