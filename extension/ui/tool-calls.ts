/** One line per tool call, in the words pi itself uses for its tools. */

import { homedir } from "node:os";
import { type Line, oneLine, type Span } from "./spans.ts";

/** Longest argument value of a tool pi does not know; the line is clipped to the terminal in any case. */
const MAX_VALUE_CHARACTERS = 60;
/** Longest text looked at: a `write` carries a whole file. */
const MAX_INPUT_CHARACTERS = 2_000;

type Arguments = Readonly<Record<string, unknown>>;

export function shortForm(tool: string, args: Arguments): Line {
	switch (tool) {
		case "bash":
		case "powershell":
			return [word("$"), { text: text(args.command) || "…", color: "toolOutput" }];
		case "read":
			return [word("read"), path(args), { text: lineRange(args.offset, args.limit), color: "warning" }];
		case "grep":
			return [word("grep"), { text: `/${text(args.pattern)}/`, color: "accent" }, place(args), filter(args.glob)];
		case "find":
			return [word("find"), { text: text(args.pattern) || "*", color: "accent" }, place(args)];
		case "ls":
			return [word("ls"), path(args, ".")];
		case "edit":
		case "write":
			return [word(tool), path(args)];
		default:
			return [word(oneLine(tool)), { text: compact(args), color: "dim" }];
	}
}

function word(name: string): Span {
	return { text: `${name} `, color: "muted" };
}

function path(args: Arguments, absent = "…"): Span {
	return { text: shortPath(text(args.path) || text(args.file_path) || absent), color: "accent" };
}

function place(args: Arguments): Span {
	return { text: ` in ${shortPath(text(args.path) || ".")}`, color: "dim" };
}

function filter(glob: unknown): Span {
	const pattern = text(glob);
	return { text: pattern && ` (${pattern})`, color: "dim" };
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
