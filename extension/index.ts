/**
 * Entry point for pi. It imports nothing that can fail, because one extension that fails to load ends pi. `/reload` calls
 * the factory again and evaluates no module again.
 * In a child of this package only the guard is registered: a sub-agent delegates nothing.
 */

import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { KeyId } from "@earendil-works/pi-tui";
import type { BackgroundEvent, DeliveryMessage, ToolSurfaces } from "../index.js";
import { type Deliveries, openDeliveries } from "./background/deliveries.ts";
import { Background } from "./background/registry.ts";
import { registerAnnouncementRenderer } from "./cards/announcement.ts";
import { stopClocks } from "./cards/render.ts";
import childGuard from "./child-guard.cjs";
import { registerBackgroundKey, registerCommands } from "./commands/commands.ts";
import { staleNotice } from "./host/build.ts";
import { findHostExtensions } from "./host/extensions.ts";
import { contained, messageOf } from "./host/guard.ts";
import { guarded } from "./host/guarded.ts";
import { findSessionKeys } from "./host/keys.ts";
import { findTakenNames, isTaken } from "./host/names.ts";
import { loadAddon } from "./host/native.ts";
import { Notices, sayAtExit } from "./host/notices.ts";
import { placeOptions, surfaceOptions } from "./host/options.ts";
import type { SettledEvent } from "./host/pi.ts";
import { closeRuns } from "./host/runs.ts";
import { dialogs } from "./questions/dialogs.ts";
import { Questions } from "./questions/questions.ts";
import { terminalQuestions } from "./questions/terminal.ts";
import { watchArrivingCalls } from "./tools/early.ts";
import { describeTools, rememberedTools, withPolicy } from "./tools/surfaces.ts";
import { ourTools } from "./tools/tools.ts";
import { showWidget } from "./ui/widget.ts";

export default function subagentNative(api: ExtensionAPI): void {
	if (process.env.PI_SUBAGENT_CHILD === "1") {
		childGuard(api, { isSecond: true });
		return;
	}
	// A pi that lacks what is registered here would end.
	contained("loading the extension", () => start(guarded(api)));
}

