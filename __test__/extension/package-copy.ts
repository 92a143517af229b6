/** A throw-away copy of the package whose addon is a stub, so that the extension runs without native code. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type {
	ExtensionAPI,
	ExtensionCommandContext,
	ExtensionContext,
	SourceInfo,
	Theme,
} from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem, KeybindingsManager, TUI } from "@earendil-works/pi-tui";
import type { RunRecord } from "../../extension/background/registry.ts";
import type { Native } from "../../extension/host/native.ts";
import type { CustomMessage, Screen, ToolDefinition, Widget } from "../../extension/host/pi.ts";
import type {
	BackgroundEvent,
	BackgroundOptions,
	BackgroundSession,
	ChainOptions,
	CommandReport,
	DeliveryMessage,
	EarlyOptions,
	HostCallbacks,
	ParallelOptions,
	RunHandle,
	RunOptions,
	SpawnableAgents,
	SpawnOptions,
	SpawnReceipt,
	ToolResult,
	ToolSurface,
	ToolSurfaces,
} from "../../native.js";
import { bundle } from "../../scripts/lib/bundle.mjs";
import { packageDir } from "../support/versions.ts";
import { earlyCallsDouble } from "./early-double.ts";
import { PLAIN, standingIn } from "./standing-in.ts";

const addon = createRequire(import.meta.url)(`${packageDir}/native.js`) as typeof import("../../native.js");

function tool(name: string): ToolSurface {
	const description = `The tool ${name}.`;
	return {
		name,
		label: name,
		description,
		promptSnippet: description,
		promptGuidelines: [],
		exposure: "model-only",
		parameters: {},
	};
}

export const SURFACES: ToolSurfaces = {
	register: true,
	tools: ["subagent", "subagent_parallel", "subagent_chain", "sessions_spawn", "agents_list"].map(tool),
	scriptTool: {
		name: "subagent_run",
		label: "subagent_run",
		description: "The tool subagent_run.",
		promptGuidelines: [],
		parameters: {},
		outputSchema: {},
		exposure: "codemode",
	},
	delegationPolicy: "Delegate focused work.",
	notices: [],
};

export const USAGE = { input: 12_400, output: 932, cacheRead: 40_210, cacheWrite: 0, cost: 0.0231, turns: 3 };

export function answer(text: string): ToolResult {
	return {
		content: [{ type: "text", text }],
		details: {
			mode: "single",
			results: [
				{
					agent: "explorer",
					task: "find it",
					exitCode: 0,
					usage: USAGE,
					outcome: "completed",
					attempts: 1,
					durationMs: 3_210,
					output: text,
				},
			],
		},
	};
}

/** A call as the addon gets it, whichever of its functions was called. */
export type Started = Omit<RunOptions, "agent" | "task"> & Partial<RunOptions & ParallelOptions & ChainOptions>;

/** A call that was announced while it arrived; what had arrived of it when it was over. */
export interface EarlyRecord {
	options: EarlyOptions;
	ends: number;
	json?: string;
}

/** Returns the addon's mark for data in a session. */
function stamp(kind: string): { kind: string; version: number } {
	return { kind: `subagent-${kind}`, version: 1 };
}

/** A background run as the addon describes it. */
export function backgroundRun(runId: string, more: Partial<RunRecord> = {}): RunRecord {
	return {
		key: `key-${runId}`,
		runId,
		sessionKey: `agent:explorer:subagent:key-${runId}`,
		session: "session",
		agent: "explorer",
		task: "find it",
		cwd: "/project",
		cleanup: "keep",
		isDetached: false,
		state: "running",
		createdMs: 1_000,
		usage: USAGE,
		notes: [],
		tools: ["read"],
		timesResumed: 0,
		previousRunMs: 0,
		spentBefore: USAGE,
		isIsolated: false,
		isInProcess: true,
		isForeground: false,
		...more,
	};
}

/** Returns a delivery's event for other extensions. */
export function deliveredEventOf(deliveryIds: string[], runs: RunRecord[] = []): DeliveryMessage["deliveredEvent"] {
	return { deliveryIds, runIds: runs.map(({ runId }) => runId), runs };
}

