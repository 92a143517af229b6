import assert from "node:assert/strict";
import { homedir } from "node:os";
import { afterEach, describe, it, mock } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import { redrawEnded, stopClocks } from "../../extension/cards/cards.ts";
import type {
	RunDetails as CardDetails,
	DisplayItem,
	Streaming as LiveRun,
	RunDetails,
	SingleResult,
} from "../../native.js";
import { Card, pass } from "./drawn-card.ts";
import { answer, USAGE } from "./package-copy.ts";

const CALLS: DisplayItem[] = [
	{ type: "toolCall", name: "read", args: { path: "src/a.rs", offset: 1, limit: 40 } },
	{ type: "toolCall", name: "grep", args: { pattern: "fn load", path: "src" } },
	{ type: "text", text: "Now the tests." },
	{ type: "toolCall", name: "bash", args: { command: "cargo test\necho done" } },
	{ type: "toolCall", name: "ls", args: {} },
];

const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };

function running(elapsedMs: number, sinceEventMs: number): CardDetails {
	return live({ displayItems: CALLS, usage: USAGE, turnCount: 2, elapsedMs, sinceEventMs, model: "fake/big" });
}

function live(run: Partial<LiveRun>): CardDetails {
	const base = { state: "running", attempt: 1 } as const;
	const still = { hasText: false, displayItems: [], usage: NOTHING, turnCount: 0, elapsedMs: 4_000, sinceEventMs: 0 };
	return { mode: "single", results: [], streaming: { ...base, ...still, ...run } };
}

function ended(result: Partial<SingleResult>, error?: RunDetails["error"]): RunDetails {
	const [base] = answer("It is in `src/config/load.rs`.").details.results;
	assert.ok(base);
	return { mode: "single", results: [{ ...base, ...result }], ...(error ? { error } : {}) };
}

afterEach(() => {
	stopClocks();
	mock.timers.reset();
});

