/**
 * Makes pi refresh a token that would expire too soon for a run.
 *
 * What an extension is handed, `ctx.modelRegistry`, refreshes a token only in its last five minutes. The class behind it,
 * which pi exports, can be told how long a token has to be good for. So one of our own is asked: it reads and writes the
 * same `auth.json` under the same lock, and the session's own notices the change there.
 */

import { realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The part of `ctx.modelRegistry` that is needed; the same in pi 0.87.1 and 1.5.2. */
export interface ProviderRegistry {
	getRegisteredNativeProvider(provider: string): object | undefined;
	getRegisteredProviderConfig(provider: string): object | undefined;
	getProviderAuth(provider: string): Promise<unknown>;
}

/** The part of pi's `ModelRuntime` that is needed; the same in pi 0.87.1 and 1.5.2. */
interface ModelRuntime {
	registerNativeProvider(provider: object): void;
	registerProvider(provider: string, config: object): void;
	getAuth(provider: string, overrides: { minOAuthValidityMs: number; signal?: AbortSignal }): Promise<unknown>;
}

interface Pi {
	ModelRuntime?: { create(options: { refreshOnCreate: boolean }): Promise<ModelRuntime> };
}

/** The library of the pi that runs us, beside its program. Node would find another one, or none. */
function library(): string {
	const program = realpathSync(process.argv[1] ?? "");
	return new URL("index.js", pathToFileURL(program)).href;
}

/** What the extensions of this session have registered, a runtime of our own has to be told. */
async function runtime(registry: ProviderRegistry, provider: string): Promise<ModelRuntime | undefined> {
	const { ModelRuntime } = (await import(library())) as Pi;
	const own = await ModelRuntime?.create({ refreshOnCreate: false });
	const native = registry.getRegisteredNativeProvider(provider);
	const config = registry.getRegisteredProviderConfig(provider);
	if (native) own?.registerNativeProvider(native);
	if (config) own?.registerProvider(provider, config);
	return own;
}

/**
 * Refreshes and stores the provider's token unless it is good for `validForMs` more. Never rejects; `false` when there is
 * none, when it could not be refreshed, or when the new one is not good for so long either.
 */
export async function refreshToken(
	registry: ProviderRegistry,
	provider: string,
	validForMs: number,
	signal?: AbortSignal,
): Promise<boolean> {
	try {
		const own = await runtime(registry, provider);
		const overrides = { minOAuthValidityMs: validForMs, ...(signal && { signal }) };
		// A pi that has it no longer refreshes what is about to expire, and the child the rest.
		const found = own ? await own.getAuth(provider, overrides) : await registry.getProviderAuth(provider);
		return found !== undefined;
	} catch {
		return false;
	}
}
