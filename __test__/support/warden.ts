/** The guardian of a child's processes, beside the addon, and what this machine allows it. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const warden = fileURLToPath(new URL("../../pi-subagent-warden", import.meta.url));

let probed: string | undefined;

/** Whether this machine lets a warden have `landlock`, `mount-ns`, `pid-ns` or `cgroup`. */
export function allows(ability: "landlock" | "mount-ns" | "pid-ns" | "cgroup"): boolean {
	if (process.platform !== "linux") return false;
	probed ??= execFileSync(warden, ["--probe"], { encoding: "utf8" });
	return new RegExp(`^${ability} yes`, "m").test(probed);
}

/** The processes of a pi with one child: itself, the child, and what guards that one. */
export const delegating = process.platform === "linux" ? 3 : 2;

/** What a readonly agent has a shell by: the kernel's word that it cannot write. */
export const shell: readonly string[] = allows("landlock") ? ["bash"] : [];
