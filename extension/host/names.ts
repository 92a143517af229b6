/**
 * Finds names of this package that pi gives to other code. Of two tools or prompts with the same name, pi takes the
 * first.
 */

import { basename } from "node:path";
import type { ExtensionAPI, SourceInfo } from "@earendil-works/pi-coding-agent";
import type { TakenName } from "../../native.js";
import { isOwnFile, isOwnPrompt } from "./build.ts";
import { ownPrompts } from "./extensions.ts";
import { defined } from "./stored.ts";

const COMMANDS = ["subagents", "stop"];

let taken: TakenName[] = [];

/** Returns the file of a tool or command. Undefined for pi's own (`builtin:read`, `<builtin:read>`, `<inline:x>`). */
export function extensionFile({ path, source }: SourceInfo): string | undefined {
	return source === "builtin" || source === "sdk" || /^(?:builtin:|<)/.test(path) ? undefined : path;
}

/** Returns the result of the last search. */
export const takenNames = () => taken;

export function isTaken(tool: string): boolean {
	return taken.some(({ kind, name }) => kind === "tool" && name === tool);
}

/** Searches again. `tools` are the names of the registered tools. */
export function findTakenNames(pi: ExtensionAPI, tools: readonly string[]): TakenName[] {
	const all = pi.getAllTools();
	const commands = pi.getCommands();
	const ofTools = tools.flatMap((name) => {
		const owner = all.find((tool) => tool.name === name);
		return owner && !isOwnFile(owner.sourceInfo.path) ? [nameOf("tool", name, owner.sourceInfo)] : [];
	});
	const ofPrompts = ownPrompts().flatMap((path) => {
		const name = basename(path, ".md");
		const owner = commands.find((command) => command.name === name);
		return owner && !isOwnPrompt(owner.sourceInfo.path) ? [nameOf("prompt", name, owner.sourceInfo)] : [];
	});
	// pi appends numbers to commands of the same name, so that none has the plain name.
	const ofCommands = COMMANDS.flatMap((name) => {
		const same = commands.filter((command) => command.source === "extension" && command.name.split(":")[0] === name);
		const own = same.find(({ sourceInfo }) => isOwnFile(sourceInfo.path));
		if (!own || own.name === name) return [];
		const others = same.filter((command) => command !== own);
		return others.map(({ sourceInfo }) => ({ ...nameOf("command", name, sourceInfo), ownName: own.name }));
	});
	taken = [...ofTools, ...ofPrompts, ...ofCommands];
	return taken;
}

function nameOf(kind: TakenName["kind"], name: string, info: SourceInfo): TakenName {
	return defined<TakenName>({
		kind,
		name,
		path: extensionFile(info),
		package: info.origin === "package" ? info.source : undefined,
		isNamed: info.source === "cli",
	});
}
