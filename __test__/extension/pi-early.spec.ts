/** In real pi: a child that is booted while its call still arrives, and the end of an unused one. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathsBelow } from "../support/files.ts";
import {
	delegate,
	detailsOf,
	eventually,
	finish,
	hang,
	lastEnd,
	type ModelRequest,
	makeGate,
	newestPi,
	piVersions,
	type RpcSession,
	Stage,
	type Step,
	say,
	startRpc,
	survivors,
	type ToolEnd,
	textOf,
	until,
} from "../support/pi.ts";
import { piece } from "../support/pieces.ts";
import { allows } from "../support/warden.ts";

/** Says that a child is up, with its process id. */
const witness = `import { mkdirSync, writeFileSync } from "node:fs";
export default () => {
	const { env, pid } = process;
	if (!env.PI_SUBAGENT_CHILD) return;
	mkdirSync(env.HOME + "/children", { recursive: true });
	writeFileSync(env.HOME + "/children/" + pid, "");
};
`;

/** A call whose arguments stop after `head` until the test goes on. */
interface Scene {
	tool: string;
	head: string;
	tail: string;
	/** Children that are up by then. */
	booted: number;
}

const scenes: Record<string, Scene> = {
	used: { tool: "subagent", head: '{"agent":"explorer","task":', tail: '"say hello"}', booted: 1 },
	several: {
		tool: "subagent_parallel",
		head: '{"tasks":[{"agent":"explorer","task":"say one"},{"agent":"reviewer","task":',
		tail: '"say two"}]}',
		booted: 2,
	},
	invalid: { tool: "subagent", head: '{"agent":"explorer","task":', tail: "{}}", booted: 1 },
	different: {
		tool: "subagent",
		head: '{"agent":"explorer","task":',
		tail: '"","agent":"tester","task":"say other"}',
		booted: 1,
	},
};

