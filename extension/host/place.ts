/** Where an error was thrown, in the sources: pi runs one generated module, and its source map lies beside that. */

import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";

const FRAME = /([^\s(]+):(\d+):(\d+)\)?$/m;

let map: SourceMap | undefined;

/** The first place in the error's trace, without folders; nothing where it has none. */
export function placeOf({ stack = "" }: Error): string | undefined {
	const [, file = "", line, column] = FRAME.exec(stack) ?? [];
	if (!line || !column) return undefined;
	return (file === import.meta.url && origin(Number(line), Number(column))) || `${base(file)}:${line}:${column}`;
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
	return `${base(entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function base(file: string): string {
	return file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
}
