/** An agent that asks its conversation, in real pi: the model answers with a message, whatever happens to pi meanwhile. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import {
	announcementsIn,
	backgroundStage,
	type Children,
	call,
	delegate,
	eventually,
	heardIn,
	lastEnd,
	type ModelRequest,
	makeGate,
	parent,
	piVersions,
	type RpcSession,
	runPrint,
	type Stage,
	say,
	says,
	spawn,
	startRpc,
	textOf,
	type UiRequest,
	until,
} from "../support/pi.ts";

const agent =
	"---\nname: asks\ndescription: Asks.\nreadonly: true\ntools: read\nask: parent\n---\nAsk what you cannot know.\n";
/** A gate whose words are those of the agent's question. */
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
const toldMs = 20_000;
const question = { question: "Which colour?", options: ["red", "green"] };

const isQuestion = (text: string) => text.includes("asks you a question and waits");

/** The parent's part: it answers questions like this, if at all. */
function answering(answer: string | undefined): Children {
	const Background = ({ wholeUserText, userText, toolAnswers }: ModelRequest) => {
		if (!isQuestion(userText)) return [say(`Heard ${heardIn(wholeUserText).sort().join(", ")}`)];
		if (answer === undefined || toolAnswers.length > 0) return [say("So be it.")];
		const sessionKey = /"sessionKey": "([^"]+)"/.exec(userText)?.[1];
		return [call("sessions_send", { sessionKey, message: answer })];
	};
	return { ...parent(), Background };
}

const children = {
	which: ({ toolAnswers }: ModelRequest) =>
		toolAnswers.length === 0 ? [call("ask", question)] : [say(`I heard: ${toolAnswers.at(-1)?.text}`)],
	gated: ({ toolAnswers }: ModelRequest) => {
		if (toolAnswers.length === 0) return [call("read", { path: "README.md" })];
		if (toolAnswers.length === 1) return [call("ask", question)];
		return [say(`I heard: ${toolAnswers.map(({ text }) => text).join("; ")}`)];
	},
};

async function onStage(version: string, more: Children, work: (stage: Stage) => Promise<void>): Promise<void> {
	const stage = await backgroundStage({ version, children: { ...children, ...more } });
	try {
		stage.world.writeAgentDir("agents/asks.md", agent);
		await work(stage);
	} finally {
		await stage.close();
	}
}

async function sessionFile(rpc: RpcSession): Promise<string> {
	const { data } = await rpc.send({ type: "get_state" });
	return (data as { sessionFile: string }).sessionFile;
}

const asksUser = (request: UiRequest) => assert.fail(`a person is asked: ${request.title}`);
const which = spawn({ task: "which", agentId: "asks" });

/** The texts by which the newest request of the parent's model tells of questions. */
function questionsIn(stage: Stage): number {
	const request = stage.server.requests.filter(({ isParent }) => isParent).at(-1);
	return JSON.stringify(request?.messages ?? []).split("asks you a question and waits").length - 1;
}

/** How many questions the store has. */
function storedQuestions(stage: Stage): number {
	const store = new DatabaseSync(join(stage.world.agentDir, "subagents/runs.db"), { readOnly: true });
	const rows = store.prepare("SELECT id FROM delivery WHERE id LIKE '%-q%'").all();
	store.close();
	return rows.length;
}

