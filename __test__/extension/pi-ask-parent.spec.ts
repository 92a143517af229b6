/**
 * An agent that asks its conversation, in real pi: the model answers with a message, for any events in pi in the
 * meantime.
 */

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import {
	announcementsIn,
	backgroundStage,
	call,
	delegate,
	eventually,
	lastEnd,
	type ModelRequest,
	makeGate,
	parent,
	piVersions,
	type RpcSession,
	resultsIn,
	runPrint,
	type Stage,
	type Step,
	say,
	says,
	spawn,
	startRpc,
	textOf,
	type UiAnswer,
	type UiRequest,
	until,
} from "../support/pi.ts";

const agent =
	"---\nname: asks\ndescription: Asks.\nreadonly: true\ntools: read\nask: parent\n---\nAsk what you cannot know.\n";
/** A gate with the same words as the agent's question. */
const gate = `export default (pi) => pi.on("tool_call", async ({ toolName }, { ui }) => {
	if (toolName !== "read") return undefined;
	const answer = await ui.select("Which colour?", ["red", "green"]);
	return answer === "green" ? undefined : { block: true, reason: "The gate heard " + answer };
});
`;
/** A command that loads everything again. */
const reloads = `export default (pi) => {
	pi.registerCommand("again", { description: "Loads everything again", handler: async (_args, context) => await context.reload() });
};
`;
const deliveryLimitMs = 20_000;
const question = { question: "Which colour?", options: ["red", "green"] };

const isQuestion = (text: string) => text.includes("asks you a question and waits");

/** A test's script for the parent's model. */
interface Wishes {
	/** Its answer to questions, if any. */
	answer?: string;
	/** The promise that it waits for before it answers. */
	beforeAnswer?: Promise<void>;
	/** The promise that it waits for after its runs were accepted. */
	afterSpawn?: Promise<void>;
}
let wishes: Wishes;

/** The parent's part in questions, and in the ends of runs. */
async function background({ wholeUserText, userText, toolAnswers }: ModelRequest): Promise<Step[]> {
	if (!isQuestion(userText)) return [say(`Heard ${resultsIn(wholeUserText).sort().join(", ")}`)];
	const { answer, beforeAnswer } = wishes;
	await beforeAnswer;
	if (answer === undefined || toolAnswers.length > 0) return [say("So be it.")];
	const sessionKey = /"sessionKey": "([^"]+)"/.exec(userText)?.[1];
	return [call("sessions_send", { sessionKey, message: answer })];
}

const children = {
	...parent(() => (wishes.afterSpawn ? [until(wishes.afterSpawn), say("Spawned.")] : [say("Spawned.")])),
	Background: background,
	/** A parent that waits for one run, and then spawns another. */
	Both: ({ toolAnswers }: ModelRequest) => {
		if (toolAnswers.length === 0) return [call("subagent", { agent: "asks", task: "which" })];
		if (toolAnswers.length === 1) return [call("sessions_spawn", { agentId: "asks", task: "which" })];
		return [say("Spawned.")];
	},
	which: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length === 0 ? [call("ask", question)] : [say(`I heard: ${toolAnswers.at(-1)?.text}`)],
	gated: ({ toolAnswers }: ModelRequest) => {
		if (toolAnswers.length === 0) return [call("read", { path: "README.md" })];
		if (toolAnswers.length === 1) return [call("ask", question)];
		return [say(`I heard: ${toolAnswers.map(({ text }) => text).join("; ")}`)];
	},
};

async function sessionFile(rpc: RpcSession): Promise<string> {
	const { data } = await rpc.send({ type: "get_state" });
	return (data as { sessionFile: string }).sessionFile;
}

const asksUser = (request: UiRequest) => assert.fail(`the user was asked: ${request.title}`);
const which = spawn({ task: "which", agentId: "asks" });

/** The texts by which the newest request of the parent's model tells of questions. */
function questionsIn(stage: Stage): number {
	const request = stage.server.requests.filter(({ isParent }) => isParent).at(-1);
	return JSON.stringify(request?.messages ?? []).split("asks you a question and waits").length - 1;
}

/** Returns the number of questions in the store. */
function storedQuestions(stage: Stage): number {
	const store = new DatabaseSync(join(stage.world.agentDir, "subagents/runs.db"), { readOnly: true });
	const rows = store.prepare("SELECT id FROM delivery WHERE id LIKE '%-q%'").all();
	store.close();
	return rows.length;
}

