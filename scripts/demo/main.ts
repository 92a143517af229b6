/** The demo: starts pi, shows the delegation while it runs, prints what came of it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { relative } from "node:path";

import { type JsonResult, piCommand, startJson, type ToolEnd } from "../../__test__/support/pi.ts";
import { durationText, type RunDetails } from "../../index.js";
import { runMain, SetupProblem } from "../lib/problem.mjs";
import { bold, dim, green, red } from "../lib/progress.mjs";
import { LiveView, spent } from "./live-view.ts";
import { prompt } from "./model.ts";
import { liveStage, type Stage, scriptedStage } from "./stage.ts";

/** The scripted delegation takes some ten seconds, a live one as long as the model wants. */
const limitMs = { scripted: 180_000, live: 20 * 60_000 };

const livePrompt = `Use the subagent tool and nothing else: delegate to the agent \`explorer\` this task: ${prompt}`;

let interrupted = false;

const say = (text = "") => process.stdout.write(`${text}\n`);

await runMain(async () => {
	const live = process.argv.includes("--live");
	const stage = live ? liveStage() : await scriptedStage();
	closeOnSignals(stage);
	try {
		if (process.argv.includes("--tui")) return await showInterface(stage, live);
		return await showPlain(stage, live);
	} finally {
		await stage.close();
	}
});

/** Ctrl-C ends everything that the demo has started before it ends the demo. */
function closeOnSignals(stage: Stage): void {
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => {
			interrupted = true;
			process.stderr.write("\nEnding what the demo has started …\n");
			stage.close().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
		});
	}
}

/** pi's own interface, with the live card. */
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
	if (!live && agentDir) say(`The sessions, the child's among them, lie below ${shown(agentDir)}/sessions`);
	return code ?? 1;
}

/** The same in plain text. */
async function showPlain(stage: Stage, live: boolean): Promise<number> {
	say(`${bold("user")}      ${prompt}`);
	let view: LiveView | undefined;
	const { finished, log } = startJson(stage.place, live ? livePrompt : prompt, {
		limitMs: live ? limitMs.live : limitMs.scripted,
		onEvent(event) {
			if (event.toolName !== "subagent") return;
			if (event.type === "tool_execution_start") {
				const { agent, task } = event.args as { agent: string; task: string };
				say(`${bold("pi")}        subagent(${JSON.stringify({ agent, task })})\n`);
				view = new LiveView(process.stdout, agent);
			} else if (event.type === "tool_execution_update") {
				const { details } = event.partialResult as { details?: RunDetails };
				if (details) view?.update(details);
			} else if (event.type === "tool_execution_end") {
				view?.end(event.isError ? red("✗") : green("✓"));
				view = undefined;
			}
		},
	});
	const result = { ...(await finished), log };
	if (interrupted) return 130;
	printResult(result, live);
	return 0;
}

function printResult(result: JsonResult, live: boolean): void {
	const end = result.log.toolEnds("subagent").at(-1);
	if (!end) throw new SetupProblem("pi ended without a delegation.", explanation(result, live));
	const details = end.result.details as RunDetails | undefined;
	const run = details?.results[0];
	say(`\n${bold("result")}`);
	for (const line of textOf(end).split("\n")) say(`  ${line}`);
	if (end.isError || !run) throw new SetupProblem("The delegation failed.", explanation(result, live));
	say();
	say(`${bold("usage")}     ${spent(run.usage, run.model)}  ${durationText(run.durationMs)}`);
	say(`${bold("session")}   ${run.sessionFile ? shown(run.sessionFile) : "none"}`);
	if (run.sessionFile && !existsSync(run.sessionFile)) {
		throw new SetupProblem("The child's session file does not exist.", run.sessionFile);
	}
	say(`${bold("pi")}        ${result.log.answer}`);
	if (!live) say(dim("\nThe live card in pi's own interface: npm run demo -- --tui    Your own model: -- --live"));
}

function explanation(result: JsonResult, live: boolean): string {
	const hint = live ? "Does pi work for you by itself? Start it, choose a model with /model, sign in with /login." : "";
	const said = [hint, result.stderr.trim(), result.log.errorMessage, result.log.answer].filter(Boolean);
	return said.join("\n") || `exit code ${result.code}`;
}

function textOf(end: ToolEnd): string {
	return end.result.content.map(({ text }) => text ?? "").join("\n");
}

/** A path as one types it here. */
function shown(path: string): string {
	const inside = relative(process.cwd(), path);
	return inside.startsWith("..") ? path : inside;
}
