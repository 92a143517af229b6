/** Loads the addon at its first use. pi ends if an extension fails to load, so a failure is returned as a value. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "./build.ts";
import { messageOf } from "./guard.ts";

export type Native = typeof import("../../native.js");

/** The addon, or a message with the problem and its remedy. */
export type Addon = { native: Native; problem?: undefined } | { native?: undefined; problem: string };

let loaded: Native | undefined;

/** Returns the addon. Failures are not cached: after a repair the next call works. */
export function loadAddon(): Addon {
	try {
		loaded ??= createRequire(packageFolder)("./native.js") as Native;
		return { native: loaded };
	} catch (error) {
		return { problem: describe(error) };
	}
}

/**
 * The error fields that the loader sets if a platform has no addon. Its own remedy is about npm, but the reader here
 * uses pi.
 */
interface Missing {
	platform?: string;
	reason?: string;
	isSupported?: boolean;
}

function describe(error: unknown): string {
	const here = `${process.platform}-${process.arch}, Node ${process.versions.node}`;
	const { platform = here, reason = firstLine(error), isSupported = true } = (error ?? {}) as Missing;
	const folder = resolve(fileURLToPath(packageFolder));
	// A git checkout is in a folder below pi's directory, and must be built there.
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
