import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";

import {
	call,
	hang,
	ModelServer,
	piVersions,
	runJson,
	runPrint,
	say,
	startJson,
	startRpc,
	startTui,
	World,
} from "./pi.ts";

/** A tool that asks the user, says so in an update, and reports the answer. */
const askingExtension = `export default (pi) => {
	pi.registerTool({
		name: "ask_user",
		label: "Ask",
		description: "Asks the user",
		promptSnippet: "ask the user",
		parameters: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
		async execute(id, params, signal, onUpdate, ctx) {
			onUpdate?.({ content: [{ type: "text", text: "asking" }], details: { asked: params.question } });
			const yes = await ctx.ui.confirm("A question", params.question);
			return { content: [{ type: "text", text: "user says " + yes }], details: { yes } };
		},
	});
};
`;

for (const version of piVersions) {
	describe(`pi ${version}`, () => {
		let server: ModelServer;
		let world: World;

		before(async () => {
			server = await ModelServer.start([
				{ when: (request) => request.userText.includes("hang"), answer: [say("I begin"), hang()] },
				{
					when: (request) => request.toolAnswers.length > 0,
					answer: (request) => [say(`The tool gave: ${request.toolAnswers.at(-1)?.text}`)],
				},
				{
					when: (request) => request.userText.includes("ask me"),
					answer: [call("ask_user", { question: "Shall I?" }, { size: 5 })],
				},
				{ when: () => true, answer: [say("Hello from the script", { size: 6, everyMs: 5 })] },
			]);
			world = new World({ version, baseUrl: server.baseUrl });
			world.writeAgentDir("extensions/ask.ts", askingExtension);
		});

		after(async () => {
			await world.close();
			await server.close();
			assert.deepEqual(server.problems, []);
		});

		test("print mode gives the answer and nothing else", async () => {
			const { code, stdout, stderr } = await runPrint(world, "hi");
			assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "Hello from the script\n", stderr: "" });
		});

		test("JSON mode prints updates and the ends of tools", async () => {
			const { code, log } = await runJson(world, "ask me");
			assert.equal(code, 0);
			assert.deepEqual(log.toolUpdates("ask_user")[0]?.partialResult.details, { asked: "Shall I?" });
			// No user is there to answer.
			assert.deepEqual(log.toolEnds("ask_user")[0]?.result.details, { yes: false });
			assert.equal(log.answer, "The tool gave: user says false");
			assert.deepEqual(log.noise, []);
		});

		test("a dialog is answered over RPC", async () => {
			const rpc = startRpc(world, { answer: () => ({ confirmed: true }) });
			await rpc.prompt("ask me");
			assert.equal(rpc.log.answer, "The tool gave: user says true");
			assert.deepEqual(
				rpc.uiRequests.filter(({ method }) => method === "confirm").map(({ title }) => title),
				["A question"],
			);
			assert.equal((await rpc.close()).code, 0);
		});

		test("a dialog is answered with keys in the terminal, in a narrow one too", async () => {
			const tui = await startTui(world, { prompt: "ask me", columns: 60, rows: 30 });
			await tui.waitFor("Shall I?");
			await tui.resize(100, 30);
			await tui.waitFor((screen) => screen.split("\n").some((line) => line.length > 60));
			await tui.press("Enter");
			await tui.waitFor("The tool gave: user says true");
			await tui.close();
		});

		test("a pi that does not end in time is ended, and its output is in the error", async () => {
			const { pi, finished } = startJson(world, "hang", { limitMs: 3_000 });
			// The amount of its output depends on the machine.
			const hasOutput = ({ message }: Error) =>
				message.startsWith("pi did not end within 3000 ms\n") && message.includes(pi.stdout.slice(-1000));
			await assert.rejects(finished, hasOutput);
			await world.assertNothingLeft(0);
		});

		test("pi ends by the signal that a test sends", async () => {
			const { pi, log, finished } = startJson(world, "hang");
			await log.waitFor(({ type }) => type === "message_update");
			pi.kill("SIGKILL");
			assert.equal((await finished).signal, "SIGKILL");
		});
	});
}

test("a process that left its group and its parent is found and ended", {
	skip: process.platform !== "linux",
}, async () => {
	const world = new World();
	try {
		const script = "setsid sleep 600 >/dev/null 2>&1 & echo started";
		const shell = spawn("sh", ["-c", script], { env: world.env, stdio: ["ignore", "pipe", "inherit"] });
		await once(shell, "close");
		await assert.rejects(world.assertNothingLeft(100), /1 processes remained[\s\S]*sleep 600/);
		await world.assertNothingLeft(0);
	} finally {
		await world.close();
	}
});