/** The addon's view of a session. */
export class ViewDouble implements BackgroundSession {
	readonly options: BackgroundOptions;
	readonly send: (event: BackgroundEvent) => void;
	/** The deliveries reported as in the session. */
	confirmed: string[] = [];
	commands: string[] = [];
	/** The session tools that were used, with their arguments. */
	readonly used: [tool: string, params: object][] = [];
	closed = false;
	/** The promise that headless sessions wait for. */
	runsEnded: () => Promise<void> = async () => {};
	report: CommandReport = { isError: false, title: "Background runs", lines: [], text: "Background runs" };

	constructor(options: BackgroundOptions, send: (event: BackgroundEvent) => void) {
		this.options = options;
		this.send = send;
	}

	async runs(): Promise<RunRecord[]> {
		return [];
	}

	async projectRuns(): Promise<RunRecord[]> {
		return [];
	}

	async workflows(): ReturnType<BackgroundSession["workflows"]> {
		return [];
	}

	async command(line: string): Promise<CommandReport> {
		this.commands.push(line);
		return this.report;
	}

	restartRuns(): ReturnType<BackgroundSession["restartRuns"]> {
		throw new Error("no test calls it");
	}

	async interruptedWorkflows(): ReturnType<BackgroundSession["interruptedWorkflows"]> {
		return [];
	}

	workflowEnded(): ReturnType<BackgroundSession["workflowEnded"]> {
		throw new Error("no test calls it");
	}

	continueRun(): ReturnType<BackgroundSession["continueRun"]> {
		throw new Error("no test calls it");
	}

	useTool(tool: string, params: object): ReturnType<BackgroundSession["useTool"]> {
		this.used.push([tool, params]);
		return { abort: () => {}, result: async () => ({ content: [], isError: false, details: undefined }) as never };
	}

	complete(prefix: string): ReturnType<BackgroundSession["complete"]> {
		return prefix === "s" ? [{ value: "stop", label: "stop", description: "" }] : [];
	}

	async transcript(): ReturnType<BackgroundSession["transcript"]> {
		return { entries: [], hasMore: false, bytes: 0, version: "1" };
	}

	async stopAll(): Promise<CommandReport> {
		this.commands.push("stop all");
		return this.report;
	}

	async delivered(ids: string[]): Promise<boolean> {
		this.confirmed.push(...ids);
		return true;
	}

	async settled(): Promise<boolean> {
		await this.runsEnded();
		return true;
	}

	async settledOrAsked(): Promise<boolean> {
		await this.runsEnded();
		return false;
	}

	async close(): Promise<void> {
		this.closed = true;
	}
}

/** The functions of the addon that the extension calls. */
type Called = Pick<
	Native,
	| "startRun"
	| "startParallel"
	| "startChain"
	| "EarlyCalls"
	| "DeliveryDispatcher"
	| "ANNOUNCEMENT"
	| "CODEMODE_WORKFLOW"
	| "deliveredIn"
	| "spawnSession"
	| "openBackground"
	| "endBackground"
	| "listSpawnable"
	| "describeTools"
	| "durationText"
	| "markStyles"
	| "prepareArguments"
	| "stateLabel"
	| "toolCallLine"
	| "usageText"
>;

/** The addon as a test scripts it; the copy's `native.js` hands it out. */
export class StubAddon implements Called {
	surfaces: ToolSurfaces = SURFACES;
	runs: { by: string; options: Started; host: HostCallbacks; aborts: (string | undefined)[] }[] = [];
	early: EarlyRecord[] = [];
	run: (
		options: Started,
		update: (update: ToolResult) => void,
		host: HostCallbacks,
		aborted: Promise<void>,
	) => Promise<ToolResult> = async () => answer("found");

	startRun(...[options, onUpdate, host]: Parameters<Native["startRun"]>): RunHandle {
		return this.start("startRun", options, onUpdate, host ?? undefined);
	}

	startParallel(...[options, onUpdate, host]: Parameters<Native["startParallel"]>): RunHandle {
		return this.start("startParallel", options, onUpdate, host ?? undefined);
	}

	startChain(...[options, onUpdate, host]: Parameters<Native["startChain"]>): RunHandle {
		return this.start("startChain", options, onUpdate, host ?? undefined);
	}

	readonly EarlyCalls = earlyCallsDouble(addon.EarlyCalls, {
		booted: (options) => this.early.push({ options, ends: 0 }),
		ended: (callId, json) => {
			const record = this.early.findLast(({ options }) => options.callId === callId);
			if (record) Object.assign(record, { ends: record.ends + 1, json });
		},
	});

