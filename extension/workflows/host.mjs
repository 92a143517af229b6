/**
 * Loaded with `--import` into the process of a workflow, before the user's script. It makes `pi-subagent-native` resolve
 * to this package, hands the place of the session over to it, and runs only the text that the user has allowed. If the
 * user starts the script, its imports are recorded. If pi starts it again, it may import only these files, unchanged.
 * The process ends with pi, which holds the other end of its standard input.
 *
 * Plain JavaScript, because Node does not strip types of files below `node_modules`.
 */

import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import module from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * The first line of standard input. It may contain keys, so it is neither an argument nor an environment variable.
 *
 * @typedef {object} Start
 * @property {string} script The URL of the script.
 * @property {string} sha256 The hash of the allowed text.
 * @property {string} [importsFile] The file that records the imports of a script that the user starts.
 * @property {Record<string, string>} [imports] The hashes of the recorded files, if pi starts the script by itself.
 * @property {object} place The options of the session, for `Symbol.for("pi-subagent-native.place")`.
 */

const root = new URL("../../", import.meta.url);
const NAMES = new Map([
	["pi-subagent-native", new URL("index.js", root).href],
	["pi-subagent-native/extension", new URL("native.js", root).href],
]);

/** @type {Start} */
const { script, sha256, importsFile, imports, place } = await new Promise((resolve, reject) => {
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

/** The imported files, by their URLs. */
const known = new Set();

if (importsFile && !imports) record("", "w");

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
		// Node loads addons without the hook below. This package's own one may lie next to the package.
		const isOwn = context.parentURL?.startsWith(root.href);
		if (resolved.url.endsWith(".node") && !isOwn) noteImport(resolved.url, undefined);
		return resolved;
	},
	load(url, context, next) {
		const loaded = next(url, context);
		if (url !== script) noteImport(url, loaded.source);
		else if (hashOf(bytesOf(loaded.source) ?? "") !== sha256) {
			throw new Error("the script has changed since you allowed it");
		}
		return loaded;
	},
});

/**
 * Records an imported file, or compares it with the recorded one. Files of packages count, too: an agent can write in
 * `node_modules` of its tree. Only this package's own files do not count, because pi has loaded them.
 *
 * @param {string} url
 * @param {module.ModuleSource | undefined} source
 */
function noteImport(url, source) {
	if (!url.startsWith("file:") || url.startsWith(root.href)) return;
	const path = fileURLToPath(url);
	const stored = readFileSync(path);
	let bytes = bytesOf(source) ?? stored;
	// Node has decoded this text.
	if (source === stored.toString()) bytes = stored;
	const hash = hashOf(bytes);
	if (imports) {
		if (imports[path] === hash) return;
		const what = imports[path] === undefined ? "was not imported when" : "has changed since";
		throw new Error(`${path} ${what} you started the script. Start it again to allow this`);
	}
	if (known.has(url)) return;
	known.add(url);
	record(`${JSON.stringify({ path, sha256: hash })}\n`, "a");
}

/**
 * If the imports cannot be recorded, the script runs anyway, but pi does not continue it by itself.
 *
 * @param {string} line
 * @param {"a" | "w"} flag
 */
function record(line, flag) {
	if (!importsFile) return;
	try {
		const options = { mode: 0o600, flag };
		if (flag === "w") writeFileSync(importsFile, line, options);
		else appendFileSync(importsFile, line, options);
	} catch {}
}

/** @param {module.ModuleSource | undefined} source */
function bytesOf(source) {
	if (typeof source === "string") return Buffer.from(source);
	return source ? Buffer.from(/** @type {ArrayBuffer} */ (source)) : undefined;
}

/** @param {string | Buffer} bytes */
function hashOf(bytes) {
	return createHash("sha256").update(bytes).digest("hex");
}
