#!/usr/bin/env node
/**
 * Writes `docs/cards.md`, `docs/panel.md`, `docs/day.md`, `docs/writing-day.md` and their pictures. The pictures show
 * real pi in tmux with this extension and a scripted model. This file does the setup and runs on any supported Node;
 * the work (`captures/main.ts`) runs on the Node that runs pi.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";

import { newestPi, root } from "../scripts/lib/places.mjs";
import { runMain, SetupProblem } from "../scripts/lib/problem.mjs";
import { probe } from "../scripts/lib/programs.mjs";
import { setUp } from "../scripts/setup.mjs";

const help = `npm run captures [-- scene …]

Draws every state of the cards, the panel and the widget in real pi ${newestPi}, dark, light and narrow, and writes
docs/cards.md, docs/panel.md, docs/day.md and docs/writing-day.md with their pictures.
With names of scenes, day or writing-day only their pictures are written. Takes some minutes; needs tmux, no account and no network.
Times, ids and paths on the pictures are replaced by ones that do not change.

  --help   this text
`;

await runMain(async () => {
	const args = process.argv.slice(2);
	if (args.includes("--help") || args.includes("-h")) {
		process.stdout.write(help);
		return 0;
	}
	const unknown = args.find((word) => word.startsWith("-"));
	if (unknown) throw new SetupProblem(`Unknown option: ${unknown}.`, help);
	if (!probe("tmux", ["-V"])) {
		const how =
			"pi runs in it while its screen is read. Debian and Ubuntu: sudo apt install tmux; macOS: brew install tmux";
		throw new SetupProblem("tmux is missing.", how);
	}
	const { node } = await setUp({ pi: [newestPi] });
	const quiet = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--disable-warning=ExperimentalWarning"];
	const main = spawn(node, [...quiet, join(root, "tools", "captures", "main.ts"), ...args], {
		cwd: root,
		stdio: "inherit",
	});
	// The child is in the same process group, so Ctrl-C reaches it as well. It cleans up, and this process waits for it.
	process.on("SIGINT", () => {});
	for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => main.kill(signal));
	return await new Promise((resolve, reject) => {
		main.once("error", reject);
		main.once("close", (code) => resolve(code ?? 1));
	});
});
