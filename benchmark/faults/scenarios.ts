/** What can go wrong with a child, and what should come of it. A new row is a new entry here. */

import { call, say } from "../../__test__/support/pi.ts";
import { atWork, type Played, type Scenario, token } from "./play.ts";

export interface Row extends Scenario {
	/** What goes wrong. */
	fault: string;
	/** What should come of it. */
	should: string;
	/** Whether it did. */
	did: (played: Played) => boolean;
	/** What came of it instead; without it, how the call ended. */
	instead?: (played: Played) => string;
	/** A figure that is shown either way. */
	figure?: (played: Played) => string;
}

const megabyte = 1 << 20;

/** A child that has said something, works, and then says no more. */
const works = [{ stream: "so far" }, { call: "read", args: { path: atWork }, result: "" }];
const everyKind = { fork: ["plain", "group", "session", "daemon"] };

const answers = (text: string) => (played: Played) => played.ended && !played.isError && played.text.includes(text);
const fails =
	(...parts: string[]) =>
	({ ended, isError, text }: Played) =>
		ended && isError && parts.every((part) => text.includes(part));
const grown = ({ grownMiB }: Played) => `${grownMiB} MiB`;
/** What the call itself came to is in the other columns. */
const left = ({ left }: Played) => (left === 1 ? "1 process runs on" : `${left} processes run on`);
const tasks = ["answers", "fails"].map((word) => ({ agent: "looker", task: word }));

