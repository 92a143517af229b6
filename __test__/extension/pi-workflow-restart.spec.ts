/** A run of a workflow in real pi whose process dies: the next process continues its session. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

import { startRun, workflows } from "../../native.js";
import { eventually } from "../support/eventually.ts";
import { ModelServer } from "../support/model-server.ts";
import type { ModelRequest } from "../support/requests.ts";
import { call, hang, say } from "../support/steps.ts";
import { newestPi, piCommand } from "../support/versions.ts";
import { World } from "../support/world.ts";

const host = fileURLToPath(new URL("../edge/hosts/keyed-run.mjs", import.meta.url));
const continued = /The process that you worked for ended before you had finished/;

it("a run whose process was killed continues in pi's session, with its task and its work", async (t) => {
	const isContinued = (request: ModelRequest) => continued.test(request.userText);
	const hasRead = (request: ModelRequest) => request.messages.some(({ role }) => role === "tool");
	const server = await ModelServer.start([
		{ when: isContinued, answer: [say("It is a project of no importance.")] },
		{ when: hasRead, answer: [hang()] },
		{ when: () => true, answer: [call("read", { path: "README.md" })] },
	]);
	t.after(() => server.close());
	const world = new World({ baseUrl: server.baseUrl });
	t.after(() => world.close());
	const options = {
		agent: "explorer",
		task: "What is in README.md?",
		cwd: world.cwd,
		agentDir: world.agentDir,
		piCommand: [...piCommand(newestPi)],
		env: world.env,
		workflow: { id: "readme", key: "what" },
	};
	const env = { ...process.env, ...world.env };
	const program = spawn(process.execPath, [host, JSON.stringify(options)], {
		stdio: ["ignore", "ignore", "inherit"],
		env,
	});
	await server.waitFor(hasRead, 60_000);
	// The next process finds the session once the state is stored.
	await eventually(async () => (await workflows(options))[0]?.runs[0]?.state === "running", "the stored state");
	program.kill("SIGKILL");
	await once(program, "exit");
	const ended = await startRun(options).result();
	const [run] = ended.details.results;
	assert.equal(run?.output, "It is a project of no importance.", ended.content[0]?.text);
	const last = server.requests.find(isContinued) ?? assert.fail("the session was continued");
	assert.match(last.wholeUserText, /What is in README\.md\?/);
	assert.ok(hasRead(last), "the child knows what it has read");
	assert.match(run?.diagnostics?.join("\n") ?? "", /the run continued in its session/);
	const again = await startRun(options).result();
	assert.deepEqual([again.details.results[0]?.output, again.details.results[0]?.reused], [run?.output, true]);
	assert.equal(server.requests.filter(isContinued).length, 1);
	assert.deepEqual(server.problems, []);
});
