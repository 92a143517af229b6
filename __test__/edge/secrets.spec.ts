/** No secret that this process knows, or that looks like one, is in a result or an update. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { homedir } from "node:os";
import { describe, it } from "node:test";

import type { RunOptions, ToolResult } from "../../native.js";
import { hangs, inTime, Scene, single, textOf } from "./scene.ts";

/** Nothing about it looks like a secret: only who knows it can find it. */
const known = "zebra-violin-41-cloud";

/** Says a text everywhere a child can, and waits until updates show it. */
const leaks = (text: string) => `begin
	delta 'delta ${text} '; gate text
	called bash '{"command":"curl ${text}","${text}":{"deep":["${text}"]}}'; gate call
	tool_start '${text}'; tool_end '${text}'
	echo 'stderr ${text}' >&2; echo 'noise ${text}'
	said 'text ${text}' error ',"errorMessage":"error ${text}"'`;

/** Every way to an end in which a text could come along. */
const ends = { "a provider error": "settled", "an exit code": "exit 3", "a signal": "kill -SEGV $$", silence: "hang" };

async function everything(scene: Scene, change: Partial<RunOptions>): Promise<string> {
	const updates: ToolResult[] = [];
	const result = await scene.run({ task: `use ${known}`, ...change }, (update) => {
		updates.push(update);
		if (textOf(update).startsWith("delta")) scene.open("text");
		if (update.details.streaming?.displayItems.length) scene.open("call");
	});
	return JSON.stringify([result, updates]);
}

describe("a known secret", () => {
	const sources: Record<string, (scene: Scene) => Partial<RunOptions>> = {
		"a variable of the caller's": ({ options }) => ({ env: { ...options.env, MY_API_TOKEN: known } }),
		"pi's own credentials": (scene) => {
			scene.write("agent/auth.json", JSON.stringify({ fake: { type: "api_key", key: known } }));
			return {};
		},
		"an access token of pi's": (scene) => {
			scene.write(
				"agent/auth.json",
				JSON.stringify({ fake: { type: "oauth", access: known, refresh: "other-secret-21", expires: 1 } }),
			);
			return {};
		},
		"a variable that the configuration sets": () => ({
			config: { env: { MY_API_TOKEN: known }, idleTimeoutMs: 1000, graceMs: 100 },
		}),
		"a variable that the user's file sets": (scene) => {
			scene.write("agent/subagents.json", JSON.stringify({ subagents: { env: { DEPLOY_PASSWORD: known } } }));
			return {};
		},
	};
	for (const [label, prepare] of Object.entries(sources)) {
		it(`stays out of a result and its updates: ${label}`, async (t) => {
			const scene = new Scene(t, `${leaks(known)}; settled`);
			const text = await everything(scene, prepare(scene));
			assert.ok(text.includes("REDACTED"), text.slice(0, 2000));
			assert.ok(!text.includes(known), text.slice(Math.max(0, text.indexOf(known) - 200)).slice(0, 400));
		});
	}

	it("stays out of every update while it is written piece by piece, and of the partial text", async (t) => {
		const words = ["corr", "ect ", "horse", " batt", "ery st", "aple"];
		// Longer than between two updates, so that each piece has its own.
		const pieces = words.map((piece) => `delta '${piece}'; sleep 0.1`);
		for (const [deltas, expected] of [
			[pieces.slice(0, -1), "The words are:"],
			[[...pieces, "delta '.'"], "The words are: [REDACTED]."],
		] as const) {
			const scene = new Scene(t, ["begin", "delta 'The words are: '", ...deltas, "exit 3"].join("; "));
			const updates: ToolResult[] = [];
			const env = { ...scene.options.env, MY_API_TOKEN: words.join("") };
			const result = await scene.run({ env }, (update) => updates.push(update));
			const all = JSON.stringify([updates, result]);
			assert.ok(!/correct|horse|batt/.test(all), all);
			assert.equal(single(result).output?.trim(), expected);
		}
	});

	for (const [label, end] of Object.entries(ends)) {
		it(`stays out of a result with every outcome: ${label}`, async (t) => {
			const scene = new Scene(t, `${leaks(known)}; ${end}`);
			const change = {
				env: { ...scene.options.env, MY_API_TOKEN: known },
				config: { idleTimeoutMs: 1000, graceMs: 100 },
			};
			const text = await everything(scene, change);
			assert.ok(text.includes("REDACTED") && !text.includes(known));
		});
	}

	it("stays out of the reason for an abort, of a refusal and of a failed start", async (t) => {
		const scene = new Scene(t, hangs, { config: { graceMs: 100 } });
		const env = { ...scene.options.env, MY_API_TOKEN: known };
		const handle = scene.start({ env });
		handle.abort(`because of ${known}`);
		const results = [
			await inTime(handle.result(), "the result"),
			await scene.run({ env, agent: known }),
			await scene.run({ env, cwd: `/nowhere/${known}` }),
			await scene.run({ env, piCommand: [known] }),
			await scene.run({ env, config: { [known]: 1 } }),
			await scene.run({ env, config: { model: 5, thinking: known } }),
		];
		for (const result of results) assert.ok(!JSON.stringify(result).includes(known), JSON.stringify(result));
	});

	it("stays out of the file that keeps a long answer", async (t) => {
		const script = `begin; said "${known} $(head -c 100000 /dev/zero | tr '\\0' x) ${known}"; settled`;
		const scene = new Scene(t, script);
		const { fullOutputFile } = single(await scene.run({ env: { ...scene.options.env, MY_API_TOKEN: known } }));
		const text = scene.read((fullOutputFile ?? "").slice(scene.root.length + 1));
		assert.ok(text.length > 100_000 && text.includes("[REDACTED]") && !text.includes(known));
	});
});