	readonly questionToAnswer = addon.questionToAnswer;

	private start(
		by: string,
		options: Started,
		onUpdate: (update: ToolResult) => void = () => {},
		host: HostCallbacks = {},
	): RunHandle {
		const record: (typeof this.runs)[number] = { by, options, host, aborts: [] };
		this.runs.push(record);
		const abortion = Promise.withResolvers<void>();
		const result = this.run(options, onUpdate, host, abortion.promise);
		result.catch(() => {});
		return {
			runId: "1a2b3c4d",
			result: () => result,
			abort: (reason) => {
				record.aborts.push(reason ?? undefined);
				abortion.resolve();
			},
			close: async () => {
				record.aborts.push("close");
				abortion.resolve();
				await result.catch(() => {});
			},
			steer: () => false,
			background: async () => [],
		};
	}

	spawned: SpawnOptions[] = [];
	receipt: SpawnReceipt = {
		...stamp("receipt"),
		status: "accepted",
		runId: "1a2b3c4d",
		childSessionKey: "agent:explorer:subagent:uuid",
	};
	views: ViewDouble[] = [];
	ended = 0;

	async spawnSession(options: SpawnOptions): Promise<SpawnReceipt> {
		this.spawned.push(options);
		return this.receipt;
	}

	async listSpawnable(): Promise<SpawnableAgents> {
		const rights = { readonly: true, canWrite: false };
		const agents = [{ id: "explorer", description: "Finds code", source: "builtin" as const, ...rights }];
		return { ...stamp("agents"), agents, defaultAgent: "explorer" };
	}

	openBackground(options: BackgroundOptions, onEvent: (event: BackgroundEvent) => void): BackgroundSession {
		const view = new ViewDouble(options, onEvent);
		this.views.push(view);
		return view;
	}

	async endBackground(): Promise<string | undefined> {
		this.ended += 1;
		return undefined;
	}

	async describeTools(): Promise<ToolSurfaces> {
		return this.surfaces;
	}

	/** The texts of the real addon, because people read the drawn ones. */
	readonly DeliveryDispatcher = addon.DeliveryDispatcher;
	readonly ANNOUNCEMENT = addon.ANNOUNCEMENT;
	readonly CODEMODE_WORKFLOW = addon.CODEMODE_WORKFLOW;
	readonly deliveredIn = addon.deliveredIn;
	readonly durationText = addon.durationText;
	readonly markStyles = addon.markStyles;
	readonly prepareArguments = addon.prepareArguments;
	readonly stateLabel = addon.stateLabel;
	readonly toolCallLine = addon.toolCallLine;
	readonly usageText = addon.usageText;
	readonly Palette = addon.Palette;
	readonly paletteColors = addon.paletteColors;
	readonly drawReport = addon.drawReport;
	readonly drawText = addon.drawText;
	readonly drawAnnouncement = addon.drawAnnouncement;
	readonly CallCard = addon.CallCard;
	readonly Panel = addon.Panel;
	readonly panelKeys = addon.panelKeys;
	readonly sentenceReport = addon.sentenceReport;
	readonly drawWidget = addon.drawWidget;
	readonly QuestionScreen = addon.QuestionScreen;
	readonly drawQuestionLine = addon.drawQuestionLine;
}

/** A command that completes at once. */
type Command = Omit<Parameters<ExtensionAPI["registerCommand"]>[1], "getArgumentCompletions"> & {
	getArgumentCompletions(prefix: string): AutocompleteItem[] | null;
};

type SendOptions = NonNullable<Parameters<ExtensionAPI["sendMessage"]>[1]>;

/** An entry of a session, as far as it is looked at. */
interface SessionEntry {
	type: string;
	customType?: string;
	details?: unknown;
}

type Handler = (event: object, context: ExtensionContext) => unknown;

/** Makes a component above everything, or above the editor. */
type ScreenFactory = (
	terminal: TUI,
	theme: Theme,
	keybindings: KeybindingsManager,
	done: (result: unknown) => void,
) => Screen;
type WidgetFactory = (terminal: TUI, theme: Theme) => Widget;

type User = Omit<ExtensionContext["ui"], "custom" | "setWidget"> & {
	custom(factory: ScreenFactory): Promise<unknown>;
	setWidget(key: string, content: WidgetFactory | undefined): void;
};

