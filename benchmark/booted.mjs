/**
 * Replaces pi in a run: boots the real pi with the command line, environment, files and sandbox of the run, but in RPC
 * mode, and answers with the cost of the boot.
 *
 * `BENCH_BOOT` in the environment is a JSON object. `drop` lists options to remove with their values, the first
 * occurrence of each. `fresh` lists variables that get a fresh directory.
 *
 * Usage: booted.mjs <Node for pi> <pi's program> <the run's arguments for pi…>
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, env } from "node:process";

import { bootCost } from "./boot-cost.mjs";

const [node = "", script = "", ...passed] = argv.slice(2);
const { BENCH_BOOT: wanted = "{}", ...inherited } = env;
const { drop = [], fresh = [] } = JSON.parse(wanted);

/** Replaces the run's protocol by RPC, which is measured. @param {string[]} args */
function inRpcMode(args) {
	const rest = [...args];
	const mode = rest.indexOf("--mode");
	if (mode >= 0) rest.splice(mode, 2);
	return ["--mode", "rpc", ...rest.filter((word) => word !== "-p")];
}

/** Removes an option and its value. @param {string[]} args @param {string} option */
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