for (const version of piVersions) {
	describe(`a child booted early in pi ${version}`, () => {
		let stage: Stage;
		let rpc: RpcSession;
		let seen = 0;
		/** For facts that do not depend on pi, the newest version represents all. */
		const isNewest = version === newestPi;
		const gates = new Map(Object.keys(scenes).map((word) => [word, makeGate()]));
		/** The ended run that gets messages, and the gate of the second one. */
		const continued = { run: "", session: "", gate: makeGate() };

		before(async () => {
			const children: Record<string, (request: ModelRequest) => Step[]> = {
				endless: () => [piece(0, { id: "endless", name: "subagent", args: '{"agent":"explorer","task":' }), hang()],
				unsent: () => [piece(0, { id: "unsent", name: "sessions_send", args: toRun() }), hang()],
				sent: ({ toolAnswers }) => {
					if (toolAnswers.length > 0) return [say("Done.")];
					const first = piece(0, { id: "sent", name: "sessions_send", args: toRun() });
					const tail = '"say again","timeoutSeconds":60}';
					return [first, until(continued.gate.opened), piece(0, { args: tail }), finish("tool_calls")];
				},
			};
			const toRun = () => `{"sessionKey":"${continued.run}","message":`;
			for (const [word, { tool, head, tail }] of Object.entries(scenes)) {
				const gate = gates.get(word) ?? assert.fail();
				children[word] = ({ toolAnswers }) => {
					if (toolAnswers.length > 0) return [say("Done.")];
					const first = piece(0, { id: word, name: tool, args: head });
					return [first, until(gate.opened), piece(0, { args: tail }), finish("tool_calls")];
				};
			}
			stage = await Stage.open({ version, children });
			configure({});
			rpc = startRpc(stage.world);
		});

		after(() => stage.close());

		function configure(more: Record<string, unknown>): void {
			const inheritExtensions = [stage.world.writeAgentDir("witness.ts", witness)];
			// The sandbox would refuse the witness's file.
			stage.configure({ sandbox: "off", inheritExtensions, ...more });
		}

		/** Children that have come up since the last call. */
		function fresh(): number {
			const folder = join(stage.world.home, "children");
			const all = existsSync(folder) ? readdirSync(folder).length : 0;
			const since = all - seen;
			seen = all;
			return since;
		}

		function up(): number {
			const folder = join(stage.world.home, "children");
			return (existsSync(folder) ? readdirSync(folder).length : 0) - seen;
		}

		function asked(from: number): string[] {
			return stage.server.requests.slice(from).flatMap((request) => (request.isChild ? [request.userText] : []));
		}

		/** Directories of runs, wherever they are kept. */
		function runDirectories(): string[] {
			const names = pathsBelow(stage.world.agentDir);
			return names.filter((name) => /(?:^|\/)[0-9a-f]{8}$/.test(name)).sort();
		}

		/** Plays a scene; returns the end of its call and the children's requests. */
		async function play(word: string): Promise<{ end: ToolEnd; asked: string[] }> {
			const { tool, booted } = scenes[word] ?? assert.fail();
			const [from, events] = [stage.server.requests.length, rpc.log.events.length];
			await rpc.send({ type: "prompt", message: word });
			await eventually(() => up() === booted, `the start of ${booted} children before the call is complete`);
			assert.deepEqual(asked(from), [], "a child does nothing before its prompt");
			gates.get(word)?.open();
			await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, events);
			const end = rpc.log.toolEnds(tool).at(-1) ?? assert.fail("the call has not ended");
			return { end, asked: asked(from) };
		}

		async function onlyPiIsLeft(): Promise<void> {
			await eventually(() => survivors(stage.world.mark).length === 1, "the end of all processes except pi");
		}

		/** The files of a child go once it has gone. */
		async function nothingIsLeftBeside(before: string[]): Promise<void> {
			await eventually(() => runDirectories().join() === before.join(), "the removal of the child's files");
		}

		test("does the task of its call", async () => {
			const played = await play("used");
			assert.deepEqual([textOf(played.end), played.end.isError], ["hello", false]);
			assert.deepEqual(played.asked, ["say hello"]);
			assert.equal(fresh(), 1, "no other child was started");
			const [run] = detailsOf(played.end).results;
			assert.ok(existsSync(run?.sessionFile ?? ""), "the session file is kept");
			await onlyPiIsLeft();
		});

		test("does one of several tasks", async () => {
			const played = await play("several");
			assert.deepEqual(
				detailsOf(played.end).results.map(({ agent, output }) => [agent, output]),
				[
					["explorer", "one"],
					["reviewer", "two"],
				],
			);
			assert.equal(fresh(), 2);
			await onlyPiIsLeft();
		});

		test("is ended without a trace when its call is invalid", async () => {
			const before = runDirectories();
			const played = await play("invalid");
			assert.match(textOf(played.end), /^`task` is empty\./);
			await onlyPiIsLeft();
			assert.deepEqual([played.asked, fresh()], [[], 1]);
			await nothingIsLeftBeside(before);
		});

		test("is ended when its call is for another agent", {
			skip: !isNewest && "one pi is as good as another",
		}, async () => {
			const played = await play("different");
			assert.equal(detailsOf(played.end).results[0]?.agent, "tester");
			assert.deepEqual([textOf(played.end), played.asked, fresh()], ["other", ["say other"], 2]);
			await onlyPiIsLeft();
		});

		test("continues an ended run in its session, and leaves the session as it was if it is not used", async () => {
			await rpc.prompt(delegate({ agent: "explorer", task: "say before" }));
			const { runId, results } = detailsOf(lastEnd(rpc.log));
			const session = results[0]?.sessionFile ?? assert.fail("the run has no session");
			await onlyPiIsLeft();
			fresh();
			continued.session = session;
			continued.run = runId ?? assert.fail("the run has no id");
			const [bytes, directories] = [readFileSync(session, "utf8"), runDirectories()];

			await rpc.send({ type: "prompt", message: "unsent" });
			await eventually(() => up() === 1, "the start of a child");
			await rpc.send({ type: "abort" });
			await onlyPiIsLeft();
			await nothingIsLeftBeside(directories);
			assert.deepEqual([readFileSync(session, "utf8"), fresh()], [bytes, 1]);

			const [from, events] = [stage.server.requests.length, rpc.log.events.length];
			await rpc.send({ type: "prompt", message: "sent" });
			await eventually(() => up() === 1, "the start of a child before the call is complete");
			assert.deepEqual([asked(from), readFileSync(session, "utf8")], [[], bytes]);
			continued.gate.open();
			await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, events);
			const end = rpc.log.toolEnds("sessions_send").at(-1) ?? assert.fail("the call has not ended");
			assert.match(textOf(end), /"status": ?"ok"/);
			const request = stage.server.requests.slice(from).find(({ isChild }) => isChild);
			assert.equal(request?.userText, "say again");
			assert.match(JSON.stringify(request), /say before/, "the child knows the session");
			assert.equal(fresh(), 1, "no other child was started");
			await onlyPiIsLeft();
			await nothingIsLeftBeside(directories);
			const after = readFileSync(session, "utf8");
			assert.ok(after.startsWith(bytes) && after.includes("say again"));
		});

		test("continues an ended run from within its sandbox", {
			skip: !allows("landlock") && "there is no sandbox here",
		}, async () => {
			stage.configure({ sandbox: "required" });
			continued.gate = makeGate();
			const directories = runDirectories();
			const [bytes, { ino }] = [readFileSync(continued.session, "utf8"), statSync(continued.session)];
			const events = rpc.log.events.length;
			await rpc.send({ type: "prompt", message: "sent" });
			await eventually(() => runDirectories().length > directories.length, "the directory of the early child");
			continued.gate.open();
			await rpc.log.waitFor(({ type }) => type === "agent_settled", undefined, events);
			assert.match(textOf(rpc.log.toolEnds("sessions_send").at(-1) ?? assert.fail()), /"status": ?"ok"/);
			await onlyPiIsLeft();
			await nothingIsLeftBeside(directories);
			const added = readFileSync(continued.session, "utf8").slice(bytes.length);
			assert.ok(added.includes("say again"));
			assert.notEqual(statSync(continued.session).ino, ino, "the session is the copy of the early child");
			configure({});
		});

		test("waits after a run if configured, and serves one call that would start exactly this child", async () => {
			const before = runDirectories();
			configure({ spare: { count: 1 } });
			const [from, agent] = [stage.server.requests.length, "explorer"];
			const run = async (word: string) => {
				await rpc.prompt(delegate({ agent, task: `say ${word}` }));
				assert.equal(textOf(lastEnd(rpc.log)), word);
			};
			await run("one");
			await eventually(() => up() === 2, "the start of the next spare child");
			await run("two");
			await eventually(() => up() === 3, "the start of the third child");
			if (isNewest) {
				stage.world.write("AGENTS.md", "Be brief.");
				await run("three");
				await eventually(() => up() === 5, "the start of an updated child and of the next spare child");
			}
			const [runs, children] = isNewest ? [3, 5] : [2, 3];
			const asked = stage.childRequests(from);
			assert.deepEqual(
				asked.map(({ userText }) => userText),
				["say one", "say two", "say three"].slice(0, runs),
				"waiting children send no request",
			);
			const knows = asked.map((request) => JSON.stringify(request).includes("Be brief."));
			assert.deepEqual(knows, [false, false, true].slice(0, runs));
			await rpc.send({ type: "new_session" });
			await onlyPiIsLeft();
			assert.deepEqual([fresh(), runDirectories().length], [children, before.length + runs]);
		});

		for (const stop of ["abort", "new_session"]) {
			test(`is ended by ${stop} while its call still arrives`, async () => {
				const before = runDirectories();
				await rpc.send({ type: "prompt", message: "endless" });
				await eventually(() => up() === 1, "the start of a child");
				await rpc.send({ type: stop });
				await onlyPiIsLeft();
				assert.equal(fresh(), 1);
				await nothingIsLeftBeside(before);
			});
		}
	});
}
