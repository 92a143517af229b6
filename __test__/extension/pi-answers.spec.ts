/** Answers that are long, not in English, or come from several children at once. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import {
	childUsage,
	delegate,
	detailsOf,
	lastEnd,
	piVersions,
	type RpcSession,
	runOf,
	Stage,
	say,
	startRpc,
	textOf,
	until,
	usage,
} from "../support/pi.ts";

/** The default of `output.maxBytes`. */
const maxBytes = 51_200;

const pace = { size: 4_000 };

const long = Array.from({ length: 6_000 }, (_, line) => `Line ${line} of an answer that is far too long for anyone.`)
	.join("\n")
	.concat("\nThe conclusion stands at the end.");

/** Characters of two, three and four bytes, so that chunks end inside of them. */
const foreign = Array.from(
	{ length: 2_000 },
	(_, line) => `${line} Größe 設定ファイルを読み込む順序は重要です 😀 конфигурация\n`,
)
	.join("")
	.trim();

for (const version of piVersions) {
	describe(`answers in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;

		before(async () => {
			stage = await Stage.open({
				version,
				children: {
					long: () => [say(long, pace)],
					foreign: () => [say(foreign, pace)],
					// None answers before all have asked.
					meet: ({ userText }) => [
						usage(childUsage),
						until(Promise.all([1, 2, 3].map((n) => stage.server.waitFor((r) => r.userText === `meet ${n}`)))),
						say(`I was in ${userText}`),
					],
				},
			});
			rpc = startRpc(stage.world);
		});

		after(() => stage.close());

		test("of 300 KB reach the model cut, with head and tail, and a file whole", async () => {
			assert.ok(long.length > 300_000);
			await rpc.prompt(delegate({ agent: "explorer", task: "long" }));
			const end = lastEnd(rpc.log);
			const { fullOutputFile = "", outcome } = runOf(end);
			assert.deepEqual(
				[end.isError, outcome, detailsOf(end).error?.code],
				[false, "completed", "SUBAGENT_OUTPUT_TRUNCATED"],
			);
			const text = textOf(end);
			assert.ok(Buffer.byteLength(end.result.content[0]?.text ?? "") <= maxBytes, `${Buffer.byteLength(text)}`);
			assert.match(text, /^Line 0 of/);
			assert.match(text, /The conclusion stands at the end\.$/);
			assert.ok(text.includes(fullOutputFile), "the text names the file with the rest");
			assert.equal(readFileSync(fullOutputFile, "utf8"), long);
			const [kept] = end.result.content;
			assert.equal(
				stage.parentRequests().at(-1)?.toolAnswers[0]?.text,
				kept?.text,
				"the model reads the text that pi stores",
			);
		});

		test("of 190 KB in many scripts lose no character", async () => {
			assert.ok(Buffer.byteLength(foreign) > 185_000, `${Buffer.byteLength(foreign)}`);
			await rpc.prompt(delegate({ agent: "explorer", task: "foreign" }));
			const end = lastEnd(rpc.log);
			assert.doesNotMatch(JSON.stringify(end), /\ufffd/);
			assert.equal(readFileSync(runOf(end).fullOutputFile ?? "", "utf8"), foreign);
			for (const { partialResult } of rpc.log.toolUpdates("subagent")) {
				assert.doesNotMatch(JSON.stringify(partialResult), /\ufffd/);
				assert.ok(Buffer.byteLength(JSON.stringify(partialResult)) < 64 * 1024 + 1_000);
			}
		});

		test("of three calls in one message come together, each to its own call", async () => {
			const from = rpc.log.toolEnds("subagent").length;
			const tasks = [1, 2, 3].map((n) => `meet ${n}`);
			await rpc.prompt(delegate(...tasks.map((task) => ({ agent: "explorer", task }))));
			const ends = rpc.log.toolEnds("subagent").slice(from);
			assert.deepEqual(
				ends.map((end) => textOf(end)).toSorted(),
				tasks.map((task) => `I was in ${task}`),
			);
			assert.equal(new Set(ends.map((end) => runOf(end).sessionFile)).size, 3);
			assert.equal(rpc.log.answer, `The child says: ${tasks.map((task) => `I was in ${task}`).join(" | ")}`);
		});
	});
}
