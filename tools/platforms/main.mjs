/** Builds addon and warden for each platform, runs the parts that this machine can run, and prints the skipped ones. */

import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { note, step } from "../../scripts/lib/progress.mjs";
import { setUp } from "../../scripts/setup.mjs";
import { buildFor, crossTargets, planFor } from "../lib/cross.mjs";
import { foreignNode } from "./nodes.mjs";
import { wineNode } from "./wine.mjs";
import { copyClone, runInside } from "./world.mjs";

/** The time limit of a single test. Emulation is ten times slower than the machine, and the machine may be busy. */
const testLimitMs = 900_000;

/** The targets whose programs cannot run here. */
const cannotRun = {
	"-apple-": "no program here can run macOS programs",
};

/** The files of `__test__/edge` that run under emulation by default. All of them would take hours. */
const selectedEdgeTests = [
	...["aborts", "arguments", "callbacks", "chain", "child", "examples", "keep", "lifetime", "output", "parallel"],
	...["protocols", "retries", "secrets", "streams", "surface", "survivors", "text"],
];

/** All files of `__test__/edge`, by name. */
const edgeTestFiles = readdirSync(join(root, "__test__", "edge"))
	.filter((name) => name.endsWith(".spec.ts"))
	.map((name) => name.slice(0, -".spec.ts".length));

/** This machine's own Node, new enough for pi. */
let nodeHere = process.execPath;

/** @typedef {{ target: string, built: string, played: string[], failed: boolean }} Row */

/** @param {string[]} args */
export async function playPlatforms(args) {
	const options = {
		release: { type: /** @type {const} */ ("boolean"), default: false },
		part: { type: /** @type {const} */ ("string"), multiple: /** @type {const} */ (true) },
		whole: { type: /** @type {const} */ ("boolean"), default: false },
		file: { type: /** @type {const} */ ("string"), multiple: /** @type {const} */ (true) },
	};
	const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
	const known = crossTargets();
	const unknown = positionals.find((target) => !known.includes(target));
	if (unknown) throw new SetupProblem(`There is no package for ${unknown}.`, `Packages:\n${known.join("\n")}`);
	const badPart = values.part?.find((part) => !(part in parts));
	if (badPart) throw new SetupProblem(`Unknown part: ${badPart}.`, `Parts: ${Object.keys(parts).join(", ")}`);
	const badFile = values.file?.find((file) => !edgeTestFiles.includes(file));
	if (badFile) throw new SetupProblem(`Unknown file: ${badFile}.`, `Files: ${edgeTestFiles.join(", ")}`);
	if (`${process.platform}-${process.arch}` !== "linux-x64") {
		throw new SetupProblem("The platforms are tested on Linux x64 only.", "Run it on Linux x64.");
	}
	const { node } = await setUp({ addon: false });
	nodeHere = node;
	const rows = [];
	for (const target of positionals.length > 0 ? positionals : known) {
		const wanted = values.part ?? Object.keys(parts);
		const files = values.file ?? (values.whole ? edgeTestFiles : undefined);
		rows.push(await playPlatform(target, { release: values.release, files, wanted }));
	}
	note("");
	for (const { target, built, played } of rows) note([`${target}: ${built}`, ...played].join("\n    "));
	return rows.some(({ failed }) => failed) ? 1 : 0;
}

/**
 * @param {string} target
 * @param {{ release: boolean, files: string[] | undefined, wanted: string[] }} how
 * @returns {Promise<Row>}
 */
async function playPlatform(target, { release, files, wanted }) {
	/** @type {Row} */
	const row = { target, built: "", played: [], failed: false };
	const skipped = (/** @type {unknown} */ error) => {
		if (!(error instanceof SetupProblem)) throw error;
		return `skipped, ${error.message.split("\n")[0]}`;
	};
	let plan;
	try {
		plan = planFor(target, { check: false, isTrial: !release });
	} catch (error) {
		return { ...row, built: skipped(error) };
	}
	/** @type {string} */
	let folder;
	try {
		folder = await buildFor(plan);
		row.built = `built${plan.rustTarget === target ? "" : ` as ${plan.rustTarget}`}${release ? "" : ", not optimized"}`;
	} catch (error) {
		if (!(error instanceof SetupProblem)) throw error;
		note(error.message);
		return { ...row, built: "failed to build", failed: true };
	}
	const reason = Object.entries(cannotRun).find(([part]) => target.includes(part))?.[1];
	if (reason) return { ...row, played: [`not run, ${reason}`] };
	const place = mkdtempSync(join(tmpdir(), "pi-subagent-platform-"));
	try {
		/** @type {Machine} */
		let machine;
		try {
			machine = await machineOf(target, place);
		} catch (error) {
			return { ...row, played: [skipped(error)] };
		}
		chmodSync(place, 0o755);
		await step("a copy of the clone", async () => copyClone(place, folder));
		for (const part of wanted) {
			const reason = notPlayed(target, part);
			if (reason) {
				row.played.push(`${part}: not run, ${reason}`);
				continue;
			}
			const result = await play(/** @type {keyof typeof parts} */ (part), { target, machine, place, files });
			row.played.push(`${part}: ${result}`);
			row.failed ||= !result.startsWith("passed");
		}
	} finally {
		rmSync(place, { recursive: true, force: true });
	}
	return row;
}

