/** Possible output of children: long, cut off, broken or at the wrong time. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { describe, it } from "node:test";

import { noMemoryFigures } from "../support/machine.ts";
import { host } from "./host.ts";
import { Scene, shape, single, textOf } from "./scene.ts";

/** The default output limit. */
const limits = { bytes: 51_200, lines: 2000 };

function messageEnd(text: string, more: Record<string, unknown> = {}): string {
	const message = { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...more };
	return `${JSON.stringify({ type: "message_end", message })}\n`;
}

const settled = '{"type":"agent_settled"}\n';

/** A child that prints a file. */
function prints(scene: Scene, ...parts: (string | Uint8Array)[]): { piCommand: string[] } {
	scene.write("stream", Buffer.concat(parts.map((part) => Buffer.from(part))));
	return { piCommand: scene.pi("cat.sh", 'cat > "$here/task"; cat "$here/stream"') };
}

describe("a long answer", () => {
	it("is cut in the middle and kept whole in a file", async (t) => {
		const scene = new Scene(t, "");
		const answer = `The beginning.\n${"日本語 text\n".repeat(20_000)}The conclusion.`;
		assert.ok(Buffer.byteLength(answer) > 300_000);
		const result = await scene.run(prints(scene, messageEnd(answer), settled));
		const { fullOutputFile = "", output = "" } = single(result);
		assert.deepEqual(shape(result), ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed", false]);
		const text = textOf(result);
		assert.ok(Buffer.byteLength(text) <= limits.bytes && text.split("\n").length <= limits.lines);
		assert.ok(text.startsWith("The beginning.\n日本語") && text.endsWith("text\nThe conclusion."));
		assert.ok(text.includes(fullOutputFile) && !text.includes("\ufffd"));
		assert.match(text, /kept \d+ of 20002 lines/);
		assert.equal(readFileSync(fullOutputFile, "utf8"), answer);
		assert.equal(statSync(fullOutputFile).mode & 0o777, 0o600);
		assert.ok(output.startsWith("The beginning.") && Buffer.byteLength(output) <= 64 * 1024);
		assert.deepEqual(scene.remainingFiles(), ["output.md", "session.jsonl"]);
	});

	it("keeps to the limits that the configuration sets", async (t) => {
		const scene = new Scene(t, "");
		const config = { output: { maxBytes: 400, maxLines: 6 } };
		const answer = Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n");
		const result = await scene.run({ ...prints(scene, messageEnd(answer), settled), config });
		assert.equal(result.details.error?.code, "SUBAGENT_OUTPUT_TRUNCATED");
		assert.ok(textOf(result).split("\n").length <= 6 && textOf(result).length <= 400);
		assert.ok(textOf(result).startsWith("line 0\n") && textOf(result).endsWith("\nline 39"));
		const ofSession = textOf(
			await scene.run({ ...prints(scene, messageEnd(answer), settled), config, sessionId: "one" }),
		);
		assert.ok(
			ofSession.split("\n").length <= 6 && ofSession.length <= 400,
			"the limits include the line that names the run",
		);
	});

	it("beyond the limit is still a success that says so", async (t) => {
		const scene = new Scene(t, "");
		const result = await scene.run(prints(scene, messageEnd(`first ${"y ".repeat(1 << 20)}last`), settled));
		assert.deepEqual(shape(result), ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed", false]);
		assert.ok(textOf(result).startsWith("first y") && textOf(result).endsWith("y last"));
		assert.ok(single(result).diagnostics?.some((text) => /bytes in the middle/.test(text)));
	});

	it("of a failed run is cut like any other", async (t) => {
		const script = `begin; head -c 200000 /dev/zero | tr '\\0' 'e' >&2; exit 3`;
		const result = await new Scene(t, script).run();
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 3, "failed", true]);
		assert.ok(Buffer.byteLength(textOf(result)) <= limits.bytes);
		assert.ok(Buffer.byteLength(single(result).error ?? "") <= 16 * 1024);
	});
});

