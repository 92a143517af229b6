/** Finds forbidden leftovers of an engine: programs that other machines can reach over a network, and processes. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The kernel's state codes for a listening socket, and for an unconnected datagram socket. */
const listening = { tcp: "0A", tcp6: "0A", udp: "07", udp6: "07" };

/**
 * Returns the processes that mention a folder, except this one, with their command lines.
 *
 * @param {string} place
 */
export function processesNaming(place) {
	return processes(place).map(({ pid, command }) => `${pid} ${command}`);
}

/**
 * Returns the engine's sockets that listen on an address reachable from other machines. In a namespace with only the
 * loopback interface there are none.
 *
 * @param {string} place
 */
export function listeningBeyondLoopback(place) {
	return processes(place).flatMap(({ pid, command }) => {
		const sockets = socketsOf(pid);
		const open = sockets.size > 0 && isReached(pid) ? listeners(pid) : [];
		return open.filter(({ inode }) => sockets.has(inode)).map(({ address }) => `${command}: ${address}`);
	});
}

/**
 * Returns the processes that mention a folder in their command line or in their environment. Slurm's daemons have it in
 * the environment.
 *
 * @param {string} place
 */
function processes(place) {
	return readdirSync("/proc")
		.filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
		.filter((pid) => read(`/proc/${pid}/cmdline`).includes(place) || read(`/proc/${pid}/environ`).includes(place))
		.map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }));
}

/**
 * Returns true if the namespace of a process has an interface other than the loopback's that this project did not
 * create.
 *
 * @param {string} pid
 */
function isReached(pid) {
	const names = read(`/proc/${pid}/net/dev`).matchAll(/^\s*([^\s:|]+):/gm);
	return [...names].some(([, name]) => name !== "lo" && !own.has(String(name)));
}

/** The interfaces of the hosts in `hosts.mjs`, which connect only these two hosts. */
const own = new Set(["near", "far"]);

/**
 * Returns the inodes of the sockets that a process holds.
 *
 * @param {string} pid
 */
function socketsOf(pid) {
	/** @type {Set<string>} */
	const found = new Set();
	try {
		for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
			const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1];
			if (inode) found.add(inode);
		}
	} catch {
		// The process has ended, and holds no sockets.
	}
	return found;
}

/**
 * Returns the listening sockets in the network namespace of a process, except on the loopback interface.
 *
 * @param {string} pid
 */
function listeners(pid) {
	return Object.entries(listening).flatMap(([table, state]) =>
		read(`/proc/${pid}/net/${table}`)
			.split("\n")
			.slice(1)
			.map((line) => line.trim().split(/\s+/))
			.filter((fields) => fields[3] === state && !isLoopback(fields[1] ?? ""))
			.map((fields) => ({ address: `${table} ${fields[1]}`, inode: fields[9] ?? "" })),
	);
}

/**
 * Returns true if an address is a loopback address. The kernel writes it in words of four bytes, each with the last
 * byte first.
 *
 * @param {string} address
 */
function isLoopback(address) {
	const host = address.split(":")[0] ?? "";
	const mapped = host.startsWith("0000000000000000FFFF0000") ? host.slice(24) : host;
	return mapped.length === 8 ? mapped.endsWith("7F") : host === "00000000000000000000000001000000";
}

/** @param {string} path */
function read(path) {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
