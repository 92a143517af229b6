/** Collects the facts about the host pi that the addon needs. */

import type { ExtensionAPI, ExtensionContext, ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { HostSkill, HostTool, RunOptions, SessionKey, SurfaceOptions } from "../../native.js";
import { isOwnFile } from "./build.ts";
import { extensionOnlyProviders, hostExtensions, onlyNamedExtensions } from "./extensions.ts";
import { extensionFile, takenNames } from "./names.ts";
import { library } from "./pi.ts";
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

/** The properties of a conversation that its runs depend on. */
export type PlaceOptions = Omit<RunOptions, "agent" | "task" | "callId" | "aborted">;

export function placeOptions(pi: ExtensionAPI, context: ExtensionContext): PlaceOptions {
	const { model, modelRegistry, sessionManager, thinkingLevel } = context;
	return defined<PlaceOptions>({
		...surfaceOptions(pi, context),
		hostExecutable: process.execPath,
		hostScript: process.argv[1],
		parentSessionFile: sessionManager.getSessionFile(),
		sessionId: sessionManager.getSessionId(),
		model: model && `${model.provider}/${model.id}`,
		modelFromExtension: model && model.api === VIRTUAL_API,
		// pi lists the registered providers, but not their files.
		extensionProviders: [...modelRegistry.getRegisteredProviderIds()],
		extensionOnlyProviders: extensionOnlyProviders(),
		thinking: thinkingLevel ?? pi.getThinkingLevel(),
	});
}

/** The fields of `ctx.modelRegistry` used here. */
export type KeyRegistry = Pick<ModelRegistry, "getAll" | "getProviderAuthStatus" | "getApiKeyForProvider">;

let found: SessionKey[] = [];
let newestSearch = 0;

/** Returns the keys that were found when the session began and that pi still has. */
export function sessionKeys(registry: KeyRegistry): SessionKey[] {
	return found.filter(({ provider }) => isInMemory(registry, provider));
}

/** Asks pi for its keys. Call it when a session begins: pi sets the key of its command line before that. */
export async function findSessionKeys(registry: KeyRegistry): Promise<void> {
	const search = ++newestSearch;
	found = [];
	const providers = [...new Set(registry.getAll().map(({ provider }) => provider))];
	const held = providers.filter((provider) => isInMemory(registry, provider));
	if (held.length === 0) return;
	const { parseArgs } = await library();
	const args = parseArgs?.(process.argv.slice(2));
	const keys = held.map(async (provider) => {
		// Prefer the key as the user passed it, because a provider may derive another one. It belongs to one provider only.
		const isNamed = held.length === 1 || provider === args?.provider || args?.model?.startsWith(`${provider}/`);
		const given = isNamed ? args?.apiKey : undefined;
		const key = given ?? (await registry.getApiKeyForProvider(provider).catch(() => undefined));
		return key ? [{ provider, key }] : [];
	});
	const keysOfAll = (await Promise.all(keys)).flat();
	// A later session has its own search.
	if (search === newestSearch) found = keysOfAll;
}

function isInMemory(registry: KeyRegistry, provider: string): boolean {
	return registry.getProviderAuthStatus(provider).source === "runtime";
}
