/** Builds for the platforms that have a package: with the system's own linker, or with zig as compiler and linker of C. */

import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, setupDir } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { packageProgram, runQuietly } from "./programs.mjs";
import { step } from "./progress.mjs";
import { findPython, pythonPackages } from "./python.mjs";
import { hasStandardLibrary, hasWarden, linkStaticWarden } from "./warden.mjs";

/** zig brings the C libraries and headers of Linux, macOS and MinGW. */
const tools = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"];

/** Beside what is built for this machine, so that neither has the other compiled again. */
const trials = join(root, "target", "cross");
const small = { CARGO_PROFILE_DEV_DEBUG: "0", CARGO_INCREMENTAL: "0", CARGO_TARGET_DIR: trials };

/** Of the systems that the oldest supported Node starts on: an addon that asks for more does not load there. */
const oldestGlibc = "2.28";

/**
 * How a target is built. `isTrial`: it compiles fast and is never published.
 *
 * @typedef {{ target: string, how: "zig" | "system", rustTarget: string, isTrial: boolean }} Plan
 */

/** What a trial compiles where the libraries of the real one cannot be had: the same code, linked with MinGW's. */
const standIns = { "x86_64-pc-windows-msvc": "x86_64-pc-windows-gnu" };

/** @returns {string[]} every target that has a package */
export function crossTargets() {
	return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).napi.targets;
}

/**
 * How a target is built on this machine.
 *
 * @param {string} target
 * @param {{ check: boolean, isTrial?: boolean, platform?: string, hasLibrary?: (target: string) => boolean }} how
 * @returns {Plan}
 * @throws {SetupProblem} that says what is missing
 */
export function planFor(target, { check, isTrial = false, ...machine }) {
	const { platform = process.platform, hasLibrary = hasStandardLibrary } = machine;
	const isOwn = { win32: "-windows-", darwin: "-apple-" }[platform];
	const isAtHome = isOwn !== undefined && target.includes(isOwn);
	const standIn = /** @type {Record<string, string>} */ (standIns)[target];
	const rustTarget = isTrial && !isAtHome && standIn ? standIn : target;
	// The warden of glibc's package is linked with musl: it needs no library then, whatever the system has.
	const warden = hasWarden(target) && !check ? [target.replace(/-gnu$/, "-musl")] : [];
	const targets = [...new Set([rustTarget, ...warden])];
	const missing = targets.filter((each) => !hasLibrary(each));
	if (missing.length > 0) {
		const how = `rustup target add ${missing.join(" ")}`;
		throw new SetupProblem(`rustc has no standard library for ${missing.join(", ")}.`, how);
	}
	if (isAtHome) return { target, how: "system", rustTarget, isTrial };
	if (!check && rustTarget === target && target.includes("-windows-")) {
		const how = `It is built on Windows. Here: npm run cross -- --check ${target}`;
		throw new SetupProblem(`${target} needs Microsoft's libraries to be linked.`, how);
	}
	return { target, how: "zig", rustTarget, isTrial };
}

/**
 * Builds the addon, and the warden where there is one, into `artifacts/TARGET`; a trial goes where it is not published from.
 *
 * @param {Plan} plan
 * @returns {Promise<string>} the folder
 */
export async function buildFor({ target, how, rustTarget, isTrial }) {
	const folder = isTrial ? join(trials, "artifacts", target) : join(root, "artifacts", target);
	const env = { ...(how === "zig" ? await zig() : {}), ...(isTrial ? small : {}) };
	const isGlibc = how === "zig" && target.endsWith("-linux-gnu");
	const names = ["--target", isGlibc ? `${target}.${oldestGlibc}` : rustTarget, "--output-dir", folder];
	const options = ["--platform", ...(isTrial ? [] : ["--release"]), "--no-const-enum", "--no-js", ...names];
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	await step(`the addon for ${rustTarget}`, async () => {
		if (rustTarget !== target) return await buildStandIn(rustTarget, folder, env);
		const napi = packageProgram("@napi-rs/cli", "napi");
		await runQuietly("napi build", [...napi, "build", ...options, ...(how === "zig" ? ["-x"] : [])], { env });
		// The same for all: it is committed.
		rmSync(join(folder, "index.d.ts"), { force: true });
	});
	if (hasWarden(target)) await linkStaticWarden(target, folder, env);
	return folder;
}

