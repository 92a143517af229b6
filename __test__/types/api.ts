/** The types that callers program against. Checked by `tsc` only; nothing here is ever run. */

import os from "node:os";

import {
	type AgentCatalog,
	type Answer,
	bootEarly,
	CallCard,
	type CollectedOutput,
	type ConfirmRequest,
	checkAgent,
	checkConfig,
	checkSchema,
	collectOutput,
	collectOutputFile,
	DeliveryDispatcher,
	type Diagnostic,
	type DisplayItem,
	type DoctorReport,
	deliveredIn,
	describeTools,
	discoverAgents,
	doctor,
	drawAnnouncement,
	drawQuestionLine,
	drawReport,
	drawText,
	drawWidget,
	durationText,
	EarlyCall,
	EarlyCalls,
	type EarlyOptions,
	endBackground,
	endSpares,
	type HostCallbacks,
	hostRun,
	inspectOutput,
	type LoadedConfig,
	listSpawnable,
	loadConfig,
	markStyles,
	OutputCollector,
	openBackground,
	openWorkflow,
	Palette,
	Panel,
	type ParallelOptions,
	type PiUsage,
	type PreparedArguments,
	paletteColors,
	panelKeys,
	prepareArguments,
	type Question,
	QuestionScreen,
	questionToAnswer,
	type Redaction,
	RunHandle,
	type RunOptions,
	type RunUsage,
	removeWorkflow,
	type SingleResult,
	sanitizeOutput,
	sentenceReport,
	spawnSession,
	startChain,
	startParallel,
	startRun,
	stateLabel,
	stopWorkflow,
	type TaskOptions,
	type ToolResult,
	type ToolSurface,
	type ToolSurfaces,
	type TruncatedOutput,
	takenNameNotices,
	textWidth,
	toolCallLine,
	truncateHead,
	truncateOutput,
	truncateTail,
	usageText,
	workflows,
} from "../../native.js";

