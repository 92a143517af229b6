/**
 * The generated module that pi runs, and the sources that it was made of. Pi loads it once: what an update puts on disk
 * comes with the next start.
 */

import { readFileSync, realpathSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Version and hash of the module that pi loads, as its first line says; only the tests run the sources. */
declare const BUILD: string | undefined;

/** The folder of the package: this file lies as deep in it as the module. */
export const packageFolder = new URL("../../", import.meta.url);

/** Whether a file is the package's own; a checkout may be reached through a link. */
export function isOurs(file: string): boolean {
	return realPath(file).startsWith(realPath(fileURLToPath(new URL("extensions", packageFolder))) + sep);
}

/** Whether a file is one of the package's prompts. */
export function isOurPrompt(file: string): boolean {
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

/** Says that pi has to be started again, if the package on disk is no longer the one that is loaded. */
export function staleNotice(): string | undefined {
	if (typeof BUILD === "undefined") return undefined;
	const onDisk = FIRST_LINE.exec(ownText());
	// In the middle of an update there may be no module, or half of one.
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

/** The first place in the error's trace, in the sources and without folders; nothing where it has none. */
export function placeOf({ stack = "" }: Error): string | undefined {
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
	// Traces count from one, maps from zero.
	const entry = map.findEntry(line - 1, column - 1);
	if (!("originalSource" in entry)) return undefined;
	return `${basename(entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}
