#!/usr/bin/env node
/**
 * A stand-in for pi that plays a scenario. It has the same command line and the same stream of events, but no model.
 * See README.md for the scenarios and their syntax.
 */

import { existsSync, readFileSync } from "node:fs";
import { readToEnd } from "./pipe.mjs";
import { limitLifetime } from "./processes.mjs";
import { Refused } from "./queue.mjs";
import { serve } from "./rpc.mjs";
import { log, Stage } from "./stage.mjs";
import { bootOf, check, isDeaf, playAll, playScenario } from "./steps.mjs";
import { newest, Wire } from "./wire.mjs";

/** pi's options with a value, so that the value is not read as the task. */
const withValue = new Set(
	`--mode --provider --model --api-key --system-prompt --append-system-prompt --name -n --session --session-id --fork
	--session-dir --models --tools -t --exclude-tools -xt --thinking --export --extension -e --skill --prompt-template
	--theme --use-theme --tui-mode`.split(/\s+/),
);

/** pi's exit codes after a signal. */
const politeExits = { SIGTERM: 143, SIGHUP: 129 };

/** @param {string[]} args */
function parseArguments(args) {
	/** @type {Record<string, string>} */
	const values = {};
	const messages = [];
	let remaining = [...args];
	while (remaining.length > 0) {
		const [word = "", next = ""] = remaining;
		const takesValue = withValue.has(word);
		if (word === "--") messages.push(...remaining.splice(0).slice(1));
		else if (takesValue) values[word] = next;
		else if (word.startsWith("-")) values[word] = "";
		else messages.push(word);
		remaining = remaining.slice(takesValue ? 2 : 1);
	}
	return { values, messages };
}

/**
 * Returns the steps to play: an inline array, the content of a file, or a built-in scenario.
 *
 * @param {string} wanted
 */
function scenario(wanted) {
	const builtIn = JSON.parse(readFileSync(new URL("scenarios.json", import.meta.url), "utf8"));
	const isInline = wanted.trimStart().startsWith("[");
	if (!isInline && !existsSync(wanted) && !Object.hasOwn(builtIn, wanted)) {
		throw new Error(`\`${wanted}\` is neither a file nor a scenario. Scenarios: ${Object.keys(builtIn).join(", ")}`);
	}
	const isFile = !isInline && existsSync(wanted);
	const steps = isInline ? JSON.parse(wanted) : isFile ? JSON.parse(readFileSync(wanted, "utf8")) : builtIn[wanted];
	check(steps);
	return steps;
}

async function main() {
	const { values, messages } = parseArguments(process.argv.slice(2));
	if ("--version" in values || "-v" in values) {
		console.log(process.env.FAKE_PI_VERSION ?? newest);
		return;
	}
	limitLifetime();
	const mode = values["--mode"] ?? "text";
	log({ pid: process.pid, cwd: process.cwd(), argv: process.argv.slice(2) });
	const steps = scenario(process.env.FAKE_PI_SCENARIO || "answers");
	if (mode !== "json" && mode !== "rpc") throw new Error("fake-pi only supports `--mode json` and `--mode rpc`");
	for (const [signal, code] of Object.entries(politeExits)) process.on(signal, () => process.exit(code));
	const sessionFile = "--no-session" in values ? undefined : values["--session"];
	const wire = new Wire(process.env.FAKE_PI_VERSION ?? newest);
	await playAll(new Stage({ mode, task: "", wire }), bootOf(steps));
	if (mode === "rpc" && !isDeaf(steps)) {
		await serve(steps, sessionFile);
		return;
	}
	const piped = isDeaf(steps) ? "" : await readToEnd();
	const task = [piped, ...messages].filter((text) => text !== "").join("\n");
	log({ task });
	await playScenario(new Stage({ mode, task, sessionFile, wire }), steps);
}

try {
	await main();
	// Processes that the scenario remaining behind do not delay the exit.
	process.exit();
} catch (error) {
	if (error instanceof Refused) {
		console.error(error.message);
		process.exit(1);
	}
	console.error(`fake-pi: ${error instanceof Error ? error.message : error}`);
	process.exit(64);
}