export const rows: Row[] = [
	{
		fault: "the child fails: exit code 1, a reason on standard error",
		should: "a failure with the reason",
		child: "complains",
		did: fails("no such model"),
	},
	{
		fault: "the provider refuses with an error",
		should: "a failure with its words",
		child: "fails",
		did: fails("529: overloaded"),
	},
	{
		fault: "one of two tasks side by side fails",
		should: "the answer of the other",
		child: [{ when: "fails", do: [{ fail: "529: overloaded" }], else: [{ say: "Done." }] }],
		args: { tasks },
		ours: { tool: "subagent_parallel", args: { tasks } },
		did: ({ ended, text }) => ended && text.includes("Done.") && text.includes("529"),
	},
	{
		fault: "the agent does not exist",
		should: "a failure that names those that do",
		child: "answers",
		args: { agent: "nobody", task: "Look." },
		did: fails("looker"),
	},
	{
		fault: "the child crashes (SIGSEGV) within its answer",
		should: "a failure, with the text so far",
		child: "crashes",
		did: fails("so far"),
		instead: ({ ended, isError }) => (ended && isError ? "a failure without the text" : "no failure"),
	},
	{
		fault: "the child exits with 0 and has said nothing",
		should: "a failure",
		child: "exits",
		did: fails(),
	},
	{
		fault: "the child exits with 0 within its answer",
		should: "a failure, with the text so far",
		child: "breaks-off",
		did: fails("so far"),
	},
	{
		fault: "warnings and broken JSON between its lines",
		should: "the answer",
		child: [{ noise: ["npm warn deprecated\n", "{broken\n", "\n"] }, { say: "Done." }],
		did: answers("Done."),
	},
	{
		fault: "a line that is JSON, but no event: `null`",
		should: "the answer",
		child: [{ noise: "null\n" }, { say: "Done." }],
		did: answers("Done."),
	},
	{
		fault: "half a line at the end of its output",
		should: "the answer",
		child: [{ say: "Done." }, "settle", { raw: '{"type":"message_end","mess' }, { exit: 0 }],
		did: answers("Done."),
	},
	{
		fault: "characters cut in two by the pipe",
		should: "the answer, letter by letter",
		child: "splits",
		did: answers("日本 😀 é"),
		instead: () => "an answer with broken characters",
	},
	{
		fault: "an answer of 1 MB",
		should: "less than 100 KB of it for the model",
		child: [{ say: "word ".repeat(megabyte / 5) }],
		did: ({ ended, isError, text }) => ended && !isError && text.length < 100_000,
	},
	{
		fault: "a token in the answer",
		should: "the token taken out",
		child: [{ say: `The login is ${token}.` }],
		did: ({ ended, text }) => ended && !text.includes(token),
		instead: () => "the model reads the token",
	},
	{
		fault: "the child says nothing and never ends",
		should: "a failure after the limit of silence, here 4 s",
		child: "silent",
		did: fails(),
	},
	{
		fault: "the child has answered and never ends",
		should: "the answer",
		child: "lingers",
		did: answers("Done."),
	},
	{
		fault: "the child leaves four processes behind",
		should: "the answer, and nothing runs on",
		child: "forks",
		did: (played) => answers("Done.")(played) && played.left === 0,
		instead: (played) => `${played.ended ? "the answer" : "no end of the call"}; ${left(played)}`,
	},
	{
		fault: "an abort (Esc)",
		should: "an end, with the text so far",
		child: [...works, "hang"],
		meanwhile: "abort",
		did: ({ ended, text, left }) => ended && left === 0 && text.includes("so far"),
	},
	{
		fault: "an abort of a child that ignores signals",
		should: "an end, and nothing runs on",
		child: [{ ignore: ["SIGTERM", "SIGHUP", "SIGINT", "abort"] }, ...works, "hang"],
		meanwhile: "abort",
		did: ({ ended, left }) => ended && left === 0,
		instead: left,
	},
	{
		fault: "an abort of a child that has started four processes",
		should: "an end, and nothing runs on",
		child: [everyKind, ...works, "hang"],
		meanwhile: "abort",
		did: ({ ended, left }) => ended && left === 0,
		instead: left,
	},
	{
		fault: "pi is killed (SIGKILL) while the child works",
		should: "nothing runs on 5 s later",
		child: [{ ignore: "eof" }, ...works, "hang"],
		meanwhile: "kill pi",
		did: ({ left }) => left === 0,
		instead: left,
	},
	{
		fault: "the same, and the child has started four processes",
		should: "nothing runs on 5 s later",
		child: [everyKind, ...works, "hang"],
		meanwhile: "kill pi",
		did: ({ left }) => left === 0,
		instead: left,
	},
	{
		fault: "100 MB on standard error",
		should: "the answer; pi grows by less than 64 MiB",
		patienceMs: 60_000,
		child: ["begin", { fill: 100 * megabyte, with: "warning: deprecated\n", to: "stderr" }, { say: "Done." }],
		did: (played) => answers("Done.")(played) && played.grownMiB < 64,
		instead: (played) => (answers("Done.")(played) ? "the answer, and pi grows" : "no answer"),
		figure: grown,
	},
	{
		fault: "100 MB of small events",
		should: "the answer; pi grows by less than 64 MiB",
		patienceMs: 60_000,
		child: ["begin", { fill: 100 * megabyte, with: '{"type":"queue_update"}\n' }, { say: "Done." }],
		did: (played) => answers("Done.")(played) && played.grownMiB < 64,
		instead: (played) => (answers("Done.")(played) ? "the answer, and pi grows" : "no answer"),
		figure: grown,
	},
	{
		fault: "a line of 100 MB",
		should: "the answer; pi grows by less than 64 MiB",
		patienceMs: 60_000,
		child: [
			"begin",
			{ raw: '{"type":"surprise","data":"' },
			{ fill: 100 * megabyte },
			{ raw: '"}\n' },
			{ say: "Done." },
		],
		did: (played) => answers("Done.")(played) && played.grownMiB < 64,
		instead: (played) => (answers("Done.")(played) ? "the answer, and pi grows" : "no answer"),
		figure: grown,
	},
	{
		fault: "an agent that only looks writes with its shell (real pi)",
		should: "no file is written",
		model: (answered) =>
			answered > 0 ? [say("I have looked.")] : [call("bash", { command: "echo x > written; echo tried" })],
		did: ({ ended, wrote }) => ended && !wrote,
		instead: ({ wrote }) => (wrote ? "the file is written" : "no end of the call"),
	},
	{
		fault: "the shell of a child (real pi) starts a server and forgets it",
		should: "an end, and nothing runs on",
		model: (answered) =>
			answered > 0
				? [say("I have looked.")]
				: [call("bash", { command: "setsid sleep 60 >/dev/null 2>&1 </dev/null & echo ok" })],
		did: ({ ended, left }) => ended && left === 0,
		instead: left,
	},
];
