/**
 * Makes pi refresh a token that would expire too soon for a run.
 *
 * What an extension is handed, `ctx.modelRegistry`, refreshes a token only in its last five minutes. The class behind it,
 * which pi exports, can be told how long a token has to be good for. So one of our own is asked: it reads and writes the
 * same `auth.json` under the same lock, and the session's own notices the change there.
 */

import type { ExtensionContext, ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { HostCallbacks } from "../../index.js";
import type { Questions } from "../questions/questions.ts";
import { library } from "./library.ts";
import { findModel } from "./models.ts";

/** The part of `ctx.modelRegistry` that is needed. */
export type ProviderRegistry = Pick<
	ModelRegistry,
	"getRegisteredNativeProvider" | "getRegisteredProviderConfig" | "getProviderAuth"
>;

/**
 * Refreshes and stores the provider's token unless it is good for `validForMs` more. Never rejects; `false` when there is
 * none, when it could not be refreshed, or when the new one is not good for so long either.
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
		// A pi that has it no longer refreshes what is about to expire, and the child the rest.
		if (!own) return (await registry.getProviderAuth(provider)) !== undefined;
		// What the extensions of this session have registered, a runtime of our own has to be told.
		const native = registry.getRegisteredNativeProvider(provider);
		const config = registry.getRegisteredProviderConfig(provider);
		if (native) own.registerNativeProvider(native);
		if (config) own.registerProvider(provider, config);
		return (await own.getAuth(provider, { minOAuthValidityMs: validForMs })) !== undefined;
	} catch {
		return false;
	}
}

/** What runs ask of their host. Those that no call waits for may outlive the session that they were started in. */
export function hostCallbacks(context: ExtensionContext, questions: Questions, callId?: string): HostCallbacks {
	const refresh: HostCallbacks["refresh"] = async ({ provider, validForMs }) =>
		// A context that is stale throws for its registry.
		await refreshToken(() => context.modelRegistry, provider, validForMs);
	const session = context.sessionManager.getSessionId();
	const model: HostCallbacks["model"] = async ({ model }) => await findModel(() => context.modelRegistry, model);
	return { refresh, model, ...(context.hasUI && questions.callbacks(session, callId)) };
}
