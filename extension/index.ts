/**
 * Entry point for pi. It imports nothing that can fail, because an extension that fails to load ends pi. `/reload`
 * calls the factory again but evaluates no module again. A child registers only the guard, because a sub-agent cannot
 * delegate.
 */

import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { KeyId } from "@earendil-works/pi-tui";
import type { BackgroundEvent, DeliveryMessage } from "../native.js";
import { type Deliveries, openDeliveries } from "./background/deliveries.ts";
import { Background } from "./background/registry.ts";
import { redrawEnded, registerAnnouncementRenderer, stopClocks } from "./cards/cards.ts";
import childGuard from "./child-guard.cjs";
import {
	continueWorkflows,
	registerBackgroundKey,
	registerCommands,
	registerRestarts,
	reportWorkflows,
} from "./commands/commands.ts";
import { staleNotice } from "./host/build.ts";
import { findHostExtensions } from "./host/extensions.ts";
import { messageOf, Notices, printAtExit, reportFailure, runGuarded } from "./host/guard.ts";
import { guarded } from "./host/guarded.ts";
import { findTakenNames, isTaken } from "./host/names.ts";
import { loadAddon } from "./host/native.ts";
import { findSessionKeys, placeOptions, surfaceOptions } from "./host/options.ts";
import type { SettledEvent } from "./host/pi.ts";
import { dialogs } from "./questions/dialogs.ts";
import { Questions } from "./questions/questions.ts";
import { terminalQuestions } from "./questions/terminal.ts";
import { watchArrivingCalls } from "./tools/early.ts";
import {
	closeRuns,
	describeTools,
	ownTools,
	rememberedTools,
	type Surfaces,
	toolsFor,
	withPolicy,
} from "./tools/tools.ts";
import { showWidget } from "./ui/widget.ts";
import { closeWorkflows } from "./workflows/workflows.ts";

export default function subagentNative(api: ExtensionAPI): void {
	if (process.env.PI_SUBAGENT_CHILD === "1") {
		childGuard(api, { isSecond: true });
		return;
	}
	// Without this wrapper, a pi that lacks one of these methods would end.
	runGuarded("loading the extension", () => start(guarded(api)));
}