/** Holds when the two types are the same in every respect. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Claim extends true>(): void {}

// The codes, outcomes and modes are closed sets.
type Code =
	| "INVALID_INPUT"
	| "SUBAGENTS_DISABLED"
	| "UNKNOWN_AGENT"
	| "SUBAGENT_DISABLED"
	| "SUBAGENT_DEPTH_EXCEEDED"
	| "SUBAGENT_TIMEOUT"
	| "SUBAGENT_FAILED"
	| "SUBAGENT_OUTPUT_TRUNCATED";
type Outcome =
	| "completed"
	| "failed"
	| "aborted"
	| "idle_timeout"
	| "hard_timeout"
	| "budget"
	| "killed"
	| "skipped"
	| "interrupted"
	| "background";
type Details = ToolResult["details"];
holds<Same<NonNullable<Details["error"]>["code"], Code>>();
holds<Same<SingleResult["outcome"], Outcome>>();
holds<Same<Details["mode"], "single" | "parallel" | "chain" | "management">>();
holds<Same<Question["method"], "select" | "confirm" | "input" | "editor">>();
type EarlyTool = "subagent" | "subagent_parallel" | "subagent_chain" | "sessions_spawn" | "sessions_send";
holds<Same<EarlyOptions["tool"], EarlyTool>>();
holds<Same<NonNullable<SingleResult["timeoutReason"]>, "runtime" | "idle">>();
holds<Same<Diagnostic["severity"], "error" | "warning" | "info">>();

// The fields that are always present, and the optional ones.
type Required<T> = { [K in keyof T as object extends Pick<T, K> ? never : K]: T[K] };
holds<Same<keyof Required<RunOptions>, "agent" | "task" | "cwd">>();
holds<Same<keyof Required<ParallelOptions>, "tasks" | "cwd">>();
holds<Same<keyof Required<Parameters<typeof startChain>[0]>, "steps" | "cwd">>();
holds<Same<keyof Required<EarlyOptions>, "tool" | "callId" | "cwd">>();
holds<Same<keyof Required<TaskOptions>, "agent" | "task">>();
holds<Same<keyof TaskOptions, "agent" | "task" | "cwd" | "model" | "thinking">>();
holds<Same<ReturnType<typeof prepareArguments>, PreparedArguments>>();
type Words = "heading" | "sentence" | "choices" | "timeoutMs";
holds<Same<keyof Required<Question>, "id" | "runId" | "agent" | "method" | "title" | Words>>();
holds<Same<keyof Required<HostCallbacks>, never>>();
holds<Same<keyof HostCallbacks, "confirm" | "refresh" | "model" | "ask" | "withdraw">>();
holds<Same<keyof Required<ToolResult>, "content" | "details">>();
holds<Same<keyof Required<Details>, "mode" | "results">>();
holds<Same<keyof RunUsage, "input" | "output" | "cacheRead" | "cacheWrite" | "cost" | "turns">>();
holds<Same<RunUsage[keyof RunUsage], number>>();
holds<Same<keyof PiUsage, "input" | "output" | "cacheRead" | "cacheWrite" | "totalTokens" | "cost">>();
holds<Same<PiUsage["cost"][keyof PiUsage["cost"]], number>>();
holds<Same<ToolResult["content"][number], { type: "text"; text: string }>>();
holds<Same<keyof NonNullable<SingleResult["sandbox"]>, "enforced" | "mechanism" | "network" | "reason">>();
holds<
	Same<
		keyof NonNullable<SingleResult["isolation"]>,
		"branch" | "patch" | "commits" | "files" | "insertions" | "deletions" | "keptTree"
	>
>();

// The arguments and results of functions.
holds<Same<ReturnType<typeof startRun>, RunHandle>>();
holds<Same<ReturnType<typeof startParallel>, RunHandle>>();
holds<Same<ReturnType<typeof startChain>, RunHandle>>();
holds<Same<ReturnType<typeof bootEarly>, EarlyCall>>();
holds<Same<ReturnType<RunHandle["result"]>, Promise<ToolResult>>>();
holds<Same<ReturnType<RunHandle["steer"]>, boolean>>();
holds<Same<ReturnType<RunHandle["abort"]>, void>>();
holds<Same<ReturnType<RunHandle["background"]>, Promise<Awaited<ReturnType<typeof spawnSession>>[]>>>();
holds<Same<ReturnType<typeof collectOutput>, Promise<CollectedOutput>>>();
holds<Same<ReturnType<typeof collectOutputFile>, Promise<CollectedOutput>>>();
holds<Same<ReturnType<typeof sanitizeOutput>, Promise<string>>>();
holds<Same<ReturnType<typeof inspectOutput>, Promise<Redaction[]>>>();
holds<Same<ReturnType<typeof truncateOutput>, Promise<TruncatedOutput>>>();
holds<Same<ReturnType<typeof truncateHead>, Promise<TruncatedOutput>>>();
holds<Same<ReturnType<typeof truncateTail>, Promise<TruncatedOutput>>>();
holds<Same<ReturnType<typeof discoverAgents>, Promise<AgentCatalog>>>();
holds<Same<ReturnType<typeof loadConfig>, Promise<LoadedConfig>>>();
holds<Same<ReturnType<typeof doctor>, Promise<DoctorReport>>>();
holds<Same<ReturnType<typeof describeTools>, Promise<ToolSurfaces>>>();
holds<Same<ToolSurfaces["tools"], ToolSurface[]>>();
holds<
	Same<
		keyof ToolSurface,
		"name" | "label" | "description" | "promptSnippet" | "promptGuidelines" | "parameters" | "exposure" | "annotations"
	>
>();
holds<Same<keyof TruncatedOutput, "text" | "truncated" | "keptLines" | "totalLines" | "keptBytes" | "totalBytes">>();
holds<Same<keyof Redaction, "rule" | "what" | "count" | "ranges">>();
holds<Same<keyof AgentCatalog, "agents" | "shadowed" | "diagnostics">>();

const options: RunOptions = { agent: "explorer", task: "look", cwd: "/" };

/** Right uses. */
export async function right(): Promise<void> {
	const handle = startRun(
		{
			...options,
			config: { timeoutMs: 5, output: { maxBytes: 9 } },
			env: { A: "b" },
			piCommand: ["pi"],
			aborted: false,
		},
		(update: ToolResult) => void update.details.streaming?.turnCount,
		{
			confirm: async ({ id, runId, agent, path, title, message }: ConfirmRequest) =>
				id > 0 && [runId, agent, path, title, message].every(Boolean),
			withdraw: (id) => void id.toFixed(),
			refresh: ({ provider, validForMs }) => provider.length > validForMs,
			ask: answered,
		},
	);
	startRun(options, undefined, { confirm: () => true, ask: async () => ({}) });
	const { agent, task, ...call } = options;
	startParallel({ ...call, callId: "c", sessionId: "s", tasks: [{ agent, task }] }, undefined, {}).abort();
	startChain({ ...call, steps: [{ agent, cwd: "lib", task }] });
	const early = bootEarly({ ...call, tool: "subagent_chain", callId: "c" });
	early.push('{"steps":[');
	early.end();
	const id: string = handle.runId;
	handle.abort();
	handle.abort(id);
	const { content, usage, isError = false, details } = await handle.result();
	for (const { exitCode, error, displayItems = [] } of details.results) {
		const claims: [number, string | undefined, boolean] = [exitCode, error, isError];
		for (const item of displayItems) shown(item);
		void [claims, content, usage?.cost.total];
	}
	await collectOutput("");
	await collectOutput(new Uint8Array());
	await collectOutput(Buffer.from(""));
	await truncateOutput("", { maxBytes: 5, maxLines: 5, fullText: "/x" });
	await sanitizeOutput("", { secrets: [], authJson: "{}", homes: [] });
	for (const { ranges } of await inspectOutput("")) for (const { start, end } of ranges) void (end - start);
	const { counts, final, partialOutput, lastEventType } = await collectOutputFile("/x");
	void [counts.unknownEvents + counts.invalidLines, final satisfies boolean, partialOutput, lastEventType];
}

