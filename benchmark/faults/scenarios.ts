/** The faults of a child and their expected results. A new row needs only a new entry here. */

import { call, say } from "../../__test__/support/pi.ts";
import { atWork, type Played, type Scenario, token } from "./play.ts";

export interface Row extends Scenario {
	/** The fault. */
	fault: string;
	/** The expected result. */
	expected: string;
	/** Returns true if the result is as expected. */
	passed: (played: Played) => boolean;
	/** Describes a different result. By default, the end of the call is described. */
	observed?: (played: Played) => string;
	/** Returns a figure to show in both cases. */
	figure?: (played: Played) => string;
}

const megabyte = 1 << 20;

/** The steps of a child that has sent some text and works, and then is silent. */
const startsWork = [{ stream: "so far" }, { call: "read", args: { path: atWork }, result: "" }];
const everyKind = { fork: ["plain", "group", "session", "daemon"] };

const answers = (text: string) => (played: Played) => played.ended && !played.isError && played.text.includes(text);
const fails =
	(...parts: string[]) =>
	({ ended, isError, text }: Played) =>
		ended && isError && parts.every((part) => text.includes(part));
const grown = ({ grownMiB }: Played) => `${grownMiB} MiB`;
/** The result of the call itself is in the other columns. */
const survivorsText = ({ survivors }: Played) =>
	survivors === 1 ? "1 process survives" : `${survivors} processes survive`;
const tasks = ["answers", "fails"].map((word) => ({ agent: "looker", task: word }));

