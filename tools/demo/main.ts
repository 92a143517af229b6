/** Starts pi for the demo, and shows delegations while they run. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { relative } from "node:path";

import { piCommand } from "../../__test__/support/pi.ts";
import { runMain, SetupProblem } from "../../scripts/lib/problem.mjs";
import { playActs } from "./acts.ts";
import { actsModel } from "./acts-model.ts";
import { demoModel, prompt } from "./model.ts";
import { liveStage, type Stage, scriptedStage } from "./stage.ts";

const livePrompt = `Use the subagent tool and nothing else: delegate to the agent \`explorer\` this task: ${prompt}`;

let interrupted = false;

await runMain(async () => {
	const live = process.argv.includes("--live");
	const stage = live ? liveStage() : await scriptedStage(process.argv.includes("--tui") ? demoModel : actsModel);
	closeOnSignals(stage);
	try {
		if (process.argv.includes("--tui")) return await showInterface(stage, live);
		await playActs(stage, live);
		return 0;
	} catch (error) {
		if (interrupted) return 130;
		if (!live || !(error instanceof Error)) throw error;
		throw new SetupProblem(error.message, "The demo uses your own pi and model. Check that `pi -p hello` answers.");
	} finally {
		await stage.close();
	}
});

/** Ends everything that the demo has started on Ctrl-C, before the demo itself ends. */
function closeOnSignals(stage: Stage): void {
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => {
			interrupted = true;
			process.stderr.write("\nEnding the processes of the demo …\n");
			stage.close().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
		});
	}
}

/** Shows pi's own interface, with the live card. */
async function showInterface(stage: Stage, live: boolean): Promise<number> {
	const { place } = stage;
	const [node, script] = piCommand(place.version);
	const pi = spawn(node, [script, ...place.extensionArgs, live ? livePrompt : prompt], {
		cwd: place.cwd,
		env: { ...place.env, TERM: process.env.TERM ?? "xterm-256color" },
		stdio: "inherit",
	});
	const [code] = (await once(pi, "close")) as [number | null];
	const agentDir = place.env.PI_CODING_AGENT_DIR;
	if (!live && agentDir) {
		process.stdout.write(`The sessions, including the child's, are in ${shown(agentDir)}/sessions\n`);
	}
	return code ?? 1;
}

/** Returns a path relative to the current directory, if it is inside. */
function shown(path: string): string {
	const inside = relative(process.cwd(), path);
	return inside.startsWith("..") ? path : inside;
}
