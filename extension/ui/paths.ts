/** Paths on a line: the end of one says most, so it is cut from the left. */

import { homedir } from "node:os";
import { sliceByColumn } from "@earendil-works/pi-tui";
import { ELLIPSIS, widthOf } from "./text.ts";

/** What a path keeps beside words that are too long. */
const FEWEST_PATH_COLUMNS = 6;

/** A path in so many columns: cut before a name, unless that would leave half of the room empty. */
export function fitPath(path: string, width: number): string {
	const columns = widthOf(path);
	if (columns <= width) return path;
	const room = Math.max(0, width - 1);
	const end = sliceByColumn(path, columns - room, room, true);
	const name = end.search(/[/\\]/);
	return ELLIPSIS + (name > room / 2 ? end : end.slice(Math.max(0, name)));
}

/** The words of a tool call; where they are too long, the path at their end gives way. */
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
