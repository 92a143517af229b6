/** Writes bytes at the reader's pace in pieces of a requested size, and reads lines. */

import { write as writeCallback } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const write = promisify(writeCallback);

/** The pause before another attempt to write to a full non-blocking pipe. */
const fullPipeMs = 1;

/** The maximum size of one write. */
const largestPiece = 1 << 20;

/**
 * Writes all data, at the reader's pace. `process.stdout` is not used, because it would buffer unread data.
 *
 * @param {number} descriptor
 * @param {string | Uint8Array} data
 * @param {{ split?: number, pauseMs?: number }} [pieces] the bytes per write, and the pause between writes
 */
export async function writeAll(descriptor, data, pieces = {}) {
	const bytes = typeof data === "string" ? Buffer.from(data) : data;
	const turn = (turns.get(descriptor) ?? Promise.resolve()).then(() => writePieces(descriptor, bytes, pieces));
	turns.set(descriptor, turn);
	await turn;
}

/**
 * The pending writes per descriptor, so that no record interrupts another one.
 *
 * @type {Map<number, Promise<void>>}
 */
const turns = new Map();

/** Waits until all pending writes have finished. */
export async function flushed() {
	await Promise.all(turns.values());
}

/** @param {number} descriptor @param {Uint8Array} bytes @param {{ split?: number, pauseMs?: number }} pieces */
async function writePieces(descriptor, bytes, { split = largestPiece, pauseMs = 0 }) {
	let done = 0;
	while (done < bytes.length) {
		done += await writeSome(descriptor, bytes, done, Math.min(split, bytes.length - done));
		if (pauseMs > 0) await delay(pauseMs);
	}
}

/** @param {number} descriptor @param {Uint8Array} bytes @param {number} from @param {number} length */
async function writeSome(descriptor, bytes, from, length) {
	try {
		return (await write(descriptor, bytes, from, length, null)).bytesWritten;
	} catch (error) {
		const { code } = /** @type {NodeJS.ErrnoException} */ (error);
		// The reader has exited. pi exits in that case too.
		if (code === "EPIPE") process.exit(1);
		if (code !== "EAGAIN") throw error;
		await delay(fullPipeMs);
		return 0;
	}
}

/**
 * Writes a number of bytes as fast as they are read, in whole patterns.
 *
 * @param {number} descriptor
 * @param {number} total
 * @param {string} pattern the repeated text
 */
export async function fill(descriptor, total, pattern) {
	const unit = Buffer.from(pattern);
	const copies = Math.max(1, Math.floor(largestPiece / unit.length));
	const block = Buffer.alloc(copies * unit.length, unit);
	for (let remaining = total - (total % unit.length); remaining > 0; remaining -= block.length) {
		await writeAll(descriptor, remaining < block.length ? block.subarray(0, remaining) : block);
	}
}

/** Reads a stream to its end. */
export async function readToEnd(stream = process.stdin) {
	const chunks = [];
	for await (const chunk of stream) chunks.push(chunk);
	return Buffer.concat(chunks).toString("utf8");
}

/**
 * Yields lines that end with LF, as they arrive. `readline` would also split at U+2028.
 *
 * @param {AsyncIterable<Buffer>} stream
 */
export async function* linesOf(stream = process.stdin) {
	let rest = Buffer.alloc(0);
	for await (const chunk of stream) {
		rest = Buffer.concat([rest, chunk]);
		for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
			yield rest.subarray(0, end).toString("utf8").replace(/\r$/, "");
			rest = rest.subarray(end + 1);
		}
	}
	if (rest.length > 0) yield rest.toString("utf8");
}