describe("the card of a run under way", () => {
	it("shows agent, task, clock, last calls, live text and usage", () => {
		const card = new Card().update(running(12_300, 0), "Reading.\nThe merge happens in tighten.");
		assert.deepEqual(card.lines(), [
			"● subagent explorer · 12s",
			"  find the loader",
			"  … 1 earlier call",
			"  grep /fn load/ in src",
			"  $ cargo test echo done",
			"  ls .",
			"  Reading.",
			"  The merge happens in tighten.",
			"  2 turns · ↑12.4k ↓932 R40.2k · $0.02 · fake/big",
			"  escape stop",
		]);
	});

	it("shows the end of the text that is being written, in its final form", () => {
		const text = `# Answer\n\n${"It is **not** in `a.rs`, which only reads it. ".repeat(4)}`;
		assert.deepEqual(new Card().update(running(1_000, 0), text).lines(50).slice(6), [
			"  a.rs, which only reads it. It is not in a.rs,",
			"  which only reads it.",
			"  2 turns · ↑12.4k ↓932 R40.2k · $0.02 · fake/big",
		]);
	});

	it("shows text before the calls that it led to, once", () => {
		const card = new Card().update(running(1_000, 0), "Now the tests.");
		const lines = [
			"  … 1 earlier call",
			"  grep /fn load/ in src",
			"  Now the tests.",
			"  $ cargo test echo done",
			"  ls .",
		];
		assert.deepEqual(card.lines().slice(2, -1), lines);
		card.expanded = true;
		assert.deepEqual(card.lines().slice(2, -1), ["  read src/a.rs:1-40", ...lines.slice(1)]);
	});

	it("keeps an expanded card low, and its clock at the end", () => {
		const card = new Card({ agent: "explorer", task: "a line of the task\n".repeat(40) });
		const details = running(12_300, 0);
		const { streaming } = details;
		assert.ok(streaming);
		streaming.displayItems = Array.from({ length: 60 }, (_, call) => CALLS[call % 2] ?? CALLS[0]) as DisplayItem[];
		card.expanded = true;
		const lines = card.update(details, "word\n\n".repeat(40)).lines();
		assert.equal(lines[0], "● subagent explorer");
		assert.ok(lines.includes("  … 29 more lines of the task"));
		assert.ok(lines.includes("  … 41 earlier calls"));
		assert.equal(lines.at(-2), "  12s · 2 turns · ↑12.4k ↓932 R40.2k · $0.02 · fake/big");
		assert.equal(lines.at(-1), "  escape stop");
		assert.equal(lines.length, 1 + 12 + 20 + 7 + 1 + 1);
		assert.equal(card.finish(ended({})).lines()[0], "✓ subagent explorer · 3.2s");
	});

	it("names the keys that work once it has run for five seconds, in its last line", () => {
		const last = (elapsedMs: number, width: number, backgroundKey?: string) => {
			const card = new Card();
			card.keyText = undefined;
			card.backgroundKey = backgroundKey;
			return card.update(running(elapsedMs, 0), "Reading.").lines(width).at(-1);
		};
		assert.match(last(4_000, 80, "alt+g") ?? "", /turns/);
		assert.equal(last(5_000, 80, "alt+g"), "  escape stop · alt+g background");
		assert.equal(last(5_000, 80), "  escape stop");
		assert.equal(last(5_000, 24, "alt+g"), "  escape stop");
		const card = new Card();
		card.update(running(9_000, 0)).lines();
		assert.doesNotMatch(card.finish(ended({})).lines().join("\n"), /escape stop/);
	});

	it("mentions a silence of more than ten seconds", () => {
		assert.doesNotMatch(new Card().update(running(30_000, 9_000)).lines().join("\n"), /silent/);
		assert.match(new Card().update(running(30_000, 14_000)).lines().join("\n"), /silent for 14s/);
	});

	it("ticks once a second while nothing arrives, and stops with the result", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = new Card().update(running(1_000, 0));
		card.lines();
		pass(3_000);
		assert.equal(card.redraws, 3);
		assert.match(card.lines()[0] ?? "", /· 4s$/);
		card.finish(ended({})).lines();
		pass(5_000);
		assert.equal(card.redraws, 3);
	});

	it("shows each second for about a second, for any time of the last update", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		for (const last of [50, 400, 600, 950]) {
			const card = new Card();
			card.lines();
			pass(last);
			card.update(running(last, 0)).lines();
			pass(1_300 - last);
			assert.equal(card.redraws, 1, `the card is redrawn once after an update at ${last} ms`);
			assert.match(card.lines()[0] ?? "", /· 1s$/);
		}
	});

	it("adds at most one redraw a second while updates flow", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = new Card();
		for (let elapsed = 0; elapsed < 3_000; elapsed += 50) {
			card.update(running(elapsed, 0)).lines();
			pass(50);
		}
		assert.ok(card.redraws <= 3, `${card.redraws}`);
	});

	it("has no clock after pi has dropped it", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = new Card().update(running(1_000, 0));
		card.lines();
		card.isDropped = true;
		pass(60_000);
		assert.equal(card.redraws, 1);
	});

	it("stops the clocks of a session that ends", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = new Card().update(running(1_000, 0));
		card.lines();
		stopClocks();
		mock.timers.tick(3_000);
		assert.equal(card.redraws, 0);
	});

	const states: [run: Partial<LiveRun>, head: string][] = [
		[{ state: "queued", position: 3 }, "○ subagent explorer · 4s · queued #3"],
		[{ state: "queued" }, "○ subagent explorer · 4s · queued"],
		[{ state: "queued", position: 1, rateLimitedForMs: 30_400 }, "○ subagent explorer · 4s · rate limit, 30s left"],
		[
			{ state: "queued", position: 1, blockedBy: "worker (1a2b3c4d)" },
			"○ subagent explorer · 4s · waits for worker (1a2b3c4d) to finish writing here",
		],
		[{ state: "starting" }, "◐ subagent explorer · 4s · starting"],
		[{ state: "retrying", attempt: 2 }, "↻ subagent explorer · 4s · retrying, attempt 2"],
		[{ state: "running", attempt: 2 }, "● subagent explorer · 4s · attempt 2"],
	];
	for (const [run, head] of states) {
		it(`says ${head}`, () => {
			const card = new Card().update(live({ sinceEventMs: 60_000, ...run }));
			const lines = card.lines();
			assert.equal(lines[0], head);
			// A child that does not run yet is not called silent.
			if (run.state !== "running") assert.doesNotMatch(lines.join("\n"), /silent/);
		});
	}

	it("states what cannot be undone before it is written", () => {
		const undoNote = "it writes here, and without git its changes cannot be undone";
		const lines = new Card().update(live({ state: "starting", undoNote })).lines();
		assert.match(lines.at(-1) ?? "", new RegExp(`^ +${undoNote}$`));
	});

	it("counts a rate limit down between updates", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const card = new Card().update(live({ state: "queued", position: 1, rateLimitedForMs: 12_500 }));
		card.lines();
		pass(5_000);
		assert.match(card.lines()[0] ?? "", /rate limit, 7s left$/);
		pass(20_000);
		assert.match(card.lines()[0] ?? "", /queued #1$/);
	});

	it("counts down to the next try after a provider error, with the reason", () => {
		mock.timers.enable({ apis: ["setTimeout", "Date"] });
		const retry = { attempt: 2, maxAttempts: 3, atMs: Date.now() + 3_700, error: "overloaded\n\u001b[31m" };
		const card = new Card().update(live({ retry, sinceEventMs: 60_000 }));
		assert.equal(card.lines()[0], "↻ subagent explorer · 4s · retry 2 of 3 in 4s · overloaded");
		assert.doesNotMatch(card.lines().join("\n"), /silent/);
		pass(2_000);
		assert.match(card.lines()[0] ?? "", /· retry 2 of 3 in 2s · overloaded$/);
		pass(3_000);
		assert.match(card.lines()[0] ?? "", /· retry 2 of 3 · overloaded$/);
		card.update(live({ retry: { attempt: 1, atMs: 0 } }));
		assert.equal(card.lines()[0], "↻ subagent explorer · 4s · retry 1");
	});

	it("draws the child's text, whatever it looks like, and nothing before it has said anything", () => {
		const linesWith = (text?: string) => new Card().update(live({}), text).lines().slice(2);
		assert.deepEqual(linesWith("(see load.rs, it reads...)"), ["  (see load.rs, it reads...)"]);
		assert.deepEqual(linesWith("[1] load.rs"), ["  [1] load.rs"]);
		assert.deepEqual(linesWith("(running...)"), ["  (running...)"]);
		assert.deepEqual(linesWith(), []);
	});

	it("takes little processor time to draw, also for a long output", () => {
		const details = running(12_300, 0);
		const card = new Card().update(details, "many **words** and `code`\n\n".repeat(2_400));
		card.lines(100);
		// A busy machine makes a thread wait, but does not make it work more.
		const before = process.threadCpuUsage();
		for (let draw = 0; draw < 50; draw++) card.lines(100);
		const { user, system } = process.threadCpuUsage(before);
		assert.ok(user + system < 1_000_000, `${user + system} µs`);
	});

	it("is lower in a lower terminal", () => {
		const rows = Object.getOwnPropertyDescriptor(process.stdout, "rows");
		Object.defineProperty(process.stdout, "rows", { value: 24, configurable: true });
		try {
			const card = new Card({ agent: "explorer", task: "a line of the task\n".repeat(40) });
			card.expanded = true;
			const items = Array.from({ length: 60 }, () => CALLS[0]) as DisplayItem[];
			card.update(live({ displayItems: items }), "word\n\n".repeat(40));
			assert.ok(card.lines(60).length <= 16, card.lines(60).join("\n"));
		} finally {
			if (rows) Object.defineProperty(process.stdout, "rows", rows);
			else Reflect.deleteProperty(process.stdout, "rows");
		}
	});

	it("has no clock before it starts or without arguments", () => {
		const card = new Card({ agent: "", task: "" });
		card.executionStarted = false;
		assert.deepEqual(card.lines(), ["○ subagent …"]);
	});
});

