#!/usr/bin/env node
/**
 * Completes package-lock.json after `npm install` has written it. If a registry mirror lacks the binaries of other
 * platforms, npm writes a lock file without them, and `npm ci` rejects that lock file everywhere. The packages that
 * need the binaries pin their versions, so an entry with the version and the platform is enough. npm takes such a
 * package from its registry if the platform matches.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../scripts/lib/places.mjs";
import { runMain } from "../scripts/lib/problem.mjs";
import { note } from "../scripts/lib/progress.mjs";
import { writeWhole } from "../scripts/lib/stamp.mjs";

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * Returns the platform in a package's name, for instance `linux`, `x64` and `musl`.
 *
 * @param {string} name
 */
function platformOf(name) {
	const parts = name.replace(/^.*\//, "").split("-");
	const system = systems.find((word) => parts.includes(word));
	const cpu = processors.find((word) => parts.includes(word));
	const libc = parts.includes("musl") ? "musl" : parts.includes("gnu") && system === "linux" ? "glibc" : undefined;
	return { ...(cpu && { cpu: [cpu] }), ...(libc && { libc: [libc] }), ...(system && { os: [system] }) };
}

await runMain(async () => {
	const path = join(root, "package-lock.json");
	const lock = JSON.parse(readFileSync(path, "utf8"));
	const added = [];
	for (const entry of Object.values(lock.packages)) {
		for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
			const key = `node_modules/${name}`;
			if (lock.packages[key]) continue;
			lock.packages[key] = { version, dev: true, optional: true, ...platformOf(name) };
			added.push(name);
		}
	}
	const sorted = Object.keys(lock.packages).sort((a, b) => a.localeCompare(b, "en"));
	lock.packages = Object.fromEntries(sorted.map((key) => [key, lock.packages[key]]));
	writeWhole(path, `${JSON.stringify(lock, null, "\t")}\n`);
	note(`${added.length} packages of other platforms added to package-lock.json`);
	return 0;
});
