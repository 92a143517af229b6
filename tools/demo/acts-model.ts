/** The scripted model of the four acts. It reports the answers of real tools. */

import type { ModelRequest, Script } from "../../__test__/support/pi.ts";
import { call, fail, pause, type Step, say } from "../../__test__/support/steps.ts";
import { demoModel } from "./model.ts";

/** The user's prompt in each act. */
export const prompts = {
	parallel: "Explore this repository with three parallel tasks.",
	background: "Find out in the background where retries are decided.",
	write: "Let the explorer leave a note in this folder.",
	kill: "Let the explorer start a long-running process.",
};

/** The prompts for a model that is not scripted. */
export const livePrompts: typeof prompts = {
	parallel:
		"Call subagent_parallel once, with three tasks for the agent `explorer`: name the folders below src; count the files " +
		"in tests; read the file does-not-exist.txt. Then summarize the results in one sentence.",
	background:
		"Call sessions_spawn once, with the agent `explorer` and the task: find the file below src/run in which retries are " +
		"decided. Then say that you continue, and end your turn.",
	write:
		"Call subagent once, with the agent `explorer` and this task, word for word: run the shell command " +
		"`echo hello > written-by-the-demo.txt` once and report its output.",
	kill:
		"Call subagent once, with the agent `explorer` and this task, word for word: run the shell command " +
		"`setsid sleep 300 & sleep 300 & sleep 300` once.",
};

/** The file that a child tries to write. */
export const note = "written-by-the-demo.txt";

const tasks = {
	layout: "Find out how this repository is laid out: its layers, and where a child process is started.",
	tests: "Count the test files in tests/.",
	refused: "Read the whole history and judge every commit.",
	retries: "Find where retries are decided.",
	write: `Write a note into ${note}.`,
	kill: "Start a long-running process.",
};

const pace = { size: 24, everyMs: 12 };
const thinkMs = 300;

/** Returns the script. `canGrep`: pi's `grep` needs ripgrep, which pi cannot fetch offline. */
export function actsModel(canGrep: boolean): Script {
	const layout = demoModel(canGrep);
	return (request) => {
		if (request.isParent) return parent(request);
		const task = request.userText;
		if (task.includes(tasks.layout)) return layout(request);
		if (task.includes(tasks.refused)) return refused();
		if (task.includes(tasks.tests)) return counts(request);
		if (task.includes(tasks.retries)) return retries(request);
		if (task.includes(tasks.write)) return shell(request, `echo hello > ${note}`);
		return shell(request, "setsid sleep 300 & sleep 300 & sleep 300");
	};
}

function parent({ userText, toolAnswers }: ModelRequest): Step[] {
	const explorer = (task: string) => ({ agent: "explorer", task });
	const isAnswered = toolAnswers.length > 0;
	if (userText.startsWith(prompts.parallel)) {
		const three = [tasks.layout, tasks.tests, tasks.refused].map(explorer);
		if (!isAnswered) return [call("subagent_parallel", { tasks: three })];
		const text = toolAnswers.at(-1)?.text ?? "";
		const done = text.match(/^\[\d\/3\] explorer ✓/gm)?.length ?? 0;
		return [say(`${done} of 3 have answered. I can ask the third one again.`, pace)];
	}
	if (userText.startsWith(prompts.background)) {
		const spawned = { task: tasks.retries, agentId: "explorer", label: "retries" };
		return isAnswered ? [say("It is running. I continue in the meantime.", pace)] : [call("sessions_spawn", spawned)];
	}
	if (userText.startsWith(prompts.write)) {
		return isAnswered
			? [say("It could not write: the explorer is readonly.", pace)]
			: [call("subagent", explorer(tasks.write))];
	}
	if (userText.startsWith(prompts.kill)) return [call("subagent", explorer(tasks.kill))];
	return [say("The background run has answered; its result is above.", pace)];
}

/** Returns a provider error that no retry can fix. */
function refused(): Step[] {
	return [fail(400, { body: { error: { message: "the prompt is longer than this model reads" } } })];
}

function counts({ toolAnswers: [listing] }: ModelRequest): Step[] {
	if (!listing) return [pause(thinkMs), call("ls", { path: "tests" })];
	const files = listing.text.split("\n").filter((name) => name.trim().endsWith(".rs"));
	return [pause(thinkMs), say(`There are ${files.length} test files in tests/.`, pace)];
}

function retries({ toolAnswers: [listing, file] }: ModelRequest): Step[] {
	const places = [{ path: "src/run/outcome" }, { path: "src/run/outcome/retry.rs", limit: 12 }] as const;
	if (!listing) return [pause(thinkMs), call("ls", places[0])];
	if (!file) return [pause(thinkMs), call("read", places[1])];
	const first = file.text.split("\n").find((line) => line.startsWith("//!")) ?? "";
	return [pause(thinkMs), say(`In src/run/outcome/retry.rs: ${first.replace("//!", "").trim()}`, pace)];
}

/** Runs one command in the child's shell and repeats its output. */
function shell(request: ModelRequest, command: string): Step[] {
	const [answer] = request.toolAnswers;
	if (answer) return [say(`The shell said: ${answer.text.trim().split("\n")[0] ?? "nothing"}`, pace)];
	if (!request.toolNames.includes("bash")) return [say("I have no shell here, because this kernel cannot sandbox it.")];
	return [pause(thinkMs), call("bash", { command })];
}
