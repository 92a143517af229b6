/** The module that pi loads. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin, SourceMap } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { bundle, bundleFiles } from "../../scripts/lib/bundle.mjs";
import { packageDir } from "./versions.ts";

const [code = "", map = "", licences = ""] = bundleFiles.map((path) => readFileSync(join(packageDir, path), "utf8"));

test("imports only modules of Node", () => {
	const imported = [
		...code.matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"/gm),
		...code.matchAll(/^import "([^"]+)"/gm),
	];
	const names = imported.map(([, name = ""]) => name);
	assert.ok(names.length > 5);
	assert.deepEqual(
		names.filter((name) => !isBuiltin(name)),
		[],
	);
});

test("contains no path of the building machine", () => {
	for (const text of [code, map, licences]) assert.ok(!text.includes(packageDir));
});

test("contains the licences of its parts", () => {
	const bundled = [...code.matchAll(/node_modules\/((?:@[^/\s]+\/)?[^/\s"]+)\//g)].map(([, name]) => name);
	for (const name of new Set(bundled)) assert.match(licences, new RegExp(`^## ${name} \\d`, "m"));
	assert.doesNotMatch(code, /^\/\/ node_modules\/@earendil-works\/pi-(?!tui\/)/m, "only types of pi are imported");
});

test("maps back to its sources", () => {
	const lines = code.split("\n");
	const line = lines.findIndex((text) => text.includes("function staleNotice("));
	const entry = new SourceMap(JSON.parse(map)).findEntry(line, 0);
	assert.ok("originalSource" in entry);
	assert.match(entry.originalSource, /extension\/host\/build\.ts$/);
	const source = readFileSync(join(packageDir, dirname(bundle), entry.originalSource), "utf8").split("\n");
	assert.match(source[entry.originalLine] ?? "", /function staleNotice\(/);
	const [{ sources }] = [JSON.parse(map) as { sources: string[] }];
	const own = sources.filter((path) => !path.includes("node_modules"));
	assert.deepEqual(
		own.filter((path) => !existsSync(join(packageDir, dirname(bundle), path))),
		[],
	);
});
