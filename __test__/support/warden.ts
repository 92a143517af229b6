/** The guardian of a child's processes, beside the addon, and what this machine allows it. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const warden = fileURLToPath(new URL("../../pi-subagent-warden", import.meta.url));

let probed: string | undefined;

/** Whether this machine lets a warden have `landlock`, `mount-ns` or `pid-ns`. */
export function allows(ability: "landlock" | "mount-ns" | "pid-ns"): boolean {
	if (process.platform !== "linux") return false;
	probed ??= execFileSync(warden, ["--probe"], { encoding: "utf8" });
	return new RegExp(`^${ability} yes`, "m").test(probed);
}

/** What a readonly agent has a shell by: the kernel's word that it cannot write. */
export const shell: readonly string[] = allows("landlock") ? ["bash"] : [];
