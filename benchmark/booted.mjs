/**
 * Stands where a run starts its pi: boots the real one as it would have been booted, in RPC mode, and answers with what
 * that cost: the command line, the environment, the files and the sandbox are those of a run.
 * `BENCH_BOOT` in the environment is a JSON object: `drop` has options to leave out, with their values, the first of each;
 * `fresh` has variables that name a fresh directory.
 * Usage: booted.mjs <Node for pi> <pi's program> <what a run passes to pi…>
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, env } from "node:process";

import { bootCost } from "./boot-cost.mjs";

const [node = "", script = "", ...passed] = argv.slice(2);
const { BENCH_BOOT: wanted = "{}", ...inherited } = env;
const { drop = [], fresh = [] } = JSON.parse(wanted);

/** Whatever protocol the run speaks, what is measured is RPC. @param {string[]} args */
function inRpcMode(args) {
	const rest = [...args];
	const mode = rest.indexOf("--mode");
	if (mode >= 0) rest.splice(mode, 2);
	return ["--mode", "rpc", ...rest.filter((word) => word !== "-p")];
}

/** Without an option and its value. @param {string[]} args @param {string} option */
function without(args, option) {
	const at = args.indexOf(option);
	return at < 0 ? args : args.toSpliced(at, 2);
}

const args = drop.reduce(without, inRpcMode(passed));
const folders = Object.fromEntries(
	fresh.map((/** @type {string} */ name) => [name, mkdtempSync(join(tmpdir(), "fresh-"))]),
);
const cost = await bootCost([node, script, ...args], { cwd: process.cwd(), env: { ...inherited, ...folders } });

env.FAKE_PI_SCENARIO = JSON.stringify([{ say: JSON.stringify(cost) }]);
await import("../fake-pi/fake-pi.mjs");
