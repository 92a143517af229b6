/** What the addon needs to know about the pi that hosts us. */

import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DoctorOptions, HostTool, RunOptions, SurfaceOptions } from "./native-api.ts";
import type { PiApi, PiContext, SourceInfo } from "./pi.ts";

const OWN_FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** The file a tool or command comes from; absent for what is pi's own (`builtin:read`, `<builtin:read>`, `<inline:x>`). */
function extensionFile({ path, source }: SourceInfo): string | undefined {
	return source === "builtin" || source === "sdk" || /^(?:builtin:|<)/.test(path) ? undefined : path;
}

/** Our own files; a checkout may be reached through a link. */
function isOurs(file: string): boolean {
	return file.startsWith(OWN_FOLDER) || realPath(file).startsWith(realPath(OWN_FOLDER));
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

/** Files of the loaded extensions, as far as pi tells: those that registered a tool or a command. */
function extensions(pi: PiApi): string[] {
	const files = [...pi.getAllTools(), ...pi.getCommands()]
		.filter((item) => item.sourceInfo.path.match(/\.[cm]?[jt]s$/))
		.map((item) => extensionFile(item.sourceInfo))
		.filter((file) => file !== undefined);
	return [...new Set(files)].filter((file) => !isOurs(file));
}

function program(): { hostExecutable: string; hostScript?: string } {
	const script = process.argv[1];
	return script === undefined
		? { hostExecutable: process.execPath }
		: { hostExecutable: process.execPath, hostScript: script };
}

function model(context: PiContext): { model?: string } {
	return context.model ? { model: `${context.model.provider}/${context.model.id}` } : {};
}

function session(context: PiContext): { parentSessionFile?: string } {
	const parentSessionFile = context.sessionManager.getSessionFile();
	return parentSessionFile === undefined ? {} : { parentSessionFile };
}

export function surfaceOptions(pi: PiApi, context: PiContext): SurfaceOptions {
	return { cwd: context.cwd, tools: tools(pi) };
}

export function doctorOptions(pi: PiApi, context: PiContext): DoctorOptions {
	return { ...surfaceOptions(pi, context), ...program(), ...session(context), ...model(context) };
}

export function runOptions(pi: PiApi, context: PiContext, params: { agent: string; task: string }): RunOptions {
	return {
		agent: params.agent,
		task: params.task,
		...doctorOptions(pi, context),
		thinking: context.thinkingLevel ?? pi.getThinkingLevel(),
		extensions: extensions(pi),
	};
}
