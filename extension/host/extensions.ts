/**
 * The extensions that this pi loads, as pi itself finds them: the addon looks among them for those that watch tool calls.
 * What is missing on disk is not installed for it.
 */

import type { DefaultPackageManager, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { HostExtension } from "../../index.js";
import { isOurs } from "./build.ts";
import { library } from "./library.ts";
import { defined } from "./stored.ts";

type Resolved = Awaited<ReturnType<DefaultPackageManager["resolve"]>>["extensions"][number];

let found: HostExtension[] | undefined;

/** What was found when the session began; nothing where this pi does not say, and then the addon reads pi's files. */
export const hostExtensions = () => found;

/** Asks pi. Call it when a session begins: pi loads extensions before that, and at a reload. */
export async function findHostExtensions(context: ExtensionContext): Promise<void> {
	try {
		const resolved = await resolve(context);
		const others = resolved.filter(({ enabled, path }) => enabled && !path.startsWith("builtin:") && !isOurs(path));
		found = others.map(({ path, metadata }) =>
			defined<HostExtension>({ path, package: metadata.origin === "package" ? metadata.baseDir : undefined }),
		);
	} catch {
		found = undefined;
	}
}

async function refuse(): Promise<never> {
	throw new Error("extensions are only looked up, never installed");
}

/**
 * Methods of pi's package manager that install, update or ask a registry. pi has done all of that when it loaded its
 * extensions. Here they would cost a network request at each start and could write to pi's screen.
 */
const OFFLINE = {
	installParsedSource: async () => {},
	refreshTemporaryGitSource: async () => {},
	npmHasAvailableUpdate: async () => false,
	runCommand: refuse,
	runCommandCapture: refuse,
};

async function resolve(context: ExtensionContext): Promise<Resolved[]> {
	const { getAgentDir, SettingsManager, DefaultPackageManager } = await library();
	if (!getAgentDir || !SettingsManager || !DefaultPackageManager) throw new Error("this host is not pi");
	const agentDir = getAgentDir();
	const settingsManager = SettingsManager.create(context.cwd, agentDir, {
		projectTrusted: context.isProjectTrusted(),
	});
	const manager = new DefaultPackageManager({ cwd: context.cwd, agentDir, settingsManager });
	Object.assign(manager, OFFLINE);
	const { sources, isAlone } = named(process.argv.slice(2));
	const cli = await manager.resolveExtensionSources(sources, { temporary: true });
	if (isAlone) return cli.extensions;
	return [...cli.extensions, ...(await manager.resolve(async () => "skip")).extensions];
}

/** What the command line names, and whether pi looks for nothing else. */
function named(args: string[]): { sources: string[]; isAlone: boolean } {
	const sources = args.filter((_, at) => at > 0 && /^(?:-e|--extension)$/.test(args[at - 1] ?? ""));
	return { sources, isAlone: args.includes("-ne") || args.includes("--no-extensions") };
}