describe("the card of an ended run", () => {
	const states: [label: string, card: Card, lines: string[]][] = [
		[
			"success",
			new Card().finish(ended({})),
			[
				"✓ subagent explorer · 3.2s",
				"  find the loader",
				"  It is in src/config/load.rs.",
				"  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			],
		],
		[
			"timeout",
			new Card().finish(
				ended(
					{ exitCode: 124, outcome: "idle_timeout", error: "idle", output: "Half." },
					{ code: "SUBAGENT_TIMEOUT", message: "no output for 180 s" },
				),
				"",
				true,
			),
			[
				"✗ subagent explorer · 3.2s · timed out (silent)",
				"  find the loader",
				"  no output for 180 s",
				"  last said:",
				"  Half.",
				"  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			],
		],
		[
			"abort",
			new Card().finish(
				ended(
					{ exitCode: 130, outcome: "aborted", error: "x", output: "" },
					{ code: "SUBAGENT_FAILED", message: "cancelled by user" },
				),
				"",
				true,
			),
			["⚠ subagent explorer · 3.2s · stopped", "  find the loader", "  3 turns · ↑12.4k ↓932 R40.2k · $0.02"],
		],
		[
			"the end of a budget",
			new Card().finish(
				ended(
					{ exitCode: 1, outcome: "budget", error: "x", output: "Half." },
					{ code: "SUBAGENT_FAILED", message: "`budget.maxTurns` reached: 12 of 12" },
				),
				"",
				true,
			),
			[
				"⚠ subagent explorer · 3.2s · over budget",
				"  find the loader",
				"  `budget.maxTurns` reached: 12 of 12",
				"  last said:",
				"  Half.",
				"  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			],
		],
		[
			"unknown agent",
			new Card().finish(
				{ mode: "single", results: [], error: { code: "UNKNOWN_AGENT", message: "Unknown agent: x." } },
				"",
				true,
			),
			["✗ subagent explorer", "  find the loader", "  Unknown agent: x."],
		],
		[
			"a result pi made itself",
			new Card().finish(undefined, "Validation failed", true),
			["✗ subagent explorer", "  find the loader", "  Validation failed"],
		],
		[
			"success that was cut",
			new Card().finish(ended({}, { code: "SUBAGENT_OUTPUT_TRUNCATED", message: "2000 of 4000 lines kept" })),
			[
				"⚠ subagent explorer · 3.2s",
				"  find the loader",
				"  It is in src/config/load.rs.",
				"  2000 of 4000 lines kept",
				"  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			],
		],
	];
	for (const [label, card, lines] of states) {
		it(`tells ${label}`, () => assert.deepEqual(card.lines(), lines));
	}

	it("omits a time or a state without room instead of cutting it", () => {
		const card = new Card({ agent: "implementer", task: "" });
		card.finish(ended({ outcome: "hard_timeout", exitCode: 124, durationMs: 61_000 }));
		const heads = [60, 40, 30, 12].map((width) => card.lines(width)[0]);
		assert.deepEqual(heads, [
			"✗ subagent implementer · 1m01s · timed out",
			"✗ subagent implementer · timed out",
			"✗ implementer · timed out",
			"✗ implement…",
		]);
	});

	it("shows the start of a long answer, and how to see the rest", () => {
		const output = Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n");
		const lines = new Card().finish(ended({ output })).lines();
		assert.equal(lines.filter((line) => /^ {2}line/.test(line)).length, 6);
		assert.ok(lines.includes("  … 24 more lines, ctrl+o to expand"));
	});

	it("offers no command that was carried out, and is redrawn when one was", () => {
		const isolation = { branch: "subagent/0badcafe", commits: 1, files: 1, insertions: 1, deletions: 0 };
		const card = new Card().finish(ended({ changes: ["a.ts"], isolation, runId: "0badcafe" }));
		const offer = "  /subagents diff 0badcafe · /subagents apply 0badcafe";
		assert.ok(card.lines().includes(offer), card.lines().join("\n"));
		for (const settled of ["applied", "discarded"]) {
			card.settled = JSON.stringify({ "0badcafe": settled, other: "undone" });
			const before = card.redraws;
			redrawEnded();
			assert.equal(card.redraws, before + 1);
			assert.ok(card.lines().includes(`  on branch subagent/0badcafe: ${settled}`), card.lines().join("\n"));
		}
		card.settled = "{}";
		assert.ok(card.lines().includes(offer));
		const inPlace = new Card().finish(ended({ changes: ["a.ts"], runId: "0badcafe" }));
		inPlace.settled = JSON.stringify({ "0badcafe": "undone" });
		assert.ok(inPlace.lines().includes("  in your files: undone"), inPlace.lines().join("\n"));
	});

	it("no longer offers to resume a run that was resumed, and says that a moved run has ended", () => {
		const stopped = { outcome: "aborted", runId: "0badcafe", sessionFile: "/s/session.jsonl" } as const;
		const card = new Card().finish(ended({ ...stopped, error: "cancelled by user" }), "", true);
		assert.ok(card.lines().includes("  to continue explorer: /subagents resume 0badcafe"), card.lines().join("\n"));
		card.settled = JSON.stringify({ "0badcafe": { timesResumed: 1, hasEnded: true } });
		assert.deepEqual(
			card.lines().filter((line) => line.includes("resume")),
			["  resumed"],
		);
		const moved = new Card().finish(ended({ outcome: "background", runId: "0badcafe" }));
		const says = () => moved.lines().find((line) => line.includes("in the background"));
		assert.equal(says(), "  it works in the background: its result arrives as a message");
		moved.settled = JSON.stringify({ "0badcafe": { changes: "applied", hasEnded: true } });
		assert.equal(says(), "  it has ended in the background: its result is below");
	});

	it("never ends a preview within code or a table", () => {
		const code = `It is this:\n\n\`\`\`js\n${"call();\n".repeat(20)}\`\`\`\n`;
		const table = `The files:\n\n| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(20)}`;
		const preview = (output: string) => {
			const lines = new Card().finish(ended({ output })).lines();
			return lines.slice(
				2,
				lines.findIndex((line) => line.includes("more lines")),
			);
		};
		assert.deepEqual(preview(code), ["  It is this:", "  ```js", "    call();", "    call();", "    call();", "  ```"]);
		const rows = preview(table);
		assert.equal(rows[0], "  The files:");
		assert.match(rows.at(-1) ?? "", rows.length === 1 ? /files/ : /┘$/);
		const long = preview(`${"words\n\n".repeat(5)}${code}`);
		assert.deepEqual(long, [...Array(5).fill("  words"), "  It is this:"]);
	});

	it("counts the calls of a failed or aborted run, and shows them when expanded", () => {
		for (const [outcome, error] of [
			["failed", "overloaded"],
			["aborted", "cancelled by user"],
		] as const) {
			const details = ended(
				{ outcome, exitCode: 1, displayItems: CALLS, output: "" },
				{ code: "SUBAGENT_FAILED", message: error },
			);
			const card = new Card().finish(details, "", true);
			assert.ok(card.lines().includes("  … 4 calls, ctrl+o to expand"), card.lines().join("\n"));
			card.expanded = true;
			assert.ok(card.lines().includes("  $ cargo test echo done"));
		}
	});

	it("names pi's default key if the user's is unknown, and no removed key", () => {
		const output = Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n");
		const card = new Card().finish(ended({ output }));
		card.keyText = undefined;
		assert.ok(card.lines().includes("  … 24 more lines, ctrl+o to expand"));
		card.keyText = () => "";
		assert.ok(card.lines().includes("  … 24 more lines"));
	});

	it("shows the changed files of its run, their paths shortened from the left", () => {
		const changes = ["src/config/deep/down/load.rs", "src/config/tighten.rs", "tests/config.rs", "README.md"];
		const card = new Card().finish(ended({ changes }));
		assert.equal(card.lines(60).at(-2), "  changed …/deep/down/load.rs, src/config/tighten.rs +2");
		assert.equal(card.lines(40).at(-2), "  changed …/config/deep/down/load.rs +3");
		card.expanded = true;
		const lines = card.lines(60);
		assert.deepEqual(
			lines.slice(lines.indexOf("  changed")).slice(1, 5),
			changes.map((path) => `    ${path}`),
		);
	});

	it("names the place of the changes, and the commands to see, apply or undo them", () => {
		const last = (result: Partial<SingleResult>) => new Card().finish(ended(result)).lines(120).at(-2);
		const changes = ["a.ts"];
		const isolation = { branch: "subagent/0badcafe", commits: 1, files: 1, insertions: 1, deletions: 0 };
		assert.equal(
			last({ changes, runId: "0badcafe" }),
			"  in your files: /subagents diff 0badcafe · /subagents undo 0badcafe",
		);
		assert.equal(
			last({ changes, isolation, runId: "0badcafe" }),
			"  on branch subagent/0badcafe, not in your files: /subagents diff 0badcafe · /subagents apply 0badcafe",
		);
		// No command can reach a run without an id, and a tree that was kept is named in a note.
		const kept = { commits: 0, files: 0, insertions: 0, deletions: 0, keptTree: "/tmp/tree" };
		for (const result of [{ changes }, { changes, isolation }, { changes, isolation: kept, runId: "0badcafe" }]) {
			assert.equal(last(result), "  changed a.ts");
		}
		assert.doesNotMatch(last({ runId: "0badcafe" }) ?? "", /subagents/);
	});

	it("names the run and the command to continue it, if it has failed or was stopped", () => {
		const resume = "to continue explorer: /subagents resume 0badcafe";
		const drawn = (result: Partial<SingleResult>) =>
			new Card().finish(ended({ runId: "0badcafe", sessionFile: "/s.jsonl", ...result })).lines(90);
		for (const outcome of ["failed", "aborted", "idle_timeout", "hard_timeout", "budget", "killed"] as const) {
			assert.ok(drawn({ outcome }).includes(`  ${resume}`), outcome);
		}
		for (const result of [{ outcome: "completed" }, { outcome: "failed", runId: "" }] as const) {
			assert.doesNotMatch(drawn(result).join("\n"), /to continue/);
		}
	});

	it("separates files that run code later", () => {
		const card = new Card().finish(ended({ changes: ["a.ts", ".envrc"], flagged: [".envrc", ".pi/extensions/x.ts"] }));
		assert.deepEqual(card.lines(80).slice(-3, -1), [
			"  changed a.ts, .envrc",
			"  look at first .envrc, .pi/extensions/x.ts",
		]);
		card.expanded = true;
		const lines = card.lines(60);
		assert.deepEqual(lines.slice(lines.indexOf("  look at first")).slice(1, 3), [
			"    .envrc",
			"    .pi/extensions/x.ts",
		]);
	});

	it("quotes names that could look like our words, whole or cut", () => {
		const changes = ["a.ts", "g, h, all tests passed"];
		const card = new Card().finish(ended({ changes, flagged: ["x` and `y/.envrc"] }));
		assert.deepEqual(card.lines(80).slice(-3, -1), [
			"  changed a.ts, `g, h, all tests passed`",
			"  look at first `x\\u{60} and \\u{60}y/.envrc`",
		]);
		const narrow = new Card().finish(ended({ changes: changes.slice(1) }));
		assert.ok(narrow.lines(28).includes("  changed `…ll tests passed`"), narrow.lines(28).join("\n"));
	});

	it("reports that not all files were checked, collapsed or expanded", () => {
		const flaggedGap = "the search stopped after 10s; directories that could not be read: `a`";
		const card = new Card().finish(ended({ flaggedGap }));
		for (const isExpanded of [false, true]) {
			card.expanded = isExpanded;
			const gapLine = `  not all files were checked: ${flaggedGap}`;
			assert.ok(card.lines(120).includes(gapLine), card.lines(120).join("\n"));
		}
		assert.doesNotMatch(new Card().finish(ended({})).lines(120).join("\n"), /not all files/);
	});

	it("names the session of an interrupted run", () => {
		const sessionFile = `${homedir()}/.pi/agent/sessions/--project--/1/1a2b3c4d/session.jsonl`;
		const interrupted = ended({ outcome: "interrupted", exitCode: 1, error: "its pi ended", sessionFile });
		const lines = new Card().finish(interrupted, "", true).lines(50);
		assert.equal(lines[0], "⚠ subagent explorer · 3.2s · interrupted");
		assert.equal(lines.at(-1), "  session …/--project--/1/1a2b3c4d/session.jsonl");
	});

	it("draws foreign data as plain text", () => {
		const foreign = [
			// pi's own example of this tool.
			{ mode: "single", agentScope: "user", results: [{ agent: "x", exitCode: 0, messages: [], usage: {} }] },
			{ ...ended({}), kind: "subagent-run", version: 2 },
			{ ...ended({}), results: [null] },
			{ mode: "single" },
			7,
		];
		for (const details of foreign) {
			const card = new Card().finish(details as CardDetails, "what it said\n\u001b[2J(and more)");
			assert.deepEqual(card.lines(), ["✓ subagent explorer", "  find the loader", "  what it said", "  (and more)"]);
		}
		const long = new Card().finish(undefined, "line\n".repeat(40), true);
		assert.equal(long.lines().at(-1), "  … 30 more lines, ctrl+o to expand");
	});

	it("shows everything when it is expanded", () => {
		const card = new Card({ agent: "explorer", task: "find the loader\nand its tests" });
		card.expanded = true;
		card.finish(
			ended({
				displayItems: [...CALLS, { type: "text", text: "the answer again" }],
				output: "# Found\n\n```rust\nfn load() {}\n```",
				sessionFile: "/s/session.jsonl",
				diagnostics: ["bash was dropped"],
			}),
		);
		assert.deepEqual(card.lines(), [
			"✓ subagent explorer · 3.2s",
			"  find the loader",
			"  and its tests",
			"  read src/a.rs:1-40",
			"  grep /fn load/ in src",
			"  Now the tests.",
			"  $ cargo test echo done",
			"  ls .",
			"",
			"  Found",
			"",
			"  ```rust",
			"    fn load() {}",
			"  ```",
			"",
			"  3 turns · ↑12.4k ↓932 R40.2k · $0.02",
			"  session /s/session.jsonl",
			"  note bash was dropped",
		]);
	});

	it("never exceeds the terminal for any text", () => {
		const hostile = "\u001b[31m配置🚀\u202e\t".repeat(40) + "x".repeat(300);
		const details = ended(
			{
				output: `${hostile}\n\n- ${hostile}\n\`\`\`\n${hostile}\n\`\`\`\n| ${hostile} |`,
				displayItems: [{ type: "toolCall", name: hostile, args: { [hostile]: hostile } }],
				model: hostile,
				sessionFile: hostile,
				diagnostics: [hostile],
			},
			{ code: "SUBAGENT_FAILED", message: hostile },
		);
		for (const width of [8, 20, 60, 120]) {
			for (const expanded of [false, true]) {
				for (const failed of [false, true]) {
					const card = new Card({ agent: hostile, task: hostile }).finish(details, hostile, failed);
					card.expanded = expanded;
					for (const line of card.coloured(width)) {
						assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
					}
				}
			}
		}
	});
});
