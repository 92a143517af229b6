/** Cards and announcements with foreign stored data, arguments and texts: thousands of them, none may throw. */

import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { visibleWidth } from "@earendil-works/pi-tui";
import { announcementLines, stopClocks } from "../../extension/cards/cards.ts";
import { type AnyTheme, Pen } from "../../extension/ui/pen.ts";
import { plainText } from "../../extension/ui/text.ts";
import type { RunDetails as CardDetails } from "../../native.js";
import { announcementOf } from "./announcement-double.ts";
import { Card } from "./drawn-card.ts";
import { answer, backgroundRun, deliveredEventOf, USAGE } from "./package-copy.ts";

const start = "\u001b\\[";
const STYLES = new RegExp(`${start}[\\d;]*m`, "g");
const ROUNDS = 1_500;
const WIDTHS = [1, 7, 20, 60, 100];
const ODD: readonly unknown[] = [
	...[null, undefined, true, 0, -1, 1e308, Number.NaN, "", "text", "constructor", "__proto__", [], {}, [null], [[]]],
	...["\u001b[2J\u001b]0;x\u0007", "```\n> - | a |", "\ud800", "設定🚀\u202e\t", "x".repeat(3_000), { text: 7 }],
];

/** Random numbers that are the same in each run. */
function random(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

/** A copy in which some value is missing or another one. */
function mutated(value: unknown, pick: (below: number) => number): unknown {
	if (typeof value !== "object" || value === null || pick(8) === 0) return ODD[pick(ODD.length)];
	const names = Object.keys(value);
	const name = names[pick(names.length)];
	if (name === undefined) return ODD[pick(ODD.length)];
	if (Array.isArray(value)) return value.with(Number(name), mutated(value[Number(name)], pick));
	const copy: Record<string, unknown> = { ...value };
	if (pick(6) === 0) delete copy[name];
	else copy[name] = mutated(copy[name], pick);
	return copy;
}

const ITEMS = [
	{ type: "toolCall", name: "read", args: { path: "src/a.rs", offset: 1, limit: 40 } },
	{ type: "text", text: "Now the tests." },
];
const [RESULT] = answer("# Found\n\n- **it**\n\n```rust\nfn x() {}\n```").details.results;
const FULL = { ...RESULT, displayItems: ITEMS, changes: ["src/a.rs"], diagnostics: ["note"], model: "fake/big" };
const LIVE = { state: "running", attempt: 1, usage: USAGE, turnCount: 2, elapsedMs: 9_000, sinceEventMs: 0 };
const RETRY = { attempt: 1, maxAttempts: 3, atMs: 4e12, error: "overloaded" };
const TASK = { ...LIVE, agent: "explorer", text: "(so far", displayItems: ITEMS, retry: RETRY };
const DETAILS = [
	{ mode: "single", results: [FULL] },
	{ mode: "single", results: [{ ...FULL, outcome: "failed", error: "no" }], error: { code: "X", message: "no" } },
	{ mode: "single", results: [], streaming: { ...LIVE, displayItems: ITEMS, retry: RETRY } },
	{ mode: "parallel", results: [FULL, { ...FULL, outcome: "interrupted", error: "no" }] },
	{ mode: "chain", results: [], tasks: [TASK, { ...TASK, state: "queued", position: 1 }] },
];
const ARGS = [
	{ agent: "explorer", task: "find\nit" },
	{
		tasks: [
			{ agent: "explorer", task: "a" },
			{ agent: "explorer", task: "b" },
		],
	},
	{
		steps: [
			{ agent: "explorer", task: "a" },
			{ agent: "tester", task: "b" },
		],
	},
];

/** Draws, and finds nothing that a terminal would obey or that is too wide. Guards cut lines; a card of ours needs none. */
function check(draw: (width: number) => string[], width: number, what: () => string): void {
	let lines: string[] = [];
	assert.doesNotThrow(() => {
		lines = draw(width);
	}, what());
	for (const line of lines) {
		assert.equal(plainText(line), line.replaceAll(STYLES, ""), what());
		if (width >= 20) assert.ok(visibleWidth(line) <= width, `${width}: ${line} ${what()}`);
	}
}

afterEach(() => stopClocks());

describe("odd data", () => {
	for (const [index, tool] of ["subagent", "subagent_parallel", "subagent_chain"].entries()) {
		it(`is drawn by the card of ${tool}`, () => {
			const pick = random(index + 1);
			for (let round = 0; round < ROUNDS; round++) {
				const details = mutated(DETAILS[pick(DETAILS.length)], pick);
				const args = pick(3) > 0 ? ARGS[index] : mutated(ARGS[index], pick);
				const card = new Card(args, tool);
				card.expanded = pick(2) === 0;
				const text = String(ODD[pick(ODD.length)] ?? "(running...)");
				if (pick(2) === 0) card.finish(details as CardDetails, text, pick(2) === 0);
				else card.update(details as CardDetails, text);
				check(
					(width) => card.coloured(width),
					WIDTHS[pick(WIDTHS.length)] ?? 60,
					() => JSON.stringify({ args, details }),
				);
			}
		});
	}

	it("is drawn by the cards of the tools for work in the background", () => {
		const pick = random(7);
		const receipt = {
			status: "accepted",
			runId: "1a",
			childSessionKey: "agent:explorer:subagent:u",
			warnings: ["careful"],
		};
		const agents = [{ id: "explorer", description: "Finds", source: "builtin", readonly: true, model: "fake/big" }];
		for (let round = 0; round < ROUNDS; round++) {
			const [tool, details] =
				pick(2) === 0 ? ["sessions_spawn", receipt] : ["agents_list", { agents, defaultAgent: "x" }];
			const args = mutated({ task: "find\nit", label: "a", agentId: "explorer" }, pick);
			const stored = mutated(details, pick);
			const card = new Card(args, tool);
			card.expanded = pick(2) === 0;
			card.finish(stored as CardDetails, "text", pick(2) === 0);
			check(
				(width) => card.coloured(width),
				WIDTHS[pick(WIDTHS.length)] ?? 60,
				() => JSON.stringify({ args, stored }),
			);
		}
	});

	it("is drawn by the message that announces", () => {
		const pick = random(9);
		const theme: AnyTheme = { fg: (_color, text) => `\u001b[31m${text}\u001b[39m` };
		const runs = [
			backgroundRun("1a", { state: "ended", status: "success", result: "# Yes", startedMs: 1, endedMs: 2_000 }),
		];
		const message = announcementOf({
			deliveryIds: ["d"],
			runIds: ["1a"],
			text: "text",
			triggerTurn: true,
			runs,
			deliveredEvent: deliveredEventOf(["d"]),
		});
		for (let round = 0; round < ROUNDS; round++) {
			const details = mutated(message.details, pick);
			const content = pick(4) > 0 ? message.content : (mutated([{ type: "text", text: "a" }], pick) as string);
			const isExpanded = pick(2) === 0;
			const draw = (width: number) => announcementLines({ content, details }, isExpanded, new Pen(theme, width));
			check(draw, WIDTHS[pick(WIDTHS.length)] ?? 60, () => JSON.stringify({ content, details }));
		}
	});
});
