#!/usr/bin/env node
/**
 * Plays four acts in real pi with this extension: parallel tasks, a background task, a write that the kernel refuses,
 * and a killed pi. This file does the setup and runs on any supported Node; the demo itself (`demo/main.ts`) runs on
 * the Node that runs pi.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";

import { newestPi, root } from "../scripts/lib/places.mjs";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";
import { setUp } from "../scripts/setup.mjs";

const help = `npm run demo [-- options]

Four acts in real pi ${newestPi} on this repository: three children side by side of which one fails, a result that
arrives from the background, a write that the kernel refuses, and a pi that is killed with nothing left running.
The model is scripted and on loopback: no account, no network once everything is installed, nothing outside this
folder. It takes less than a minute once the clone is set up.

  --tui    one delegation in pi's own interface, with the live card (leave it with Ctrl-D)
  --live   with your own pi configuration and model instead of the scripted ones; this costs what your model costs
  --help   this text
`;

await runMain(async () => {
	const options = process.argv.slice(2);
	if (options.includes("--help") || options.includes("-h")) {
		process.stdout.write(help);
		return 0;
	}
	const unknown = options.find((option) => !["--tui", "--live"].includes(option));
	if (unknown) throw new SetupProblem(`Unknown option of the demo: ${unknown}.`, help);
	if (options.includes("--tui") && !(process.stdout.isTTY && process.stdin.isTTY)) {
		throw new SetupProblem("--tui needs a terminal.", "Run it in a terminal, or without --tui for plain text.");
	}
	const { node } = await setUp({ pi: [newestPi] });
	return await runDemo(node, options);
});

/**
 * @param {string} node
 * @param {string[]} options
 * @returns {Promise<number>} the exit code
 */
function runDemo(node, options) {
	const quiet = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--disable-warning=ExperimentalWarning"];
	const demo = spawn(node, [...quiet, join(root, "tools", "demo", "main.ts"), ...options], {
		cwd: root,
		stdio: "inherit",
	});
	// The demo is in the same process group, so Ctrl-C reaches it as well. It cleans up, and this process waits for it.
	process.on("SIGINT", () => {});
	for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => demo.kill(signal));
	return new Promise((resolve, reject) => {
		demo.once("error", reject);
		demo.once("close", (code) => resolve(code ?? 1));
	});
}
