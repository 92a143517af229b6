/** Loads the addon when it is first needed. A pi whose extension fails to load ends, so a failure is a value here. */

import { createRequire } from "node:module";
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
	const platform = `${process.platform}-${process.arch}, Node ${process.versions.node}`;
	return (
		`the native addon of pi-subagent-native could not be loaded (${platform}): ${messageOf(error).split("\n", 1)[0]}. ` +
		"Install the package again with `pi install npm:pi-subagent-native`, with optional dependencies allowed; " +
		"in a checkout run `npm run setup`."
	);
}
