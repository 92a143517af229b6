/** The child of a replay: writes the output that `replay.mjs` sends, and reports its input. */

import { connect } from "node:net";

import { flushed, linesOf, writeAll } from "./pipe.mjs";

/** The signals that ask pi to exit. The replay decides when the child exits. */
const polite = /** @type {const} */ (["SIGTERM", "SIGHUP"]);

/**
 * @typedef {{ out: string } | { err: string } | { exit: number } | { kill: NodeJS.Signals }} Order
 * @typedef {{ token: string } | { in: string } | { end: true } | { signal: string }} Report
 */

/** @param {string} address the port of the replay and the child's token: `40123:f00d` */
export async function playRecorded(address) {
	const [port = "", token = ""] = address.split(":");
	const socket = connect(Number(port), "127.0.0.1");
	const report = (/** @type {Report} */ what) => void socket.write(`${JSON.stringify(what)}\n`);
	socket.on("error", () => process.exit(1));
	for (const signal of polite) process.on(signal, () => report({ signal }));
	report({ token });
	void reportInput(report);
	for await (const line of linesOf(socket)) await follow(JSON.parse(line));
	// The replay has ended.
	process.exit(1);
}

/** @param {(what: Report) => void} report */
async function reportInput(report) {
	for await (const line of linesOf()) report({ in: line });
	report({ end: true });
}

/** @param {Order} order */
async function follow(order) {
	if ("out" in order) return await writeAll(1, `${order.out}\n`);
	if ("err" in order) return await writeAll(2, order.err);
	await flushed();
	if ("exit" in order) process.exit(order.exit);
	process.kill(process.pid, order.kill);
}
