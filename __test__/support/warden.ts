/** The guardian of a child's processes, beside the addon, and what this machine allows it. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const warden = fileURLToPath(new URL("../../pi-subagent-warden", import.meta.url));

export type Ability = "landlock" | "mount-ns" | "pid-ns" | "cgroup" | "tmp" | "tools";

const probed = new Map<number | undefined, string>();

/** What the warden says of an ability that it has, such as the version of Landlock; for another user where one is given. */
export function detailOf(ability: Ability, user?: number): string | undefined {
	if (process.platform !== "linux") return undefined;
	let said = probed.get(user);
	if (said === undefined) {
		const who = user === undefined ? {} : { uid: user, gid: user };
		said = execFileSync(warden, ["--probe"], { encoding: "utf8", cwd: "/", ...who });
		probed.set(user, said);
	}
	return new RegExp(`^${ability} yes ?(.*)`, "m").exec(said)?.[1];
}

/** Whether this machine lets a warden have it. */
export function allows(ability: Ability, user?: number): boolean {
	return detailOf(ability, user) !== undefined;
}

/** Starts a program that can make no namespaces, and neither can what it starts. */
export const withoutNamespaces: readonly string[] = [
	...["unshare", "--user", "--map-root-user", "sh", "-c"],
	'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all "$@"',
	"sh",
];

/** Why namespaces cannot be taken away from a program here. */
export function keepsNamespaces(): string | false {
	const [program = "", ...words] = withoutNamespaces;
	try {
		const said = execFileSync(program, [...words, warden, "--probe"], {
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		});
		return /^(mount-ns|pid-ns) yes/m.test(said) ? "namespaces can be made all the same" : false;
	} catch {
		return "namespaces cannot be taken away here";
	}
}

/** The processes of a pi with one child that may not write: itself, the child, and what guards that one. */
export const delegating = process.platform === "linux" ? (allows("pid-ns") ? 4 : 3) : 2;

/** What a readonly agent has a shell by: the kernel's word that it cannot write, and holds apart what it starts. */
export const shell: readonly string[] = allows("landlock") && allows("tools") ? ["bash"] : [];

/** What a result names of a child that may not write, sorted. */
export function sandboxOf(user?: number): string[] {
	const found = (["mount-ns", "pid-ns"] as const).filter((ability) => allows(ability, user));
	const tools = allows("tools", user) ? ["seccomp", "tool-sandbox"] : [];
	return ["landlock", ...found, ...tools].toSorted();
}
