/** Builds for the platforms that have a package, with the system's own linker or with zig as C compiler and linker. */

import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, setupDir } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { packageProgram, runQuietly } from "../../scripts/lib/programs.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { hasStandardLibrary, hasWarden, linkStaticWarden } from "../../scripts/lib/warden.mjs";
import { findPython, pythonPackages } from "./python.mjs";

/** zig includes the C libraries and headers of Linux, macOS and MinGW. */
const tools = ["ziglang==0.17.0", "cargo-zigbuild==0.24.0"];

/** A separate target directory, so that neither build invalidates the other one. */
const trials = join(root, "target", "cross");
const small = { CARGO_PROFILE_DEV_DEBUG: "0", CARGO_INCREMENTAL: "0", CARGO_TARGET_DIR: trials };

/**
 * The glibc of the systems that the oldest supported Node runs on. An addon that needs a newer one does not load there.
 */
const oldestGlibc = "2.28";

/**
 * A plan for building a target. `isTrial`: it compiles fast and is never published.
 *
 * @typedef {{ target: string, how: "zig" | "system", rustTarget: string, isTrial: boolean }} Plan
 */

/**
 * The target that a trial compiles if the real one's libraries are not available: the same code, linked with MinGW's
 * libraries.
 */
const standIns = { "x86_64-pc-windows-msvc": "x86_64-pc-windows-gnu" };

/** @returns {string[]} all targets that have a package */
export function crossTargets() {
	return JSON.parse(readFileSync(join(root, "package.json"), "utf8")).napi.targets;
}

/**
 * Returns the plan for building a target on this machine.
 *
 * @param {string} target
 * @param {{ check: boolean, isTrial?: boolean, platform?: string, hasLibrary?: (target: string) => boolean }} how
 * @returns {Plan}
 * @throws {SetupProblem} that explains how to install a missing library or tool
 */
export function planFor(target, { check, isTrial = false, ...machine }) {
	const { platform = process.platform, hasLibrary = hasStandardLibrary } = machine;
	const isOwn = { win32: "-windows-", darwin: "-apple-" }[platform];
	const isAtHome = isOwn !== undefined && target.includes(isOwn);
	const standIn = /** @type {Record<string, string>} */ (standIns)[target];
	const rustTarget = isTrial && !isAtHome && standIn ? standIn : target;
	// The warden of the glibc package is linked with musl, so that it needs no library of the system.
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
 * Builds the addon, and the warden if the target has one, into `artifacts/TARGET`. A trial goes into a folder that is
 * not published.
 *
 * @param {Plan} plan
 * @returns {Promise<string>} the folder
 */
export async function buildFor({ target, how, rustTarget, isTrial }) {
	const folder = isTrial ? join(trials, "artifacts", target) : join(root, "artifacts", target);
	const env = { ...(how === "zig" ? await zig() : {}), ...(isTrial ? small : {}) };
	const isGlibc = how === "zig" && target.endsWith("-linux-gnu");
	const names = ["--target", isGlibc ? `${target}.${oldestGlibc}` : rustTarget, "--output-dir", folder];
	const options = [
		"--manifest-path",
		"crates/addon/Cargo.toml",
		"--platform",
		...(isTrial ? [] : ["--release"]),
		"--no-const-enum",
		"--no-js",
		...names,
	];
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	await step(`the addon for ${rustTarget}`, async () => {
		if (rustTarget !== target) return await buildStandIn(rustTarget, folder, env);
		const napi = packageProgram("@napi-rs/cli", "napi");
		await runQuietly("napi build", [...napi, "build", ...options, ...(how === "zig" ? ["-x"] : [])], { env });
		// Identical for all targets, and already committed.
		rmSync(join(folder, "index.d.ts"), { force: true });
	});
	if (hasWarden(target)) await linkStaticWarden(target, folder, env);
	return folder;
}

/**
 * Builds the addon with MinGW's libraries, because napi's command does not support that with zig. The file has the name
 * that the loader looks for.
 *
 * @param {string} rustTarget
 * @param {string} folder
 * @param {Record<string, string>} env
 */
async function buildStandIn(rustTarget, folder, env) {
	// napi's build script requires the library. The addon finds its functions in the host and links none.
	const libnode = join(setupDir, "zig", "libnode");
	mkdirSync(libnode, { recursive: true });
	writeFileSync(join(libnode, "libnode.dll"), "");
	// zig looks for the second name.
	for (const name of ["libnode.dll.a", "libnode.a"]) writeFileSync(join(libnode, name), "!<arch>\n");
	const what = ["--locked", "-p", "addon", "--target", rustTarget];
	await runQuietly("cargo zigbuild", ["cargo-zigbuild", "zigbuild", ...what], {
		// zig exports every function, and without optimization there are more functions than a DLL can export.
		env: { ...env, LIBNODE_PATH: libnode, CARGO_PROFILE_DEV_OPT_LEVEL: "1" },
	});
	const built = join(trials, rustTarget, "debug", "addon.dll");
	copyFileSync(built, join(folder, "pi-subagent-native.win32-x64-msvc.node"));
}

/**
 * Links a Windows library from one C file.
 *
 * @param {string} source
 * @param {string} library
 * @param {string[]} uses other libraries
 */
export async function linkForWindows(source, library, uses) {
	const args = ["-target", "x86_64-windows-gnu", "-shared", "-o", library, source, ...uses.map((name) => `-l${name}`)];
	await runQuietly("zig cc", ["cargo-zigbuild", "zig", "cc", "--", ...args], { env: await zig() });
}

/**
 * Checks all code for a target with rustc, without the tests.
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

/** Returns the environment with zig and its cargo wrapper. */
async function zig() {
	const python = findPython();
	if (python) return await pythonPackages(python, "zig", tools);
	const how = "zig is installed with it, below the clone. Debian, Ubuntu: sudo apt install python3-pip";
	throw new SetupProblem("Python with pip is missing.", how);
}

/**
 * Returns the C compiler for a check, because SQLite's C code is compiled even then. zig has no headers for Microsoft's
 * target; MinGW's headers work, because nothing is linked.
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
