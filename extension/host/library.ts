/** Loads pi's library from the pi that runs this extension. */

import { readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";

const PI = "@earendil-works/pi-coding-agent";

export type Pi = Partial<typeof import("@earendil-works/pi-coding-agent")>;

let loaded: Pi = {};

/** Returns the loaded library. It is empty before the first session, and in a host other than pi. */
export const loadedLibrary = () => loaded;

/** Loads the library next to the program of the running pi. Node's own resolution would find another copy or none. */
export async function library(): Promise<Pi> {
	const program = pathToFileURL(realpathSync(process.argv[1] ?? ""));
	const description = findPackageJSON(program);
	// A program that embeds pi has another package there.
	const isPi = description !== undefined && JSON.parse(readFileSync(description, "utf8")).name === PI;
	loaded = isPi ? await import(new URL("index.js", program).href) : {};
	return loaded;
}
