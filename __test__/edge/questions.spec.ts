/** Questions of extensions in a child: they reach a person, their answers come back, and no child hangs on one. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import type { Answer, Question } from "../../native.js";
import { slower } from "../support/machine.ts";
import { check } from "./fault.ts";
import { inTime, Scene, shape, single, textOf, until } from "./scene.ts";
import { gate, playing, recordsOf, untilRecorded } from "./stand-in.ts";

const completed = [undefined, 0, "completed", false];
const aborted = ["SUBAGENT_FAILED", 130, "aborted", true];
const silent = ["SUBAGENT_TIMEOUT", 124, "idle_timeout", true];

/** Longer than Node takes to start, which is silent, too. */
const quietMs = 1_500 * slower;
const quick = { idleTimeoutMs: quietMs, graceMs: 200 };

/** The error of a child that said nothing for so long. */
const quiet = new RegExp(`${quietMs} ms \\(\`idleTimeoutMs\`\\)$`);

/** A child that asks a question and reports the answer. */
const asking = (method: string, fields: object) => [{ ask: method, ...fields }, { say: "Answer: {answer}" }];

describe("a question", () => {
	type Asked = Partial<Question> & { title: string };
	const rows: Record<string, [ask: Record<string, unknown>, asked: Asked, answer: Answer, says: string]> = {
		"confirm, yes": [
			{ ask: "confirm", title: "Go on?", message: "It takes long." },
			{ method: "confirm", title: "Go on?", message: "It takes long." },
			{ confirmed: true },
			"true",
		],
		"confirm, no": [
			{ ask: "confirm", title: "Go on?" },
			{ method: "confirm", title: "Go on?" },
			{ confirmed: false },
			"false",
		],
		select: [
			{ ask: "select", title: "Which?", options: ["one", "two"] },
			{ method: "select", title: "Which?", options: ["one", "two"] },
			{ value: "two" },
			"two",
		],
		input: [
			{ ask: "input", title: "Name?", placeholder: "a name" },
			{ method: "input", title: "Name?", placeholder: "a name" },
			{ value: "an answer\nof two lines" },
			"an answer\nof two lines",
		],
		editor: [
			{ ask: "editor", title: "Text?", prefill: "first\nsecond" },
			{ method: "editor", title: "Text?", prefill: "first\nsecond" },
			{ value: "" },
			"",
		],
		"a question with a time limit": [
			{ ask: "confirm", title: "Go on?", timeoutMs: 20_000 },
			{ method: "confirm", title: "Go on?", timeoutMs: 20_000 },
			{ confirmed: true },
			"true",
		],
		"a question that is cancelled": [
			{ ask: "input", title: "Name?" },
			{ method: "input", title: "Name?" },
			{},
			"cancelled",
		],
	};
	for (const [label, [step, asked, answer, says]] of Object.entries(rows)) {
		it(`reaches a person, and the child gets the answer: ${label}`, async (t) => {
			const scene = playing(t, [step, { say: "Answer: {answer}" }]);
			const questions: Question[] = [];
			const handle = scene.start({}, undefined, {
				ask: async (question) => {
					questions.push(question);
					return answer;
				},
			});
			const result = await inTime(handle.result(), "the result");
			assert.deepEqual([shape(result), textOf(result)], [completed, `Answer: ${says}`]);
			const [first = assert.fail("the user was not asked"), ...more] = questions;
			const { id, heading, sentence, choices, timeoutMs, ...question } = first;
			const { timeoutMs: maxMs = 600_000, ...words } = asked;
			assert.deepEqual([question, more], [{ runId: handle.runId, agent: "explorer", ...words }, []]);
			assert.equal(typeof id, "number");
			assert.deepEqual([heading, sentence], ["explorer asks", `explorer asks: ${asked.title}`]);
			assert.ok(timeoutMs > 0 && timeoutMs <= maxMs, `${timeoutMs}`);
			assert.ok(choices.length > 1);
		});
	}

	const withoutAnswer: Record<string, { ask?: () => Promise<Answer> | Answer } | undefined> = {
		"without a host": undefined,
		"without a callback": {},
		"when asking fails": { ask: () => Promise.reject(new Error("no")) },
		"when asking throws": {
			ask: () => {
				throw new Error("no");
			},
		},
		"when the answer is invalid": { ask: () => 5 as unknown as Answer },
	};
	for (const [label, host] of Object.entries(withoutAnswer)) {
		it(`is cancelled at once ${label}`, async (t) => {
			const scene = playing(t, asking("select", { title: "Which?", options: ["a"] }));
			const result = await scene.run({}, undefined, host);
			assert.deepEqual([shape(result), textOf(result)], [completed, "Answer: cancelled"]);
		});
	}

	it("is not asked in the json protocol, which takes no answers", async (t) => {
		const config = { protocol: "json", ...quick };
		const scene = playing(t, [{ stream: "so far" }, ...asking("confirm", { title: "Go on?" })], { config });
		const result = await scene.run({}, undefined, { ask: () => assert.fail("the user was asked") });
		assert.deepEqual(shape(result), silent);
	});

	it("that the child has answered itself is withdrawn", async (t) => {
		const scene = playing(t, [
			{ ask: "confirm", title: "Go on?", timeoutMs: 300 },
			{ say: "Answer: {answer}" },
			{ sleep: 300 },
		]);
		let late: ((answer: Answer) => void) | undefined;
		const result = await scene.run({}, undefined, { ask: () => new Promise((resolve) => (late = resolve)) });
		late?.({ confirmed: true });
		assert.deepEqual(shape(result), completed);
		// Both of us notice at the same time.
		assert.match(textOf(result), /^Answer: (unanswered|cancelled)$/);
	});

	it("comes one at a time, in order", async (t) => {
		const questions = ["one", "two", "three"].map((id) => ({
			event: { type: "extension_ui_request", id, method: "input", title: id },
		}));
		const scene = playing(t, [{ stream: "so far" }, ...questions, gate(), { say: "." }]);
		const [seen, atOnce] = [[] as string[], { now: 0, most: 0 }];
		const result = await scene.run({}, undefined, {
			ask: async ({ title }) => {
				seen.push(title);
				atOnce.most = Math.max(atOnce.most, ++atOnce.now);
				// The next question is not shown in the meantime. No event marks that, so the test waits.
				await delay(30);
				atOnce.now--;
				if (title === "three") scene.open();
				return { value: `${title}!` };
			},
		});
		assert.deepEqual(shape(result), completed);
		assert.deepEqual([seen, atOnce.most], [["one", "two", "three"], 1]);
	});

	it("that expires while another is answered is not asked any more", async (t) => {
		const question = (id: string, timeout: number | undefined) => ({
			event: { type: "extension_ui_request", id, method: "confirm", title: id, timeout },
		});
		const scene = playing(t, [
			{ stream: "so far" },
			question("one", undefined),
			question("two", 100),
			{ sleep: 700 },
			{ say: "." },
		]);
		const seen: string[] = [];
		const result = await scene.run({}, undefined, {
			ask: async ({ title }) => {
				seen.push(title);
				await delay(250);
				return { confirmed: true };
			},
			withdraw: () => assert.fail("a question was withdrawn"),
		});
		assert.deepEqual([shape(result), seen], [completed, ["one"]]);
	});

	it("beyond the limit is cancelled, without other effects", async (t) => {
		const script = String.raw`head -n1 > /dev/null; begin; i=0
			while [ $i -lt 100 ]; do printf '{"type":"extension_ui_request","id":"q%s","method":"confirm","title":"%s?"}\n' $i $i; i=$((i+1)); done
			head -n100 > $here/answers; said 'Done.'; settled`;
		const scene = new Scene(t, "", { config: { protocol: "rpc" } });
		const config = { protocol: "rpc", inheritExtensions: "all" };
		const change = { piCommand: scene.pi("pi.sh", script), config };
		const result = await scene.run(change, undefined, { ask: async () => ({ confirmed: true }) });
		assert.deepEqual(shape(result), completed);
		const answers = scene
			.read("answers")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		assert.deepEqual(new Set(answers.map(({ id }) => id)).size, 100, "each question has an answer");
		assert.ok(answers.filter(({ confirmed }) => confirmed).length >= 8, "the user was asked at least 8 questions");
	});

	it("of a run that is aborted ends with it", async (t) => {
		const scene = playing(t, [{ stream: "so far" }, ...asking("confirm", { title: "Go on?" })]);
		let answer: ((answer: Answer) => void) | undefined;
		const [asked, withdrawn]: [number[], number[]] = [[], []];
		const handle = scene.start({}, undefined, {
			ask: ({ id }) => {
				asked.push(id);
				return new Promise((resolve) => (answer = resolve));
			},
			withdraw: (id) => {
				withdrawn.push(id);
				throw new Error("an error of the callback");
			},
		});
		await until(() => answer !== undefined, "the question");
		assert.deepEqual(withdrawn, []);
		handle.abort();
		const result = await inTime(handle.result(), "the result");
		await until(() => withdrawn.length > 0, "the withdrawal of the question");
		answer?.({ confirmed: true });
		assert.deepEqual([shape(result), single(result).output], [aborted, "so far"]);
		assert.deepEqual([withdrawn, withdrawn.length], [asked, 1], "the question is withdrawn once");
	});

	it("pauses the idle limit until its answer", async (t) => {
		const scene = playing(t, [{ ask: "confirm", title: "Go on?" }, { stream: "so far" }, "hang"], { config: quick });
		let answered = 0;
		const result = await scene.run({}, undefined, {
			ask: async () => {
				await delay(quietMs + 500);
				answered = performance.now();
				return { confirmed: true };
			},
		});
		assert.deepEqual([shape(result), single(result).output], [silent, "so far"]);
		assert.ok(performance.now() - answered > quietMs - 100, "the whole idle limit applies after the answer");
		assert.match(single(result).error ?? "", quiet);
	});

	it("is followed by the idle limit if the child ignores the answer", async (t) => {
		const question = { event: { type: "extension_ui_request", id: "q", method: "confirm", title: "Go on?" } };
		const scene = playing(t, [{ stream: "so far" }, question, "hang"], { config: quick });
		const result = await scene.run({}, undefined, { ask: async () => ({ confirmed: true }) });
		assert.deepEqual(shape(result), silent);
		assert.match(single(result).error ?? "", quiet);
	});

	it("without an answer ends at the limit for tools, which the error names", async (t) => {
		const toolTimeoutMs = quietMs + 100;
		const config = { ...quick, toolTimeoutMs };
		const scene = playing(t, [{ stream: "so far" }, ...asking("confirm", { title: "Go on?" })], { config });
		const result = await scene.run({}, undefined, { ask: () => new Promise(() => {}) });
		assert.deepEqual(shape(result), silent);
		assert.equal(
			single(result).error,
			`no activity for ${toolTimeoutMs} ms while a question waited for its answer (\`toolTimeoutMs\`)`,
		);
	});
});

