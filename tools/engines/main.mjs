/** Plays the scenes through one engine after the other, and prints the engines that were played or skipped. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { newestPi, root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { coreFeatures, endRunning, pathWith, run } from "../../scripts/lib/programs.mjs";
import { note } from "../../scripts/lib/progress.mjs";
import { setUp } from "../../scripts/setup.mjs";
import { bubblewrap } from "./bubblewrap.mjs";
import { firstResultOf, trials } from "./guide.mjs";
import { listeningBeyondLoopback, processesNaming } from "./leftovers.mjs";
import { Missing } from "./missing.mjs";
import { openssh } from "./openssh.mjs";
import { podman } from "./podman.mjs";
import { command, programsOf, wrap } from "./programs.mjs";
import { slurm } from "./slurm.mjs";

/**
 * The parts of the first result that depend on the engine and are not in its guide.
 *
 * @typedef {object} FirstResult
 * @property {string} launcher its name in the guide
 * @property {string[]} [login] a command that writes its standard input into pi's `models.json` there; without it, pi
 * reads the local file
 * @property {string} [work] the folder that the guide calls `/srv/work`
 * @property {string} [smallDisk] a folder there on a disk of a few MB
 * @property {string} [address] the local machine's address as seen from there, if it is not the loopback's
 */

/**
 * A running engine.
 *
 * @typedef {object} Running
 * @property {Record<string, unknown>} launcher the launcher's configuration
 * @property {string[]} [tests] additional tests for this engine
 * @property {Record<string, string>} [env] the environment of those tests
 * @property {FirstResult} first
 * @property {string[]} [pi] the command that starts a real pi there, if it differs from the local one
 * @property {string[]} [within] a command that runs another one on the host from which the engine can be reached, if
 * that is not the local host
 * @property {() => Promise<void>} stop
 */

/**
 * @typedef {object} Engine
 *
 * @property {string} page its guide in `docs/launchers/`
 * @property {string[]} programs the first words of the guide's commands
 * @property {(place: string) => Promise<Running>} start throws a `Missing` if the engine is not available
 */

/** @type {Record<string, Engine>} */
export const engines = { openssh, slurm, bubblewrap, podman };

/** The time within which an engine's processes must have exited after it was stopped. */
const exitLimitMs = 5_000;

/** @param {string[]} asked */
export async function playAll(asked) {
	const unknown = asked.find((name) => !(name in engines));
	if (unknown) throw new SetupProblem(`Unknown engine: ${unknown}.`, `Engines: ${Object.keys(engines).join(", ")}`);
	const { node, pi } = await setUp({ pi: [newestPi] });
	/** @type {string[]} */
	const summary = [];
	let failed = 0;
	for (const name of asked.length > 0 ? asked : Object.keys(engines)) {
		const problem = await withEngine(name, (running, place) =>
			play(name, running, place, [node, pi[newestPi] ?? ""]),
		).catch((error) => (error instanceof Error ? error.message : String(error)));
		if (problem === undefined) summary.push(`${name}: played`);
		else if (problem instanceof Missing) summary.push(`${name}: skipped, ${problem.message}`);
		else {
			failed += 1;
			summary.push(`${name}: failed, ${problem}`);
		}
	}
	note(`\n${summary.join("\n")}`);
	return failed > 0 ? 1 : 0;
}

/**
 * Runs an engine while `use` works with it.
 *
 * @template T
 * @param {string} name
 * @param {(running: Running, place: string) => Promise<T>} use
 * @returns {Promise<T | Missing>}
 */
