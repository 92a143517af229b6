/** Everything about folders that can be seen without reading a clock, to prove that nothing was changed in them. */

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** One line per entry, by its path. */
export type Snapshot = ReadonlyMap<string, string>;

/** Looks at whole folders; `without` names paths that are left out, with all that is below them. */
export function snapshot(roots: readonly string[], without: readonly string[] = []): Snapshot {
	const found = new Map<string, string>();
	const visit = (path: string): void => {
		if (without.includes(path)) return;
		const stat = lstatSync(path, { bigint: true });
		// The last one changes with every attribute and cannot be set back.
		const { mode, uid, gid, size, nlink, mtimeNs, ctimeNs } = stat;
		const seen = { mode: mode.toString(8), uid, gid, size, nlink, mtimeNs, ctimeNs, content: "" };
		if (stat.isFile()) seen.content = createHash("sha256").update(readFileSync(path)).digest("hex");
		if (stat.isSymbolicLink()) seen.content = readlinkSync(path);
		const line = Object.entries(seen).map(([name, value]) => `${name} ${value}`);
		found.set(path, line.join(", "));
		if (stat.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
	};
	for (const root of roots) visit(root);
	return found;
}

/** Returns the later differences, one line each. */
export function differences(before: Snapshot, later: Snapshot): string[] {
	const changed = [...before].filter(([path, was]) => later.get(path) !== was);
	const added = [...later.keys()].filter((path) => !before.has(path));
	return [
		...changed.map(([path, was]) => `${path} was ${was}; is ${later.get(path) ?? "gone"}`),
		...added.map((path) => `${path} is new`),
	];
}
