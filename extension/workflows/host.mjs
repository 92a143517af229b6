/**
 * Loaded with `--import` into the process of a workflow, before the user's script. It makes `pi-subagent-native` resolve
 * to this package, hands the place of the session over to it, and runs only the text that the user has allowed. The
 * process ends with pi, which holds the other end of its standard input.
 *
 * Plain JavaScript, because Node does not strip types of files below `node_modules`.
 */

import { createHash } from "node:crypto";
import module from "node:module";
import { createInterface } from "node:readline";

/**
 * The first line of standard input. It may contain keys, so it is neither an argument nor an environment variable.
 *
 * @typedef {object} Start
 * @property {string} script The URL of the script.
 * @property {string} sha256 The hash of the allowed text.
 * @property {object} place The options of the session, for `Symbol.for("pi-subagent-native.place")`.
 */

const root = new URL("../../", import.meta.url);
const NAMES = new Map([
	["pi-subagent-native", new URL("index.js", root).href],
	["pi-subagent-native/extension", new URL("native.js", root).href],
]);

/** @type {Start} */
const { script, sha256, place } = await new Promise((resolve, reject) => {
	const lines = createInterface({ input: process.stdin });
	lines.once("line", (line) => resolve(JSON.parse(line)));
	// pi has ended. The wardens end the children, and the next pi continues the workflow.
	lines.once("close", () => process.exit(1));
	process.stdin.once("error", reject);
});
/** @type {{ unref?(): void }} */ (process.stdin).unref?.();

// Node prints all fields of an error, which would hide its message.
process.on("uncaughtException", (error) => {
	const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
	const place = stack.split("\n").find((line) => line.includes(script));
	console.error(error instanceof Error ? `${error.name}: ${error.message}` : stack);
	if (place) console.error(place);
	process.exit(1);
});

Object.assign(globalThis, { [Symbol.for("pi-subagent-native.place")]: place });

/** True once Node has resolved the script. */
let hasEntry = false;

module.registerHooks({
	resolve(specifier, context, next) {
		const url = NAMES.get(specifier);
		if (url) return { url, shortCircuit: true };
		const resolved = next(specifier, context);
		// Node follows links, and the path may have become one since the user allowed the text.
		if (!hasEntry && context.parentURL === undefined) {
			if (resolved.url !== script) throw new Error("the script has been replaced since you allowed it");
			hasEntry = true;
		}
		return resolved;
	},
	load(url, context, next) {
		const loaded = next(url, context);
		if (url === script && createHash("sha256").update(allowed(loaded.source)).digest("hex") !== sha256) {
			throw new Error("the script has changed since you allowed it");
		}
		return loaded;
	},
});

/** @param {module.ModuleSource | undefined} source */
function allowed(source) {
	if (typeof source === "string") return source;
	return source ? Buffer.from(/** @type {ArrayBuffer} */ (source)) : "";
}
