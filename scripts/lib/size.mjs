/** Checks the size of the addon, which every installation downloads and every pi loads. */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";

/** The platform of the limit. Code for other platforms has another size. */
const measured = "linux-x64-gnu";

/**
 * The maximum size of the stripped addon: its size when this limit was set, and a little more for other compilers. A
 * change that needs more raises the limit, and its commit gives the reason.
 */
const maxBytes = 11_320_000;

/**
 * Checks that the addon has not grown beyond its limit.
 *
 * @throws {SetupProblem} if it is too large
 */
export async function checkAddonSize() {
	const path = join(root, `pi-subagent-native.${measured}.node`);
	if (!existsSync(path)) return;
	const { size } = statSync(path);
	if (size <= maxBytes) return;
	const how =
		"`cargo bloat --release -p addon --crates` shows what it is made of. If the growth is worth it, raise `maxBytes` in " +
		"scripts/lib/size.mjs and say in the commit what it buys.";
	throw new SetupProblem(`The addon has ${size} bytes; the limit is ${maxBytes}.`, how);
}
