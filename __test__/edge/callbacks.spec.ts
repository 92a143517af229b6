/** The callbacks of a run and their number. A failing callback harms neither the run nor its host. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

import type { ConfirmRequest, ToolResult } from "../../native.js";
import { slower } from "../support/machine.ts";
import { host } from "./host.ts";
import { answers, Scene, shape, single, textOf } from "./scene.ts";

/** A child that says 60 words in a little more than a second. */
const talks =
	"begin; i=0; while [ $i -lt 60 ]; do delta \"word$i \"; sleep 0.02; i=$((i+1)); done; said 'Done.'; settled";

/** Keeps the thread from doing anything else. */
function block(ms: number): void {
	const end = performance.now() + ms;
	while (performance.now() < end);
}

describe("updates", () => {
	it("show the newest state, at most ten a second, the last before the result and none after it", async (t) => {
		const seen: { at: number; update: ToolResult }[] = [];
		let hasEnded = false;
		const result = await new Scene(t, talks).run({}, (update) => {
			assert.ok(!hasEnded, "no update follows the result");
			seen.push({ at: performance.now(), update });
		});
		hasEnded = true;
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.ok(seen.length >= 5, `${seen.length} updates`);
		for (const [index, { at }] of seen.entries()) {
			const within = seen.slice(index).filter((other) => other.at < at + 1000).length;
			assert.ok(within <= 11, `${within} updates in a second, including the last one of the run`);
		}
		for (const { update } of seen) {
			const { streaming, results, error, mode, runId } = update.details;
			assert.deepEqual([results, error, mode, runId], [[], undefined, "single", result.details.runId]);
			assert.ok(!update.isError && update.usage === undefined);
			assert.ok(streaming && streaming.elapsedMs >= 0 && streaming.sinceEventMs >= 0);
			assert.ok(JSON.stringify(update).length <= 64 * 1024);
		}
		assert.match(textOf(seen[0]?.update ?? result), /^(word0 |\()/, "the first update has the first word or a status");
		const last = seen.at(-1)?.update;
		assert.equal(textOf(last ?? result), "Done.");
		assert.deepEqual([last?.details.streaming?.turnCount, last?.details.streaming?.model], [1, "fake/m1"]);
		// Nothing but time shows that no update follows.
		await delay(100);
	});

	it("show a run as running before its first output", async (t) => {
		const texts: string[] = [];
		const script = `begin; tool_start read; called read '{"path":"a"}'; gate go; tool_end read; said 'Done.'; settled`;
		const scene = new Scene(t, script);
		await scene.run({}, (update) => {
			texts.push(textOf(update));
			if (update.details.streaming?.state === "running") scene.open();
		});
		assert.ok(texts.includes("(running...)"), texts.join());
	});

	for (const [label, character] of Object.entries({
		"an ideograph": "日",
		"a quotation mark": '"',
		"a line end": "\n",
	})) {
		it(`stay within 64 KiB as JSON for any output: ${label}`, async (t) => {
			const scene = new Scene(t, "");
			const call = (index: number) => ({
				type: "toolCall",
				id: `c${index}`,
				name: "write",
				arguments: { text: character.repeat(5000) },
			});
			const records = Array.from({ length: 40 }, (_, index) => ({
				type: "message_end",
				message: { role: "assistant", content: [call(index)], stopReason: "toolUse" },
			}));
			const delta = { type: "text_delta", contentIndex: 0, delta: `${character.repeat(40_000)}.` };
			const stream = [...records, { type: "message_update", usage: {}, assistantMessageEvent: delta }];
			scene.write("stream", stream.map((record) => `${JSON.stringify(record)}\n`).join(""));
			const updates: ToolResult[] = [];
			const piCommand = scene.pi("big.sh", "cat > /dev/null; cat $here/stream; gate go; said 'Done.'; settled");
			await scene.run({ piCommand }, (update) => {
				updates.push(update);
				if (update.details.streaming?.displayItems.length) scene.open();
			});
			const sizes = updates.map((update) => Buffer.byteLength(JSON.stringify(update)));
			assert.ok(Math.max(...sizes) <= 64 * 1024, `${Math.max(...sizes)} bytes`);
		});
	}

	it("that throw end no run and no host", async (t) => {
		let calls = 0;
		const result = await new Scene(t, talks).run({}, () => {
			calls++;
			throw new Error("a mistake in the host");
		});
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.equal(calls, 1, "a callback that throws is not called again");
	});

	for (const [label, ms, fits] of [
		["at once", 0, (updates: number) => updates === 1],
		["while the run continues", 200 * slower, (updates: number) => updates > 1],
		["after its end", 3_000 * slower, (updates: number) => updates > 1],
	] as const) {
		it(`that reject ${label} end no run and no host`, async (t) => {
			const { code, signal, stdout, stderr } = await host(new Scene(t, talks), "rejects.mjs", [String(ms)]);
			assert.deepEqual([code, signal, stderr], [0, null, ""]);
			const { outcome, updates } = JSON.parse(stdout);
			assert.deepEqual([outcome, fits(updates)], ["completed", true], `${updates} updates`);
		});
	}

	it("may return any value that is not a promise", async (t) => {
		for (const value of [null, 1, "text", true, 1n, Symbol("s"), {}, [], new Set(), () => 1]) {
			const texts: string[] = [];
			const scene = new Scene(t, "begin; delta 'a '; gate go; said 'Done.'; settled");
			await scene.run({}, (update) => {
				texts.push(textOf(update));
				scene.open();
				return value;
			});
			assert.deepEqual([texts.length > 1, texts.at(-1)], [true, "Done."], String(value));
		}
	});

	it("that never settle delay neither updates nor the result", async (t) => {
		const texts: string[] = [];
		const result = await new Scene(t, talks).run({}, (update) => {
			texts.push(textOf(update));
			return new Promise(() => {});
		});
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.ok(texts.length > 2, `${texts.length} updates`);
		assert.equal(texts.at(-1), "Done.");
	});

	it("that are slow neither block the child nor accumulate", async (t) => {
		const scene = new Scene(
			t,
			`begin; i=0; while [ $i -lt 20000 ]; do delta "word$i "; i=$((i+1)); done; date +%s%N > $here/spoken; said 'Done.'; settled`,
		);
		let calls = 0;
		const started = Date.now();
		const result = await scene.run({}, () => {
			calls++;
			block(300);
		});
		const took = Date.now() - started;
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.ok(calls <= took / 300 + 1, `${calls} calls in ${took} ms`);
		const spoken = Number(BigInt(scene.read("spoken").trim()) / 1_000_000n) - started;
		assert.ok(took - spoken < 10_000 * slower, `the result arrived ${took - spoken} ms after the child's answer`);
	});

	for (const ms of [300, 1500]) {
		it(`deliver the last state to a host that takes ${ms} ms for each`, async (t) => {
			let last = "";
			// One is with the host and one is under way to it when the last one comes.
			const script = "begin; said 'One.'; sleep 0.2; said 'Two.'; sleep 0.2; said 'Three.'; settled";
			await new Scene(t, script).run({}, (update) => {
				block(ms);
				last = textOf(update);
			});
			assert.equal(last, "Three.");
		});
	}

	it("of many runs reach their own callbacks", async (t) => {
		const runs = ["a", "b", "c"].map((word) => new Scene(t, `begin; delta '${word}'; said '${word}'; settled`));
		const seen = runs.map(() => new Set<string>());
		await Promise.all(runs.map((scene, index) => scene.run({}, (update) => seen[index]?.add(textOf(update)))));
		// In brackets it says that it waits or begins.
		const shown = seen.map((texts) => [...texts].filter((text) => !text.startsWith("(")));
		assert.deepEqual(shown, [["a"], ["b"], ["c"]]);
	});
});

describe("a question", () => {
	const definition = "---\nname: local\nreadonly: true\ndescription: Looks around here.\n---\nLook.";

	function project(t: TestContext): Scene {
		const scene = new Scene(t, answers, { agent: "local" });
		scene.write("project/.pi/agents/local.md", definition);
		return scene;
	}

	const yes: Record<string, () => boolean | Promise<boolean>> = {
		true: () => true,
		"a promise of true": async () => true,
		"a late true": () => delay(50, true),
	};
	for (const [label, answer] of Object.entries(yes)) {
		it(`is answered with yes by ${label}, and not repeated until the file changes`, async (t) => {
			const scene = project(t);
			let asked = 0;
			const confirm = () => {
				asked++;
				return answer();
			};
			for (const expected of [1, 1]) {
				assert.deepEqual(shape(await scene.run({}, undefined, { confirm })), [undefined, 0, "completed", false]);
				assert.equal(asked, expected);
			}
			assert.equal(
				(await scene.run()).details.error,
				undefined,
				"the agent also stays allowed without a confirm callback",
			);
			scene.write("project/.pi/agents/local.md", `${definition} Deeper.`);
			await scene.run({}, undefined, { confirm });
			assert.equal(asked, 2);
		});
	}

	const no: Record<string, () => unknown> = {
		false: () => false,
		"a promise of false": async () => false,
	};
	const nothing: Record<string, () => unknown> = {
		"a rejection": async () => {
			throw new Error("the dialog broke");
		},
		"an exception": () => {
			throw new Error("the dialog broke");
		},
		nothing: () => undefined,
		"a text": () => "yes",
		"a promise of a text": async () => "yes",
		"a number": () => 1,
	};
	for (const [label, answer] of Object.entries({ ...no, ...nothing })) {
		it(`refuses the run, and says why, when the answer is ${label}`, async (t) => {
			const scene = project(t);
			const result = await scene.run({}, undefined, { confirm: answer as () => boolean });
			assert.equal(result.details.error?.code, "SUBAGENT_DISABLED");
			const why = label in no ? "the user did not allow it" : "the user has not answered whether it may run";
			assert.match(textOf(result), new RegExp(`${why}.*; use another one`));
			assert.deepEqual(result.details.results, []);
			assert.ok(!scene.wasStarted);
		});
	}

	it("names the agent, its file and what a yes means", async (t) => {
		const scene = project(t);
		const requests: ConfirmRequest[] = [];
		await scene.run({}, undefined, { confirm: (request) => requests.push(request) > 0 });
		const path = scene.path("project/.pi/agents/local.md");
		const [request, ...more] = requests;
		assert.deepEqual([request?.agent, request?.path, more.length], ["local", path, 0]);
		assert.match(request?.runId ?? "", /^[0-9a-f]{8}$/);
		assert.match(request?.title ?? "", /local/);
		assert.ok(request?.message.includes(path) && request.message.includes("only read"));
	});

	it("is never asked about agents of the user, or if a policy decides", async (t) => {
		const scene = project(t);
		scene.write("agent/agents/mine.md", "---\nname: mine\nreadonly: true\n---\nLook.");
		const fail = () => assert.fail("the user was asked");
		let asked = 0;
		const confirm = () => {
			asked++;
			return fail();
		};
		for (const change of [
			{ agent: "explorer" },
			{ agent: "mine" },
			{ config: { projectAgentPolicy: "allow" } },
			{ config: { projectAgentPolicy: "deny" } },
			{ aborted: true },
		]) {
			await scene.run(change, undefined, { confirm });
		}
		assert.equal(asked, 0);
	});

	it("is not needed if the user's settings allow project agents", async (t) => {
		const result = await project(t).run({ config: { nonInteractivePolicy: "allow" } });
		assert.equal(single(result).agent, "local");
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
	});
});

describe("model", () => {
	const config = { agents: { explorer: { model: "anthropic/claude-sonnet" } } };

	it("is asked for each model that is not the session's, and refuses one without a login before the start", async (t) => {
		const asked: string[] = [];
		const model = (found: object) => ({
			model: ({ model }: { model: string }) => {
				asked.push(model);
				return { model: "anthropic/claude-sonnet", ...found };
			},
		});
		const script = "begin; said 'Done.'; settled";
		const refused = await new Scene(t, script).run({ config }, undefined, model({ variables: ["THE_KEY"] }));
		assert.equal(textOf(refused), "model `anthropic/claude-sonnet` has no login: run `/login anthropic`");
		assert.equal(refused.details.error?.code, "INVALID_INPUT");
		const fine = await new Scene(t, script).run({ config }, undefined, model({ hasLogin: true }));
		assert.equal(textOf(fine), "Done.");
		await new Scene(t, script).run({ model: "fake/m1" }, undefined, model({}));
		assert.deepEqual(asked, ["anthropic/claude-sonnet", "anthropic/claude-sonnet"]);
	});

	it("that fails, or returns nothing, leaves the decision to the child", async (t) => {
		const model = () => {
			throw new Error("no answer");
		};
		const result = await new Scene(t, "begin; said 'Done.'; settled").run({ config }, undefined, { model });
		assert.equal(textOf(result), "Done.");
	});
});
