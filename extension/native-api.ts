/** The addon's API as the extension uses it, until the generated `index.d.ts` takes over. */

/** A tool of the hosting pi; without `extension` it is pi's own. */
export interface HostTool {
	name: string;
	extension?: string;
}

export interface RunOptions {
	agent: string;
	task: string;
	cwd: string;
	agentDir?: string;
	parentSessionFile?: string;
	model?: string;
	modelExtension?: string;
	thinking?: string;
	tools?: HostTool[];
	extensions?: string[];
	config?: Record<string, unknown>;
	env?: Record<string, string>;
	piCommand?: string[];
	hostExecutable?: string;
	hostScript?: string;
	/** The caller's signal has fired already: nothing is started and the result is the one of an abort. */
	aborted?: boolean;
}

export interface ConfirmRequest {
	agent: string;
	path: string;
	title: string;
	message: string;
}

export interface RunHandle {
	readonly runId: string;
	result(): Promise<ToolResult>;
	abort(reason?: string): void;
	steer(message: string): boolean;
}

export type SubagentErrorCode =
	| "INVALID_INPUT"
	| "SUBAGENTS_DISABLED"
	| "UNKNOWN_AGENT"
	| "SUBAGENT_DISABLED"
	| "SUBAGENT_DEPTH_EXCEEDED"
	| "SUBAGENT_TIMEOUT"
	| "SUBAGENT_FAILED"
	| "SUBAGENT_OUTPUT_TRUNCATED";

/** Usage in pi's own shape. */
export interface PiUsage {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	totalTokens: number;
	cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export interface RunUsage {
	input: number;
	output: number;
	cacheRead: number;
	cacheWrite: number;
	cost: number;
	turns: number;
}

export type DisplayItem =
	| { type: "text"; text: string }
	| { type: "toolCall"; name: string; args: Record<string, unknown> };

export interface SingleResult {
	agent: string;
	task: string;
	exitCode: number;
	usage: RunUsage;
	error?: string;
	sessionFile?: string;
	output?: string;
	displayItems?: DisplayItem[];
	outcome:
		| "completed"
		| "failed"
		| "aborted"
		| "idle_timeout"
		| "hard_timeout"
		| "budget"
		| "killed"
		| "skipped"
		| "interrupted";
	attempts: number;
	durationMs: number;
	model?: string;
	stopReason?: string;
	signal?: string;
	timeoutReason?: "runtime" | "idle";
	fullOutputFile?: string;
	diagnostics?: string[];
}

export interface Streaming {
	displayItems: DisplayItem[];
	usage: RunUsage;
	turnCount: number;
	elapsedMs: number;
	sinceEventMs: number;
	model?: string;
}

export interface RunDetails {
	mode: "single" | "parallel" | "chain" | "management";
	runId?: string;
	results: SingleResult[];
	error?: { code: SubagentErrorCode; message: string };
	streaming?: Streaming;
}

export interface ToolResult {
	content: { type: "text"; text: string }[];
	isError?: boolean;
	usage?: PiUsage;
	details: RunDetails;
}

export interface SurfaceOptions {
	cwd: string;
	agentDir?: string;
	tools?: HostTool[];
	config?: Record<string, unknown>;
	env?: Record<string, string>;
}

export interface ToolSurface {
	register: boolean;
	name: string;
	label: string;
	description: string;
	promptSnippet: string;
	promptGuidelines: string[];
	parameters: Record<string, unknown>;
	delegationPolicy?: string;
	notices: string[];
}

export type AgentSource = "builtin" | "user" | "project";

export interface AgentInfo {
	name: string;
	description: string;
	source: AgentSource;
	path?: string;
	readonly: boolean;
	tools: string[];
	dropped: { tool: string; reason: string }[];
	runnable: boolean;
	problem?: string;
	model?: string;
	thinking?: string;
}

export interface ShadowedAgent {
	name: string;
	source: AgentSource;
	path?: string;
	by: AgentSource;
}

export interface Diagnostic {
	severity: "error" | "warning" | "info";
	code: string;
	message: string;
	path?: string;
	line?: number;
	column?: number;
}

export interface AgentCatalog {
	agents: AgentInfo[];
	shadowed: ShadowedAgent[];
	diagnostics: Diagnostic[];
}

export interface DoctorOptions extends SurfaceOptions {
	hostExecutable?: string;
	hostScript?: string;
	piCommand?: string[];
	parentSessionFile?: string;
	model?: string;
}

export interface DoctorCheck {
	area: string;
	status: "ok" | "info" | "warning" | "error";
	message: string;
	hint?: string;
}

export interface DoctorReport {
	ok: boolean;
	checks: DoctorCheck[];
}

/** What the extension calls in the addon. */
export interface Native {
	startRun(
		options: RunOptions,
		onUpdate?: (update: ToolResult) => void,
		onConfirm?: (request: ConfirmRequest) => Promise<boolean>,
	): RunHandle;
	describeTools(options: SurfaceOptions): Promise<ToolSurface>;
	discoverAgents(options: SurfaceOptions): Promise<AgentCatalog>;
	doctor(options: DoctorOptions): Promise<DoctorReport>;
}
