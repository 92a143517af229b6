/**
 * Creates hosts on this machine as network namespaces: a single host, or two that a pair of virtual interfaces
 * connects.
 */

import { spawnSync } from "node:child_process";

import { dyingWithParent, permitted } from "./programs.mjs";

/** The addresses of the two hosts. Their network has no others. */
const addresses = { near: "10.77.0.1", far: "10.77.0.2" };

/** Runs in the first namespace, creates the second and connects them. */
const join = `ip link set lo up && { ${dyingWithParent.join(" ")} unshare --net sleep infinity & far=$!; } || exit 1
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do kill -0 $far || exit 1; sleep 0.01; done
ip link add near type veth peer name far netns $far && ip addr add ${addresses.near}/30 dev near && ip link set near up &&
nsenter --target $far --net sh -c 'ip link set lo up && ip addr add ${addresses.far}/30 dev far && ip link set far up' || exit 1
echo "joined $far" >&2
wait`;

/**
 * Sets up a host that no other host can reach. Its interface is connected to itself: without an address next to the
 * loopback's, `getaddrinfo` finds none to listen on.
 */
const alone = `ip link set lo up && ip link add near type veth peer name far && ip addr add ${addresses.near}/30 dev near &&
ip link set near up && ip link set far up || exit 1
echo "alone" >&2
exec sleep infinity`;

/**
 * Returns the command that runs a program in a network namespace of its own. Root needs no user namespace for it; other
 * users do.
 */
function namespaceCommand() {
	const user = isRoot() ? [] : ["--user", "--map-current-user", "--keep-caps"];
	return ["unshare", ...user, "--net"];
}

function isRoot() {
	return process.getuid?.() === 0;
}

/**
 * Returns the command that runs another one in the namespaces of a process, and ends it together with its starter.
 *
 * @param {number | string | undefined} pid
 */
function within(pid) {
	return [
		...["nsenter", `--target=${pid}`, ...(isRoot() ? [] : ["--user", "--preserve-credentials"]), "--net", "--"],
		...dyingWithParent,
	];
}

/**
 * Creates a host that cannot be reached from outside. It exists as long as the servers.
 *
 * @param {import("./programs.mjs").Servers} servers
 * @returns {Promise<string[]>} the command that runs another one there
 */
export async function hostAlone(servers) {
	const [program = "", ...args] = namespaceCommand();
	permitted(program, [...args, "ip", "link", "add", "near", "type", "veth", "peer", "name", "far"]);
	const holder = servers.start([...namespaceCommand(), ...dyingWithParent, "sh", "-c", alone], process.env);
	await servers.until("a host alone", () => holder.output.includes("alone"));
	return within(holder.child.pid);
}

/**
 * The commands that run another one on each of two hosts.
 *
 * @typedef {{ near: string[], far: string[], here: string, address: string }} Hosts `here` is the address of the first
 * host, `address` the address of the second
 */

/**
 * Creates two hosts that exist as long as the servers.
 *
 * @param {import("./programs.mjs").Servers} servers
 * @returns {Promise<Hosts | string>} the hosts, or the reason why there are none
 */
export async function twoHosts(servers) {
	const probe = spawnSync(
		"unshare",
		[...namespaceCommand().slice(1), "ip", "link", "add", "near", "type", "veth", "peer", "name", "far"],
		{ encoding: "utf8" },
	);
	if (probe.error || probe.status !== 0) {
		return `network namespaces are not permitted here: ${probe.error?.message ?? probe.stderr.trim()}`;
	}
	const holder = servers.start([...namespaceCommand(), ...dyingWithParent, "sh", "-c", join], process.env);
	await servers.until("two hosts", () => holder.output.includes("joined "));
	const far = /joined (\d+)/.exec(holder.output)?.[1] ?? "";
	return { near: within(holder.child.pid), far: within(far), here: addresses.near, address: addresses.far };
}
