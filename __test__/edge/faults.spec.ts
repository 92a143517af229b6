/**
 * Every possible fault of a child or its surroundings, each with its expected result.
 *
 * The columns of every row: outcome, code, exit code and text as given here. In addition, nothing is still running when
 * the result arrives, the run's directory holds only its session, no temporary file stays, and every string is bounded.
 * Floods may cost the host 8 MiB.
 */

import { chmodSync, symlinkSync } from "node:fs";
import { describe, it } from "node:test";

import { slower } from "../support/machine.ts";
import { answerOf, check, type Row } from "./fault.ts";
import * as hosts from "./fault-hosts.ts";
import type { Scene } from "./scene.ts";

type Is = NonNullable<Row["is"]>;

const done = "Done.";
const completed: Is = [undefined, 0, "completed"];
const failed = (exitCode: number): Is => ["SUBAGENT_FAILED", exitCode, "failed"];
const aborted: Is = ["SUBAGENT_FAILED", 130, "aborted"];
const silent: Is = ["SUBAGENT_TIMEOUT", 124, "idle_timeout"];
const late: Is = ["SUBAGENT_TIMEOUT", 124, "hard_timeout"];
const killed: Is = ["SUBAGENT_FAILED", 137, "killed"];

/** Short limits. Silence is longer than Node takes to start, which is silent, too. */
const quick = { idleTimeoutMs: 3000, graceMs: 200 };
const quickHard = { timeoutMs: 3000, graceMs: 200 };

/** A tree of everything that can get away. */
const everyKind = { fork: ["plain", "group", "session", "daemon"] };

const sentence = "A sentence that is written to the session again and again, until nothing more fits.";

const longAnswer = `first ${"x".repeat(300_000)} last`;

/** Only a child in a sandbox has a temporary directory of its own. */
const noSandbox = !hosts.allowsSandbox && "no Landlock here";

/** A child that leaves more files than can be removed at once. */
function littering(scene: Scene): Scene {
	const litters = 'delta "so far"; cd "$TMPDIR" && seq 10000 | xargs touch; said "Done."; settled';
	Object.assign(scene.options, { piCommand: scene.pi("litters.sh", `cat > /dev/null; begin; ${litters}`) });
	return scene;
}

