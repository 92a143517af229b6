/**
 * Makes pi refresh a token that would expire too soon for a run.
 *
 * `ctx.modelRegistry`, which extensions receive, refreshes a token only in its last five minutes. The class behind it,
 * which pi exports, accepts a minimum validity. This module therefore creates its own instance. It reads and writes the
 * same `auth.json` under the same lock, and the session's own instance notices the change there.
 */

import type { ExtensionContext, ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { HostCallbacks } from "../../index.js";
import type { Questions } from "../questions/questions.ts";
import { library } from "./library.ts";
import { findModel } from "./models.ts";

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

/** Returns the callbacks that runs use to ask their host. A background run may outlive the session that started it. */
export function hostCallbacks(context: ExtensionContext, questions: Questions, callId?: string): HostCallbacks {
	const refresh: HostCallbacks["refresh"] = async ({ provider, validForMs }) =>
		// A stale context throws when its registry is read.
		await refreshToken(() => context.modelRegistry, provider, validForMs);
	const session = context.sessionManager.getSessionId();
	const model: HostCallbacks["model"] = async ({ model }) => await findModel(() => context.modelRegistry, model);
	return { refresh, model, ...(context.hasUI && questions.callbacks(session, callId)) };
}