describe("a text that looks like a secret", () => {
	const shapes = {
		"a GitHub token": ["ghp_", "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"],
		"an Anthropic key": ["sk-ant-api03-", "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789_-AbCdEf"],
		"an AWS key": ["AKIA", "IOSFODNN7ABCDEFG"],
	};
	for (const [label, parts] of Object.entries(shapes)) {
		it(`stays out of a result and its updates: ${label}`, async (t) => {
			const text = await everything(new Scene(t, `${leaks(parts.join(""))}; settled`), { task: parts.join("") });
			assert.ok(text.includes("REDACTED") && !text.includes(parts[1] ?? ""));
		});
	}

	it("stays out of the names of changed files, which carry no control sequences either", async (t) => {
		const token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
		const files = `touch 'key-${token}.txt' "$(printf 'red\\033[31m.txt')" plain.txt`;
		const scene = new Scene(t, `${files}; begin; said 'Done.'; settled`, {
			agent: "writer",
			config: { allowWrite: true },
		});
		scene.write("agent/agents/writer.md", "---\nname: writer\ntools: read, write\n---\nWrite.");
		execFileSync("git", ["init", "-q", "."], { cwd: scene.project });
		const result = await scene.run();
		assert.ok(single(result).changes?.includes("plain.txt"), JSON.stringify(result));
		assert.ok(!JSON.stringify(result).includes(token.slice(4)), JSON.stringify(single(result).changes));
		assert.ok(!JSON.stringify(result).includes("\\u001b"));
	});
});

describe("other output of a child", () => {
	it("contains no control sequence", async (t) => {
		const odd = "\\u001b[31mred\\u001b[0m\\u001b]8;;http://x\\u0007link\\u0000\\u009b1m";
		const text = await everything(new Scene(t, `${leaks(odd)}; settled`), {});
		const strings: string[] = [];
		JSON.parse(text, (name, value) => {
			strings.push(name, String(value));
			return value;
		});
		assert.deepEqual(
			strings.filter((value) => /[^\P{Cc}\t\n]/u.test(value)),
			[],
		);
	});

	it("shows the home directory as ~", async (t) => {
		const text = await everything(new Scene(t, `${leaks(`${homedir()}/project/a.ts`)}; settled`), {});
		assert.ok(text.includes("~/project/a.ts") && !text.includes(`${homedir()}/project`));
	});

	it("is bounded in every field", async (t) => {
		const scene = new Scene(t, "");
		const long = "x".repeat(300_000);
		const message = { role: "assistant", provider: long, model: long, stopReason: long, errorMessage: long };
		const content = [
			{ type: "text", text: long },
			{ type: "toolCall", id: "c", name: long, arguments: { [long]: long } },
		];
		const tool = { toolCallId: long, toolName: long };
		const records = [
			{ type: "message_end", message: { ...message, content } },
			{ type: "tool_execution_start", ...tool, args: {} },
			{ type: "tool_execution_end", ...tool, result: {} },
			{ type: long },
			{ type: "message_end", message: { ...message, content: [{ type: "text", text: long }], stopReason: "error" } },
		];
		scene.write("stream", records.map((record) => `${JSON.stringify(record)}\n`).join(""));
		const piCommand = scene.pi(
			"long.sh",
			`cat > /dev/null; cat $here/stream; head -c 300000 /dev/zero | tr '\\0' e >&2; exit 3`,
		);
		const result = await scene.run({ piCommand, task: long });
		const { output = "", displayItems = [], ...rest } = single(result);
		for (const [name, value] of Object.entries(rest)) {
			const bytes = Buffer.byteLength(JSON.stringify(value));
			assert.ok(bytes <= 17 * 1024, `${name}: ${bytes}`);
		}
		assert.ok(output.length <= 64 * 1024 && JSON.stringify(displayItems).length <= 128 * 1024);
	});
});
