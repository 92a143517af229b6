/** Truncation in the usual form for an extension: one character less until the bytes fit. Measures itself on a file. */

import { readFileSync } from "node:fs";
import { argv } from "node:process";

const maxBytes = 51_200;
const maxLines = 2000;

/** @param {string} text */
function truncate(text) {
	let result = text.split("\n").slice(0, maxLines).join("\n");
	while (Buffer.byteLength(result, "utf8") > maxBytes) result = result.slice(0, -1);
	return result;
}

const text = readFileSync(argv[2], "utf8");
const started = performance.now();
const bytesOut = Buffer.byteLength(truncate(text));
const ns = Math.round((performance.now() - started) * 1e6);
process.stdout.write(`${JSON.stringify({ bytes: Buffer.byteLength(text), bytesOut, ns, runs: 1 })}\n`);