export async function withEngine(name, use) {
	const engine = /** @type {Engine} */ (engines[name]);
	const place = mkdtempSync(join(tmpdir(), `pi-subagent-${name}-`));
	process.on("SIGINT", endRunning);
	process.on("SIGTERM", endRunning);
	/** @type {Running | undefined} */
	let running;
	try {
		running = await engine.start(place);
		const found = await use(running, place);
		const listening = listeningBeyondLoopback(place);
		if (listening.length > 0)
			throw new Error(`a program listens on another address than the loopback: ${listening.join("; ")}`);
		return found;
	} catch (error) {
		if (error instanceof Missing) return error;
		throw error;
	} finally {
		try {
			await running?.stop();
			await waitForExits(place);
		} finally {
			process.removeListener("SIGINT", endRunning);
			process.removeListener("SIGTERM", endRunning);
			rmSync(place, { recursive: true, force: true });
		}
	}
}

/**
 * Throws if an engine has left processes behind. Processes that are exiting get some time.
 *
 * @param {string} place
 */
async function waitForExits(place) {
	const limit = Date.now() + exitLimitMs;
	for (let remaining = processesNaming(place); remaining.length > 0; remaining = processesNaming(place)) {
		if (Date.now() > limit) throw new Error(`processes survived the end of the engine: ${remaining.join("; ")}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

/**
 * Plays one engine, and returns its failure.
 *
 * @param {string} name
 * @param {Running} running
 * @param {string} place
 * @param {[node: string, script: string]} pi the command that starts a real pi here
 * @returns {Promise<string | undefined>}
 */
async function play(name, running, place, pi) {
	const file = join(place, "launcher.json");
	writeFileSync(file, JSON.stringify(running.launcher));
	// A guide that gives no path to pi expects it in PATH.
	wrap(place, "pi", pi);
	const { page, programs } = /** @type {Engine} */ (engines[name]);
	const env = { PATH: pathWith(programsOf(place)), PI_SUBAGENT_TEST_ENGINE: file };
	note(`${name}: the commands of docs/launchers/${page}`);
	try {
		for (const line of trials(page, programs)) {
			note(`    $ ${line}`);
			const [program = "", ...args] = [...(running.within ?? []), "sh", "-ec", line];
			command(program, args, { env: { ...process.env, ...env } });
		}
	} catch (error) {
		return error instanceof Error ? error.message : String(error);
	}
	note(`${name}: the first result in pi`);
	const first = await playFirstResult({ page, running, place, node: pi[0], env });
	if (first !== 0) return `no first result in pi: ${first}`;
	const piProgram = (running.pi ?? pi).join(" ");
	return await playScenes(running, { ...env, ...running.env, PI_SUBAGENT_TEST_PI: piProgram });
}

/**
 * Runs a guide's first result with real pi.
 *
 * @param {{ page: string, running: Running, place: string, node: string, env: Record<string, string> }} how
 */
async function playFirstResult({ page, running, place, node, env }) {
	const guide = join(place, "guide.json");
	writeFileSync(guide, JSON.stringify({ ...running.first, ...firstResultOf(page, running.first.launcher) }));
	const options = ["--test", "--test-reporter=spec", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];
	const spec = join(root, "__test__", "engines", "first-result.spec.ts");
	const [program = "", ...args] = [...(running.within ?? []), node, ...options, spec];
	return await run([program, ...args], { env: { ...env, PI_SUBAGENT_TEST_GUIDE: guide } });
}

/**
 * Plays the scenes and the engine's own tests.
 *
 * @param {Running} running
 * @param {Record<string, string>} env
 */
async function playScenes(running, env) {
	const modules = ["launchers", "writers_remote", ...(running.tests ?? [])].map((name) => `${name}::`);
	/** @type {import("../../scripts/lib/programs.mjs").Command} */
	const build = ["cargo", "test", "--locked", ...coreFeatures, "--test", "suite"];
	// Build outside of `within` first, where a network is available, in case a crate is missing.
	const built = await run([...build, "--no-run"], { env });
	if (built !== 0) return `cargo test --no-run: ${built}`;
	const [program = "", ...args] = [...(running.within ?? []), ...build, "--", "--include-ignored", ...modules];
	const code = await run([program, ...args], { env });
	return code === 0 ? undefined : `cargo test: ${code}`;
}