/** The examples of `native.d.ts`, word for word except their imports. */
export const examples = {
	checkAgent(): void {
		const lines = ["---", "name: scout", "tools: gerp", "---", "Look."];
		for (const { message } of checkAgent(lines.join(os.EOL))) console.error(message);
	},
	checkConfig(): void {
		console.log(checkConfig({ maxConcurrent: 4 }) ?? "valid");
	},
	checkSchema(): void {
		console.log(checkSchema({ type: "object", properties: { files: { type: "array" } } }) ?? "a schema");
	},
	async OutputCollector(): Promise<void> {
		const collector = new OutputCollector();
		for await (const piece of process.stdin) collector.push(piece);
		console.log((await collector.finish()).output);
	},
	async BackgroundSession(): Promise<void> {
		const options = { cwd: process.cwd(), sessionId: "session-1", delivered: [] };
		const session = openBackground(options, ({ notices = [] }) => {
			for (const notice of notices) console.error(notice);
		});
		const { text } = await session.command("list");
		console.log(text, await session.runs(true), session.complete("st"));
		await session.settled(60_000);
		await session.close();
	},
	async EarlyCalls(): Promise<void> {
		const calls = new EarlyCalls();
		const call = { contentIndex: 0, name: "subagent", id: "call-1" };
		calls.take({ ...call, type: "toolcall_start" });
		const wanted = calls.take({ ...call, type: "toolcall_delta", json: '{"agent":"explorer"' });
		if (wanted) calls.boot({ ...wanted, cwd: process.cwd() });
		calls.messageEnded("toolUse");
		calls.finished("call-1");
		await calls.close();
	},
	DeliveryDispatcher(): void {
		const session = ["delivery-1"];
		const dispatcher = new DeliveryDispatcher(true, session);
		dispatcher.add(["delivery-2"], true);
		dispatcher.settled(false);
		for (let step = dispatcher.next(); step; step = dispatcher.next()) {
			if (step.step === "check") dispatcher.contains(session);
			if (step.step !== "send") continue;
			session.push(step.message ?? "");
			dispatcher.sent();
		}
		console.log(session, dispatcher.waiting());
	},
	async EarlyCall(): Promise<void> {
		const early = bootEarly({ tool: "subagent", callId: "call-1", cwd: process.cwd() });
		early.push('{"agent":"explorer",');
		await early.end();
	},
	async RunHandle(): Promise<void> {
		const handle = startRun({ agent: "explorer", task: "Find the entry point.", cwd: process.cwd() });
		const timer = setTimeout(() => handle.abort("took too long"), 60_000);
		const { isError = false, content } = await handle.result();
		clearTimeout(timer);
		console.log(handle.runId, isError, content[0]?.text);
	},
	async SessionToolCall(): Promise<void> {
		const session = openBackground({ cwd: process.cwd(), sessionId: "session-1", delivered: [] }, () => {});
		const call = session.useTool("sessions_send", { sessionKey: "1a2b3c4d", message: "Go on.", timeoutSeconds: 60 });
		process.once("SIGINT", () => call.abort());
		console.log((await call.result()).content[0]?.text);
		await session.close();
	},
	async bootEarly(): Promise<void> {
		const place = { cwd: process.cwd(), callId: "call-1" };
		const early = bootEarly({ ...place, tool: "subagent" });
		early.push('{"agent":"explorer",');
		early.push('"task":"List the tests."}');
		const { content } = await startRun({ ...place, agent: "explorer", task: "List the tests." }).result();
		await early.end();
		console.log(content[0]?.text);
	},
	async endSpares(): Promise<void> {
		const options = { cwd: process.cwd(), agent: "explorer", config: { spare: { count: 1 } } };
		for (const task of ["List the tests.", "List the docs."]) {
			const { content } = await startRun({ ...options, task }).result();
			console.log(content[0]?.text);
		}
		await endSpares();
	},
	async collectOutput(): Promise<void> {
		const { final, counts } = await collectOutput('{"type":"agent_settled"}');
		console.log(final, counts.events);
	},
	async collectOutputFile(): Promise<void> {
		const { output, usage } = await collectOutputFile("run.jsonl").catch(() => ({ output: "", usage: undefined }));
		console.log(output, usage?.cost);
	},
	async describeTools(): Promise<void> {
		const { register, tools, delegationPolicy = "" } = await describeTools({ cwd: process.cwd() });
		if (register) for (const { name, parameters } of tools) console.log(name, JSON.stringify(parameters));
		console.log(delegationPolicy);
	},
	async discoverAgents(): Promise<void> {
		const { agents, diagnostics } = await discoverAgents({ cwd: process.cwd() });
		for (const { name, source, tools } of agents) console.log(name, source, tools.join(" "));
		for (const { severity, message } of diagnostics) console.error(severity, message);
	},
	prepareArguments(): void {
		const sent = JSON.stringify({ subagent_type: "explorer", prompt: "List the tests.", cwd: "" });
		const { arguments: prepared, problem } = prepareArguments("subagent", sent);
		console.log(prepared ?? problem);
	},
	takenNameNotices(): void {
		const takenNames = [{ kind: "tool" as const, name: "subagent", path: "/home/user/other.ts" }];
		for (const notice of takenNameNotices({ cwd: process.cwd(), takenNames })) console.error(notice);
	},
	async doctor(): Promise<void> {
		const { ok, checks } = await doctor({ cwd: process.cwd() });
		for (const { status, area, message, hint = "" } of checks) console.log(status, area, message, hint);
		process.exitCode = ok ? 0 : 1;
	},
	async HostCallbacks(): Promise<void> {
		const handle = startRun({ agent: "reviewer", task: "Review the last commit.", cwd: process.cwd() }, undefined, {
			confirm: ({ path }) => path.startsWith(process.cwd()),
			ask: ({ method, options = [] }) => (method === "select" && options[0] ? { value: options[0] } : {}),
		});
		console.log((await handle.result()).content[0]?.text);
	},
	async inspectOutput(): Promise<void> {
		const found = await inspectOutput("token: correct-horse", { secrets: ["correct-horse"] });
		for (const { rule, what, ranges } of found) console.log(rule, what, ranges[0]?.start);
	},
	durationText(): void {
		console.log(durationText(312_000), durationText(3_200, true));
	},
	async endBackground(): Promise<void> {
		console.log((await endBackground()) ?? "no background run was under way");
	},
	markStyles(): void {
		for (const { name, sign, color } of markStyles()) console.log(name, sign, color);
	},
	stateLabel(): void {
		const { mark, word, note = word } = stateLabel({ state: "queued", position: 3 });
		console.log(mark, note);
	},
	Palette(): void {
		const styles = { colors: { accent: ["\u001b[36m", "\u001b[39m"] }, bold: ["\u001b[1m", "\u001b[22m"] };
		console.log(new Palette(JSON.stringify({ ...styles, expandKey: "ctrl+o" })));
	},
	paletteColors(): void {
		console.log(paletteColors().join());
	},
	drawText(): void {
		console.log(drawText(new Palette("{}"), 20, "dim", "A text of several words").length);
	},
	textWidth(): void {
		console.log(textWidth("世界"));
	},
	CallCard(): void {
		const palette = new Palette("{}");
		const card = new CallCard("subagent");
		card.ask(JSON.stringify({ agent: "explorer", task: "Find the loader." }));
		card.start(Date.now());
		console.log(card.head(palette, 80, { isExpanded: false, nowMs: Date.now() }).length, card.isRunning);
	},
	drawAnnouncement(): void {
		console.log(drawAnnouncement(new Palette("{}"), 80, "{}", false));
	},
	deliveredIn(): void {
		console.log(deliveredIn("[]").length);
	},
	drawReport(): void {
		const report = { title: "Runs", lines: [{ mark: "ok", text: "one" }], text: "" };
		console.log(drawReport(new Palette("{}"), 80, JSON.stringify(report))?.length);
	},
	sentenceReport(): void {
		console.log(sentenceReport("info", "There is no question").text);
	},
	Panel(): void {
		const panel = new Panel(true);
		panel.setRuns("[]", [], Date.now());
		for (let next = panel.next(); next; next = panel.next()) {
			if (next.step === "runs") panel.answer(next.id, '{"runs":[],"workflows":[]}', undefined, Date.now());
		}
		const view = { rows: 24, theme: 0, keys: panelKeys().map(({ own }) => own), nowMs: Date.now() };
		for (const line of panel.draw(new Palette("{}"), 80, view)) console.log(line);
	},
	panelKeys(): void {
		for (const { action, own, description } of panelKeys()) console.log(action, own.join(" "), description);
	},
	drawWidget(): void {
		console.log(drawWidget(new Palette("{}"), 80, "[]", "[]", "[]", 5).length);
	},
	QuestionScreen(): void {
		const question = new QuestionScreen("explorer asks", "Remove it?", "rm -rf build", ["No", "Yes"]);
		const named = { up: "up", down: "down", pageUp: "pageUp", pageDown: "pageDown" };
		const keys = { ...named, end: "end", confirm: "enter", cancel: "escape" };
		for (const line of question.draw(new Palette("{}"), 40, 24, keys)) console.log(line);
		question.press("down");
		console.log(question.chosen, question.accepts(false));
	},
	drawQuestionLine(): void {
		console.log(drawQuestionLine(new Palette("{}"), 40, "explorer asks: Remove it?", "alt+a answers").length);
	},
	toolCallLine(): void {
		console.log(toolCallLine("read", { path: "src/main.rs", offset: 1, limit: 10 }));
	},
	usageText(): void {
		const usage = { input: 12_340, output: 950, cacheRead: 0, cacheWrite: 0, cost: 0.045, turns: 3 };
		const { turns = "", tokens = "", cost = "" } = usageText([usage]);
		console.log(turns, tokens, cost);
	},
	async hostRun(): Promise<void> {
		await hostRun();
	},
	async listSpawnable(): Promise<void> {
		const { agents, defaultAgent } = await listSpawnable({ cwd: process.cwd() });
		for (const { id, description } of agents) console.log(id === defaultAgent ? "*" : " ", id, description);
	},
	async loadConfig(): Promise<void> {
		const { values, diagnostics, broken } = await loadConfig({ cwd: process.cwd() });
		console.log(values.maxConcurrent, broken?.message ?? "readable", diagnostics.length);
	},
	async WorkflowHandle(): Promise<void> {
		const workflow = await openWorkflow({ cwd: process.cwd(), id: "review" });
		process.once("SIGINT", () => workflow.stop());
		workflow.phase("read");
		await workflow.finish("completed");
	},
	async openWorkflow(): Promise<void> {
		const cwd = process.cwd();
		const workflow = await openWorkflow({ cwd, id: "review", limits: { maxRuns: 20 } });
		workflow.phase("read");
		const { account } = workflow;
		const run = startRun({ cwd, account, agent: "explorer", task: "Where?", workflow: { id: "review", key: "where" } });
		console.log((await run.result()).content[0]?.text);
		await workflow.finish("completed");
	},
	async workflows(): Promise<void> {
		for (const { id, state, runs } of await workflows({ cwd: process.cwd() })) console.log(id, state, runs.length);
	},
	async stopWorkflow(): Promise<void> {
		console.log(await stopWorkflow({ cwd: process.cwd() }, "review"));
	},
	async removeWorkflow(): Promise<void> {
		console.log(await removeWorkflow({ cwd: process.cwd() }, "review"));
	},
	async openBackground(): Promise<void> {
		const delivered: string[] = [];
		const options = { cwd: process.cwd(), sessionId: "session-1", delivered };
		const session = openBackground(options, async ({ deliveries }) => {
			if (!deliveries) return;
			console.log(deliveries.text);
			delivered.push(...deliveries.deliveryIds);
			await session.delivered(deliveries.deliveryIds);
		});
		await session.settled();
		await session.close();
	},
	questionToAnswer(): void {
		const waiting = [{ id: 7, runId: "1a2b3c4d", agent: "explorer" }];
		console.log(questionToAnswer("answer explorer", waiting)?.id);
	},
	async sanitizeOutput(): Promise<void> {
		console.log(await sanitizeOutput("token: correct-horse", { secrets: ["correct-horse"] }));
	},
	async spawnSession(): Promise<void> {
		const { status, runId, error } = await spawnSession({
			cwd: process.cwd(),
			sessionId: "session-1",
			task: "List the public functions.",
			runTimeoutSeconds: 600,
		});
		console.log(status, runId ?? error);
	},
	async startChain(): Promise<void> {
		const handle = startChain({
			cwd: process.cwd(),
			steps: [
				{ agent: "explorer", task: "Find the slowest test." },
				{ agent: "explorer", task: "Explain why it is slow: {previous}" },
			],
		});
		const { content } = await handle.result();
		console.log(content[0]?.text);
	},
	async startParallel(): Promise<void> {
		const handle = startParallel({
			cwd: process.cwd(),
			tasks: [
				{ agent: "explorer", task: "Summarize src." },
				{ agent: "explorer", task: "Summarize the tests." },
			],
		});
		const { details } = await handle.result();
		for (const { outcome, output = "" } of details.results) console.log(outcome, output);
	},
	async startRun(): Promise<void> {
		const handle = startRun(
			{ agent: "explorer", task: "Which file parses the configuration?", cwd: process.cwd() },
			({ details }) => console.log(details.streaming?.state, details.streaming?.turnCount),
		);
		const { content, isError = false, details } = await handle.result();
		if (isError) console.error(details.error?.code, details.error?.message);
		else console.log(content[0]?.text);
	},
	async truncateHead(): Promise<void> {
		const versions = JSON.stringify(process.versions, null, 1);
		const { text, keptLines, totalLines } = await truncateHead(versions, { maxLines: 9 });
		console.log(text, keptLines, totalLines);
	},
	async truncateOutput(): Promise<void> {
		const limits = { maxBytes: 1024, fullText: "words.txt" };
		const { text, truncated } = await truncateOutput("word ".repeat(5000), limits);
		console.log(truncated, text);
	},
	async truncateTail(): Promise<void> {
		const { text, keptBytes, totalBytes } = await truncateTail("word ".repeat(5000), { maxBytes: 1024 });
		console.log(text, keptBytes, totalBytes);
	},
};

