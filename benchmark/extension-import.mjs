/**
 * Measures the time in which pi imports the extension, and an empty one, by pi's own count. The two boots take turns.
 * Usage: extension-import.mjs <Node for pi> <pi's program> <folder> <rounds>
 */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, env, stdout } from "node:process";
import { fileURLToPath } from "node:url";

const [node = "", program = "", folder = "", rounds = "1"] = argv.slice(2);

const empty = join(folder, "empty.mjs");
for (const name of ["home", "tmp", "project"]) mkdirSync(join(folder, name), { recursive: true });
writeFileSync(empty, "export default function () {}\n");
const modules = { ours: fileURLToPath(new URL("../extensions/pi-subagent-native/index.js", import.meta.url)), empty };

/** Without the variables that users set for their own pi or Node. */
const inherited = Object.entries(env).filter(([name]) => !/^(PI_|NODE_)/.test(name));
const places = { HOME: join(folder, "home"), PI_CODING_AGENT_DIR: join(folder, "home"), TMPDIR: join(folder, "tmp") };
const environment = { ...Object.fromEntries(inherited), ...places, PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_TIMING: "1" };

/**
 * Returns the milliseconds from pi's request for the module to its end. The first extension of a pi also pays for pi's
 * loader.
 *
 * @param {string} module
 * @returns {Promise<number>}
 */
async function importMs(module) {
	const args = [program, "--mode", "rpc", "--no-session", "--no-extensions", "-e", module];
	const pi = spawn(node, args, { cwd: join(folder, "project"), env: environment, stdio: ["pipe", "ignore", "pipe"] });
	let output = "";
	pi.stderr.setEncoding("utf8").on("data", (text) => {
		output += text;
	});
	pi.stdin.end('{"id":"up","type":"get_state"}\n');
	await new Promise((resolve, reject) => pi.once("error", reject).once("close", resolve));
	const ms = output
		.split("\n")
		.find((line) => line.includes(`${module} module import: `))
		?.match(/(\d+)ms/)?.[1];
	if (ms === undefined) throw new Error(`pi does not say how long it took: ${output}`);
	return Number(ms);
}

/** @type {Record<string, number[]>} */
const found = { ours: [], empty: [] };
// Once before, so that compiled code is cached.
for (const module of Object.values(modules)) await importMs(module);
for (let round = 0; round < Number(rounds); round++) {
	for (const [name, module] of Object.entries(modules)) found[name]?.push(await importMs(module));
}
stdout.write(`${JSON.stringify(found)}\n`);
