/** The size of the addon, which every installation downloads and every pi loads. */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";

/** The platform that the bound is for: code for others is not of the same size. */
const measured = "linux-x64-gnu";

/**
 * How large the stripped addon may be: what it was when this was written, and a little for other compilers. A change that
 * needs more says in its commit what it gets for that, and raises the bound.
 */
const mostBytes = 11_350_000;

/**
 * Holds the growth of the addon.
 *
 * @throws {SetupProblem} when it is larger than it may be
 */
export async function checkAddonSize() {
	const path = join(root, `pi-subagent-native.${measured}.node`);
	if (!existsSync(path)) return;
	const { size } = statSync(path);
	if (size <= mostBytes) return;
	const how =
		"`cargo bloat --release --crates` shows what it is made of. If the growth is worth it, raise `mostBytes` in " +
		"scripts/lib/size.mjs and say in the commit what it buys.";
	throw new SetupProblem(`The addon has ${size} bytes; ${mostBytes} are allowed.`, how);
}
