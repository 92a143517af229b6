/**
 * The callbacks with which runs ask their host: for an answer of the user, a model, or a fresh token.
 *
 * `ctx.modelRegistry`, which extensions receive, refreshes a token only in its last five minutes. The class behind it,
 * which pi exports, accepts a minimum validity. This module therefore creates its own instance. It reads and writes the
 * same `auth.json` under the same lock, and the session's own instance notices the change there.
 */

import type { ExtensionContext, ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { HostCallbacks, HostModel } from "../../native.js";
import type { Questions } from "../questions/questions.ts";
import { library } from "./pi.ts";
import { defined } from "./stored.ts";

/** The fields of `ctx.modelRegistry` used here. */
export type ProviderRegistry = Pick<
	ModelRegistry,
	"getRegisteredNativeProvider" | "getRegisteredProviderConfig" | "getProviderAuth"
>;

/**
 * Refreshes and stores the provider's token unless it is valid for `validForMs` more. Never rejects. Returns false if
 * there is no token, if the refresh failed, or if the new token expires too soon as well.
 */
export async function refreshToken(
	registryOf: () => ProviderRegistry,
	provider: string,
	validForMs: number,
): Promise<boolean> {
	try {
		const registry = registryOf();
		const { ModelRuntime } = await library();
		const own = await ModelRuntime?.create({ refreshOnCreate: false });
		// A pi without this class refreshes tokens that are about to expire. The child refreshes the others.
		if (!own) return (await registry.getProviderAuth(provider)) !== undefined;
		// Our own runtime needs the providers that extensions of this session registered.
		const native = registry.getRegisteredNativeProvider(provider);
		const config = registry.getRegisteredProviderConfig(provider);
		if (native) own.registerNativeProvider(native);
		if (config) own.registerProvider(provider, config);
		return (await own.getAuth(provider, { minOAuthValidityMs: validForMs })) !== undefined;
	} catch {
		return false;
	}
}

/**
 * Returns the callbacks that runs use to ask their host. A background run may outlive the session that started it. `isAwaited`
 * returns true while the user waits for the answer to a command.
 */
export function hostCallbacks(
	context: ExtensionContext,
	questions: Questions,
	callId?: string,
	isAwaited?: () => boolean,
): HostCallbacks {
	const refresh: HostCallbacks["refresh"] = async ({ provider, validForMs }) =>
		// A stale context throws when its registry is read.
		await refreshToken(() => context.modelRegistry, provider, validForMs);
	const session = context.sessionManager.getSessionId();
	const model: HostCallbacks["model"] = async ({ model }) => await findModel(() => context.modelRegistry, model);
	return { refresh, model, ...(context.hasUI && questions.callbacks(session, callId, isAwaited)) };
}

/** The fields of `ctx.modelRegistry` used here. */
export type ModelLookup = Pick<
	ModelRegistry,
	"getAll" | "hasConfiguredAuth" | "getProvider" | "getRegisteredProviderIds"
>;

type Model = ReturnType<ModelRegistry["getAll"]>[number];

/** Returns pi's data about a model. Rejects if this pi cannot be asked; the child resolves the model itself then. */
export async function findModel(registryOf: () => ModelLookup, asked: string): Promise<HostModel> {
	const { resolveCliModel } = await library();
	if (!resolveCliModel) throw new Error("this host is not pi");
	const registry = registryOf();
	const hasLogin = (provider: string) => registry.hasConfiguredAuth({ provider } as Model);
	const modelRuntime = { getModels: () => registry.getAll(), hasConfiguredAuth: hasLogin };
	const { model, error } = resolveCliModel({ cliModel: asked, modelRuntime: modelRuntime as never });
	if (!model) {
		const known = registry.getAll().map(({ provider, id }) => `${provider}/${id}`);
		return defined<HostModel>({ problem: error?.trim(), known });
	}
	const { provider, id } = model;
	const isUsable = hasLogin(provider);
	const variables = isUsable ? [] : await keyVariables(registry, provider);
	return { model: `${provider}/${id}`, hasLogin: isUsable, variables };
}

/**
 * Returns the environment variables that a provider takes its key from. The provider is asked for a key while none is
 * set, and the names that it reads are recorded.
 */
async function keyVariables(registry: ModelLookup, provider: string): Promise<string[]> {
	const names: string[] = [];
	try {
		const env = async (name: string) => {
			names.push(name);
			return undefined;
		};
		const ctx = { env, fileExists: async () => false } as never;
		await registry.getProvider(provider)?.auth.apiKey?.resolve({ ctx, signal: AbortSignal.timeout(1000) } as never);
	} catch {
		// The names that it has read so far count.
	}
	return [...new Set(names)];
}