function start(pi: ExtensionAPI): void {
	const background = new Background();
	const questions = new Questions();
	/** Other extensions hear of runs; one that fails keeps no news from the others. */
	const tell = (channel: string, news: object) =>
		contained("telling other extensions of runs", () => pi.events.emit(channel, news));
	const tools = ourTools(pi, questions, background);
	const notices = new Notices();
	const endArriving = watchArrivingCalls(pi);
	let surfaces: ToolSurfaces | undefined;
	let deliveries: Deliveries | undefined;
	let hideWidget = () => {};
	/** Counts beginnings and ends of sessions. */
	let turns = 0;
	const remembered = rememberedTools();
	tools.register(remembered);
	if (remembered.length > 0) registerAnnouncementRenderer(pi);

	const drain = async (context: ExtensionCommandContext) => await deliveries?.drain(() => context.waitForIdle());
	const session = { background, questions, drain };
	registerCommands(pi, session);

	/** Pi's end by Ctrl+C. Its turn, which has waited for the runs that are being ended, must not come to a good end before that. */
	let dying: Promise<void> | undefined;
	// Without a terminal of its own pi dies of Ctrl+C at once, and a child in its own process group hears nothing of it.
	const interrupted = () => {
		const end = (close: () => unknown) => contained("ending what runs", close);
		const ends = [end(endArriving), end(() => closeRuns()), end(() => loadAddon().native?.endBackground())];
		dying = Promise.allSettled(ends).then(() => void process.kill(process.pid, "SIGINT"));
	};

	/** Throws only for results that were not taken: the addon offers those again. */
	function heard(event: BackgroundEvent, context: ExtensionContext): void {
		contained("telling of background runs", () => {
			if (event.notices) notices.announce(event.notices, context);
			for (const { happened, run } of event.news ?? []) tell(happened, run);
		});
		if (event.deliveries) deliveries?.add(event.deliveries);
	}

	/** Says which of our names pi gives to something else. Other extensions may register theirs at any time. */
	function sayTakenNames(context: ExtensionContext): void {
		contained("looking for names that are taken", () => {
			if (!surfaces?.register) return;
			const taken = findTakenNames(
				pi,
				surfaces.tools.map(({ name }) => name),
			);
			const { native } = loadAddon();
			if (native && taken.length > 0) notices.announce(native.takenNameNotices(surfaceOptions(pi, context)), context);
		});
	}

	/** Opens the background runs of the session; what of their ends stands in it already is not told again. */
	function openBackground(context: ExtensionContext): void {
		const { native } = loadAddon();
		if (!native) return;
		try {
			const arrived = ({ news, questions }: DeliveryMessage) => {
				if (questions.length === 0) tell("subagent:delivered", news);
			};
			deliveries = openDeliveries({ pi, context, background, native, arrived });
			const options = { ...placeOptions(pi, context), delivered: deliveries.delivered };
			background.open(native, options, (event) => heard(event, context));
		} catch (error) {
			notices.announce([`background runs are not available: ${messageOf(error)}`], context);
		}
	}

	/** Ends what belongs to the session, and returns its view so that it can be closed. */
	function leaveSession() {
		turns++;
		process.off("SIGINT", interrupted);
		hideWidget();
		hideWidget = () => {};
		deliveries?.close();
		deliveries = undefined;
		return background.leave();
	}

	pi.on("session_start", async (_event, context) => {
		// pi begins a session twice that a client over RPC has opened: with two views of it, its results would come twice.
		const before = leaveSession();
		const turn = turns;
		await before?.close().catch(() => undefined);
		const isTerminal = context.mode === "tui";
		const presenter = () => (isTerminal ? terminalQuestions(context.ui) : dialogs(context));
		if (context.hasUI) questions.attach(context.sessionManager.getSessionId(), presenter());
		else process.once("SIGINT", interrupted);
		const finding = Promise.all([
			findHostExtensions(context),
			findSessionKeys(context.modelRegistry).catch(() => undefined),
		]);
		surfaces = await describeTools(pi, context);
		// It has ended meanwhile, or begun once more.
		if (turn !== turns) return;
		registerAnnouncementRenderer(pi);
		if (surfaces.register) tools.register(surfaces.tools);
		else if (remembered.length > 0) {
			const off = new Set(remembered.map(({ name }) => name));
			pi.setActiveTools(pi.getActiveTools().filter((name) => !off.has(name)));
		}
		const stale = staleNotice();
		notices.announce(stale ? [...surfaces.notices, stale] : surfaces.notices, context);
		if (surfaces.backgroundKey) registerBackgroundKey(pi, session, surfaces.backgroundKey as KeyId);
		// Runs need to know the extensions; the description of the tools does not wait for them.
		await finding;
		if (turn !== turns) return;
		sayTakenNames(context);
		openBackground(context);
		if (isTerminal) hideWidget = showWidget(context, background);
	});

	pi.on("input", () => deliveries?.prompted());
	pi.on("before_agent_start", (event, context) => {
		deliveries?.beforeStart();
		sayTakenNames(context);
		if (!surfaces?.register || isTaken("subagent") || !pi.getActiveTools().includes("subagent")) return undefined;
		const systemPrompt = withPolicy(event.systemPrompt, surfaces);
		return systemPrompt === undefined ? undefined : { systemPrompt };
	});

	pi.on("agent_start", (_event, context) => deliveries?.started(context.signal));
	pi.on("message_end", ({ message }) => deliveries?.messageEnded(message));
	pi.on("agent_before_settle", async (event) => {
		const joined = await deliveries?.beforeSettle(event);
		await dying;
		return joined;
	});
	pi.on("agent_settled", ({ aborted }: SettledEvent) => deliveries?.settled(aborted));

	pi.on("tool_result", ({ toolCallId }) => (tools.takeFailed(toolCallId) ? { isError: true } : undefined));

	pi.on("session_shutdown", async ({ reason }, context) => {
		await dying;
		stopClocks();
		const view = leaveSession();
		questions.detach(reason === "reload");
		const isQuit = reason === "quit" || reason === undefined;
		// After a reload runs go on, and the next load of the extension opens their session anew.
		if (reason !== "reload") {
			// Another session of this pi: the runs of this one go on, and their results wait for it in the store.
			const leaves = isQuit ? loadAddon().native?.endBackground() : view?.close();
			const [, ended] = await Promise.all([closeRuns(context.sessionManager.getSessionId()), leaves]);
			if (ended && context.mode === "tui") sayAtExit(ended);
		}
		await endArriving();
	});
}
