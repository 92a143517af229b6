/** What the addon needs to know about the pi that hosts us. */

import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostTool, RunOptions, SurfaceOptions } from "../../index.js";
import { packageFolder } from "./build.ts";
import type { PiApi, PiContext, SourceInfo } from "./pi.ts";

const OWN_FOLDER = fileURLToPath(new URL("extensions/", packageFolder));

/** The file a tool or command comes from; absent for what is pi's own (`builtin:read`, `<builtin:read>`, `<inline:x>`). */
function extensionFile({ path, source }: SourceInfo): string | undefined {
	return source === "builtin" || source === "sdk" || /^(?:builtin:|<)/.test(path) ? undefined : path;
}

/** Files that were looked at: each call asks for all tools again, some while its arguments still arrive. */
const ours = new Map<string, boolean>();

/** Our own files; a checkout may be reached through a link. */
function isOurs(file: string): boolean {
	const known = ours.get(file);
	if (known !== undefined) return known;
	const found = file.startsWith(OWN_FOLDER) || realPath(file).startsWith(`${realPath(OWN_FOLDER)}${sep}`);
	ours.set(file, found);
	return found;
}

function realPath(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		return file;
	}
}

function tools(pi: PiApi): HostTool[] {
	const list: HostTool[] = [];
	for (const { name, sourceInfo } of pi.getAllTools()) {
		const extension = extensionFile(sourceInfo);
		if (extension === undefined) list.push({ name });
		else if (!isOurs(extension)) list.push({ name, extension });
	}
	return list;
}

function program(): { hostExecutable: string; hostScript?: string } {
	const script = process.argv[1];
	return script === undefined
		? { hostExecutable: process.execPath }
		: { hostExecutable: process.execPath, hostScript: script };
}

/** How pi marks a model that picks another one for each request; only extensions make such models. */
const VIRTUAL_API = "pi-virtual";

/** The model, and what extensions provide: pi tells which providers are registered, not by which file. */
function models({ model, modelRegistry }: PiContext) {
	const extensionProviders = [...modelRegistry.getRegisteredProviderIds()];
	if (!model) return { extensionProviders };
	const modelFromExtension = model.api === VIRTUAL_API;
	return { model: `${model.provider}/${model.id}`, modelFromExtension, extensionProviders };
}

function session(context: PiContext): { parentSessionFile?: string } {
	const parentSessionFile = context.sessionManager.getSessionFile();
	return parentSessionFile === undefined ? {} : { parentSessionFile };
}

/** Every model that this pi knows, as `provider/id`. */
export function modelNames({ modelRegistry }: PiContext): string[] {
	return modelRegistry.getAll().map(({ provider, id }) => `${provider}/${id}`);
}

export function surfaceOptions(pi: PiApi, context: PiContext): SurfaceOptions {
	return { cwd: context.cwd, tools: tools(pi) };
}

export function doctorOptions(pi: PiApi, context: PiContext): SurfaceOptions {
	return { ...surfaceOptions(pi, context), ...program(), ...session(context) };
}

/** Everything about a conversation that its runs depend on. */
export type PlaceOptions = Omit<RunOptions, "agent" | "task" | "callId" | "aborted">;

export function placeOptions(pi: PiApi, context: PiContext): PlaceOptions {
	return {
		sessionId: context.sessionManager.getSessionId(),
		...doctorOptions(pi, context),
		...models(context),
		thinking: context.thinkingLevel ?? pi.getThinkingLevel(),
	};
}
