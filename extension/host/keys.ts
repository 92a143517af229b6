/** The keys that this pi holds in its memory only, as `--api-key` gives them. No child would find them by itself. */

import type { ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { SessionKey } from "../../index.js";
import { library } from "./library.ts";

/** The part of `ctx.modelRegistry` that is needed. */
export type KeyRegistry = Pick<ModelRegistry, "getAll" | "getProviderAuthStatus" | "getApiKeyForProvider">;

let found: SessionKey[] = [];
let newestSearch = 0;

/** Those that were found when the session began and that pi still has. */
export function sessionKeys(registry: KeyRegistry): SessionKey[] {
	return found.filter(({ provider }) => isInMemory(registry, provider));
}

/** Asks pi. Call it when a session begins: pi sets the key of its command line before that. */
export async function findSessionKeys(registry: KeyRegistry): Promise<void> {
	const search = ++newestSearch;
	found = [];
	const providers = [...new Set(registry.getAll().map(({ provider }) => provider))];
	const held = providers.filter((provider) => isInMemory(registry, provider));
	if (held.length === 0) return;
	const { parseArgs } = await library();
	const args = parseArgs?.(process.argv.slice(2));
	const keys = held.map(async (provider) => {
		// As it was given: a provider may make another one of it. It belongs to one provider only.
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