const faults = {
	"never starts": {
		"the program is missing": {
			call: ({ root }) => ({ piCommand: [`${root}/no-pi`] }),
			is: failed(1),
			error: /^executable: .*\/no-pi`.*/,
			files: [],
		},
		"the program is not in PATH": {
			call: () => ({ piCommand: ["no-such-pi"] }),
			is: failed(1),
			error: /^executable: .*`no-such-pi`/,
			files: [],
		},
		"the program is not executable": {
			call: (scene) => ({ piCommand: [scene.write("pi", "#!/bin/sh\n")] }),
			is: failed(1),
			error: /^executable: .*\/pi`/,
			files: [],
		},
		"the program is a directory": {
			call: ({ root }) => ({ piCommand: [root] }),
			is: failed(1),
			error: /^executable: /,
			files: [],
		},
		"the program is a link to nowhere": {
			call: (scene) => {
				symlinkSync("/no/such/file", scene.path("pi"));
				return { piCommand: [scene.path("pi")] };
			},
			is: failed(1),
			error: /^executable: .*\/pi`/,
			files: [],
		},
		"its interpreter is missing": {
			call: (scene) => {
				const pi = scene.write("pi", "#!/no/such/interpreter\n");
				chmodSync(pi, 0o755);
				return { piCommand: [pi] };
			},
			is: failed(1),
			error: /^exec: .*\/pi`.*os error 2/,
		},
		"its format is unknown": {
			call: (scene) => {
				const pi = scene.write("pi", Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 0));
				chmodSync(pi, 0o755);
				return { piCommand: [pi] };
			},
			is: failed(1),
			error: /^exec: .*\/pi`.*os error 8/,
		},
		"its script does not parse": {
			call: (scene) => ({ piCommand: [process.execPath, scene.write("pi.mjs", "not a program")] }),
			is: failed(1),
			error: /SyntaxError/,
		},
		"its script is missing": {
			call: ({ root }) => ({ piCommand: [process.execPath, `${root}/no-pi.mjs`] }),
			is: failed(1),
			error: /Cannot find module .*no-pi\.mjs/,
		},
		"the working directory is missing": {
			call: ({ project }) => ({ cwd: `${project}/missing` }),
			is: failed(1),
			error: /^cwd: .*\/missing.*os error 2/,
			files: [],
		},
		"the working directory is a file": {
			call: (scene) => ({ cwd: scene.write("file", "") }),
			is: failed(1),
			error: /^cwd: .*\/file\b.*not a directory/,
			files: [],
		},
	},
	"exits at once": {
		"with 0": { scenario: "exits", is: failed(1), error: /^the child gave no answer \(last event: none/ },
		"with 1": { scenario: "complains", is: failed(1), error: /^Error: no such model$/ },
		"with 255": { scenario: ["deaf", { exit: 255 }], is: failed(255), error: /^the child gave no reason$/ },
	},
	silent: {
		"from the first moment": { scenario: "silent", config: quick, is: silent, error: /^no activity for 3000 ms/ },
		"after half an answer": {
			scenario: "stalls",
			config: quick,
			is: silent,
			error: /^no activity for 3000 ms \(`idleTimeoutMs`\)$/,
			partial: "so far",
		},
		"except for noise": {
			scenario: [{ stream: "so far" }, { repeat: [{ raw: "noise\n" }, { sleep: 20 }], times: 500 }],
			config: quick,
			is: silent,
			error: /3000 ms/,
			partial: "so far",
		},
		"in a tool": {
			scenario: [{ stream: "so far" }, { call: "bash", takesMs: 60_000 }],
			config: { ...quick, toolTimeoutMs: 1500 },
			is: silent,
			error: /^no activity for 1500 ms while a tool ran \(`toolTimeoutMs`\)$/,
			partial: "so far",
		},
	},
	stubborn: {
		"at the limit on silence": {
			scenario: "stubborn",
			config: quick,
			is: silent,
			error: /3000 ms/,
			partial: "so far",
		},
		"at the hard limit": {
			scenario: "stubborn",
			config: quickHard,
			is: late,
			error: /^hard limit reached: 3000 ms \(`timeoutMs`\)$/,
			partial: "so far",
		},
		"when aborted": {
			scenario: "stubborn",
			config: { graceMs: 200 },
			meanwhile: (handle) => handle.abort("enough"),
			is: aborted,
			error: /^cancelled by user: enough$/,
			partial: "so far",
		},
		"and busy": {
			scenario: [{ ignore: "SIGTERM" }, { stream: "so far" }, { spin: 600_000 }],
			config: { graceMs: 200 },
			meanwhile: (handle) => handle.abort(),
			is: aborted,
			error: /^cancelled by user$/,
			partial: "so far",
		},
	},
	chatty: {
		"two million small events": { scenario: "chatty", is: completed, isFlood: true },
		"without an end": {
			scenario: [{ stream: "so far" }, { fill: 1e12, with: '{"type":"queue_update"}\n' }],
			config: quickHard,
			is: late,
			error: /3000 ms/,
			partial: "so far",
			isFlood: true,
		},
		"a delta for each character": {
			scenario: [{ say: "A long answer. ".repeat(2000), chunk: 1 }],
			is: completed,
			text: /^(A long answer\. ?){2000}$/,
			isFlood: true,
		},
		"the whole message again with each delta": {
			scenario: [{ version: "0.73.1" }, { say: "A long answer. ".repeat(300), chunk: 1 }],
			is: completed,
			text: /^(A long answer\. ?){300}$/,
			isFlood: true,
		},
	},
	"answers then lingers": {
		"and exits on request": { scenario: "lingers", is: completed },
		"and ignores SIGTERM": {
			scenario: [{ ignore: "SIGTERM" }, { say: done }, "settle", "hang"],
			config: { graceMs: 200 },
			is: completed,
		},
		"and continues to write": {
			scenario: [{ say: done }, "settle", { repeat: [{ stream: "more" }, { sleep: 10 }], times: 30_000 }],
			is: completed,
		},
		"and exits with a code": { scenario: [{ say: done }, "settle", { exit: 7 }], is: completed },
	},
	"settles without exit": {
		"with a closed output": {
			scenario: [{ say: done }, "settle", { close: ["stdout", "stderr"] }, "hang"],
			is: completed,
		},
		"after a failure": {
			scenario: [{ fail: "529: overloaded" }, "settle", "hang"],
			is: failed(1),
			error: /529: overloaded/,
		},
	},
	"exits before settling": {
		"after a complete answer": { scenario: "leaves", is: completed },
		"after half an answer": {
			scenario: "breaks-off",
			is: failed(1),
			error:
				/^the child gave no answer \(last event: `message_update`; stop reason: none; tool executions completed: 0\)$/,
			partial: "so far",
		},
		"after a tool": {
			scenario: [{ call: "ls", result: "a" }, { exit: 0 }],
			is: failed(1),
			error: /last event: `turn_end`; stop reason: `toolUse`; tool executions completed: 1/,
		},
		"after closing its output": {
			scenario: [{ stream: "so far" }, { close: "stdout" }, { sleep: 200 }, { exit: 4 }],
			is: failed(4),
			error: /gave no reason/,
			partial: "so far",
		},
		"after closing its output and a silence": {
			scenario: [{ stream: "so far" }, { close: ["stdout", "stderr"] }, "hang"],
			config: quick,
			is: silent,
			error: /3000 ms/,
			partial: "so far",
		},
	},
	"forks a tree": {
		"in its own group": { scenario: [{ fork: "plain" }, { say: done }], is: completed },
		"in another group": {
			scenario: [{ fork: "group" }, { say: done }],
			is: completed,
		},
		"in another session": {
			scenario: [{ fork: "session" }, { say: done }],
			is: completed,
		},
		"as a daemon": { scenario: [{ fork: "daemon" }, { say: done }], is: completed },
		"of processes that exit on SIGTERM, without a pipe": {
			scenario: [{ ...everyKind, polite: true, holds: "nothing" }, { say: done }],
			is: completed,
		},
		"and dies": {
			scenario: [everyKind, { stream: "so far" }, { die: "SIGKILL" }],
			config: { graceMs: 200 },
			is: failed(137),
			error: /^the child was killed by SIGKILL$/,
			partial: "so far",
		},
		"and is aborted": {
			scenario: [everyKind, { ignore: "SIGTERM" }, { stream: "so far" }, "hang"],
			config: { graceMs: 200 },
			meanwhile: (handle) => handle.abort(),
			is: aborted,
			error: /^cancelled by user$/,
			partial: "so far",
		},
		"and overruns": {
			scenario: [everyKind, { stream: "so far" }, "hang"],
			config: quickHard,
			is: late,
			error: /3000 ms/,
			partial: "so far",
		},
		"and is silent": {
			scenario: [everyKind, { stream: "so far" }, "hang"],
			config: quick,
			is: silent,
			error: /3000 ms/,
			partial: "so far",
		},
		"whose branches fork": {
			scenario: [
				{ child: [everyKind, { child: [everyKind, "hang"], detached: true }, "hang"], detached: true },
				{ sleep: 1000 },
				{ say: done },
			],
			config: { graceMs: 200 },
			is: completed,
		},
	},
	"crashes by signal": Object.fromEntries(
		Object.entries({ SIGSEGV: 139, SIGKILL: 137, SIGABRT: 134, SIGBUS: 135, SIGTERM: 143, SIGINT: 130 }).map(
			([signal, code]) => [
				signal,
				{
					scenario: [{ stream: "so far" }, { die: signal }],
					is: failed(code),
					error: new RegExp(`^the child was killed by ${signal}$`),
					partial: "so far",
				} satisfies Row,
			],
		),
	),
	"floods stderr": {
		"and answers": { scenario: "floods-stderr", is: completed, isFlood: true },
		"and fails": {
			scenario: [
				{ stream: "so far" },
				{ raw: "error: the first line\n", to: "stderr" },
				{ fill: 200 << 20, with: "e", to: "stderr" },
				{ raw: "\nlast words\n", to: "stderr" },
				{ exit: 3 },
			],
			is: failed(3),
			// The word of 200 MB could be a key, of which no half may show.
			error: /^error: the first line\n.*bytes omitted.*e+\nlast words$/s,
			partial: "so far",
			isFlood: true,
		},
	},
	"one giant line": {
		"in an unneeded event": { scenario: "one-line", is: completed, isFlood: true },
		"that is not JSON": {
			scenario: ["begin", { fill: 64 << 20 }, { raw: "\n" }, { say: done }],
			is: completed,
			isFlood: true,
		},
		"in a tool's result": {
			scenario: [
				{ raw: '{"type":"tool_execution_end","toolCallId":"c","toolName":"t","result":{"x":"' },
				{ fill: 64 << 20 },
				{ raw: '"}}\n' },
				{ say: done },
			],
			is: completed,
			isFlood: true,
		},
		"in the answer": {
			scenario: answerOf({ raw: "first " }, { fill: 64 << 20 }, { raw: " last" }),
			is: ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed"],
			text: /^first x+.*x+ last$/s,
			isFlood: true,
		},
		"without an end": {
			scenario: [{ stream: "so far" }, { raw: '{"type":"' }, { fill: 1e12 }],
			config: quickHard,
			is: late,
			error: /3000 ms/,
			partial: "so far",
			isFlood: true,
		},
	},
	"split characters": {
		"byte by byte": { scenario: "splits", is: completed, text: "日本 😀 é" },
		"with pauses": {
			scenario: [...answerOf({ raw: "日本 😀 é", split: 1, pauseMs: 20 }), "settle"],
			is: completed,
			text: "日本 😀 é",
		},
		"at the size of a pipe": {
			scenario: [{ split: 4095 }, { say: "日本 😀 é ".repeat(1000).trim() }],
			is: completed,
			text: "日本 😀 é ".repeat(1000).trim(),
		},
	},
	"garbage between events": {
		"of every kind": { scenario: "noisy", is: completed },
		"of control characters": {
			scenario: [{ noise: ["\u0000\u0000\n", "\u001b[31mred\u001b[0m\n", "]}\n", "\u2028\n"] }, { say: done }],
			is: completed,
		},
		alone: { scenario: [{ raw: "Segfault in module\n" }, { exit: 9 }], is: failed(9), error: /^Segfault in module$/ },
		"half a record": {
			scenario: [...answerOf().slice(0, -1), { raw: "never ends" }, { exit: 0 }],
			is: failed(1),
			error: /^the child gave no answer/,
		},
	},
	"malformed bytes": {
		"bytes that are not UTF-8": {
			scenario: answerOf({ raw: "61ffc362", as: "hex" }),
			is: completed,
			text: "a\ufffd\ufffdb",
		},
		NUL: { scenario: answerOf({ raw: "a\\u0000b" }), is: completed, text: "ab" },
		"invisible characters": {
			scenario: answerOf({ raw: "a\u200bb\u{e0041}c\u202ed\ufe0fe\u2062f" }),
			is: completed,
			text: "abcdef",
		},
		"NUL as a byte": { scenario: [{ raw: "00000a", as: "hex" }, { say: done }], is: completed },
		"CR LF": { scenario: [{ lineEnd: "\r\n" }, { say: done }], is: completed },
		"lone surrogates": { scenario: answerOf({ raw: "a\\ud800b\\udc00c" }), is: completed, text: "a\ufffdb\ufffdc" },
		"deep nesting in an unneeded event": {
			scenario: [
				{ raw: '{"type":"surprise","x":' },
				{ fill: 1 << 20, with: "[" },
				{ fill: 1 << 20, with: "]" },
				{ raw: "}\n" },
				{ say: done },
			],
			is: completed,
			isFlood: true,
		},
		"deep nesting in a tool's arguments": {
			scenario: [
				"begin",
				{
					raw: '{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"t","arguments":{"x":',
				},
				{ fill: 1 << 20, with: "[" },
				{ fill: 1 << 20, with: "]" },
				{ raw: '}}],"stopReason":"toolUse"}}\n' },
				{ say: done },
			],
			is: completed,
			isFlood: true,
		},
		"no last line end": {
			scenario: [
				{
					raw: '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}',
				},
			],
			is: completed,
		},
	},
	"provider error": {
		"although pi exits with 0": {
			scenario: "fails",
			is: failed(1),
			error: /^the model's provider reported an error: `529: overloaded`$/,
		},
		"after half an answer": {
			scenario: [{ stream: "so far" }, { fail: "terminated" }],
			is: failed(1),
			error: /^the model's provider reported an error: `terminated`$/,
			partial: "so far",
		},
		"after an answer": {
			scenario: [{ say: "First." }, { fail: "401: no key" }],
			is: failed(1),
			error: /401: no key/,
			partial: "First.",
		},
		"with a long message": {
			scenario: [{ fail: "e".repeat(1e6) }],
			is: failed(1),
			error: /^the model's provider reported an error: `\[\d+ bytes omitted\] e+…?`$/,
		},
		"a turn that stopped itself": {
			scenario: [{ say: "so far", stop: "aborted" }],
			is: failed(1),
			error: /^the child stopped its own turn/,
			partial: "so far",
		},
	},
	"retry then success": {
		"of the newest pi": { scenario: "recovers", is: completed },
		"of the oldest": { scenario: [{ version: "0.73.1" }, { retry: "500: try again" }, { say: done }], is: completed },
		"with a long pause that does not count as silence": {
			scenario: [{ retry: "500: try again", delayMs: 3500 }, { say: done }],
			config: { ...quick, idleTimeoutMs: 5000 },
			is: completed,
		},
	},
	"retry exhausted": {
		"of the newest pi": {
			scenario: "gives-up",
			is: failed(1),
			error: /^the model's provider reported an error: `500: try again`$/,
			files: ["session-2.jsonl", "session.jsonl"],
		},
		"of the oldest": {
			scenario: [{ version: "0.73.1" }, { retry: "500: try again", times: 3 }, { fail: "500: try again" }],
			is: failed(1),
			error: /`500: try again`$/,
			files: ["session-2.jsonl", "session.jsonl"],
		},
	},
	"asks a question": {
		"and decides for itself": {
			scenario: [{ ask: "confirm", title: "Go on?", timeoutMs: 100 }, { say: done }],
			is: completed,
		},
		"and waits forever": {
			scenario: [{ stream: "so far" }, { ask: "select", title: "Which?", options: ["a", "b"] }, { say: done }],
			config: quick,
			is: silent,
			error: /3000 ms/,
			partial: "so far",
		},
	},
	"grows memory": {
		"by itself": {
			scenario: [{ stream: "so far" }, { grow: 1 << 30, pauseMs: 50 }, "hang"],
			config: { limits: { memoryBytes: 256 << 20 }, graceMs: 200 },
			is: killed,
			error: /^`limits\.memoryBytes` reached: \d+ of 268435456 \(largest: .+, process \d+\)$/,
			partial: "so far",
		},
		"in a descendant in another session": {
			scenario: [{ stream: "so far" }, { child: [{ grow: 1 << 30, pauseMs: 50 }, "hang"], detached: true }, "hang"],
			config: { limits: { memoryBytes: 256 << 20 }, graceMs: 200 },
			is: killed,
			error: /^`limits\.memoryBytes` reached: \d+ of 268435456 \(largest: .+, process \d+\)$/,
			partial: "so far",
		},
	},
	"uses up another resource": {
		"processor time": {
			scenario: [{ stream: "so far" }, { spin: 600_000 }],
			config: { limits: { cpuSeconds: slower }, graceMs: 200 },
			is: killed,
			error: new RegExp(`^\`limits\\.cpuSeconds\` reached: \\d+ of ${slower} \\(largest: .+, process \\d+\\)$`),
			partial: "so far",
		},
		"open files": {
			scenario: [{ stream: "so far" }, { open: 500 }, "hang"],
			config: { limits: { openFiles: 200 }, graceMs: 200 },
			is: killed,
			error: /^`limits\.openFiles` reached: \d+ of 200 \(largest: .+, process \d+\)$/,
			partial: "so far",
		},
	},
	"host killed": {
		"with a tree that escaped": {
			scenario: [everyKind, { stream: "so far" }, "hang"],
			config: { graceMs: 200 },
			playedBy: hosts.killed,
		},
	},
	"host exits": {
		"while a child works": { scenario: "stalls", playedBy: hosts.exits("exit") },
		"while a child works that ignores SIGTERM": {
			scenario: "stubborn",
			config: { graceMs: 200 },
			playedBy: hosts.exits("exit"),
		},
		"while it removes the files of a child": {
			skip: noSandbox,
			playedBy: async (scene) => await hosts.exits("exit while its files are removed")(littering(scene)),
		},
		"after its child has ended": {
			scenario: [{ retry: "500: try again", times: 2, of: 2 }, { fail: "500: try again" }],
			config: { retry: { maxAttempts: 2, backoffMs: 60_000 } },
			playedBy: hosts.exits("exit in the pause before another attempt"),
		},
	},
	"no process remains to clean up": {
		"until another host starts": {
			scenario: "stalls",
			playedBy: hosts.allKilled,
			// The files of the first run, and of the run that sweeps.
			files: ["session.jsonl", "session.jsonl"],
			skip: noSandbox,
		},
	},
	"out of descriptors": {
		"except for a few when a run starts": { scenario: "answers", playedBy: hosts.withFewDescriptors, files: [] },
		"when a run ends": {
			scenario: "stalls",
			config: { graceMs: 200 },
			playedBy: hosts.withoutDescriptors,
			is: aborted,
			error: /^cancelled by user: enough$/,
			partial: "so far",
		},
	},
	"odd environment": {
		"an empty TMPDIR": { playedBy: hosts.inEnvironment("TMPDIR="), is: completed },
		"a relative TMPDIR": { playedBy: hosts.inEnvironment("TMPDIR=tmp"), is: completed },
		"a TMPDIR that does not exist": { playedBy: hosts.inEnvironment("TMPDIR=/no/such/place"), is: completed },
		"no TMPDIR and no HOME": { playedBy: hosts.inEnvironment("-u", "TMPDIR", "-u", "HOME"), is: completed },
		"an empty HOME": { playedBy: hosts.inEnvironment("HOME="), is: completed },
		"an empty PATH": { playedBy: hosts.inEnvironment("PATH="), is: completed },
		"a home that is not valid UTF-8": { playedBy: hosts.inForeignHome, files: [] },
	},
	"a foreign file in place of the database": {
		"a link": { playedBy: hosts.withForeignEntry("link"), is: completed },
		"a hard link": { playedBy: hosts.withForeignEntry("hard link"), is: completed },
		"a FIFO": { playedBy: hosts.withForeignEntry("fifo"), is: completed },
		"a directory": { playedBy: hosts.withForeignEntry("directory"), is: completed },
		"another user's file": {
			playedBy: hosts.withForeignEntry("another user's"),
			is: completed,
			skip: hosts.lacksOthers,
		},
		"no file, once the database was removed": {
			scenario: ["begin", { stream: "so far" }, { sleep: 500 }, { say: done }],
			playedBy: hosts.losingDatabase,
			is: completed,
			text: "so farDone.",
		},
	},
	"a hostile project": {
		"with agents that are links to endless files": {
			call: (scene) => {
				scene.write("project/.pi/agents/none", "");
				for (const target of ["/proc/kmsg", "/dev/zero", "/proc/self/mem"])
					symlinkSync(target, scene.path(`project/.pi/agents/${target.replaceAll("/", "-")}.md`));
				return {};
			},
			is: completed,
		},
	},
	"extends a file beyond the size limit": {
		"in its session": {
			playedBy: hosts.claimingRoom,
			is: completed,
			text: "File too large",
			skip: noSandbox,
		},
	},
	"leaves files": {
		"in its temporary directory": {
			skip: noSandbox,
			scenario: [{ write: "{env.TMPDIR}/scratch", text: "x" }, { say: done }],
			is: completed,
		},
		"in its temporary directory, and dies": {
			skip: noSandbox,
			scenario: [{ write: "{env.TMPDIR}/scratch", text: "x" }, { stream: "so far" }, { die: "SIGKILL" }],
			is: failed(137),
			error: /SIGKILL/,
			partial: "so far",
		},
	},
	"disk full": {
		"from the start": {
			playedBy: hosts.onDisk("size=4k"),
			is: failed(1),
			error: /^session directory: .*the disk is full/,
			files: [],
			skip: hosts.lacksMounts,
		},
		"when the child writes its session": {
			scenario: [{ repeat: [{ say: sentence }], times: 500 }],
			playedBy: hosts.onDisk("size=256k"),
			is: failed(64),
			error: /ENOSPC/,
			partial: sentence,
			skip: hosts.lacksMounts,
		},
		"when a long answer is stored": {
			scenario: answerOf({ raw: longAnswer }),
			playedBy: hosts.onDisk("size=256k"),
			is: ["SUBAGENT_OUTPUT_TRUNCATED", 0, "completed"],
			text: /^first x+.*x+ last$/s,
			skip: hosts.lacksMounts,
		},
	},
	"session directory not writable": {
		"for this user": {
			playedBy: hosts.asStranger,
			is: failed(1),
			error: /^session directory: .*\/agent\/subagents.*os error 13/,
			files: [],
			skip: hosts.lacksUser,
		},
		"on a read-only disk": {
			playedBy: hosts.onDisk("ro"),
			is: failed(1),
			error: /^session directory: .*os error 30/,
			files: [],
			skip: hosts.lacksMounts,
		},
		"a file in the way": {
			call: (scene) => {
				scene.write("agent/subagents", "in the way");
				return {};
			},
			is: failed(1),
			error: /^session directory: .*\/agent\/subagents.*os error/,
			files: [],
		},
	},
	"clock jumps": {
		"of the child, by hours and back": {
			scenario: [{ clock: 36e6 }, { stream: "Do" }, { clock: -36e6 }, { stream: "n" }, { clock: 1e17 }, { say: "e." }],
			is: completed,
		},
		"of the time of day, with an answer": {
			playedBy: hosts.withJumpingClock,
			is: completed,
			skip: hosts.lacksCompiler,
		},
		"of the time of day, in silence": {
			scenario: "stalls",
			config: quick,
			playedBy: hosts.withJumpingClock,
			is: silent,
			error: /3000 ms/,
			partial: "so far",
			skip: hosts.lacksCompiler,
		},
		"to another epoch, with an answer": { playedBy: hosts.inOtherTime, is: completed, skip: hosts.lacksTime },
		"to another epoch, beyond the time limit": {
			scenario: "stubborn",
			config: quickHard,
			playedBy: hosts.inOtherTime,
			is: late,
			error: /3000 ms/,
			partial: "so far",
			skip: hosts.lacksTime,
		},
	},
	"two hosts at once": {
		"in one agent directory": {
			scenario: "repeats",
			playedBy: hosts.twoHosts,
			is: completed,
			text: "You said: two 7",
			files: [],
		},
	},
} satisfies Record<string, Record<string, Row>>;

for (const [fault, rows] of Object.entries<Record<string, Row>>(faults)) {
	describe(fault, () => {
		for (const [label, row] of Object.entries(rows)) {
			it(label, { skip: row.skip || false }, async (t) => await check(t, row));
		}
	});
}
