/**
 * A day with background runs in real pi, at a terminal: each requested result arrives once, for any events in the
 * meantime.
 */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { after, before, describe, test } from "node:test";

import { announcementsIn, deliveryCount } from "../support/background.ts";
import { answers, Day, type Label, type Moment, moments, tasks, typed } from "../support/day.ts";
import type { ModelRequest } from "../support/pi.ts";

/** High enough for all messages of the day. */
const WHOLE_ROWS = 240;

/** The messages about runs, in the order of the day, and whether each gives the model a turn. */
const results: readonly { label: Label; status: string; mark: string }[] = [
	{ label: "config", status: "success", mark: "✓" },
	{ label: "dead code", status: "error", mark: "⚠" },
	{ label: "tests", status: "error", mark: "⚠" },
	{ label: "history", status: "unknown", mark: "⚠" },
	{ label: "history", status: "success", mark: "✓" },
];

/** The details of an announcing message. */
interface Announced {
	deliveryIds: string[];
	runs: { runId: string; label: Label; status: string }[];
}

function textsOf(request: ModelRequest | undefined, role?: string): string[] {
	const messages = request?.messages.filter((message) => role === undefined || message.role === role) ?? [];
	return messages.map(({ content }) =>
		typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join(""),
	);
}

describe("a day with background runs", () => {
	const screens = new Map<Moment, string>();
	let day: Day;
	/** Everything on one screen, at the end. */
	let whole = "";

	const seen = (moment: Moment) => screens.get(moment) ?? "";
	const parents = () => day.server.requests.filter(({ isParent }) => isParent);
	/** The requests of the run with this task, oldest first. */
	const requestsOf = (label: Label) =>
		day.server.requests.filter((request) => request.isChild && textsOf(request, "user")[0]?.includes(tasks[label]));

	before(async () => {
		day = await Day.begin();
		// It fails when a pi that was quit has left a process.
		await day.play(async (moment, tui) => {
			screens.set(moment, await tui.screen());
			if (moment !== "list") return;
			await tui.resize(100, WHOLE_ROWS);
			whole = await tui.waitFor((screen) => screen.includes(typed.two) && screen.includes("Runs: "));
		});
		assert.deepEqual([...screens.keys()], moments);
	});

	after(async () => await day?.end());

	test("each end of a run is in the session once", () => {
		const announced = announcementsIn(day.sessionFile) as unknown as Announced[];
		const runs = announced.flatMap(({ runs }) => runs);
		assert.deepEqual(
			runs.map(({ label, status }) => ({ label, status })),
			results.map(({ label, status }) => ({ label, status })),
		);
		const ids = announced.flatMap(({ deliveryIds }) => deliveryIds);
		assert.equal(new Set(ids).size, results.length);
		assert.equal(new Set(runs.map(({ runId }) => runId)).size, 4, "a resumed run keeps its ID");
	});

	test("the model reads each end once, with the right status", () => {
		const last = parents().at(-1);
		assert.equal(deliveryCount(last), results.length);
		const words = textsOf(last, "user").filter((text) => text.startsWith("Background run "));
		assert.deepEqual(
			words.map((text) => /\(`(.*)`, agent explorer\) has ended\. Task: .*\nStatus: (\w+)$/m.exec(text)?.slice(1)),
			results.map(({ label, status }) => [label, status]),
		);
		const [config, dead, tests, unknown, success] = words;
		assert.match(
			config ?? "",
			new RegExp(`^Result .*\n\`\`\`text\n# Where it is\n\n${escaped(answers.config)}\n`, "m"),
		);
		assert.match(dead ?? "", /^Result: \(not available\)\nNote: `budget\.maxTurns` reached: 6 of 6$/m);
		assert.match(tests ?? "", /^Note: stopped on request\nPartial output .*\n```text\n.*What is missing so far:$/m);
		assert.match(
			unknown ?? "",
			new RegExp(`^Note: pi ended .*\nPartial output .*\n\`\`\`text\n${escaped(answers.half)}$`, "m"),
		);
		assert.match(success ?? "", new RegExp(`^\`\`\`text\n${escaped(answers.rest)}$`, "m"));
		assert.equal(last?.userText, typed.thanks, "the reopened session has the last prompt");
		// One turn each, except for the run that a person stopped and the run that pi cut off. These arrive with the next
		// turn.
		const turns = parents().filter(({ userText }) => userText.startsWith("Background run "));
		assert.equal(turns.length, results.length - 2);
	});

	test("a run that ends during the chain is delivered after it, and interrupts nothing", () => {
		const request = parents().find((parent) => deliveryCount(parent) > 0);
		const texts = textsOf(request);
		const at = (start: string) => texts.findIndex((text) => text.startsWith(start));
		assert.ok(at("The plan is in the card above.") > 0 && at("The plan") < at("Background run "), texts.join("\n"));
		assert.match(whole, /^ ✓ subagent chain · 2 steps · /m);
	});

	test("each run has one card on the screen, and none is active at the end", () => {
		for (const { label, mark } of results) {
			const cards = whole.match(new RegExp(`^ ${mark} ${label} · explorer · `, "gm"));
			assert.equal(cards?.length, 1, `${mark} ${label}\n${whole}`);
		}
		assert.equal(whole.split("What is missing so far:").length - 1, 1, "the partial answer is shown once");
		assert.doesNotMatch(whole, /^ [○◐●↻] /m);
	});

	test("a message reaches the run before its next turn, once", () => {
		const steered = requestsOf("config").map((request) => textsOf(request, "user").slice(1));
		assert.deepEqual(steered[1], [], "the message does not arrive before it was sent");
		assert.deepEqual(steered[2], ["Begin with who calls load."]);
		assert.equal(steered.flat().filter((text) => text === "Begin with who calls load.").length, steered.length - 2);
		assert.match(seen("steered"), /→ sent to \w{8} .*"config"/);
	});

	test("a stopped run, a run over its budget and a run whose pi exits start no turn", async () => {
		const stopped = requestsOf("tests");
		assert.equal(stopped.length, 2);
		assert.equal(await stopped[1]?.ended, true, "the request was cancelled");
		assert.ok(requestsOf("dead code").length <= 7, "the run ends one turn after its last");
		const history = requestsOf("history");
		assert.equal(await history[1]?.ended, true, "the request was cancelled");
		// Resumed: the same conversation continues, and its answer is the result.
		assert.deepEqual(history.length, 3);
		const [, ...users] = textsOf(history[2], "user");
		assert.match(users.join("\n"), /^Continue with your task/);
		assert.ok((history[2]?.messages.length ?? 0) > (history[1]?.messages.length ?? 0));
	});

	test("the panel and the line above the editor show the current states", () => {
		assert.match(seen("spawned"), /^ ● tests +explorer +\d+s .*\n ● config +explorer +\d+s .*\n─/m);
		assert.match(seen("panel"), /^ Sub-agents · 2 running · 3 completed · /);
		const rows = /● 1 history [\s\S]*⚠ 2 dead code [\s\S]*▸ ● 5 tests [\s\S]*✓ 6 config /;
		assert.match(seen("panel"), rows);
		assert.match(seen("transcript"), /❯ Find out which tests are missing\.\n {3}→ ls test\n {5}main\.test\.ts\n/);
		assert.match(seen("stopped"), /^ ⚠ tests · explorer · .*stopped/m);
		assert.match(seen("list"), /✓ #6 .*"config"[\s\S]*⚠ #5 .*"tests"[\s\S]*⚠ #2 .*"dead code"[\s\S]*✓ #1 .*"history"/);
	});

	test("only the conversations remain of their directories", () => {
		const folder = dirname(day.sessionFile);
		const files = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true });
		const names = files.filter((entry) => entry.isFile()).map(({ name }) => name.replace(/^.*(?=\.jsonl$)/, "…"));
		// Two steps of the chain, four background runs, and the session itself.
		assert.deepEqual(names, Array(7).fill("….jsonl"));
	});
});

test("a closed terminal ends pi at once, and keeps a run's text and cost", async () => {
	const day = await Day.begin();
	try {
		const screen = await day.playClosed();
		assert.match(
			screen,
			/interrupted\n.*\n {3}last said:\n {3}load took one path at first\. It takes a list since\n {3}to continue \w+: \/subagents resume \w{8}\n {3}1 turn · ↑1\.4k ↓60 · \$/,
		);
		const [announced, other] = announcementsIn(day.sessionFile);
		assert.deepEqual([announced?.deliveryIds.length, other], [1, undefined]);
	} finally {
		await day.end();
	}
});

function escaped(text: string): string {
	return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
