/**
 * From nothing to a first result, as a guide in `docs/launchers/` leads to it: real pi here, real pi there, the engine between them.
 * `npm run test:engines` sets up the engine.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { firstResultOf } from "../../scripts/engines/guide.mjs";
import type { FirstResult } from "../../scripts/engines/main.mjs";
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

/** What the guide has its reader do: a model for pi there, the project there, the launcher, the agent. */
function follow(stage: Stage): void {
	const { world } = stage;
	const { settings, login, work } = guide;
	if (login) {
		const [program = "", ...args] = login;
		execFileSync(program, args, { env: world.env, input: readFileSync(join(world.agentDir, "models.json")) });
	}
	if (work) {
		mkdirSync(work, { recursive: true });
		execFileSync("git", ["clone", "-q", world.cwd], { cwd: work, env: world.env });
	}
	const cwd = settings.cwd && { cwd: work ? settings.cwd.replace("/srv/work", work) : settings.cwd };
	const piThere = settings.piCommand && { piCommand: piCommand(world.version) };
	stage.configure({ launchers: { [guide.launcher]: { ...engine, ...cwd, ...piThere } } });
	world.writeAgentDir(`agents/${guide.agent}.md`, guide.file);
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
		assert.ok(run.sandbox?.reason?.includes(`\`${guide.launcher}\``), "it was that launcher's");
		assert.equal(stage.childRequests().length, 2, "its model was asked from there");
	});
});