/**
 * The programs that run the tests of a platform: the Node to test, the Node for tests with real pi, and the shell lines
 * to run first.
 *
 * @typedef {{ node: string, runner: string, enter: string[] }} Machine
 */

/**
 * @param {string} target
 *
 * @param {string} place
 * @returns {Promise<Machine>}
 * @throws {SetupProblem} if a program is not available
 */
async function machineOf(target, place) {
	if (target === "x86_64-unknown-linux-gnu") return { node: nodeHere, runner: nodeHere, enter: [] };
	// The tests' environments are made with Linux programs, and only pi runs on Windows.
	if (target.includes("-windows-")) return { ...(await wineNode(join(place, ".wine"))), runner: nodeHere };
	const node = await foreignNode(target);
	return { node, runner: node, enter: [] };
}

/**
 * @param {string} target
 *
 * @param {string} part
 * @returns {string | undefined} the reason if this part does not support that platform
 */
function notPlayed(target, part) {
	if (part !== "edge") return undefined;
	if (target.includes("-windows-")) return "its children are shell scripts";
	return target === "x86_64-unknown-linux-gnu" ? "npm test does" : undefined;
}

/**
 * The tests of each part, as arguments of Node.
 *
 * @type {Record<"loaded" | "edge" | "pi", (target: string, files?: string[]) => string[]>}
 */
const parts = {
	loaded: () => ["__test__/edge/smoke.spec.mjs"],
	edge: (target, files = target.startsWith("aarch64-") ? selectedEdgeTests : edgeTestFiles) =>
		files.map((name) => `__test__/edge/${name}.spec.ts`),
	// Node in Debian's Wine opens no connections, so pi cannot reach a model there.
	pi: (target) => [`__test__/platforms/${target.includes("-windows-") ? "doctor" : "delegation"}.spec.ts`],
};

/**
 * @param {keyof typeof parts} part
 *
 * @param {{ target: string, machine: Machine, place: string, files: string[] | undefined }} how
 * @returns {Promise<string>} the result
 */
async function play(part, { target, machine, place, files }) {
	note(`\n── ${target}, ${part}`);
	const isEmulated = target.startsWith("aarch64-");
	const env = {
		...(isEmulated ? { PI_TEST_SLOWER: "8" } : {}),
		...Object.fromEntries(Object.entries(process.env).filter((entry) => entry[1] !== undefined)),
		PI_TEST_NODE: machine.node,
		// The bundler is a program of this machine, which the other Node would not find.
		ESBUILD_BINARY_PATH: join(root, "node_modules", "@esbuild", "linux-x64", "bin", "esbuild"),
	};
	// Under emulation one file at a time, because tests have time limits that only allow for a busy machine.
	const atOnce = isEmulated ? 1 : 2;
	const options = ["--test", "--test-reporter=spec", `--test-timeout=${testLimitMs}`, `--test-concurrency=${atOnce}`];
	const node = part === "pi" ? machine.runner : machine.node;
	const argv = [node, ...options, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", ...parts[part](target, files)];
	let tail = "";
	const code = await runInside(argv, {
		place,
		target,
		enter: machine.enter,
		env: /** @type {Record<string, string>} */ (env),
		onOutput: (chunk) => {
			process.stderr.write(chunk);
			tail = (tail + chunk).slice(-64_000);
		},
	});
	const counts = ["pass", "fail", "cancelled", "skipped"].map((name) => {
		const count = [...tail.matchAll(new RegExp(`^ℹ ${name} (\\d+)$`, "gm"))].at(-1)?.[1];
		return /** @type {const} */ ([name, Number(count)]);
	});
	const summary = counts.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);
	return code === 0 && summary.length > 0 ? `passed (${summary.join(", ")})` : `failed, ${summary.join(", ") || code}`;
}
