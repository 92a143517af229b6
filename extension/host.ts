/** What the addon needs to know about the pi that hosts us. */

import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostTool, RunOptions, SurfaceOptions } from "../index.js";
import type { PiApi, PiContext, SourceInfo } from "./pi.ts";

const OWN_FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** The file a tool or command comes from; absent for what is pi's own (`builtin:read`, `<builtin:read>`, `<inline:x>`). */
function extensionFile({ path, source }: SourceInfo): string | undefined {
	return source === "builtin" || source === "sdk" || /^(?:builtin:|<)/.test(path) ? undefined : path;
}

/** Our own files; a checkout may be reached through a link. */
function isOurs(file: string): boolean {
	return file.startsWith(OWN_FOLDER) || realPath(file).startsWith(`${realPath(OWN_FOLDER)}${sep}`);
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

/** The model, and whether an extension provides it: pi tells which providers are registered, not by which file. */
function model({ model, modelRegistry }: PiContext): { model?: string; modelFromExtension?: boolean } {
	if (!model) return {};
	const modelFromExtension = modelRegistry.getRegisteredProviderIds().includes(model.provider);
	return { model: `${model.provider}/${model.id}`, modelFromExtension };
}

function session(context: PiContext): { parentSessionFile?: string } {
	const parentSessionFile = context.sessionManager.getSessionFile();
	return parentSessionFile === undefined ? {} : { parentSessionFile };
}

export function surfaceOptions(pi: PiApi, context: PiContext): SurfaceOptions {
	return { cwd: context.cwd, tools: tools(pi) };
}

export function doctorOptions(pi: PiApi, context: PiContext): SurfaceOptions {
	return { ...surfaceOptions(pi, context), ...program(), ...session(context) };
}

export function runOptions(pi: PiApi, context: PiContext, params: { agent: string; task: string }): RunOptions {
	return {
		agent: params.agent,
		task: params.task,
		...doctorOptions(pi, context),
		...model(context),
		thinking: context.thinkingLevel ?? pi.getThinkingLevel(),
	};
}
