/** The collector for callers who have a stream of their own. */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { type CollectedOutput, collectOutput, collectOutputFile } from "../../native.js";
import { host } from "./host.ts";
import { Scene } from "./scene.ts";

const streams = fileURLToPath(new URL("../../tests/inputs/streams/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "psn-edge-"));
after(() => rmSync(folder, { recursive: true }));

const lines = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const message = (text: string, more: Record<string, unknown> = {}) => ({
	type: "message_end",
	message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...more },
});

describe("a collected stream", () => {
	it("is reported in full", async () => {
		const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.5 } };
		const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } };
		const stream = lines(
			{ type: "agent_start" },
			message("", {
				content: [{ type: "text", text: "Reading." }, call],
				usage,
				stopReason: "toolUse",
				provider: "p",
				model: "m",
			}),
			message("The answer.", { usage }),
			{ type: "a_new_event" },
			{ type: "agent_settled" },
		);
		const collected = await collectOutput(`${stream}garbage\n`);
		assert.deepEqual(collected, {
			output: "The answer.",
			final: true,
			usage: { input: 2, output: 4, cacheRead: 6, cacheWrite: 8, cost: 1, turns: 2 },
			stopReason: "stop",
			model: "p/m",
			lastEventType: "agent_settled",
			displayItems: [
				{ type: "text", text: "Reading." },
				{ type: "toolCall", name: "read", args: { path: "a.ts" } },
				{ type: "text", text: "The answer." },
			],
			omittedBytes: 0,
			counts: { bytes: stream.length + 8, lines: 6, events: 5, unknownEvents: 1, invalidLines: 1 },
			noise: collected.noise,
		} satisfies CollectedOutput);
		assert.match(collected.noise, /^garbage\s*$/);
	});

	it("that breaks off keeps the unfinished text", async () => {
		const delta = {
			type: "message_update",
			assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "so far" },
		};
		const collected = await collectOutput(lines({ type: "agent_start" }, delta));
		assert.deepEqual([collected.output, collected.partialOutput, collected.final], ["", "so far", false]);
	});

	it("that ends in an error names the error", async () => {
		const collected = await collectOutput(lines(message("", { stopReason: "error", errorMessage: "500: overloaded" })));
		assert.deepEqual([collected.error, collected.stopReason, collected.output], ["500: overloaded", "error", ""]);
	});

	it("may be empty", async () => {
		for (const nothing of ["", new Uint8Array(), Buffer.alloc(0), "\n\r\n\n"]) {
			const { output, final, counts, displayItems } = await collectOutput(nothing);
			assert.deepEqual([output, final, counts.lines, counts.events, displayItems], ["", false, 0, 0, []]);
		}
	});

	it("may be a view into a larger buffer", async () => {
		const bytes = Buffer.from(`xxxx${lines(message("inside"))}yyyy`);
		assert.equal(
			(await collectOutput(new Uint8Array(bytes.buffer, bytes.byteOffset + 4, bytes.length - 8))).output,
			"inside",
		);
	});

	it("keeps head and tail of a text that is too long", async () => {
		const { output, omittedBytes } = await collectOutput(lines(message(`first ${"日 ".repeat(1 << 20)}last`)));
		assert.ok(output.startsWith("first 日") && output.endsWith("日 last") && omittedBytes > 0);
		assert.ok(!output.includes("\ufffd") && Buffer.byteLength(output) < 2 << 20);
	});

	it("may be reused as soon as the call returns", async () => {
		const stream = Buffer.from(lines(message("kept")).repeat(20_000));
		const bytes = new Uint8Array(stream);
		const promise = collectOutput(bytes);
		bytes.fill(0x20);
		const { output, counts } = await promise;
		assert.deepEqual([output, counts.events], ["kept", 20_000]);
	});

	it("may be transferred as soon as the call returns", async (t) => {
		const ended = await host(new Scene(t, ""), "transfer.mjs", [], { node: ["--expose-gc"] });
		assert.deepEqual([ended.signal, ended.code, ended.stdout], [null, 0, `${64 << 20}\n`]);
	});
});

describe("recorded streams of pi", () => {
	const files = ["0.73.1", "0.87.1", "1.6.0"].flatMap((version) =>
		readdirSync(join(streams, version)).map((name) => join(version, name)),
	);

	it("give the same result as text, as bytes and as a file", async () => {
		assert.ok(files.length > 50);
		for (const name of files) {
			const bytes = readFileSync(join(streams, name));
			const expected = await collectOutputFile(join(streams, name));
			assert.deepEqual(await collectOutput(bytes), expected, name);
			assert.deepEqual(await collectOutput(bytes.toString("utf8")), expected, name);
			assert.equal(expected.counts.bytes, bytes.length, name);
		}
	});

	for (const version of ["0.73.1", "0.87.1", "1.6.0"]) {
		it(`give the expected result of pi ${version}`, async () => {
			const plain = await collectOutputFile(join(streams, version, "plain.jsonl"));
			assert.ok(plain.output.length > 0 && plain.final && plain.usage.turns === 1 && plain.usage.input > 0);
			assert.deepEqual([plain.error, plain.stopReason, plain.counts.invalidLines], [undefined, "stop", 0]);
			const refused = await collectOutputFile(join(streams, version, "err401.jsonl"));
			assert.equal(refused.stopReason, "error");
			assert.match(refused.error ?? "", /401/);
			const tool = await collectOutputFile(join(streams, version, "tool-read.jsonl"));
			assert.ok(tool.displayItems.some((item) => item.type === "toolCall" && item.name === "read"));
			assert.ok(tool.usage.turns >= 2 && tool.output.length > 0);
		});
	}
});

describe("an unreadable file", () => {
	for (const [label, path] of Object.entries({
		missing: join(folder, "no-such.jsonl"),
		"a directory": folder,
		"no name": "",
	})) {
		it(`rejects with its name: ${label}`, async () => {
			await assert.rejects(collectOutputFile(path), (error: Error) => error.message.includes(`\`${path}\``));
		});
	}

	it("does not include a file with invalid content", async () => {
		const path = join(folder, "binary");
		writeFileSync(path, Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256)));
		assert.equal((await collectOutputFile(path)).output, "");
	});
});
