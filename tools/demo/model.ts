/**
 * The scripted model of the demo: a parent that delegates, and a child that really explores the repository. The child's
 * report is made from the results of its own tool calls, so a broken tool shows in it.
 */

import type { ModelRequest, Script, ToolAnswer } from "../../__test__/support/pi.ts";
import { call, pause, type Step, say, usage } from "../../__test__/support/steps.ts";

/** The user's prompt. */
export const prompt = "How is this repository laid out, and where does it start a child? Let the explorer look.";

const task = [
	"Find out how this repository is laid out: its layers, what the crate says about them,",
	"and where a child process is started. Name files.",
].join(" ");

/** The speed of the text, slow enough to read. */
const pace = { size: 14, everyMs: 28 };

/** The model's delay before its text. */
const thinkMs = 600;

/** One round of the child: its text, then its tool calls. */
interface Round {
	says: string;
	calls: { name: string; args: Record<string, unknown> }[];
}

/** Returns the script. `canGrep`: pi's `grep` needs ripgrep, which pi cannot fetch offline. */
export function demoModel(canGrep: boolean): Script {
	const rounds: Round[] = [
		{ says: "First an overview.", calls: [calls("ls", { path: "." }), calls("ls", { path: "src" })] },
		{
			says: "The crate root should say how the layers relate.",
			calls: [
				calls("read", { path: "src/lib.rs", limit: 60 }),
				canGrep
					? calls("grep", { pattern: "pub async fn ", path: "crates/supervisor", glob: "*.rs" })
					: calls("ls", { path: "crates/supervisor" }),
			],
		},
		{ says: "Now the loop that supervises a child.", calls: [calls("read", { path: "ARCHITECTURE.md", limit: 40 })] },
	];
	return (request) => (request.isParent ? parent(request) : child(request, rounds));
}

function calls(name: string, args: Record<string, unknown>): Round["calls"][number] {
	return { name, args };
}

function parent(request: ModelRequest): Step[] {
	const answer = request.toolAnswers.find(({ name }) => name === "subagent");
	const spent = usage({ input: 1900 + 400 * request.toolAnswers.length, output: 70 });
	if (!answer) {
		return [spent, say("I send an explorer to look.", pace), call("subagent", { agent: "explorer", task })];
	}
	if (answer.text.includes("moved this to the background"))
		return [spent, say("It continues in the background.", pace)];
	const length = answer.text.trim().split("\n").length;
	const lines = length === 1 ? "a line" : `${length} lines`;
	return [spent, say(`The explorer answered with ${lines}; its findings are above.`, pace)];
}

function child(request: ModelRequest, rounds: Round[]): Step[] {
	const answers = request.toolAnswers;
	let seen = 0;
	for (const [index, round] of rounds.entries()) {
		if (answers.length <= seen) {
			const spent = usage({ input: 1400 + 900 * index, output: 45, cached: index > 0 ? 1200 : 0 });
			const made = round.calls.map(({ name, args }) => call(name, args));
			return [spent, pause(thinkMs), say(round.says, pace), ...made];
		}
		seen += round.calls.length;
	}
	return [usage({ input: 4600, output: 260, cached: 3000 }), pause(thinkMs), say(report(answers), pace)];
}

/** Returns the child's answer, made from its tool results. */
function report(answers: ToolAnswer[]): string {
	const top = entries(find(answers, "ls", '"."'));
	const layers = entries(find(answers, "ls", '"src"')).filter((name) => name.endsWith("/"));
	const crate = find(answers, "read", "src/lib.rs")
		.split("\n")
		.filter((line) => line.startsWith("//!"));
	const starts = find(answers, "grep", "crates/supervisor")
		.split("\n")
		.filter((line) => line.includes("fn "));
	const process = entries(find(answers, "ls", "crates/supervisor")).filter((name) => name.endsWith(".rs"));
	const architecture = find(answers, "read", "ARCHITECTURE.md").split("\n")[0] ?? "";
	const title = architecture.startsWith("#") ? architecture.replace(/^#+\s*/, "") : undefined;
	return [
		"## Findings",
		`- The top level has ${top.length} entries, ${top.filter((name) => name.endsWith("/")).length} of them folders.`,
		`- \`src\` has ${layers.length} layers: ${layers.map((name) => `\`${name.slice(0, -1)}\``).join(", ")}.`,
		`- \`src/lib.rs\` says: ${crate[0]?.replace("//!", "").trim() ?? "nothing"}`,
		starts.length > 0
			? `- Only \`crates/supervisor\` starts programs: ${starts.slice(0, 3).map(code).join(", ")}.`
			: `- Only \`crates/supervisor\` starts programs; its files: ${process.map(code).join(", ")}.`,
		...(title ? [`- \`ARCHITECTURE.md\`, "${title}", has the reasons.`] : []),
		"",
		"## Uncertain",
		`- I read ${answers.filter(({ name }) => name === "read").length} files; I only know the names of the others.`,
	].join("\n");
}

function code(text: string): string {
	return `\`${text.trim()}\``;
}

function find(answers: ToolAnswer[], name: string, inArgs: string): string {
	return answers.find((answer) => answer.name === name && answer.args.includes(inArgs))?.text ?? "";
}

function entries(listing: string): string[] {
	return listing
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "" && !line.startsWith("["));
}
