/** Loads the addon when it is first needed. A pi whose extension fails to load ends, so a failure is a value here. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "./build.ts";
import { messageOf } from "./guard.ts";

export type Native = typeof import("../../index.js");

/** The addon, or what is missing and what to do about it. */
export type Addon = { native: Native; problem?: undefined } | { native?: undefined; problem: string };

let loaded: Native | undefined;

/** Returns the addon. A failure is not remembered: after a repair the next call works. */
export function loadAddon(): Addon {
	try {
		loaded ??= createRequire(packageFolder)("./index.js") as Native;
		return { native: loaded };
	} catch (error) {
		return { problem: describe(error) };
	}
}

function describe(error: unknown): string {
	const platform = `${process.platform}-${process.arch}${libc()}, Node ${process.versions.node}`;
	const folder = fileURLToPath(packageFolder);
	// What git has brought lies somewhere below pi's directory, and has to be built.
	const remedy = existsSync(join(folder, "Cargo.toml"))
		? `Run \`npm run setup\` in ${folder}.`
		: "Install the package again with `pi install npm:pi-subagent-native`, with optional dependencies allowed.";
	return (
		`the native addon of pi-subagent-native could not be loaded (${platform}): ` +
		`${messageOf(error).split("\n", 1)[0]}. ${remedy}`
	);
}

/** On Linux each library has a package of its own, and the wrong one does not load. */
function libc(): string {
	if (process.platform !== "linux") return "";
	const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
	return header?.glibcVersionRuntime ? ", glibc" : ", musl";
}
