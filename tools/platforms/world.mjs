/**
 * Creates a machine of another platform, as far as a program can tell: a copy of the clone with that platform's addon,
 * and its kernel interface.
 */

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../scripts/lib/places.mjs";
import { emulator } from "./nodes.mjs";

/**
 * Makes the kernel start arm64 programs with qemu. The kernel opens qemu now, so the path does not have to exist later.
 */
const binfmt = String.raw`:qemu:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:${emulator}:F`;

/**
 * Copies the files that the tests read, with the addon and the warden of another platform.
 *
 * @param {string} place
 * @param {string} built the folder with the addon and the warden
 */
export function copyClone(place, built) {
	const options = { cwd: root, encoding: /** @type {const} */ ("utf8"), maxBuffer: 2 ** 26 };
	const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], options);
	for (const name of files.split("\0").filter(Boolean)) {
		cpSync(join(root, name), join(place, name), { preserveTimestamps: true });
	}
	for (const name of ["node_modules", ".setup"]) symlinkSync(join(root, name), join(place, name));
	for (const name of readdirSync(built)) copyFileSync(join(built, name), join(place, name));
}

/**
 * Starts a program on that machine. It runs as root of its own user namespace. The kernel knows the emulator there
 * (since Linux 6.7 it asks the namespace). If the C library is musl, `ldd` is musl's.
 *
 * @param {string[]} argv
 * @param {{ place: string, target: string, env: Record<string, string>, enter?: string[], onOutput: (chunk: Buffer) =>
 * void }} how `enter`: shell lines to run first
 * @returns {Promise<number | string>} the exit code, or the reason why there is none
 */
export function runInside(argv, { place, target, env, enter = [], onOutput }) {
	// The two processes exchange two messages through pipes: the namespace exists, and its users are mapped.
	const lines = ["set -e", "echo apart >&4", "read -r _ <&3", "exec 3<&- 4>&-"];
	if (target.startsWith("aarch64-")) {
		lines.push("mount -t binfmt_misc none /proc/sys/fs/binfmt_misc");
		lines.push(`printf %s '${binfmt}' >/proc/sys/fs/binfmt_misc/register`);
	}
	if (target.endsWith("-musl")) {
		const ldd = join(place, ".musl-ldd");
		// The addon loader and the extension detect a musl system by this file, as on Alpine.
		writeFileSync(ldd, '#!/bin/sh\n# musl\nexec /lib/ld-musl.so.1 --list "$@"\n');
		chmodSync(ldd, 0o755);
		lines.push(`mount --bind '${ldd}' /usr/bin/ldd`);
	}
	lines.push(...enter, 'exec "$@"');
	const inner = ["sh", "-c", lines.join("\n"), "sh", ...argv];
	return new Promise((resolve) => {
		const child = spawn("unshare", ["--user", "--mount", ...inner], {
			cwd: place,
			env,
			stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
		});
		child.stdout?.on("data", onOutput);
		child.stderr?.on("data", onOutput);
		child.once("error", ({ message }) => resolve(message));
		child.once("close", (code, signal) => resolve(code ?? `ended by ${signal}`));
		const gate = /** @type {import("node:stream").Writable} */ (child.stdio[3]);
		gate.on("error", () => undefined);
		child.stdio[4]?.once("data", () => {
			mapUsers(`/proc/${child.pid}`);
			gate.end("mapped\n");
		});
	});
}

/**
 * Maps all users if this process is root, so that a test can become another user. Otherwise maps only the present user.
 *
 * @param {string} proc the folder of the process
 */
function mapUsers(proc) {
	const user = process.getuid?.() ?? 0;
	const group = process.getgid?.() ?? 0;
	if (user !== 0) writeFileSync(`${proc}/setgroups`, "deny");
	writeFileSync(`${proc}/uid_map`, user === 0 ? "0 0 4294967295" : `0 ${user} 1`);
	writeFileSync(`${proc}/gid_map`, user === 0 ? "0 0 4294967295" : `0 ${group} 1`);
}
