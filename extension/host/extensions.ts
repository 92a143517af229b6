/**
 * Finds the extensions that this pi loads, with pi's own resolver. The addon looks among them for extensions that watch
 * tool calls. Children load the extensions that their model needs. Nothing is installed here: extensions missing on
 * disk are skipped.
 */

import type { DefaultPackageManager, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { HostExtension } from "../../native.js";
import { isOwnFile, isOwnPrompt } from "./build.ts";
import type { ModelLookup } from "./callbacks.ts";
import { library } from "./pi.ts";
import { defined } from "./stored.ts";

type Resources = Awaited<ReturnType<DefaultPackageManager["resolve"]>>;
type Resource = Resources["extensions"][number];

/** The extensions and prompts that pi loads. */
interface Found {
	extensions: HostExtension[];
	onlyNamedExtensions: boolean;
	/** The files of this package's prompts that pi loads. A prompt of the same name that comes first replaces ours. */
	prompts: string[];
}

let found: Found | undefined;
let onlyProviders: string[] = [];
let newestSearch = 0;

/**
 * Returns the result of the search at session start, or `undefined` if this pi does not offer one. The addon reads pi's
 * files then.
 */
export const hostExtensions = () => found?.extensions;
export const onlyNamedExtensions = () => found?.onlyNamedExtensions;
export const ownPrompts = () => found?.prompts ?? [];
/** Returns the providers that this pi knows only through an extension. */
export const extensionOnlyProviders = () => onlyProviders;

/** Asks pi for its extensions. Call it when a session begins: pi loads extensions before that and at a reload. */
export async function findHostExtensions(context: ExtensionContext): Promise<void> {
	const search = ++newestSearch;
	const finding = resolve(context).catch(() => undefined);
	const providers = findOnlyProviders(context.modelRegistry).catch(() => []);
	const answers = await Promise.all([finding, providers]);
	// A later session has its own search.
	if (search === newestSearch) [found, onlyProviders] = answers;
}

/** Returns the registered providers that are missing from a fresh runtime without extensions. */
async function findOnlyProviders(registry: Pick<ModelLookup, "getRegisteredProviderIds">): Promise<string[]> {
	const registered = registry.getRegisteredProviderIds();
	if (registered.length === 0) return [];
	const { ModelRuntime } = await library();
	const own = await ModelRuntime?.create({ refreshOnCreate: false });
	return own ? registered.filter((provider) => own.getModels(provider).length === 0) : [];
}

async function refuse(): Promise<never> {
	throw new Error("extensions are only looked up, never installed");
}

/**
 * Replacements for the methods of pi's package manager that install, update or query a registry. pi has done that work
 * when it loaded its extensions. Here it would cost a network request at each start and could write to pi's screen.
 */
const OFFLINE = {
	installParsedSource: async () => {},
	refreshTemporaryGitSource: async () => {},
	npmHasAvailableUpdate: async () => false,
	runCommand: refuse,
	runCommandCapture: refuse,
};

async function resolve(context: ExtensionContext): Promise<Found> {
	const { getAgentDir, parseArgs, SettingsManager, DefaultPackageManager } = await library();
	if (!getAgentDir || !parseArgs || !SettingsManager || !DefaultPackageManager) throw new Error("this host is not pi");
	const agentDir = getAgentDir();
	const settingsManager = SettingsManager.create(context.cwd, agentDir, {
		projectTrusted: context.isProjectTrusted(),
	});
	const managed = (cwd: string) => {
		const manager = new DefaultPackageManager({ cwd, agentDir, settingsManager });
		Object.assign(manager, OFFLINE);
		return manager;
	};
	const { extensions = [], noExtensions = false, noPromptTemplates = false } = parseArgs(process.argv.slice(2));
	// Paths of the command line are relative to the current directory. A reopened session may have another directory.
	const named = await managed(process.cwd()).resolveExtensionSources(extensions, { temporary: true });
	// If discovery fails, the named extensions are still known.
	const discovered = await managed(context.cwd)
		.resolve(async () => "skip")
		.catch((error: unknown) => {
			if (!noExtensions) throw error;
			return { extensions: [], prompts: [] };
		});
	const chosen = (kind: "extensions" | "prompts", isAlone: boolean): Resource[] =>
		[...named[kind], ...(isAlone ? [] : discovered[kind])].filter(({ enabled }) => enabled);
	const others = chosen("extensions", noExtensions).filter(
		({ path }) => !path.startsWith("builtin:") && !isOwnFile(path),
	);
	return {
		extensions: others.map(({ path, metadata }) =>
			defined<HostExtension>({ path, package: metadata.origin === "package" ? metadata.baseDir : undefined }),
		),
		onlyNamedExtensions: noExtensions,
		prompts: chosen("prompts", noPromptTemplates).flatMap(({ path }) => (isOwnPrompt(path) ? [path] : [])),
	};
}
