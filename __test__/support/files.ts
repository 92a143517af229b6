/** Lists the files below a directory that other processes use. */

import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * Paths of all entries below a directory, relative to it. An entry that goes while this looks is left out, where
 * `readdirSync` with `recursive` throws.
 */
export function pathsBelow(directory: string, below = ""): string[] {
	return entries(join(directory, below)).flatMap((entry) => {
		const path = join(below, entry.name);
		return entry.isDirectory() ? [path, ...pathsBelow(directory, path)] : [path];
	});
}

function entries(directory: string): Dirent[] {
	try {
		return readdirSync(directory, { withFileTypes: true });
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
		throw error;
	}
}
