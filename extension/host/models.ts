/** Looks up a model in pi by any of its names, like `--model` does. */

import type { ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { HostModel } from "../../index.js";
import { library } from "./library.ts";
import { defined } from "./stored.ts";

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