export const rows: Row[] = [
	{
		fault: "the child fails: exit code 1, a reason on standard error",
		expected: "a failure with the reason",
		child: "complains",
		passed: fails("no such model"),
	},
	{
		fault: "the provider refuses with an error",
		expected: "a failure with the provider's message",
		child: "fails",
		passed: fails("529: overloaded"),
	},
	{
		fault: "one of two parallel tasks fails",
		expected: "the answer of the other task",
		child: [{ when: "fails", do: [{ fail: "529: overloaded" }], else: [{ say: "Done." }] }],
		args: { tasks },
		ours: { tool: "subagent_parallel", args: { tasks } },
		passed: ({ ended, text }) => ended && text.includes("Done.") && text.includes("529"),
	},
	{
		fault: "the agent does not exist",
		expected: "a failure that lists the known agents",
		child: "answers",
		args: { agent: "nobody", task: "Look." },
		passed: fails("looker"),
	},
	{
		fault: "the child crashes (SIGSEGV) in the middle of its answer",
		expected: "a failure, with the text so far",
		child: "crashes",
		passed: fails("so far"),
		observed: ({ ended, isError }) => (ended && isError ? "a failure without the text" : "no failure"),
	},
	{
		fault: "the child exits with 0 and without an answer",
		expected: "a failure",
		child: "exits",
		passed: fails(),
	},
	{
		fault: "the child exits with 0 in the middle of its answer",
		expected: "a failure, with the text so far",
		child: "breaks-off",
		passed: fails("so far"),
	},
	{
		fault: "warnings and broken JSON between its lines",
		expected: "the answer",
		child: [{ noise: ["npm warn deprecated\n", "{broken\n", "\n"] }, { say: "Done." }],
		passed: answers("Done."),
	},
	{
		fault: "a line that is JSON but not an event: `null`",
		expected: "the answer",
		child: [{ noise: "null\n" }, { say: "Done." }],
		passed: answers("Done."),
	},
	{
		fault: "half a line at the end of its output",
		expected: "the answer",
		child: [{ say: "Done." }, "settle", { raw: '{"type":"message_end","mess' }, { exit: 0 }],
		passed: answers("Done."),
	},
	{
		fault: "characters split by the pipe",
		expected: "the unchanged answer",
		child: "splits",
		passed: answers("日本 😀 é"),
		observed: () => "an answer with broken characters",
	},
	{
		fault: "an answer of 1 MB",
		expected: "less than 100 KB of it for the model",
		child: [{ say: "word ".repeat(megabyte / 5) }],
		passed: ({ ended, isError, text }) => ended && !isError && text.length < 100_000,
	},
	{
		fault: "a token in the answer",
		expected: "the answer without the token",
		child: [{ say: `The login is ${token}.` }],
		passed: ({ ended, text }) => ended && !text.includes(token),
		observed: () => "the model reads the token",
	},
	{
		fault: "the child is silent and never exits",
		expected: "a failure after the idle timeout, here 4 s",
		child: "silent",
		passed: fails(),
	},
	{
		fault: "the child has answered and never exits",
		expected: "the answer",
		child: "lingers",
		passed: answers("Done."),
	},
	{
		fault: "the child leaves four processes behind",
		expected: "the answer, and no process survives",
		child: "forks",
		passed: (played) => answers("Done.")(played) && played.survivors === 0,
		observed: (played) => `${played.ended ? "the answer" : "the call does not end"}; ${survivorsText(played)}`,
	},
	{
		fault: "an abort (Esc)",
		expected: "the call ends, with the text so far",
		child: [...startsWork, "hang"],
		action: "abort",
		passed: ({ ended, text, survivors }) => ended && survivors === 0 && text.includes("so far"),
	},
	{
		fault: "an abort of a child that ignores signals",
		expected: "the call ends, and no process survives",
		child: [{ ignore: ["SIGTERM", "SIGHUP", "SIGINT", "abort"] }, ...startsWork, "hang"],
		action: "abort",
		passed: ({ ended, survivors }) => ended && survivors === 0,
		observed: survivorsText,
	},
	{
		fault: "an abort of a child that has started four processes",
		expected: "the call ends, and no process survives",
		child: [everyKind, ...startsWork, "hang"],
		action: "abort",
		passed: ({ ended, survivors }) => ended && survivors === 0,
		observed: survivorsText,
	},
	{
		fault: "pi is killed (SIGKILL) while the child works",
		expected: "no process survives after 5 s",
		child: [{ ignore: "eof" }, ...startsWork, "hang"],
		action: "kill pi",
		passed: ({ survivors }) => survivors === 0,
		observed: survivorsText,
	},
	{
		fault: "the same, and the child has started four processes",
		expected: "no process survives after 5 s",
		child: [everyKind, ...startsWork, "hang"],
		action: "kill pi",
		passed: ({ survivors }) => survivors === 0,
		observed: survivorsText,
	},
	{
		fault: "100 MB on standard error",
		expected: "the answer; pi grows by less than 64 MiB",
		patienceMs: 60_000,
		child: ["begin", { fill: 100 * megabyte, with: "warning: deprecated\n", to: "stderr" }, { say: "Done." }],
		passed: (played) => answers("Done.")(played) && played.grownMiB < 64,
		observed: (played) => (answers("Done.")(played) ? "the answer, but pi grows" : "no answer"),
		figure: grown,
	},
	{
		fault: "100 MB of small events",
		expected: "the answer; pi grows by less than 64 MiB",
		patienceMs: 60_000,
		child: ["begin", { fill: 100 * megabyte, with: '{"type":"queue_update"}\n' }, { say: "Done." }],
		passed: (played) => answers("Done.")(played) && played.grownMiB < 64,
		observed: (played) => (answers("Done.")(played) ? "the answer, but pi grows" : "no answer"),
		figure: grown,
	},
	{
		fault: "a line of 100 MB",
		expected: "the answer; pi grows by less than 64 MiB",
		patienceMs: 60_000,
		child: [
			"begin",
			{ raw: '{"type":"surprise","data":"' },
			{ fill: 100 * megabyte },
			{ raw: '"}\n' },
			{ say: "Done." },
		],
		passed: (played) => answers("Done.")(played) && played.grownMiB < 64,
		observed: (played) => (answers("Done.")(played) ? "the answer, but pi grows" : "no answer"),
		figure: grown,
	},
	{
		fault: "a read-only agent writes with its shell (real pi)",
		expected: "no file is written",
		model: (answered) =>
			answered > 0 ? [say("I have looked.")] : [call("bash", { command: "echo x > written; echo tried" })],
		passed: ({ ended, wrote }) => ended && !wrote,
		observed: ({ wrote }) => (wrote ? "the file is written" : "the call does not end"),
	},
	{
		fault: "a child's shell (real pi) starts a server in the background",
		expected: "the call ends, and no process survives",
		model: (answered) =>
			answered > 0
				? [say("I have looked.")]
				: [call("bash", { command: "setsid sleep 60 >/dev/null 2>&1 </dev/null & echo ok" })],
		passed: ({ ended, survivors }) => ended && survivors === 0,
		observed: survivorsText,
	},
];
