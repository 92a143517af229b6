/** What an engine must not do or leave: programs that others reach over a network, and processes. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The state of a socket that listens, as the kernel writes it, and that of one for datagrams that nobody has connected. */
const listening = { tcp: "0A", tcp6: "0A", udp: "07", udp6: "07" };

/**
 * The processes other than this one that name a folder, each with its words.
 *
 * @param {string} place
 */
export function naming(place) {
	return processes(place).map(({ pid, words }) => `${pid} ${words}`);
}

/**
 * What of an engine listens on an address that is reached from elsewhere. In a namespace without any interface but the loopback's
 * nothing is.
 *
 * @param {string} place
 */
export function listeningBeyondLoopback(place) {
	return processes(place).flatMap(({ pid, words }) => {
		const sockets = socketsOf(pid);
		const open = sockets.size > 0 && isReached(pid) ? listeners(pid) : [];
		return open.filter(({ inode }) => sockets.has(inode)).map(({ address }) => `${words}: ${address}`);
	});
}

/**
 * The processes that name a folder among their words or in their environment, where Slurm's daemons have it.
 *
 * @param {string} place
 */
function processes(place) {
	return readdirSync("/proc")
		.filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
		.filter((pid) => read(`/proc/${pid}/cmdline`).includes(place) || read(`/proc/${pid}/environ`).includes(place))
		.map((pid) => ({ pid, words: read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim() }));
}

/**
 * Whether the namespace of a process has an interface beside the loopback's that leads somewhere we have not made.
 *
 * @param {string} pid
 */
function isReached(pid) {
	const names = read(`/proc/${pid}/net/dev`).matchAll(/^\s*([^\s:|]+):/gm);
	return [...names].some(([, name]) => name !== "lo" && !own.has(String(name)));
}

/** The interfaces of the hosts in `hosts.mjs`, which join these two and nobody else. */
const own = new Set(["near", "far"]);

/**
 * The sockets that a process holds, by inode.
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
		// It has ended, and holds nothing.
	}
	return found;
}

/**
 * What listens in the network namespace of a process beyond the loopback interface.
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
 * Whether an address is the machine's own, as the kernel writes it: words of four bytes, the last byte of each first.
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