/**
 * Builds the addon with MinGW's libraries, which napi's command refuses to do with zig. Its name is the one that the loader asks for.
 *
 * @param {string} rustTarget
 * @param {string} folder
 * @param {Record<string, string>} env
 */
async function buildStandIn(rustTarget, folder, env) {
	// napi's build script wants to see them; the addon looks its functions up in the host and links none.
	const libnode = join(setupDir, "zig", "libnode");
	mkdirSync(libnode, { recursive: true });
	writeFileSync(join(libnode, "libnode.dll"), "");
	// zig looks for the second name.
	for (const name of ["libnode.dll.a", "libnode.a"]) writeFileSync(join(libnode, name), "!<arch>\n");
	const what = ["--locked", "--lib", "--target", rustTarget];
	await runQuietly("cargo zigbuild", ["cargo-zigbuild", "zigbuild", ...what], {
		// Every function is exported with zig, and without optimization there are more than a DLL may have.
		env: { ...env, LIBNODE_PATH: libnode, CARGO_PROFILE_DEV_OPT_LEVEL: "1" },
	});
	const built = join(trials, rustTarget, "debug", "pi_subagent_native.dll");
	copyFileSync(built, join(folder, "pi-subagent-native.win32-x64-msvc.node"));
}

/**
 * Links a library for Windows of one file of C.
 *
 * @param {string} source
 * @param {string} library
 * @param {string[]} uses other libraries
 */
export async function linkForWindows(source, library, uses) {
	const words = ["-target", "x86_64-windows-gnu", "-shared", "-o", library, source, ...uses.map((name) => `-l${name}`)];
	await runQuietly("zig cc", ["cargo-zigbuild", "zig", "cc", "--", ...words], { env: await zig() });
}

/**
 * Has rustc read all code as a target sees it, without the tests.
 *
 * @param {Plan} plan
 */
export async function checkFor({ target, how }) {
	const env = how === "zig" ? { ...(await zig()), ...compilerFor(target), ...small } : small;
	await step(`${target}, checked`, async () => {
		const program = how === "zig" && !target.includes("-windows-") ? "cargo-zigbuild" : "cargo";
		const what = ["check", "--locked", "--workspace", "--lib", "--bins", "--target", target];
		await runQuietly("cargo check", [program, ...what], { env });
	});
}

/** zig and what hands it to cargo, in the environment. */
async function zig() {
	const python = findPython();
	if (python) return await pythonPackages(python, "zig", tools);
	const how = "zig is installed with it, below the clone. Debian, Ubuntu: sudo apt install python3-pip";
	throw new SetupProblem("There is no Python with pip.", how);
}

/**
 * SQLite's C is compiled even for a check. For Microsoft's target zig has no headers; MinGW's serve, as nothing is linked.
 *
 * @param {string} target
 * @returns {Record<string, string>}
 */
function compilerFor(target) {
	if (!target.includes("-windows-")) return {};
	const name = target.replaceAll("-", "_");
	const compiler = script("cc", 'exec cargo-zigbuild zig cc -- -target x86_64-windows-gnu "$@"');
	return { [`CC_${name}`]: compiler, [`AR_${name}`]: script("lib", 'exec cargo-zigbuild zig lib -- "$@"') };
}

/**
 * @param {string} name
 * @param {string} line
 */
function script(name, line) {
	const path = join(setupDir, "zig", `windows-${name}`);
	writeFileSync(path, `#!/bin/sh\n${line}\n`);
	chmodSync(path, 0o755);
	return path;
}