/** The host as far as the extension sees it. */
export class HostDouble {
	tools = new Map<string, ToolDefinition>();
	active: string[] = [];
	commands = new Map<string, Command>();
	entries: { customType: string; data: unknown }[] = [];
	notes: string[] = [];
	/** The user's reactions to dialogs. */
	user: Partial<User> = {};
	/** The content of the session. */
	session: SessionEntry[] = [];
	sessionFile: string | undefined = "/sessions/s.jsonl";
	/** True if pi would start a turn. pi's treatment of messages: a message that starts no turn is appended. */
	idle = true;
	aborts = 0;
	messages: (CustomMessage & SendOptions)[] = [];
	onSend: (message: CustomMessage & SendOptions) => void = (message) => this.append(message);
	emitted: { channel: string; data: unknown }[] = [];
	readonly events = {
		emit: (channel: string, data: unknown) => {
			this.emitted.push({ channel, data });
		},
	};
	private readonly handlers = new Map<string, Handler[]>();

	on(event: string, handler: unknown): void {
		this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler as Handler]);
	}

	/** As the extension takes it. */
	get api(): ExtensionAPI {
		return this as unknown as ExtensionAPI;
	}

	handled(): string[] {
		return [...this.handlers.keys()];
	}

	sendMessage(message: CustomMessage, options: SendOptions): void {
		this.messages.push({ ...message, ...options });
		this.onSend({ ...message, ...options });
	}

	append({ customType, details }: Pick<CustomMessage, "customType" | "details">): void {
		this.session.push({ type: "custom_message", customType, details });
	}

	renderMessage:
		| ((message: { content: string; details?: unknown }, width: number, expanded?: boolean) => string[])
		| undefined;

	registerMessageRenderer(_customType: string, renderer: Parameters<ExtensionAPI["registerMessageRenderer"]>[1]): void {
		const options = (expanded: boolean) => ({ expanded, outputPad: 1 });
		this.renderMessage = (message, width, expanded = false) =>
			renderer(standingIn<Parameters<typeof renderer>[0]>(message), options(expanded), PLAIN)?.render(width) ?? [];
	}

	async emit(event: string, payload: object = {}, context: ExtensionContext = this.context()): Promise<unknown[]> {
		const results: unknown[] = [];
		for (const handler of this.handlers.get(event) ?? []) results.push(await handler(payload, context));
		return results;
	}

	registerTool(tool: ToolDefinition): void {
		this.tools.set(tool.name, tool);
		if (!this.active.includes(tool.name)) this.active.push(tool.name);
	}

	registerCommand(name: string, command: Command): void {
		this.commands.set(name, command);
	}

	renderEntry: ((entry: { data?: unknown }, width: number) => string[]) | undefined;

	registerEntryRenderer(_customType: string, renderer: Parameters<ExtensionAPI["registerEntryRenderer"]>[1]): void {
		this.renderEntry = (entry, width) =>
			renderer(standingIn<Parameters<typeof renderer>[0]>(entry), { expanded: false }, PLAIN)?.render(width) ?? [];
	}

	shortcuts = new Map<string, Parameters<ExtensionAPI["registerShortcut"]>[1]>();

	registerShortcut(...[key, shortcut]: Parameters<ExtensionAPI["registerShortcut"]>): void {
		this.shortcuts.set(key, shortcut);
	}

	appendEntry(customType: string, data: unknown): void {
		this.entries.push({ customType, data });
	}

	getCommands(): { name: string; source: "skill" | "prompt"; sourceInfo: { path: string } }[] {
		return [
			{ name: "skill:review", source: "skill", sourceInfo: { path: "/skills/review/SKILL.md" } },
			{ name: "implement", source: "prompt", sourceInfo: { path: "/prompts/implement.md" } },
		];
	}

	getAllTools(): { name: string; sourceInfo: Pick<SourceInfo, "path" | "source"> }[] {
		return [
			{ name: "read", sourceInfo: { path: "builtin:read", source: "builtin" } },
			{ name: "grep", sourceInfo: { path: "<builtin:grep>", source: "builtin" } },
			{ name: "made", sourceInfo: { path: "<inline:made>", source: "inline" } },
			{ name: "web_search", sourceInfo: { path: "/ext/web.ts", source: "cli" } },
		];
	}

	getActiveTools(): string[] {
		return this.active;
	}

	setActiveTools(names: string[]): void {
		this.active = names;
	}

	getThinkingLevel(): string {
		return "high";
	}

	context(overrides: Partial<ExtensionCommandContext> = {}): ExtensionCommandContext {
		const user: Partial<User> = {
			notify: (message) => {
				this.notes.push(message);
			},
			select: async (...dialog) => await this.user.select?.(...dialog),
			confirm: async (...dialog) => (await this.user.confirm?.(...dialog)) ?? true,
			input: async (...dialog) => await this.user.input?.(...dialog),
			editor: async (...dialog) => await this.user.editor?.(...dialog),
			onTerminalInput: (...listener) => this.user.onTerminalInput?.(...listener) ?? (() => {}),
			getEditorText: () => this.user.getEditorText?.() ?? "",
			setWidget: (...widget) => this.user.setWidget?.(...widget),
			custom: async (...screen) => await this.user.custom?.(...screen),
		};
		const model = standingIn<NonNullable<ExtensionContext["model"]>>({ provider: "fake", id: "big" });
		return standingIn<ExtensionCommandContext>({
			cwd: "/project",
			mode: "tui",
			hasUI: true,
			ui: user as ExtensionContext["ui"],
			sessionManager: {
				getSessionId: () => "session",
				getSessionFile: () => this.sessionFile,
				getEntries: () => this.session as ReturnType<ExtensionContext["sessionManager"]["getEntries"]>,
			},
			isIdle: () => this.idle,
			abort: () => {
				this.aborts += 1;
			},
			waitForIdle: async () => {},
			model,
			modelRegistry: {
				getRegisteredProviderIds: () => [],
				getAll: () => [model],
				getRegisteredNativeProvider: () => undefined,
				getRegisteredProviderConfig: () => undefined,
				getProviderAuth: async () => undefined,
				getProviderAuthStatus: () => ({ configured: true, source: "stored" }),
			},
			...overrides,
		});
	}
}