function start(pi: ExtensionAPI): void {
	const background = new Background();
	const questions = new Questions();
	/** Sends an event about runs to other extensions. A listener that fails does not keep it from the others. */
	const notify = (channel: string, event: object) =>
		runGuarded("notifying other extensions of runs", () => pi.events.emit(channel, event));
	const tools = ownTools(pi, questions, background);
	const notices = new Notices();
	const endArriving = watchArrivingCalls(pi);
	let surfaces: Surfaces | undefined;
	let deliveries: Deliveries | undefined;
	let hideWidget = () => {};
	/** The number of session starts and ends so far. */
	let sessionChanges = 0;
	const remembered = rememberedTools();
	tools.register(remembered);
	const settled = () => background.settled;
	if (remembered.length > 0) registerAnnouncementRenderer(pi, settled);
	let shownSettled = settled();
	background.subscribe(() => {
		if (shownSettled !== settled()) redrawEnded();
		shownSettled = settled();
	});

	const drain = async (context: ExtensionCommandContext) => await deliveries?.drain(() => context.waitForIdle());
	const session = { background, questions, drain };
	registerCommands(pi, session);
	const handleInterrupted = registerRestarts(pi, session);

	/**
	 * Pending while Ctrl+C ends pi. The turn waits for it, so that the turn cannot finish normally while its runs are
	 * being ended.
	 */
	let exiting: Promise<void> | undefined;
	// Without a terminal of its own, pi exits at once on Ctrl+C. A child in its own process group does not receive that
	// signal.
	const interrupted = () => {
		const end = (close: () => unknown) => runGuarded("stopping the running sub-agents", close);
		const ends = [end(endArriving), end(() => closeRuns()), end(() => loadAddon().native?.endBackground())];
		exiting = Promise.allSettled(ends).then(() => void process.kill(process.pid, "SIGINT"));
	};

	/** Handles an event. Throws only if results were not taken; the addon offers those again. */
	function handleEvent(event: BackgroundEvent, context: ExtensionContext): void {
		runGuarded("handling an event of background runs", () => {
			if (event.notices) notices.announce(event.notices, context);
			// Without a user no one could act on it.
			if (event.waiting && context.hasUI) context.ui.notify(event.waiting, "info");
			for (const { event: name, run } of event.runEvents ?? []) notify(name, run);
		});
		if (event.deliveries) deliveries?.add(event.deliveries);
	}

	/**
	 * Shows a notice for each of our names that pi gives to other code. Other extensions may register their names at any
	 * time.
	 */
	function notifyTakenNames(context: ExtensionContext): void {
		runGuarded("checking for taken names", () => {
			if (!surfaces?.register) return;
			const taken = findTakenNames(
				pi,
				toolsFor(pi, surfaces).map(({ name }) => name),
			);
			const { native } = loadAddon();
			if (native && taken.length > 0) notices.announce(native.takenNameNotices(surfaceOptions(pi, context)), context);
		});
	}

	/** Opens the background runs of the session. Results that are already in the session are not delivered again. */
	function openBackground(context: ExtensionContext): void {
		const { native } = loadAddon();
		if (!native) return;
		try {
			const arrived = ({ deliveredEvent, questions, restart }: DeliveryMessage) => {
				if (questions.length === 0) notify("subagent:delivered", deliveredEvent);
				if (restart) runGuarded("resuming interrupted runs", () => handleInterrupted(restart, context));
			};
			deliveries = openDeliveries({ pi, context, background, native, arrived });
			const options = { ...placeOptions(pi, context), delivered: deliveries.delivered };
			background.open(native, options, (event) => handleEvent(event, context));
		} catch (error) {
			notices.announce([`background runs are not available: ${messageOf(error)}`], context);
		}
	}

	/** Closes the session's parts here and returns its view, so that the caller can close it too. */
	function leaveSession() {
		sessionChanges++;
		process.off("SIGINT", interrupted);
		hideWidget();
		hideWidget = () => {};
		deliveries?.close();
		deliveries = undefined;
		return background.leave();
	}

	pi.on("session_start", async (_event, context) => {
		// pi starts a session twice if a client opens it over RPC. With two views of it, each result would be delivered
		// twice.
		const before = leaveSession();
		const thisSession = sessionChanges;
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
		// The session has ended in the meantime, or has started again.
		if (thisSession !== sessionChanges) return;
		registerAnnouncementRenderer(pi, settled);
		if (surfaces.register) tools.register(toolsFor(pi, surfaces));
		else if (remembered.length > 0) {
			const off = new Set(remembered.map(({ name }) => name));
			pi.setActiveTools(pi.getActiveTools().filter((name) => !off.has(name)));
		}
		const stale = staleNotice();
		notices.announce(stale ? [...surfaces.notices, stale] : surfaces.notices, context);
		if (surfaces.backgroundKey) {
			registerBackgroundKey(pi, session, surfaces.backgroundKey as KeyId);
			tools.nameBackgroundKey(surfaces.backgroundKey);
		}
		// Runs need the extensions; the tool descriptions do not wait for them.
		await finding;
		if (thisSession !== sessionChanges) return;
		notifyTakenNames(context);
		openBackground(context);
		reportWorkflows(pi, context, background);
		// Without a user, pi exits after its answer.
		if (context.hasUI) reportFailure("continuing workflows", continueWorkflows(pi, context, background));
		if (isTerminal) hideWidget = showWidget(context, background);
	});

	pi.on("input", () => deliveries?.prompted());
	pi.on("before_agent_start", (event, context) => {
		deliveries?.beforeStart();
		notifyTakenNames(context);
		if (!surfaces?.register || isTaken("subagent") || !pi.getActiveTools().includes("subagent")) return undefined;
		const systemPrompt = withPolicy(event.systemPrompt, surfaces);
		return systemPrompt === undefined ? undefined : { systemPrompt };
	});

	pi.on("agent_start", (_event, context) => deliveries?.started(context.signal));
	pi.on("message_end", ({ message }) => deliveries?.messageEnded(message));
	pi.on("agent_before_settle", async (event) => {
		const joined = await deliveries?.beforeSettle(event);
		await exiting;
		return joined;
	});
	pi.on("agent_settled", ({ aborted }: SettledEvent) => deliveries?.settled(aborted));

	pi.on("tool_result", ({ toolCallId }) => (tools.takeFailed(toolCallId) ? { isError: true } : undefined));

	pi.on("session_shutdown", async ({ reason }, context) => {
		await exiting;
		stopClocks();
		const view = leaveSession();
		questions.detach(reason === "reload");
		const isQuit = reason === "quit" || reason === undefined;
		// Runs continue across a reload; the next load of the extension opens their session again.
		if (reason !== "reload") {
			// pi switches to another session: the runs of this one continue, and the store keeps their results for it.
			const interrupted = isQuit ? await closeWorkflows() : undefined;
			if (interrupted && context.mode === "tui") printAtExit(interrupted);
			const leaves = isQuit ? loadAddon().native?.endBackground() : view?.close();
			const [, ended] = await Promise.all([closeRuns(context.sessionManager.getSessionId()), leaves]);
			if (ended && context.mode === "tui") printAtExit(ended);
		}
		await endArriving();
	});
}
