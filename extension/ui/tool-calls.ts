/** Tool calls in one line. The words are the addon's; what gives way where there is no room is decided here. */

import { homedir } from "node:os";
import type { Style } from "./style.ts";
import { clip, fitPath, widthOf } from "./text.ts";
import { callText } from "./words.ts";

/** What a path keeps beside words that are too long. */
const FEWEST_PATH_COLUMNS = 6;

/** A call in at most `width` columns. */
export function callLine(tool: string, args: Readonly<Record<string, unknown>>, width: number, style: Style): string {
	const call = fitCall(callText(tool, args), width);
	const end = call.indexOf(" ") + 1;
	return clip(style.fg("muted", call.slice(0, end)) + style.fg("toolOutput", call.slice(end)), width);
}

/** The words of a call; where they are too long, the path at their end gives way on its left. */
export function fitCall(call: string, width: number): string {
	const [path = ""] = /\S*[/\\]\S*$/.exec(call) ?? [];
	// What a shell runs is no place.
	if (path === "" || call.startsWith("$")) return call;
	const what = call.slice(0, call.length - path.length);
	return what + fitPath(path, Math.max(FEWEST_PATH_COLUMNS, width - widthOf(what)));
}

/** Writes the user's home as `~`. */
export function shortPath(path: string): string {
	const home = homedir();
	if (!home || !path.startsWith(home)) return path;
	const rest = path.slice(home.length);
	return rest === "" || rest.startsWith("/") || rest.startsWith("\\") ? `~${rest}` : path;
}