describe("a question on a person's screen", () => {
	const secret = (name: string) => `ghp_AbCdEfGhIjKlMnOpQrStUvWxYz012345678${name}`;

	it("is exact without control sequences, and the answer uses the child's own words", async (t) => {
		const options = [`use ${secret("a")}`, "\u001b[31mred\u001b[0m\u2800", "two\nlines"];
		const scene = playing(t, asking("select", { title: `Which of ${secret("c")}?\u0007`, options }));
		const seen: Question[] = [];
		const result = await scene.run({}, undefined, {
			ask: (question) => {
				seen.push(question);
				return { value: question.options?.[1] ?? "" };
			},
		});
		assert.deepEqual(shape(result), completed);
		const [asked] = await untilRecorded(scene, "asked");
		assert.equal(asked, "select");
		assert.deepEqual(
			recordsOf(scene, "answer").map((answer) => (answer as { value: string }).value),
			[options[1]],
		);
		const shown = [`use ${secret("a")}`, "<U+001B>[31mred<U+001B>[0m<U+2800>", "two<U+000A>lines"];
		assert.equal(seen[0]?.title, `Which of ${secret("c")}?<U+0007>`);
		assert.deepEqual(seen[0].options, shown);
		assert.deepEqual(
			seen[0].choices.map(({ label, answer }) => [label, answer?.value]),
			[["No answer", undefined], ...shown.map((option) => [option, option])],
		);
	});

	for (const [method, field] of [
		["confirm", "message"],
		["input", "placeholder"],
		["editor", "prefill"],
	] as const) {
		it(`shows known secrets, in its title and its ${field}`, async (t) => {
			const words = "correct horse battery staple";
			const ask = { title: `Is it ${words}?`, [field]: `\u001b[1m${words}\u0007 or ${secret("d")}` };
			const scene = playing(t, asking(method, ask), { env: { MY_API_TOKEN: words } });
			const seen: Question[] = [];
			const result = await scene.run({}, undefined, {
				ask: (question) => {
					seen.push(question);
					return { value: question.prefill ?? "" };
				},
			});
			assert.deepEqual(shape(result), completed);
			assert.deepEqual(
				seen.map((question) => [question.title, question[field]]),
				[[`Is it ${words}?`, `<U+001B>[1m${words}<U+0007> or ${secret("d")}`]],
			);
			const [answer] = await untilRecorded(scene, "answer");
			if (field === "prefill")
				assert.equal((answer as Answer).value, ask.prefill, "the answer equals the prefilled text");
		});
	}

	it("is complete, or declined", async (t) => {
		const [options, long] = [Array.from({ length: 100 }, (_, index) => `option ${index}`), "x".repeat(1 << 20)];
		for (const [method, fields] of [
			["select", { title: "Which?", options }],
			["select", { title: "Which?", options: ["x".repeat(10_000), "y"] }],
			["editor", { title: "Text?", prefill: long }],
			["confirm", { title: long }],
			["confirm", { title: "Sure?", message: long }],
			["input", { title: long }],
		] as const) {
			const scene = playing(t, asking(method, fields));
			const result = await scene.run({}, undefined, { ask: () => assert.fail("the user was asked") });
			assert.deepEqual([shape(result), textOf(result)], [completed, "Answer: cancelled"], method);
			assert.match(result.details.results[0]?.diagnostics?.join() ?? "", /declined: it was too long to be shown whole/);
		}
	});

	it("is bounded", async (t) => {
		const scene = playing(t, asking("confirm", { title: "\u0001\u0002".repeat(8_000), message: "m".repeat(16_000) }));
		let size = 0;
		const result = await scene.run({}, undefined, {
			ask: (question) => {
				size = JSON.stringify(question).length;
				return { confirmed: true };
			},
		});
		assert.deepEqual([shape(result), textOf(result)], [completed, "Answer: true"]);
		assert.ok(size > 100_000 && size < 512 * 1024, `${size} bytes`);
	});
});

describe("endless questions", () => {
	const line = `${JSON.stringify({ type: "extension_ui_request", id: "q", method: "confirm", title: "Go on?" })}\n`;
	for (const [label, first] of Object.entries({
		"from a child that reads answers": "begin",
		"from a child that reads no answers": "deaf",
	})) {
		it(`do not burden the host: ${label}`, async (t) => {
			const scenario = [first, { fill: 32 << 20, with: line }, { say: "Done." }];
			const config = { protocol: "rpc", sandbox: "off", inheritExtensions: "all" };
			await check(t, { scenario, config, is: [undefined, 0, "completed"], isFlood: true });
		});
	}
});
