/** pi's library, of the pi that runs us. */

import { readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";

const PI = "@earendil-works/pi-coding-agent";

export type Pi = Partial<typeof import("@earendil-works/pi-coding-agent")>;

let loaded: Pi = {};

/** What has been loaded of it: nothing before the first session, and in a host that is not pi. */
export const loadedLibrary = () => loaded;

/** The library of the pi that runs us, beside its program: Node would find another one, or none. */
export async function library(): Promise<Pi> {
	const program = pathToFileURL(realpathSync(process.argv[1] ?? ""));
	const description = findPackageJSON(program);
	// A host of its own that embeds pi has something else there.
	const isPi = description !== undefined && JSON.parse(readFileSync(description, "utf8")).name === PI;
	loaded = isPi ? await import(new URL("index.js", program).href) : {};
	return loaded;
}
