/** Loads the addon when it is first needed. A pi whose extension fails to load ends, so a failure is a value here. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
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

/** What the loader says of a machine where it finds no addon. Its remedy is npm's; whoever reads this has pi. */
interface Missing {
	platform?: string;
	reason?: string;
	isSupported?: boolean;
}

function describe(error: unknown): string {
	const here = `${process.platform}-${process.arch}, Node ${process.versions.node}`;
	const { platform = here, reason = firstLine(error), isSupported = true } = (error ?? {}) as Missing;
	const folder = resolve(fileURLToPath(packageFolder));
	// What git has brought lies somewhere below pi's directory, and has to be built.
	const remedy = existsSync(join(folder, "Cargo.toml"))
		? `Run \`npm run setup\` in ${folder}.`
		: "Install the package again with `pi install npm:pi-subagent-native`, with optional dependencies allowed.";
	return (
		`the native addon of pi-subagent-native could not be loaded (${platform}): ${reason}.` +
		(isSupported ? ` ${remedy}` : "")
	);
}

function firstLine(error: unknown): string | undefined {
	return messageOf(error).split("\n", 1)[0];
}
