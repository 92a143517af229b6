/** The API keys that this pi holds only in memory, as `--api-key` sets them. A child cannot find them on its own. */

import type { ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { SessionKey } from "../../index.js";
import { library } from "./library.ts";

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
