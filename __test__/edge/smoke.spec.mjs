/** The oldest supported Node: the addon loads, both ways, and answers. Plain JavaScript, because that Node strips no types. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const promised = [
	"startRun",
	"collectOutput",
	"collectOutputFile",
	"sanitizeOutput",
	"inspectOutput",
	"truncateOutput",
	"truncateHead",
	"truncateTail",
	"discoverAgents",
	"loadConfig",
	"doctor",
	"describeTools",
];

/** @type {typeof import("../../native.js")} */
const required = createRequire(import.meta.url)("../../native.js");
const imported = await import("../../native.js");

for (const [way, addon] of Object.entries({ require: required, import: imported })) {
	test(`every documented function exists with ${way}`, () => {
		const missing = promised.filter((name) => typeof addon[/** @type {"startRun"} */ (name)] !== "function");
		assert.deepEqual(missing, []);
	});
}

test("a call answers", async () => {
	assert.equal(await required.sanitizeOutput("nothing to hide"), "nothing to hide");
});

const bounded = { skip: process.platform === "win32" && "the child is a shell script" };

/** Says one word, and then waits or is done. */
const child = String.raw`
cat > /dev/null
printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}\n'
test "$1" = hang && exec sleep 60
printf '{"type":"agent_settled"}\n'
`;

test("a run answers, updates its host and can be aborted", bounded, async (t) => {
	const root = mkdtempSync(join(tmpdir(), "psn-edge-"));
	t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
	writeFileSync(join(root, "pi.sh"), child);
	const piCommand = ["/bin/sh", join(root, "pi.sh")];
	const options = {
		agent: "explorer",
		task: "look",
		cwd: root,
		agentDir: root,
		piCommand,
		config: { protocol: "json" },
	};

	/** @type {string[]} */
	const updates = [];
	const done = await required.startRun(options, (update) => updates.push(update.content[0]?.text ?? "")).result();
	assert.deepEqual(
		[done.content, done.isError, updates.at(-1)],
		[[{ type: "text", text: "Done." }], undefined, "Done."],
	);

	const hanging = required.startRun({ ...options, piCommand: [...piCommand, "hang"] }, () => hanging.abort("enough"));
	const { details } = await hanging.result();
	assert.deepEqual([details.results[0]?.exitCode, details.results[0]?.outcome], [130, "aborted"]);
	assert.equal(
		(await required.startRun({ ...options, agent: "nobody" }).result()).details.error?.code,
		"UNKNOWN_AGENT",
	);
});

test("a wrong argument throws, and the host survives", () => {
	assert.throws(() => required.startRun(/** @type {any} */ ({ task: "look", cwd: "/" })), /agent/);
});

/** The entry for programs, both ways. */
const entries = {
	require: createRequire(import.meta.url)("../../index.js"),
	import: await import("../../index.js"),
};

for (const [way, entry] of Object.entries(entries)) {
	test(`a program starts a run with ${way}`, bounded, async (t) => {
		const { fakePi, playing } = createRequire(import.meta.url)("../../fake-pi/index.js");
		const root = mkdtempSync(join(tmpdir(), "psn-edge-"));
		t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
		const names = Object.keys(entry).filter((name) => !["default", "module.exports"].includes(name));
		assert.deepEqual(names.sort(), [
			"OptionsError",
			"WorkflowError",
			"collect",
			"collectOutput",
			"defineAgent",
			"openSession",
			"run",
			"sanitize",
			"sanitizeOutput",
			"startRun",
			"truncate",
			"truncateOutput",
			"workflow",
		]);
		const env = playing([{ say: "Done." }]);
		const result = await entry.run({
			agent: "explorer",
			task: "look",
			cwd: root,
			agentDir: root,
			piCommand: fakePi,
			env,
		});
		assert.deepEqual([result.ok, result.text], [true, "Done."]);
		assert.throws(() => entry.run({ agent: "explorer", tsak: "look" }), entry.OptionsError);
	});
}
