/** Children in real pi whose output other programs write to, that pi keeps waiting, and whose time is up. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import {
	call,
	delegate,
	detailsOf,
	fail,
	hang,
	lastEnd,
	piVersions,
	Stage,
	say,
	startRpc,
	textOf,
} from "../support/pi.ts";

/** An extension that writes to standard output before the records of pi, without a line end. */
const noisy = `import { writeSync } from "node:fs";
export default function (pi) {
	// The session of the test reads its own output as it is.
	if (process.env.PI_SUBAGENT_TOOLS === undefined) return;
	pi.on("turn_start", () => void writeSync(1, "\\x07"));
	pi.on("message_start", () => void writeSync(1, "\\x1b]0;pi - working\\x07"));
	pi.on("message_end", () => void writeSync(1, "\\r\\x1b[2Klinting 12% "));
	pi.on("tool_execution_end", () => void writeSync(1, "{ not a record } "));
	pi.on("turn_end", () => void writeSync(1, "next: "));
	pi.on("agent_end", () => void writeSync(1, "\\x1b]9;done\\x1b\\\\"));
	pi.on("agent_settled", () => void writeSync(1, "bye "));
}
`;

const finding = "The finding is in `load.rs`.";

for (const version of piVersions) {
	describe(`the stream of a child in pi ${version}`, () => {
		let stage: Stage;
		let retried = 0;

		before(async () => {
			stage = await Stage.open({
				version,
				settings: { retry: { enabled: true, maxRetries: 2, baseDelayMs: 8000 } },
				children: {
					looks: (request) =>
						request.toolAnswers.length > 0 ? [say(finding)] : [say("I look."), call("ls", { path: "." })],
					slow: () => [say("I run the suites."), call("bash", { command: "sleep 60" })],
					mute: () => [say("I run the suites."), call("bash", { command: "sleep 60" })],
					speaks: () => [say("The first chapter is long. ".repeat(400), { size: 40, everyMs: 50 })],
					hurries: () => [{ type: "pause", ms: 100 }, say("I look."), call("read", { path: "README.md" })],
					// The newest message is the host's: its first word names the script.
					Your: (request) => {
						const task = request.wholeUserText;
						if (task.includes("mute")) return [hang()];
						return task.includes("speaks")
							? [say("The third chapter is missing."), call("read", { path: "README.md" })]
							: [say("Two of three suites pass.")];
					},
					Nearly: () => [say("What I have.")],
					waits: () => {
						retried += 1;
						return retried === 1 ? [fail(503)] : [say(finding)];
					},
				},
			});
			stage.world.writeAgentDir("extensions/noisy.ts", noisy);
		});

		after(() => stage.close());

		/** The result of one run. */
		async function run(task: string, settings: Record<string, unknown>, agent = "explorer") {
			stage.configure({ ...settings });
			const rpc = startRpc(stage.world);
			await rpc.prompt(delegate({ agent, task }));
			const end = lastEnd(rpc.log);
			await rpc.close();
			const single = detailsOf(end).results[0];
			assert.ok(single, textOf(end));
			return { text: textOf(end), isError: end.isError, single };
		}

		test("an extension that writes to standard output costs no record", async () => {
			const quiet = await run("looks", { inheritExtensions: "none", idleTimeoutMs: 20_000 });
			const loud = await run("looks", { inheritExtensions: "all", idleTimeoutMs: 20_000 });
			assert.equal(loud.isError, false, loud.text);
			assert.match(loud.text, /The finding is in `load\.rs`\./);
			assert.deepEqual(loud.single.usage, quiet.single.usage);
			assert.deepEqual(loud.single.displayItems, quiet.single.displayItems);
			assert.ok(loud.single.durationMs < 15_000, `${loud.single.durationMs} ms`);
			assert.deepEqual(loud.single.context, quiet.single.context);
		});

		test("a result states the context use, as pi computes it", async () => {
			const { single, text } = await run("looks", { inheritExtensions: "none" });
			const { tokens = 0, window = 0, percent } = single.context ?? {};
			assert.ok(tokens > 0 && window > tokens, text);
			assert.equal(percent, (tokens / window) * 100);
		});

		test("a child is warned before its time is up, and its answer is the result", async () => {
			const warned = await run("hurries", {
				inheritExtensions: "none",
				timeoutMs: 8_000,
				loop: { warnAfter: 0, stopAfter: 0 },
			});
			assert.equal(warned.isError, false, warned.text);
			assert.match(warned.text, /What I have\./);
			assert.ok(warned.single.durationMs >= 6_300, `${warned.single.durationMs} ms`);
		});

		test("a child whose time is up reports its findings, without tools and within a time limit", async () => {
			const limits = { inheritExtensions: "none", timeoutMs: 5_000, graceMs: 500 };
			const slow = await run("slow", limits, "worker");
			assert.match(slow.text, /hard limit reached: 5000 ms/);
			assert.match(slow.text, /partial output:\n```text\nTwo of three suites pass\.\n```/);
			assert.equal(slow.single.outcome, "hard_timeout");
			assert.ok(slow.single.durationMs < 8_000, `${slow.single.durationMs} ms`);
			const speaks = await run("speaks", limits);
			assert.match(speaks.text, /The first chapter is long\.[^`]*\n\nThe third chapter is missing\./);
			assert.equal(speaks.single.outcome, "hard_timeout");
			const mute = await run("mute", limits, "worker");
			assert.match(mute.text, /partial output:\n```text\nI run the suites\.\n```/);
			assert.ok(mute.single.durationMs < 9_000, `${mute.single.durationMs} ms`);
		});

		test("a pause that pi announces does not count as silence", async () => {
			const waits = await run("waits", { inheritExtensions: "none", idleTimeoutMs: 6_000 });
			assert.equal(waits.isError, false, waits.text);
			assert.ok(waits.single.durationMs >= 7_000, `${waits.single.durationMs} ms`);
		});
	});
}
