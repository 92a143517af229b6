#!/usr/bin/env node
/**
 * Writes the version of package.json to every other file that names it. npm runs this after `npm version` has changed
 * package.json and package-lock.json.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { writeBundle } from "../scripts/lib/bundle.mjs";
import { writePlatformPackages } from "../scripts/lib/packages.mjs";
import { root } from "../scripts/lib/places.mjs";
import { runMain } from "../scripts/lib/problem.mjs";
import { run } from "../scripts/lib/programs.mjs";
import { note } from "../scripts/lib/progress.mjs";
import { writeWhole } from "../scripts/lib/stamp.mjs";
import { versionPatterns } from "./lib/version.mjs";

await runMain(async () => {
	const version = await restoreFormat();
	for (const [file, pattern] of versionPatterns) {
		const path = join(root, file);
		writeWhole(path, readFileSync(path, "utf8").replace(pattern, version));
	}
	await writePlatformPackages(join(root, "npm"));
	await writeBundle();
	note(`Every file has version ${version}. Describe it in CHANGELOG.md.`);
	// Without `--no-git-tag-version`, npm commits the index.
	if (process.env.npm_config_git_tag_version === "") return 0;
	const files = ["package.json", ...versionPatterns.keys(), "npm", "extensions", "index.js"];
	return (await run(["git", "add", "--update", "--", ...files], { cwd: root })) === 0 ? 0 : 1;
});

/** Undoes npm's formatting of package.json if it has changed nothing but the version, which this function returns. */
async function restoreFormat() {
	const path = join(root, "package.json");
	const { version, ...written } = JSON.parse(readFileSync(path, "utf8"));
	const chunks = /** @type {Buffer[]} */ ([]);
	const shown = await run(["git", "show", "HEAD:package.json"], { onOutput: (chunk) => chunks.push(chunk) });
	const text = Buffer.concat(chunks).toString();
	if (shown !== 0) return version;
	const { version: earlier, ...committed } = JSON.parse(text);
	if (isDeepStrictEqual(written, committed)) {
		writeWhole(path, text.replace(`"version": "${earlier}"`, `"version": "${version}"`));
	}
	return version;
}
