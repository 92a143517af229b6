/** One line per tool call, in the words pi itself uses for its tools. */

import { homedir } from "node:os";
import type { Color, Style } from "./style.ts";
import { clip, fitPath, oneLine, widthOf } from "./text.ts";

/** Longest argument value of a tool pi does not know; the line is clipped to the terminal in any case. */
const MAX_VALUE_CHARACTERS = 60;
/** Longest text looked at: a `write` carries a whole file. */
const MAX_INPUT_CHARACTERS = 2_000;
/** What a path keeps beside words that are too long. */
const FEWEST_PATH_COLUMNS = 12;

type Arguments = Readonly<Record<string, unknown>>;
type Piece = readonly [text: string, color: Color, isPath?: "path"];

/** A call in at most `width` columns. A path gives way on its left. */
export function callLine(tool: string, args: Arguments, width: number, style: Style): string {
	const pieces = form(tool, args);
	const others = pieces.reduce((sum, [text, , isPath]) => sum + (isPath ? 0 : widthOf(text)), 0);
	const room = Math.max(FEWEST_PATH_COLUMNS, width - others);
	const drawn = pieces.map(([text, color, isPath]) => style.fg(color, isPath ? fitPath(text, room) : text));
	return clip(drawn.join(""), width);
}

/** A call in full, without colours. */
export function callText(tool: string, args: Arguments): string {
	return form(tool, args)
		.map(([text]) => text)
		.join("");
}

function form(tool: string, args: Arguments): Piece[] {
	const path = (absent: string) => shortPath(text(args.path) || text(args.file_path) || absent);
	switch (tool) {
		case "bash":
		case "powershell":
			return [word("$"), [text(args.command) || "…", "toolOutput"]];
		case "read":
			return [word("read"), [path("…"), "accent", "path"], [lineRange(args.offset, args.limit), "warning"]];
		case "grep":
			return [word("grep"), [`/${text(args.pattern)}/`, "accent"], ...place(path(".")), filter(args.glob)];
		case "find":
			return [word("find"), [text(args.pattern) || "*", "accent"], ...place(path("."))];
		case "ls":
			return [word("ls"), [path("."), "accent", "path"]];
		case "edit":
		case "write":
			return [word(tool), [path("…"), "accent", "path"]];
		default:
			return [word(oneLine(tool)), [compact(args), "dim"]];
	}
}

function word(name: string): Piece {
	return [`${name} `, "muted"];
}

function place(path: string): Piece[] {
	return [
		[" in ", "dim"],
		[path, "dim", "path"],
	];
}

function filter(glob: unknown): Piece {
	const pattern = text(glob);
	return [pattern && ` (${pattern})`, "dim"];
}

/** Writes the user's home as `~`. */
export function shortPath(path: string): string {
	const home = homedir();
	if (!home || !path.startsWith(home)) return path;
	const rest = path.slice(home.length);
	return rest === "" || rest.startsWith("/") || rest.startsWith("\\") ? `~${rest}` : path;
}

function lineRange(offset: unknown, limit: unknown): string {
	const first = count(offset) ?? (limit === undefined || limit === null ? undefined : 1);
	if (first === undefined) return "";
	const length = count(limit);
	return length ? `:${first}-${first + length - 1}` : `:${first}`;
}

function count(value: unknown): number | undefined {
	const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
	return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** `query="…" limit=5`; a single text argument stands alone. */
function compact(args: Arguments): string {
	const entries = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
	const only = entries.length === 1 ? entries[0]?.[1] : undefined;
	if (typeof only === "string") return shown(only);
	return entries.map(([key, value]) => `${oneLine(key)}=${shown(value)}`).join(" ");
}

function shown(value: unknown): string {
	const whole = text(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
	const short = [...whole].slice(0, MAX_VALUE_CHARACTERS).join("");
	return short === whole ? whole : `${short}…`;
}

function text(value: unknown): string {
	return typeof value === "string" ? oneLine(value.slice(0, MAX_INPUT_CHARACTERS)) : "";
}
