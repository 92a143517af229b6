/** pi's library, of the pi that runs us. */

import { readFileSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";

const PI = "@earendil-works/pi-coding-agent";

export type Pi = Partial<typeof import("@earendil-works/pi-coding-agent")>;

/** The library of the pi that runs us, beside its program: Node would find another one, or none. */
export async function library(): Promise<Pi> {
	const program = pathToFileURL(realpathSync(process.argv[1] ?? ""));
	const description = findPackageJSON(program);
	// A host of its own that embeds pi has something else there.
	const isPi = description !== undefined && JSON.parse(readFileSync(description, "utf8")).name === PI;
	return isPi ? await import(new URL("index.js", program).href) : {};
}
