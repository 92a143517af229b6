/** Two hosts on this machine: network namespaces of their own, joined by a pair of virtual interfaces. */

import { spawnSync } from "node:child_process";

import { dyingWithParent } from "./programs.mjs";

/** The addresses of the two; nobody else is in their network. */
const addresses = { near: "10.77.0.1", far: "10.77.0.2" };

/** Runs in the first namespace, makes the second and joins them. */
const join = `ip link set lo up && { ${dyingWithParent.join(" ")} unshare --net sleep infinity & far=$!; } || exit 1
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do kill -0 $far || exit 1; sleep 0.01; done
ip link add near type veth peer name far netns $far && ip addr add ${addresses.near}/30 dev near && ip link set near up &&
nsenter --target $far --net sh -c 'ip link set lo up && ip addr add ${addresses.far}/30 dev far && ip link set far up' || exit 1
echo "joined $far" >&2
wait`;

/**
 * Words that run a command on one of two hosts.
 *
 * @typedef {{ near: string[], far: string[], address: string }} Hosts
 */

/**
 * Makes two hosts that last as long as the servers. Root makes them as it is, others in a user namespace.
 *
 * @param {import("./programs.mjs").Servers} servers
 * @returns {Promise<Hosts | string>} or why there are none
 */
export async function twoHosts(servers) {
	const isRoot = process.getuid?.() === 0;
	const user = isRoot ? [] : ["--user", "--map-current-user", "--keep-caps"];
	const namespace = ["unshare", ...user, "--net", ...dyingWithParent];
	const probe = spawnSync(
		"unshare",
		[...user, "--net", "ip", "link", "add", "near", "type", "veth", "peer", "name", "far"],
		{
			encoding: "utf8",
		},
	);
	if (probe.error || probe.status !== 0) {
		return `network namespaces are not permitted here: ${probe.error?.message ?? probe.stderr.trim()}`;
	}
	const holder = servers.start([...namespace, "sh", "-c", join], process.env);
	await servers.until("two hosts", () => holder.said.includes("joined "));
	const far = /joined (\d+)/.exec(holder.said)?.[1] ?? "";
	const within = (/** @type {number | string | undefined} */ pid) => [
		...["nsenter", `--target=${pid}`, ...(isRoot ? [] : ["--user", "--preserve-credentials"]), "--net", "--"],
		...dyingWithParent,
	];
	return { near: within(holder.child.pid), far: within(far), address: addresses.far };
}