for (const version of piVersions) {
	describe(`an agent that asks its conversation in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let person: (request: UiRequest) => UiAnswer;

		before(async () => {
			stage = await backgroundStage({ version, children });
			stage.world.writeAgentDir("agents/asks.md", agent);
			stage.world.writeAgentDir("extensions/again.js", reloads);
			rpc = start();
		});
		after(async () => {
			await rpc.close();
			await stage.close();
		});

		const start = (...args: string[]) =>
			startRpc(stage.world, { args, answer: (request: UiRequest) => person(request) });

		/** Starts a new session without a user, with the scripted model and the extensions that pi loads by now. */
		async function begin(wished: Wishes): Promise<void> {
			wishes = wished;
			person = asksUser;
			await rpc.send({ type: "new_session" });
		}

		/** Spawns, and waits until the model has said this. */
		async function spawned(prompt: string, said: string): Promise<void> {
			const from = rpc.log.events.length;
			await rpc.prompt(prompt);
			await rpc.log.waitFor(says(said), deliveryLimitMs, from);
		}

		test("gets the model's answer, and the user is not asked", async () => {
			await begin({ answer: "green" });
			await spawned(which, "Heard success: I heard: The answer: green");
			assert.equal(questionsIn(stage), 1);
			const ids = announcementsIn(await sessionFile(rpc)).flatMap(({ deliveryIds }) => deliveryIds);
			assert.equal(new Set(ids).size, 2, "the question and the end are both delivered");
			assert.equal(ids.length, 2);
		});

		test("print mode: pi stays for the question and for the end, and a call that waits is declined", async () => {
			wishes = { answer: "green" };
			const from = stage.server.requests.length;
			const { code, stdout, stderr } = await runPrint(stage.world, "Both");
			assert.deepEqual([code, stdout, stderr], [0, "Heard success: I heard: The answer: green\n", ""]);
			assert.equal(questionsIn(stage), 1);
			const [, declined] = stage.server.requests.slice(from).filter(({ isChild }) => isChild);
			assert.match(String(declined?.toolAnswers.at(-1)?.text), /^No one answered\./);
		});

		test("a hook's question in the same words goes to a person, and the model gets only the agent's", async () => {
			const file = stage.world.writeAgentDir("extensions/gate.js", gate);
			stage.configure({ inheritExtensions: "all" });
			try {
				await begin({ answer: "green" });
				const asked: unknown[] = [];
				person = ({ title }) => {
					asked.push(title);
					return { value: "red" };
				};
				const gated = spawn({ task: "gated", agentId: "asks" });
				await spawned(gated, "Heard success: I heard: The gate heard red; The answer: green");
				assert.deepEqual(asked, ["asks asks: Which colour?"]);
				assert.equal(questionsIn(stage), 1);
			} finally {
				rmSync(file);
				stage.configure({});
			}
		});

		test("a call that waits asks the person", async () => {
			await begin({ answer: "green" });
			person = () => ({ value: "red" });
			await rpc.prompt(delegate({ agent: "asks", task: "which" }));
			assert.match(textOf(lastEnd(rpc.log)), /^I heard: The answer: red/);
		});

		test("survives SIGKILL to pi as an interrupted run without its question", async () => {
			// Killed before the delivery of the question: the model is working, and the question waits in the store.
			const hold = makeGate();
			await begin({ afterSpawn: hold.opened });
			const [from, stored] = [stage.server.requests.length, storedQuestions(stage)];
			await rpc.send({ type: "prompt", message: which });
			const asking = await stage.server.waitFor(({ isChild, index }) => isChild && index >= from);
			await asking.ended;
			const first = await sessionFile(rpc);
			await eventually(() => storedQuestions(stage) === stored + 1, "the question in the store");
			rpc.pi.kill("SIGKILL");
			await rpc.pi.finished;
			hold.open();
			wishes = {};
			rpc = start("--session", first);
			await rpc.prompt("Hello?");
			await eventually(() => announcementsIn(first).length === 1, "the announcement of the end");
			await rpc.prompt("Hello?");
			assert.equal(questionsIn(stage), 0);

			// Killed after it: the question is delivered once, and so is the result.
			await spawned(which, "So be it.");
			rpc.pi.kill("SIGKILL");
			await rpc.pi.finished;
			rpc = start("--session", first);
			await rpc.prompt("Hello?");
			await eventually(() => announcementsIn(first).length === 3, "the announcement of the second run's end");
			await rpc.prompt("Hello?");
			assert.equal(questionsIn(stage), 1);
			const ids = announcementsIn(first).flatMap(({ deliveryIds }) => deliveryIds);
			assert.equal(new Set(ids).size, ids.length, "each delivery arrives once");
		});

		// The last one: its agent is left waiting.
		test("a reload during the wait delivers the question exactly once", async () => {
			const hold = makeGate();
			await begin({ answer: "green", beforeAnswer: hold.opened });
			await rpc.prompt(which);
			const file = await sessionFile(rpc);
			await eventually(() => announcementsIn(file).length === 1, "the question in the session");
			await rpc.send({ type: "abort" });
			await rpc.send({ type: "prompt", message: "/again" });
			hold.open();
			await rpc.prompt("Hello?");
			assert.equal(questionsIn(stage), 1);
		});
	});
}
