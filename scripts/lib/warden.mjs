/** Builds the warden, the small program that ships with the addon, if its sources have changed. */

import { chmodSync, copyFileSync, existsSync, readdirSync, renameSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { outputOf, probe, runQuietly } from "./programs.mjs";
import { note, step } from "./progress.mjs";
import { dropStamp, hashOf, readStamp, writeStamp } from "./stamp.mjs";

/** The file's name, here and in the platform packages. The addon looks for it in its own folder. */
export const wardenName = "pi-subagent-warden";

const sources = ["Cargo.toml", "Cargo.lock", "crates/warden"];

/**
 * One way to link the warden.
 *
 * @typedef {{ name: string, target: string, rustc: string[] }} Kind
 */

/**
 * Returns true if a platform has a warden. The warden needs Linux. On other systems, children are ended by their
 * process group, or one by one on Windows.
 *
 * @param {string} platform a name of Node, of rustc or of a folder below `npm/`
 */
export function hasWarden(platform) {
	return /^linux|-linux-/.test(platform);
}

/** Builds the warden unless it matches the present sources and is linked in the best available way. */
export async function buildWarden() {
	if (!hasWarden(process.platform)) return;
	const kinds = kindsFor(hostTarget());
	const wanted = hashOf(sources, [JSON.stringify(kinds), probe("rustc", ["--version"]) ?? ""]);
	const stamp = () => `${wanted} ${hashOf([wardenName])}`;
	if (readStamp("warden") === stamp()) return;
	dropStamp("warden");
	await linkWarden(kinds);
	writeStamp("warden", stamp());
}

/**
 * Builds the warden in the first way that works, and puts it at the root of the clone.
 *
 * @param {Kind[]} kinds
 */
export async function linkWarden(kinds) {
	for (const kind of kinds) {
		const isLast = kind === kinds.at(-1);
		try {
			await step(`the warden, ${kind.name} (${kind.target})`, async () => place(await link(kind), root));
			return;
		} catch (error) {
			if (isLast || !(error instanceof SetupProblem)) throw error;
			note("    Trying another way to link it.");
		}
	}
}

/**
 * Builds the warden of a platform's package. It is linked with musl and needs no libraries of the system.
 *
 * @param {string} target
 * @param {string} folder for the program
 * @param {Record<string, string>} env with cargo-zigbuild on its path, which links for other processors
 */
export async function linkStaticWarden(target, folder, env) {
	const musl = staticKind(target);
	await step(`the warden for ${target}`, async () => place(await link(musl, "cargo-zigbuild", env), folder));
}

/**
 * Returns the ways to link a warden for a platform, the best first. Nothing is installed for them: a way whose library
 * is missing is left out.
 *
 * Measured on Linux, x64, as an idle process: with musl 0.34 MiB resident, 0.5 MB on disk and 0.12 ms to start; with a
 * static glibc 1.0 MiB, 1.2 MB and 0.25 ms; with a shared glibc 1.9 MiB, 0.4 MB and 0.44 ms. On a virtual machine, each
 * start with glibc takes 0.6 ms, because glibc queries the processor's caches and the host answers each query. A shell
 * command of a sandboxed child is such a start.
 *
 * @param {string} target of rustc, for instance `x86_64-unknown-linux-gnu`
 * @returns {Kind[]}
 */
export function kindsFor(target) {
	const shared = { name: "shared libraries", target, rustc: [] };
	if (!target.includes("-linux-")) return [shared];
	/** @type {Kind[]} */
	const kinds = [];
	const musl = staticKind(target);
	if (hasStandardLibrary(musl.target)) kinds.push(musl);
	if (musl.target !== target && hasStaticLibc()) {
		// A fixed address, because the relocations of a static glibc program would need more than 1 MiB.
		const rustc = ["-C", "target-feature=+crt-static", "-C", "relocation-model=static"];
		kinds.push({ name: "static, glibc", target, rustc });
	}
	return [...kinds, shared];
}

/** @param {string} target @returns {Kind} */
function staticKind(target) {
	const musl = target.replace(/-linux-gnu$/, "-linux-musl");
	return { name: "static, musl", target: musl, rustc: ["-C", "target-feature=+crt-static"] };
}

/** Returns the platform that rustc builds for by default. */
export function hostTarget() {
	const host = /^host: (.*)$/m.exec(outputOf("rustc", ["-vV"]) ?? "")?.[1];
	if (host) return host;
	throw new SetupProblem("rustc does not name its platform.", "`rustc -vV` should print a line `host: …`.");
}

/** @param {string} target */
export function hasStandardLibrary(target) {
	const folder = probe("rustc", ["--print", "target-libdir", "--target", target]);
	return folder !== undefined && existsSync(folder) && readdirSync(folder).some((name) => name.startsWith("libstd-"));
}

/** Returns true if there is a static libc. A C compiler prints the bare name of a file that it does not find. */
function hasStaticLibc() {
	return isAbsolute(probe("cc", ["-print-file-name=libc.a"]) ?? "");
}

/**
 * Links the warden. The flags apply to the program only: an environment variable would replace the user's own and would
 * also apply to build scripts.
 *
 * @param {Kind} kind
 * @param {string} [cargo]
 * @param {Record<string, string>} [env]
 * @returns {Promise<string>} the path of the program
 */
async function link({ target, rustc }, cargo = "cargo", env = {}) {
	const what = ["--locked", "--release", "-p", wardenName, "--bin", wardenName, "--target", target];
	const options = [...what, "--message-format=json-render-diagnostics", "--", ...rustc];
	const output = await runQuietly("cargo rustc", [cargo, "rustc", ...options], { env });
	const path = [...output.matchAll(/"executable":("(?:[^"\\]|\\.)*")/g)].at(-1)?.[1];
	if (path) return JSON.parse(path);
	throw new SetupProblem("cargo printed no path of a program.", `cargo rustc ${what.join(" ")}`);
}

/**
 * Replaces the warden in a folder. A running program cannot be written to, but its file can be replaced.
 *
 * @param {string} program
 * @param {string} folder
 */
function place(program, folder) {
	const path = join(folder, wardenName);
	const temporary = `${path}.${process.pid}.tmp`;
	copyFileSync(program, temporary);
	chmodSync(temporary, 0o755);
	renameSync(temporary, path);
}