/** Dialogs are distinguished by their method, completely. */
function answered({ method, title, options = [], placeholder, prefill, message, timeoutMs = 0 }: Question): Answer {
	switch (method) {
		case "confirm":
			return { confirmed: `${title} ${message}` !== "" && timeoutMs > 0 };
		case "select":
			return options[0] === undefined ? {} : { value: options[0] };
		case "input":
		case "editor":
			return { value: placeholder ?? prefill ?? "" };
		default:
			return method satisfies never;
	}
}

/** Kinds of display items are distinguished by their type, completely. */
function shown(item: DisplayItem): string {
	switch (item.type) {
		case "text":
			return item.text;
		case "toolCall":
			return `${item.name} ${Object.keys(item.args).join()}`;
		default:
			return item satisfies never;
	}
}

/** Wrong uses, each of which must not compile. */
export async function figures(): Promise<void> {
	console.log(durationText(312_000), durationText(3_200, true));
	console.log((await endBackground()) ?? "no background run was under way");
	for (const { name, sign, color } of markStyles()) console.log(name, sign, color);
	const { mark, word, note = word } = stateLabel({ state: "queued", position: 3 });
	console.log(mark, note);
	console.log(toolCallLine("read", { path: "src/main.rs", offset: 1, limit: 10 }));
	const usage = { input: 12_340, output: 950, cacheRead: 0, cacheWrite: 0, cost: 0.045, turns: 3 };
	const { turns = "", tokens = "", cost = "" } = usageText([usage]);
	console.log(turns, tokens, cost);
}

