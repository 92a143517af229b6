/**
 * The generated module that pi runs, and its source files. pi loads the module once, so an update takes effect at the
 * next start.
 */

import { readFileSync, realpathSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The version and hash of the loaded module, from its first line. Undefined in tests, which run the sources. */
declare const BUILD: string | undefined;

/** The package's folder. This file is as deep in it as the generated module. */
export const packageFolder = new URL("../../", import.meta.url);

/** Returns true if a file belongs to the package. A checkout may be reached through a link. */
export function isOwnFile(file: string): boolean {
	return realPath(file).startsWith(realPath(fileURLToPath(new URL("extensions", packageFolder))) + sep);
}

/** Returns true if a file is one of the package's prompts. */
export function isOwnPrompt(file: string): boolean {
	return realPath(file).startsWith(realPath(fileURLToPath(new URL("prompts", packageFolder))) + sep);
}

function realPath(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		return file;
	}
}

const FIRST_LINE = /^\/\/ pi-subagent-native (\S+) \S+\./;

/** Returns a notice to restart pi if the package on disk differs from the loaded one. */
export function staleNotice(): string | undefined {
	if (typeof BUILD === "undefined") return undefined;
	const onDisk = FIRST_LINE.exec(ownText());
	// During an update the module may be missing or incomplete.
	if (!onDisk || onDisk[0].includes(` ${BUILD}.`)) return undefined;
	const [version] = BUILD.split(" ");
	const what = onDisk[1] === version ? "another build of it" : onDisk[1];
	return `this pi still runs ${version}, while ${what} is installed; restart pi to use it`;
}

function ownText(): string {
	try {
		return readFileSync(new URL(import.meta.url), "utf8");
	} catch {
		return "";
	}
}

const FRAME = /([^\s(]+):(\d+):(\d+)\)?$/m;

let map: SourceMap | undefined;

/**
 * Returns the first position in the error's trace, in the source files and without folders, or `undefined` if the trace
 * has none.
 */
export function positionOf({ stack = "" }: Error): string | undefined {
	const [, file = "", line, column] = FRAME.exec(stack) ?? [];
	if (!line || !column) return undefined;
	return (file === import.meta.url && origin(Number(line), Number(column))) || `${basename(file)}:${line}:${column}`;
}

function origin(line: number, column: number): string | undefined {
	try {
		map ??= new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(import.meta.url)}.map`, "utf8")));
	} catch {
		return undefined;
	}
	// Traces count from one, source maps from zero.
	const entry = map.findEntry(line - 1, column - 1);
	if (!("originalSource" in entry)) return undefined;
	return `${basename(entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
