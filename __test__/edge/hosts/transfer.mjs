/** Hands bytes to the collector, then gives them away and lets them be freed while they are read. */

import { collectOutput } from "../../../native.js";

// A million lines: more would take an emulated collector minutes.
const bytes = new Uint8Array(64 << 20).fill(0x20);
for (let end = 63; end < bytes.length; end += 64) bytes[end] = 0x0a;
const collected = collectOutput(bytes);
structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
for (let round = 0; round < 3; round++) {
	globalThis.gc?.();
	await new Promise((resolve) => setImmediate(resolve));
}
console.log((await collected).counts.bytes);
