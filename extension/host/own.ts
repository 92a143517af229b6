/** Which files are this package's own. */

import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFolder } from "./build.ts";

const OWN_FOLDER = fileURLToPath(new URL("extensions/", packageFolder));

/** Our own files; a checkout may be reached through a link. */
export function isOurs(file: string): boolean {
	return realPath(file).startsWith(`${realPath(OWN_FOLDER)}${sep}`);
}

function realPath(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		return file;
	}
}