describe("a long stream", () => {
	it("may hold 200 tool results of 50 KiB", async (t) => {
		const scene = new Scene(t, "");
		const result = { content: [{ type: "text", text: "r".repeat(50 * 1024) }] };
		const turns = Array.from({ length: 200 }, (_, index) => {
			const call = { type: "toolCall", id: `c${index}`, name: "read", arguments: { path: `file-${index}` } };
			const tool = { toolCallId: call.id, toolName: "read" };
			return [
				{
					type: "message_end",
					message: { role: "assistant", content: [call], usage: { input: 1 }, stopReason: "toolUse" },
				},
				{ type: "tool_execution_start", ...tool, args: call.arguments },
				{ type: "tool_execution_end", ...tool, result, isError: false },
				{ type: "message_end", message: { role: "toolResult", ...tool, ...result } },
				{ type: "turn_end", message: {}, toolResults: [result] },
			];
		});
		const stream = turns.flat().map((record) => `${JSON.stringify(record)}\n`);
		const done = await scene.run(prints(scene, ...stream, messageEnd("All read."), settled));
		assert.deepEqual(shape(done), [undefined, 0, "completed", false], textOf(done));
		assert.equal(textOf(done), "All read.");
		assert.deepEqual([single(done).usage.turns, single(done).usage.input], [201, 200]);
		assert.ok(JSON.stringify(single(done)).length < 128 * 1024, "no tool result is kept");
	});

	for (const [label, line] of Object.entries({
		"a record that is not needed": ['{"type":"turn_end","message":{"content":"', '"}}\n'],
		"a tool's result": ['{"type":"tool_execution_end","toolCallId":"c","toolName":"t","result":{"x":"', '"}}\n'],
		"a record of an unknown type": ['{"type":"surprise","x":"', '"}\n'],
		"no JSON at all": ["", "\n"],
	})) {
		it(`may hold a line of 64 MB: ${label}`, { skip: noMemoryFigures }, async (t) => {
			const scene = new Scene(t, "");
			const [head = "", tail = ""] = line;
			scene.write("head", head);
			scene.write("tail", tail + messageEnd("Survived.") + settled);
			const script = `cat > /dev/null; cat "$here/head"; head -c 67108864 /dev/zero | tr '\\0' 'a'; cat "$here/tail"`;
			// In a process of its own, whose memory is independent of other tests.
			const piCommand = scene.pi("long.sh", script);
			const { code, stdout, stderr } = await host({ options: { ...scene.options, piCommand } }, "memory.mjs");
			assert.deepEqual([code, stderr], [0, ""]);
			const { result, grownBytes } = JSON.parse(stdout);
			assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
			assert.equal(textOf(result), "Survived.");
			assert.ok(grownBytes < 32 << 20, `${grownBytes} bytes: something buffers the line`);
		});
	}

	it("may hold an answer in a line of 64 MB", async (t) => {
		const scene = new Scene(t, "");
		scene.write("head", '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"first ');
		scene.write("tail", ` last"}],"stopReason":"stop"}}\n${settled}`);
		const script = `cat > /dev/null; cat "$here/head"; head -c 67108864 /dev/zero | tr '\\0' 'a'; cat "$here/tail"`;
		const result = await scene.run({ piCommand: scene.pi("long.sh", script) });
		assert.deepEqual(shape(result), ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed", false]);
		assert.ok(textOf(result).startsWith("first a") && textOf(result).endsWith("a last"));
	});

	it("may come on both pipes at once", async (t) => {
		const script = `(head -c 33554432 /dev/zero | tr '\\0' 'x' >&2) & head -c 33554432 /dev/zero | tr '\\0' 'x'; echo; wait; begin; said 'Done.'; settled`;
		const result = await new Scene(t, script).run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});
});

describe("a torn stream", () => {
	const events = '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"';

	it("may split characters over writes", async (t) => {
		const scene = new Scene(t, "");
		const bytes = Buffer.from(`${events}日本 😀 é"}],"stopReason":"stop"}}\n${settled}`);
		// One file per byte of a non-ASCII character, written in sequence with pauses.
		const first = bytes.findIndex((byte) => byte > 127);
		const last = bytes.findLastIndex((byte) => byte > 127);
		scene.write("head", bytes.subarray(0, first));
		scene.write("tail", bytes.subarray(last + 1));
		const torn = [...bytes.subarray(first, last + 1)]
			.map((byte) => `printf '\\${byte.toString(8)}'; sleep 0.01`)
			.join("; ");
		const script = `cat > /dev/null; cat "$here/head"; ${torn}; cat "$here/tail"`;
		const result = await scene.run({ piCommand: scene.pi("torn.sh", script) });
		assert.equal(textOf(result), "日本 😀 é");
	});

	it("may hold bytes that are no UTF-8", async (t) => {
		const scene = new Scene(t, "");
		const result = await scene.run(
			prints(scene, events, Uint8Array.of(0x61, 0xff, 0xc3, 0x62), '"}],"stopReason":"stop"}}\n', settled),
		);
		assert.equal(textOf(result), "a\ufffd\ufffdb");
	});

	it("may end its lines with CR LF and separate nothing at U+2028", async (t) => {
		const scene = new Scene(t, "");
		const stream = [messageEnd("a\u2028b"), settled].map((line) => line.replace("\n", "\r\n"));
		assert.equal(textOf(await scene.run(prints(scene, ...stream))), "a\u2028b");
	});

	it("may end without a last line end", async (t) => {
		const scene = new Scene(t, "");
		assert.equal(textOf(await scene.run(prints(scene, messageEnd("Done.").trimEnd()))), "Done.");
	});

	it("may end in the middle of a record, which is then no answer", async (t) => {
		const scene = new Scene(t, "");
		const result = await scene.run(prints(scene, messageEnd("x".repeat(100)).slice(0, 90)));
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 1, "failed", true]);
	});

	it("may have garbage between its events", async (t) => {
		const scene = new Scene(t, "");
		const garbage = [
			"npm warn deprecated\n",
			"{broken\n",
			"[]\n",
			"null\n",
			'"text"\n',
			"{}\n",
			'{"type":5}\n',
			"\n",
			"\0\0\n",
			"\x1b[31mred\x1b[0m\n",
			"]}\n",
		];
		const result = await scene.run(prints(scene, ...garbage, messageEnd("Done."), ...garbage, settled, ...garbage));
		assert.deepEqual(shape(result), [undefined, 0, "completed", false]);
		assert.equal(textOf(result), "Done.");
	});

	it("may continue after the end of the work without changing the outcome", async (t) => {
		const script =
			"begin; said 'Done.'; settled; echo late; for i in 1 2 3; do echo '{\"type\":\"late\"}'; sleep 0.1; done; delta 'more'; echo '{broken'";
		const result = await new Scene(t, script).run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
		assert.equal(textOf(result), "Done.");
	});

	it("may close early, with the answer in it", async (t) => {
		const script = "begin; said 'Done.'; settled; exec 1>&-; sleep 0.2";
		const result = await new Scene(t, script).run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("may close early, with a failure to come", async (t) => {
		const script = "begin; delta 'so far'; exec 1>&-; sleep 0.2; exit 4";
		const result = await new Scene(t, script).run();
		assert.deepEqual(shape(result), ["SUBAGENT_FAILED", 4, "failed", true], textOf(result));
		assert.match(textOf(result), /so far/);
	});

	it("may close early and stay silent until the idle limit", async (t) => {
		const config = { idleTimeoutMs: 1500, graceMs: 100 };
		const result = await new Scene(t, "begin; delta 'so far'; exec 1>&- 2>&-; hang", { config }).run();
		assert.deepEqual(shape(result), ["SUBAGENT_TIMEOUT", 124, "idle_timeout", true], textOf(result));
	});

	it("may be held open by a grandchild that left the group", async (t) => {
		// It stays for longer than a result is waited for, and is ended with the run.
		const scene = new Scene(t, "begin; said 'Done.'; settled; setsid sleep 60 & :");
		const result = await scene.run();
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("comes from a child that never reads its task", async (t) => {
		const scene = new Scene(t, "");
		const piCommand = scene.pi("deaf.sh", "begin; said 'Done.'; settled");
		const result = await scene.run({ piCommand, task: "x".repeat(1 << 22) });
		assert.deepEqual(shape(result), [undefined, 0, "completed", false], textOf(result));
	});

	it("leaves only the session file", async (t) => {
		const scene = new Scene(t, "");
		const { sessionFile = "" } = single(await scene.run(prints(scene, messageEnd("Done."), settled)));
		assert.ok(existsSync(sessionFile));
		assert.deepEqual(scene.remainingFiles(), ["session.jsonl"]);
	});
});
