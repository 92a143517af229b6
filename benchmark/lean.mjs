/**
 * Measures the cost of booting a child, and of booting pi with its default options in the same home. The ways take
 * turns, with one boot each.
 *
 * Usage: lean.mjs <Node for pi> <pi's program> <folder> <rounds> <warm|cold>. Linux only. `warm` boots each way once
 * before, so that compiled code is cached.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv, env, execPath } from "node:process";
import { fileURLToPath } from "node:url";

import { makeAgentHome, model, provider } from "./agent-home.mjs";
import { bootCost } from "./boot-cost.mjs";

const [node = "", script = "", folder = "", rounds = "1", before = "warm"] = argv.slice(2);
const standIn = fileURLToPath(new URL("booted.mjs", import.meta.url));
const { startRun } = createRequire(import.meta.url)("../native.js");

const cwd = join(folder, "project");
/** The user's temporary directory, with pi's cache. A sandboxed child has a directory of its own. */
const temporary = join(folder, "tmp");
for (const path of [join(cwd, ".git"), temporary]) mkdirSync(path, { recursive: true });

const homes = { bare: home("bare"), full: home("full") };

/** @param {"bare" | "full"} kind */
function home(kind) {
	const root = join(folder, kind);
	const agentDir = join(root, ".pi", "agent");
	const theme = readFileSync(join(dirname(script), "..", "modes", "interactive", "theme", "dark.json"), "utf8");
	makeAgentHome(agentDir, kind, { node, theme });
	return { root, agentDir };
}

/**
 * Returns the environment without the variables that users set for their own pi or Node.
 *
 * @param {{ root: string, agentDir: string }} home
 */
function environment({ root, agentDir }) {
	const inherited = Object.entries(env).filter(([name]) => !/^(PI_|NODE_)/.test(name));
	const network = { PI_OFFLINE: "1", PI_TELEMETRY: "0" };
	return { ...Object.fromEntries(inherited), HOME: root, PI_CODING_AGENT_DIR: agentDir, TMPDIR: temporary, ...network };
}

/** Boots pi like a user does. @param {keyof typeof homes} kind */
function byHand(kind) {
	return () => bootCost([node, script, "--mode", "rpc"], { cwd, env: environment(homes[kind]) });
}

/**
 * Boots pi like a run does.
 *
 * @param {"off" | "required"} sandbox
 * @param {object} [changes] see `booted.mjs`
 * @returns {() => Promise<import("./boot-cost.mjs").BootCost>}
 */
function asChild(sandbox, changes = {}) {
	return async () => {
		const result = await startRun({
			agent: "explorer",
			task: "Look around.",
			cwd,
			agentDir: homes.full.agentDir,
			model: `${provider}/${model}`,
			config: { sandbox: { mode: sandbox } },
			env: { BENCH_BOOT: JSON.stringify(changes) },
			piCommand: [execPath, standIn, node, script],
		}).result();
		const [{ error, output }] = result.details.results;
		if (error) throw new Error(`the run failed: ${error}`);
		return JSON.parse(output);
	};
}

/** @type {Record<string, () => Promise<import("./boot-cost.mjs").BootCost>>} */
const ways = {
	byHand: byHand("full"),
	byHandInBareHome: byHand("bare"),
	child: asChild("off"),
	sandboxed: asChild("required"),
	coldCache: asChild("required", { fresh: ["NODE_COMPILE_CACHE"] }),
	unguarded: asChild("required", { drop: ["-e"] }),
};

/**
 * The steps of a boot before pi's own work, each as a program that does the step and all before it, and ends.
 *
 * @type {Record<string, () => number>}
 */
const steps = {
	node: ending(["-e", "0"]),
	modules: ending([script, "--version"]),
	uncompiled: ending([script, "--version"], { NODE_DISABLE_COMPILE_CACHE: "1" }),
};

/** Measures the time in which a program of the pi's Node ends. @param {string[]} args @param {object} [more] */
function ending(args, more) {
	return () => {
		const began = performance.now();
		const { status } = spawnSync(node, args, { cwd, env: { ...environment(homes.bare), ...more }, stdio: "ignore" });
		if (status !== 0) throw new Error(`${args.join(" ")} failed (${status})`);
		return performance.now() - began;
	};
}

// The environment for the runs of this process.
for (const name of Object.keys(env)) if (/^(PI_|NODE_)/.test(name)) delete env[name];
Object.assign(env, environment(homes.full));

/** @type {Record<string, import("./boot-cost.mjs").BootCost[]>} */
const found = {};
/** @type {Record<string, number[]>} */
const stepsMs = {};
if (before === "warm") {
	for (const boot of Object.values(ways)) await boot();
	for (const ended of Object.values(steps)) ended();
}
for (let round = 0; round < Number(rounds); round++) {
	for (const [name, ended] of Object.entries(steps)) {
		stepsMs[name] ??= [];
		stepsMs[name].push(ended());
	}
	for (const [name, boot] of Object.entries(ways)) {
		found[name] ??= [];
		found[name].push(await boot());
	}
}
rmSync(temporary, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify({ ways: found, steps: stepsMs })}\n`);
