/** What pi says about a model by any of its names: pi resolves it, as it would for `--model`. */

import type { ModelRegistry } from "@earendil-works/pi-coding-agent";
import type { HostModel } from "../../index.js";
import { library } from "./library.ts";
import { defined } from "./stored.ts";

/** The part of `ctx.modelRegistry` that is needed. */
export type ModelLookup = Pick<
	ModelRegistry,
	"getAll" | "hasConfiguredAuth" | "getProvider" | "getRegisteredProviderIds"
>;

type Model = ReturnType<ModelRegistry["getAll"]>[number];

/** Rejects when this pi cannot be asked; the child finds out then. */
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

/** The variables from which a provider would take its key: it is asked for one where none is set. */
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
		// What it has asked for until then counts.
	}
	return [...new Set(names)];
}
