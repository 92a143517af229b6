/**
 * From nothing to a first result, as a guide in `docs/launchers/` leads to it: real pi here, real pi there, the engine between them.
 * `npm run test:engines` sets up the engine.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { firstResultOf } from "../../tools/engines/guide.mjs";
import type { FirstResult } from "../../tools/engines/main.mjs";
import {
	delegate,
	lastEnd,
	newestPi,
	onStage,
	piCommand,
	runJson,
	runOf,
	runPrint,
	type Stage,
	say,
	textOf,
} from "../support/pi.ts";

type Guide = FirstResult & ReturnType<typeof firstResultOf>;

function variable(name: string): string {
	return process.env[name] ?? assert.fail(`${name} is not set; run: npm run test:engines`);
}

function parsed<T>(path: string): T {
	return JSON.parse(readFileSync(path, "utf8")) as T;
}

const guide = parsed<Guide>(variable("PI_SUBAGENT_TEST_GUIDE"));
const engine = parsed<Record<string, unknown>>(variable("PI_SUBAGENT_TEST_ENGINE"));

/** Prepares the steps of the guide: a model for pi on the remote machine, and an agent. */
function prepare({ world }: Stage): void {
	if (guide.login) {
		const [program = "", ...args] = guide.login;
		execFileSync(program, args, { env: world.env, input: readFileSync(join(world.agentDir, "models.json")) });
	}
	world.writeAgentDir(`agents/${guide.agent}.md`, guide.file);
}

/** And the project there, and the launcher. */
function follow(stage: Stage): void {
	prepare(stage);
	const { world } = stage;
	const { settings, work } = guide;
	if (work) {
		mkdirSync(work, { recursive: true });
		execFileSync("git", ["clone", "-q", world.cwd], { cwd: work, env: world.env });
	}
	const cwd = settings.cwd && { cwd: work ? settings.cwd.replace("/srv/work", work) : settings.cwd };
	const remotePi = settings.piCommand && { piCommand: piCommand(world.version) };
	stage.configure({ launchers: { [guide.launcher]: { ...engine, ...cwd, ...remotePi } } });
}

test(`the guide leads to a first result in pi ${newestPi}`, async () => {
	await onStage({ ...(guide.address && { address: guide.address }) }, async (stage) => {
		follow(stage);
		const { stdout } = await runPrint(stage.world, "/subagents doctor");
		const found = `\`${guide.launcher}\`: pi ${newestPi} with our guard in `;
		assert.ok(stdout.includes(found), `expected ${found} in:\n${stdout}`);

		const { log } = await runJson(stage.world, delegate({ agent: guide.agent, task: "look around" }));
		const end = lastEnd(log);
		const run = runOf(end);
		assert.equal(run.outcome, "completed", run.error);
		assert.match(textOf(end), /^Folder: .*README\.md.*; title: # A project$/);
		assert.ok(run.sandbox?.reason?.includes(`\`${guide.launcher}\``), "the launcher of the guide started the child");
		assert.equal(stage.childRequests().length, 2, "the remote child sent both requests");
	});
});

const { smallDisk } = guide;
const sshArgs = ["-T", "-o", "BatchMode=yes", "build-box", "--"];
const skip = smallDisk === undefined && "no small disk there";
test("a disk that fills up during a run fails the run, and its output is kept", { skip }, async () => {
	const children = { flood: () => [say("Almost there. "), say("words ".repeat(2 ** 20))] };
	await onStage({ ...(guide.address && { address: guide.address }), children }, async (stage) => {
		prepare(stage);
		for (const protocol of ["rpc", "json"]) {
			stage.configure({ protocol, launchers: { [guide.launcher]: onSmallDisk() } });
			const { log } = await runJson(stage.world, delegate({ agent: guide.agent, task: "flood the disk" }));
			const run = runOf(lastEnd(log));
			assert.equal(run.outcome, "failed", protocol);
			assert.match(run.error ?? "", /no space left on device/, protocol);
			assert.match(run.output ?? "", /^Almost there\. words /, protocol);
			const remaining = execFileSync("ssh", [...sshArgs, "cd; find . -name 'pi-subagent.*'"], {
				env: stage.world.env,
				encoding: "utf8",
			});
			assert.equal(remaining, "", "no file of the run remains on the remote machine");
		}
	});
});

/** The launcher with its session, which lies on a small disk. */
function onSmallDisk(): Record<string, unknown> {
	const { command, ...rest } = engine as { command: string[] };
	const words = command.map((word) => word.replace("{argv}", `TMPDIR='${smallDisk}' {argv}`));
	return { ...rest, command: words, fetch: ["ssh", ...sshArgs, "cat {session}"] };
}
