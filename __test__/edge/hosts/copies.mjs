/** Two copies of the addon, or one that is loaded twice, in one process. */

import { createRequire } from "node:module";
import { dirname } from "node:path";

/** @typedef {typeof import("../../../native.js")} Addon */

const [options, ...places] = [JSON.parse(process.argv[2] ?? ""), ...process.argv.slice(3)];
const require = createRequire(import.meta.url);
/** @type {Addon[]} */
const [first, second] = places.map((place) => {
	// The same place twice is what `/reload` does: loader and binary are loaded again.
	for (const loaded of Object.keys(require.cache)) if (loaded.startsWith(dirname(place))) delete require.cache[loaded];
	return require(place);
});
if (!first || !second || first.startRun === second.startRun) throw new Error("these are no two copies");
const one = first.startRun(options);
const two = second.startRun(options);
const three = second.startRun({ ...options, agent: "nobody" });
const aborted = first.startRun(options);
aborted.abort();
for (const handle of [one, two, three, aborted]) {
	const result = await handle.result();
	console.log(result.details.error?.code ?? result.content[0]?.text);
}
console.log(await second.sanitizeOutput("API_TOKEN=abcdefgh12345678"));