export interface LoadedExtension {
	host: HostDouble;
	addon: StubAddon;
	call(params?: unknown, options?: CallOptions): ReturnType<ToolDefinition["execute"]>;
	/** The path of the copy. */
	folder: string;
	/** Acts like `/reload` for a module that Node has loaded: calls the factory again. */
	reload(): LoadedExtension;
}

export interface CallOptions {
	/** `subagent` unless told otherwise. */
	tool?: string;
	id?: string;
	signal?: AbortSignal;
	onUpdate?: Parameters<ToolDefinition["execute"]>[3];
	context?: ExtensionContext;
}

/** Copies of the package made by one test file; each test gets one, because modules are loaded once per path. */
export class PackageCopies {
	private readonly root = mkdtempSync(join(tmpdir(), "pi-subagent-native-extension-"));
	private count = 0;

	remove(): void {
		rmSync(this.root, { recursive: true, force: true });
	}

	/** Loads the extension; `brokenAddon` is the text of an `native.js` that cannot be loaded. */
	async load(options: { brokenAddon?: string; addon?: StubAddon; host?: HostDouble } = {}): Promise<LoadedExtension> {
		const folder = join(this.root, String(++this.count));
		cpSync(join(packageDir, "extensions"), join(folder, "extensions"), { recursive: true });
		const module = join(folder, bundle);
		const addon = options.addon ?? new StubAddon();
		const key = `stub-${folder}`;
		(globalThis as Record<string, unknown>)[key] = addon;
		writeFileSync(
			join(folder, "native.js"),
			options.brokenAddon ?? `module.exports = globalThis[${JSON.stringify(key)}];`,
		);
		const { default: factory } = (await import(pathToFileURL(module).href)) as { default: (pi: ExtensionAPI) => void };
		return started(factory, { addon, folder }, options.host);
	}
}

function started(
	factory: (pi: ExtensionAPI) => void,
	copy: Pick<LoadedExtension, "addon" | "folder">,
	host = new HostDouble(),
): LoadedExtension {
	factory(host.api);
	const call: LoadedExtension["call"] = async (params = { agent: "explorer", task: "find it" }, given = {}) => {
		const tool = host.tools.get(given.tool ?? "subagent");
		if (!tool) throw new Error("the tool is not registered");
		return await tool.execute(
			given.id ?? "call-1",
			params,
			given.signal,
			given.onUpdate,
			given.context ?? host.context(),
		);
	};
	return { ...copy, host, call, reload: () => started(factory, copy) };
}