export async function wrong(): Promise<void> {
	// @ts-expect-error: an agent is needed
	startRun({ task: "look", cwd: "/" });
	// @ts-expect-error: a task is needed
	startRun({ agent: "explorer", cwd: "/" });
	// @ts-expect-error: a directory is needed
	startRun({ agent: "explorer", task: "look" });
	// @ts-expect-error: an agent is a name
	startRun({ ...options, agent: 5 });
	// @ts-expect-error: no such option
	startRun({ ...options, sessionDir: "/" });
	// @ts-expect-error: a command is a list
	startRun({ ...options, piCommand: "pi" });
	// @ts-expect-error: variables are strings
	startRun({ ...options, env: { A: 1 } });
	// @ts-expect-error: a signal is listened to by the caller
	startRun({ ...options, signal: new AbortController().signal });
	// @ts-expect-error: an answer is a boolean
	startRun(options, undefined, { confirm: () => "yes" });
	// @ts-expect-error: an answer is an object
	startRun(options, undefined, { ask: () => "yes" });
	// @ts-expect-error: callbacks have names
	startRun(options, undefined, () => true);
	// @ts-expect-error: one run has one agent
	startRun({ ...options, tasks: [] });
	// @ts-expect-error: tasks are needed
	startParallel(options);
	// @ts-expect-error: a task needs an agent
	startParallel({ cwd: "/", tasks: [{ task: "look" }] });
	// @ts-expect-error: a chain has steps
	startChain({ cwd: "/", tasks: [] });
	// @ts-expect-error: an early call needs the id of its call
	bootEarly({ cwd: "/", tool: "subagent" });
	// @ts-expect-error: no such tool
	bootEarly({ cwd: "/", callId: "c", tool: "bash" });
	// @ts-expect-error: early calls come from calls
	new EarlyCall().end(5);
	// @ts-expect-error: an update is a result
	startRun(options, (update: string) => update);
	const handle = startRun(options);
	// @ts-expect-error: a run keeps its id
	handle.runId = "12345678";
	// @ts-expect-error: a result has to be awaited
	handle.result().content;
	// @ts-expect-error: a message is needed
	handle.steer();
	// @ts-expect-error: a reason is a text
	handle.abort(new Error("no"));
	const { details } = await handle.result();
	// @ts-expect-error: no such code
	void (details.error?.code === "TIMEOUT");
	// @ts-expect-error: there may be none
	details.results[0].exitCode;
	// @ts-expect-error: text or bytes
	await collectOutput([1, 2]);
	// @ts-expect-error: an inspection never gives the value
	(await inspectOutput(""))[0]?.value;
	// @ts-expect-error: a limit is a number
	await truncateOutput("", { maxBytes: "5" });
	// @ts-expect-error: a directory is needed
	await discoverAgents({});
	// @ts-expect-error: text only
	await sanitizeOutput(5);
	// @ts-expect-error: handles come from runs
	new RunHandle().runId = "";
}
