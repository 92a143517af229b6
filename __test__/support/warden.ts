/** The guardian of a child's processes, next to the addon, and the features that this machine allows it. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const warden = fileURLToPath(new URL("../../pi-subagent-warden", import.meta.url));

export type Ability = "landlock" | "mount-ns" | "pid-ns" | "cgroup" | "tmp" | "tools";

const probed = new Map<number | undefined, string>();

/**
 * Returns the warden's detail of an available ability, such as the version of Landlock; for another user if one is
 * given.
 */
export function detailOf(ability: Ability, user?: number): string | undefined {
	if (process.platform !== "linux") return undefined;
	let answer = probed.get(user);
	if (answer === undefined) {
		const who = user === undefined ? {} : { uid: user, gid: user };
		answer = execFileSync(warden, ["--probe"], { encoding: "utf8", cwd: "/", ...who });
		probed.set(user, answer);
	}
	return new RegExp(`^${ability} yes ?(.*)`, "m").exec(answer)?.[1];
}

/** Returns true if this machine allows the warden an ability. */
export function allows(ability: Ability, user?: number): boolean {
	return detailOf(ability, user) !== undefined;
}

/** The reason to skip a test whose agents write, if this machine cannot confine them. */
export const cannotConfine = (["landlock", "mount-ns", "tools"] as const).every((ability) => allows(ability))
	? false
	: "this machine cannot confine writers";

/** Starts a program that cannot make namespaces, and neither can its children. */
export const withoutNamespaces: readonly string[] = [
	...["unshare", "--user", "--map-root-user", "sh", "-c"],
	'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all "$@"',
	"sh",
];

/** Returns the reason if namespaces cannot be taken away from a program here. */
export function keepsNamespaces(): string | false {
	const [program = "", ...words] = withoutNamespaces;
	try {
		const answer = execFileSync(program, [...words, warden, "--probe"], {
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		});
		return /^(mount-ns|pid-ns) yes/m.test(answer) ? "namespaces can be made all the same" : false;
	} catch {
		return "namespaces cannot be taken away here";
	}
}

/** The processes of a pi with one child that may not write: itself, the child, and what guards that one. */
export const delegating = process.platform === "linux" ? (allows("pid-ns") ? 4 : 3) : 2;

/**
 * The features that give a readonly agent a shell: the kernel's guarantee that it cannot write, and the separation of
 * its children.
 */
export const shell: readonly string[] = allows("landlock") && allows("tools") ? ["bash"] : [];

/** Returns the sandbox layers that a result names for a readonly child, sorted. */
export function sandboxOf(user?: number): string[] {
	const found = (["mount-ns", "pid-ns"] as const).filter((ability) => allows(ability, user));
	const tools = allows("tools", user) ? ["seccomp", "tool-sandbox"] : [];
	return ["landlock", ...found, ...tools].toSorted();
}
