/**
 * Builds the entry for programs, `api/` in one file, and the module that pi loads: `extension/` and the parts of pi's terminal library that it uses, in one file whose
 * imports Node resolves without help. pi compiles every file that imports one of its packages. Its compiler trusts a
 * cache directory below the shared temporary one, and would cost each start of pi more time than the whole extension.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, sep } from "node:path";

import { root } from "./places.mjs";
import { SetupProblem } from "./problem.mjs";
import { writeWhole } from "./stamp.mjs";

/** pi shows an extension by the folder of its `index.js`, after the package's name if it came from a registry. */
const folder = "extensions/pi-subagent-native";

export const bundle = `${folder}/index.js`;

/** CommonJS, so that programs can import and require it. */
const programEntry = "index.js";

/** The oldest Node that programs run on. */
const programTarget = "node20";

/**
 * The files that a build writes. The licences are for the packages in the module. The `package.json` declares the
 * folder's files as ES modules.
 */
export const bundleFiles = [
	bundle,
	`${bundle}.map`,
	`${folder}/THIRD-PARTY.md`,
	`${folder}/package.json`,
	programEntry,
];

/** The oldest Node that pi runs on. */
const target = "node22.19";

/** The packages that may be in the module. Importing them has no side effects, so unused code is left out. */
const bundled = /^(?:@earendil-works\/pi-tui|marked|get-east-asian-width)(?:\/|$)/;

/**
 * A placeholder for the module's hash in the module itself. It has the same length, because the source map counts
 * columns.
 */
const unknownBuild = "0".repeat(16);

/** Builds the module unless it is newer than all of its sources. Tests call it first. */
export async function freshenBundle() {
	const sources = ["api", "extension", "package.json", "package-lock.json", "scripts/lib/bundle.mjs"];
	const newest = sources.reduce((time, path) => newestIn(join(root, path), time), 0);
	const built = bundleFiles.map((path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0);
	if (Math.min(...built) < newest) await writeBundle();
}

/** Builds the module and writes it. Returns its size in bytes. */
export async function writeBundle() {
	const texts = await generate();
	for (const [path, text] of texts) writeWhole(join(root, path), text);
	return Buffer.byteLength(texts.get(bundle) ?? "");
}

/**
 * Returns the text of each file. The same sources give the same texts on any machine.
 *
 * @returns {Promise<Map<string, string>>}
 * @throws {SetupProblem}
 */
async function generate() {
	const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const name = `${version} ${unknownBuild}`;
	const code = await built("extension/index.ts", {
		outfile: bundle,
		format: "esm",
		sourcemap: "linked",
		// The package contains the sources. Embedding them would store each text twice, and also in every commit.
		sourcesContent: false,
		banner: { js: `// pi-subagent-native ${name}. Generated from extension/ by \`npm run build:extension\`.` },
		define: { BUILD: JSON.stringify(name) },
	});
	const program = await built("api/index.ts", {
		outfile: programEntry,
		format: "cjs",
		target: programTarget,
		banner: { js: `// pi-subagent-native ${version}. Generated from api/ by \`npm run build:extension\`.` },
	});
	const id = createHash("sha256").update(code.text).digest("hex").slice(0, unknownBuild.length);
	return new Map([
		[programEntry, program.text],
		[bundle, code.text.replaceAll(name, `${version} ${id}`)],
		[`${bundle}.map`, `${code.map.trimEnd()}\n`],
		[`${folder}/THIRD-PARTY.md`, licences(code.files)],
		[`${folder}/package.json`, `${JSON.stringify({ type: "module" })}\n`],
	]);
}

/**
 * Bundles a file with all of its imports, and returns the result and the names of the bundled files.
 *
 * @param {string} entry
 * @param {import("esbuild").BuildOptions & { outfile: string }} options
 * @returns {Promise<{ text: string, map: string, files: string[] }>}
 */
async function built(entry, options) {
	// Not at the top: tests that only check whether the module is up to date do not need it.
	const { build } = await import("esbuild");
	const { outputFiles = [], metafile } = await build({
		absWorkingDir: root,
		entryPoints: [entry],
		bundle: true,
		write: false,
		metafile: true,
		platform: "node",
		target,
		legalComments: "none",
		// `tsc` checks the code; bundling needs none of its options.
		tsconfigRaw: {},
		plugins: [onlyWhatNodeResolves],
		logLevel: "silent",
		...options,
	}).catch((error) => {
		throw new SetupProblem("The extension cannot be bundled.", error instanceof Error ? error.message : String(error));
	});
	const text = (/** @type {string} */ path) => outputFiles.find((file) => file.path === join(root, path))?.text ?? "";
	const inputs = Object.entries(metafile?.outputs[options.outfile]?.inputs ?? {});
	const files = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
	return { text: text(options.outfile), map: text(`${options.outfile}.map`), files };
}

/** @type {import("esbuild").Plugin} */
const onlyWhatNodeResolves = {
	name: "only what Node resolves",
	setup({ onResolve, resolve }) {
		onResolve({ filter: /.*/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
			if (kind === "entry-point" || pluginData === onlyWhatNodeResolves) return undefined;
			const isRelative = path.startsWith(".");
			// It finds the addon next to itself.
			if (path === "../native.js") return { path: "./native.js", external: true };
			if (!isRelative && !isBuiltin(path) && !bundled.test(path)) {
				return { errors: [{ text: `${importer} imports ${path}; only types of it may be imported` }] };
			}
			const found = await resolve(path, { kind, importer, resolveDir, pluginData: onlyWhatNodeResolves });
			return isRelative && !importer.includes(`${sep}node_modules${sep}`) ? found : { ...found, sideEffects: false };
		});
	},
};

/**
 * Returns the notices that the licences of the packages require.
 *
 * @param {string[]} files of the module
 * @returns {string} Markdown
 */
function licences(files) {
	const names = files.flatMap((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
	const sections = [...new Set(names)].sort().map((name) => {
		const folder = join(root, "node_modules", name);
		const { version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
		const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
		if (!file && license !== "MIT")
			throw new SetupProblem(
				`${name} ${version} has no licence file.`,
				"Add its licence text to scripts/lib/bundle.mjs.",
			);
		const text = file
			? readFileSync(join(folder, file), "utf8")
			: mit(typeof author === "string" ? author : author?.name);
		return `## ${name} ${version}\n\n${text.replaceAll("\r\n", "\n").trim()}\n`;
	});
	const head =
		"# What is part of these files\n\nGenerated by `npm run build:extension`: the packages whose code is in it, and their licences.\n";
	return [head, ...sections].join("\n");
}

/** Returns the MIT licence for a package that only names it. @param {string} author */
function mit(author) {
	const own = readFileSync(join(root, "LICENSE"), "utf8");
	return own.replace(/^Copyright .*$/m, `Copyright (c) ${author}`);
}

/**
 * @param {string} path
 * @param {number} [than] in milliseconds
 * @returns {number}
 */
function newestIn(path, than = 0) {
	if (!existsSync(path)) return than;
	const found = statSync(path);
	const newest = Math.max(than, found.mtimeMs);
	return found.isDirectory()
		? readdirSync(path).reduce((time, name) => newestIn(join(path, name), time), newest)
		: newest;
}