for (const version of piVersions) {
	describe(`an agent that asks its conversation in pi ${version}`, () => {
		test("hears what the model answers, and nobody else is asked", async () => {
			await onStage(version, answering("green"), async (stage) => {
				const rpc = startRpc(stage.world, { answer: asksUser });
				await rpc.prompt(which);
				await rpc.log.waitFor(says("Heard success: I heard: The answer: green"), toldMs);
				assert.equal(questionsIn(stage), 1);
				const ids = announcementsIn(await sessionFile(rpc)).flatMap(({ deliveryIds }) => deliveryIds);
				assert.equal(new Set(ids).size, 2, "the question and the end");
				assert.equal(ids.length, 2);
				await rpc.close();
			});
		});

		test("print mode: pi stays for the question and for the end", async () => {
			await onStage(version, answering("green"), async (stage) => {
				const { code, stdout, stderr } = await runPrint(stage.world, which);
				assert.deepEqual([code, stdout, stderr], [0, "Heard success: I heard: The answer: green\n", ""]);
				assert.equal(questionsIn(stage), 1);
			});
		});

		test("a gate's question in the same words is a person's, and the model hears only the agent's", async () => {
			await onStage(version, answering("green"), async (stage) => {
				stage.world.writeAgentDir("extensions/gate.js", gate);
				stage.configure({ inheritExtensions: "all" });
				const asked: unknown[] = [];
				const answer = ({ title }: UiRequest) => {
					asked.push(title);
					return { value: "red" };
				};
				const rpc = startRpc(stage.world, { answer });
				await rpc.prompt(spawn({ task: "gated", agentId: "asks" }));
				await rpc.log.waitFor(says("Heard success: I heard: The gate heard red; The answer: green"), toldMs);
				assert.deepEqual(asked, ["asks asks: Which colour?"]);
				assert.equal(questionsIn(stage), 1);
				await rpc.close();
			});
		});

		test("a call that waits asks the person, and declines where there is none", async () => {
			await onStage(version, answering("green"), async (stage) => {
				const rpc = startRpc(stage.world, { answer: () => ({ value: "red" }) });
				await rpc.prompt(delegate({ agent: "asks", task: "which" }));
				assert.match(textOf(lastEnd(rpc.log)), /^I heard: The answer: red/);
				await rpc.close();
				const { stdout } = await runPrint(stage.world, delegate({ agent: "asks", task: "which" }));
				assert.match(stdout, /./);
				const [last] = stage.childRequests().slice(-1);
				assert.match(String(last?.toolAnswers.at(-1)?.text), /^Nobody answered\./);
			});
		});

		test("a reload while it waits tells it neither again nor less", async () => {
			const hold = makeGate();
			const { Background, ...rest } = answering("green");
			const slow = async (request: ModelRequest) => {
				if (isQuestion(request.userText)) await hold.opened;
				return await (Background as (request: ModelRequest) => unknown)(request);
			};
			await onStage(version, { ...rest, Background: slow } as Children, async (stage) => {
				stage.world.writeAgentDir("extensions/again.js", reloads);
				const rpc = startRpc(stage.world, { answer: asksUser });
				await rpc.prompt(which);
				const file = await sessionFile(rpc);
				await eventually(() => announcementsIn(file).length === 1, "the question stands in the session");
				await rpc.send({ type: "abort" });
				await rpc.send({ type: "prompt", message: "/again" });
				hold.open();
				await rpc.prompt("Hello?");
				assert.equal(questionsIn(stage), 1);
				await rpc.close();
			});
		});

		test("outlasts SIGKILL to pi as an interrupted run, whose question nobody is told any more", async () => {
			const hold = makeGate();
			let isHeld = true;
			const afterSpawn = () => (isHeld ? [until(hold.opened), say("Spawned.")] : [say("Spawned.")]);
			const model = { ...answering(undefined), Spawn: parent(afterSpawn).Spawn };
			await onStage(version, model as Children, async (stage) => {
				// Killed before the question is told: the model is at work, and it waits in the store.
				const busy = startRpc(stage.world, { answer: asksUser });
				await busy.send({ type: "prompt", message: which });
				await stage.server.waitFor(({ isParent, userText }) => !isParent && userText.startsWith("which"));
				await stage.childRequests().at(-1)?.over;
				const first = await sessionFile(busy);
				await eventually(() => storedQuestions(stage) === 1, "the question is stored");
				busy.pi.kill("SIGKILL");
				await busy.pi.finished;
				hold.open();
				isHeld = false;
				const again = startRpc(stage.world, { args: ["--session", first], answer: asksUser });
				await again.prompt("Hello?");
				await eventually(() => announcementsIn(first).length === 1, "the end is told");
				await again.prompt("Hello?");
				assert.equal(questionsIn(stage), 0);

				// And after: it is told once, and so is the end.
				await again.prompt(which);
				await again.log.waitFor(says("So be it."), toldMs);
				again.pi.kill("SIGKILL");
				await again.pi.finished;
				const third = startRpc(stage.world, { args: ["--session", first], answer: asksUser });
				await third.prompt("Hello?");
				await eventually(() => announcementsIn(first).length === 3, "the end of the second run is told");
				await third.prompt("Hello?");
				assert.equal(questionsIn(stage), 1);
				const ids = announcementsIn(first).flatMap(({ deliveryIds }) => deliveryIds);
				assert.equal(new Set(ids).size, ids.length, "each once");
				await third.close();
			});
		});
	});
}
