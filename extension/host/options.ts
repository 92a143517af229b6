/** Collects the facts about the host pi that the addon needs. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { HostSkill, HostTool, RunOptions, SurfaceOptions } from "../../index.js";
import { isOwnFile } from "./build.ts";
import { extensionOnlyProviders, hostExtensions, onlyNamedExtensions } from "./extensions.ts";
import { sessionKeys } from "./keys.ts";
import { extensionFile, takenNames } from "./names.ts";
import { defined } from "./stored.ts";

/** pi's mark for a model that picks another model for each request. Only extensions define such models. */
const VIRTUAL_API = "pi-virtual";

export function surfaceOptions(pi: ExtensionAPI, { cwd, modelRegistry }: ExtensionContext): SurfaceOptions {
	const tools = pi.getAllTools().map(({ name, sourceInfo }) => ({ name, extension: extensionFile(sourceInfo) }));
	const others = tools.filter(({ extension }) => extension === undefined || !isOwnFile(extension));
	return defined<SurfaceOptions>({
		cwd,
		tools: others.map(defined<HostTool>),
		extensions: hostExtensions(),
		onlyNamedExtensions: onlyNamedExtensions(),
		sessionKeys: sessionKeys(modelRegistry),
		takenNames: takenNames(),
		skills: skillsOf(pi),
	});
}

/** Returns pi's skills, from the commands that pi registers for them. */
function skillsOf(pi: ExtensionAPI): HostSkill[] {
	const skills = pi.getCommands().filter(({ source }) => source === "skill");
	return skills.map(({ name, sourceInfo }) => ({ name: name.replace(/^skill:/, ""), path: sourceInfo.path }));
}

export function doctorOptions(pi: ExtensionAPI, context: ExtensionContext): SurfaceOptions {
	return defined<SurfaceOptions>({
		...surfaceOptions(pi, context),
		hostExecutable: process.execPath,
		hostScript: process.argv[1],
		parentSessionFile: context.sessionManager.getSessionFile(),
	});
}

/** The properties of a conversation that its runs depend on. */
export type PlaceOptions = Omit<RunOptions, "agent" | "task" | "callId" | "aborted">;

export function placeOptions(pi: ExtensionAPI, context: ExtensionContext): PlaceOptions {
	const { model, modelRegistry, sessionManager, thinkingLevel } = context;
	return defined<PlaceOptions>({
		...doctorOptions(pi, context),
		sessionId: sessionManager.getSessionId(),
		model: model && `${model.provider}/${model.id}`,
		modelFromExtension: model && model.api === VIRTUAL_API,
		// pi lists the registered providers, but not their files.
		extensionProviders: [...modelRegistry.getRegisteredProviderIds()],
		extensionOnlyProviders: extensionOnlyProviders(),
		thinking: thinkingLevel ?? pi.getThinkingLevel(),
	});
}
