/** What the panel does with a run: the commands of `/subagents`, by one key each. */

import type { HostCallbacks } from "../../index.js";
import { isLive } from "../background/run.ts";
import type { BackgroundRun, BackgroundSession, CommandReport } from "../background/types.ts";
import { commandReport, messageReport, type Report } from "../commands/report.ts";
import { reportLines } from "../commands/show.ts";
import { unwaited } from "../host/guard.ts";
import { nameOf } from "../ui/run-words.ts";
import { clip, oneLine } from "../ui/text.ts";
import type { Action } from "./keys.ts";
import { type Page, ReportView } from "./report.ts";
import type { PanelRuns } from "./runs.ts";
import { TranscriptView } from "./transcript.ts";
import type { Hint, PanelHost } from "./view.ts";

/** How much of a conversation `log` shows: the most that the command takes. */
const LOG_LIMIT = 200;
const LONGEST_NAME = 40;

interface Surroundings {
	session: BackgroundSession;
	callbacks: HostCallbacks;
	answer?: ((runId: string) => void) | undefined;
}

export class PanelActions {
	private readonly host: PanelHost;
	private readonly runs: PanelRuns;
	private readonly around: Surroundings;
	/** A report is on its way. */
	private isAsking = false;

	constructor(host: PanelHost, runs: PanelRuns, around: Surroundings) {
		this.host = host;
		this.runs = runs;
		this.around = around;
	}

	hints(run: BackgroundRun): Hint[] {
		return [
			...(this.asks(run) ? [{ action: "answer", does: "question" } as const] : []),
			isLive(run) ? { action: "stop", does: "stop" } : { action: "resume", does: "resume" },
			{ action: "message", does: "message" },
			{ action: "info", does: "info" },
			{ action: "log", does: "log" },
		];
	}

	press(action: Action, run: BackgroundRun): boolean {
		switch (action) {
			case "answer":
				if (this.asks(run)) this.around.answer?.(run.runId);
				return true;
			case "stop":
				if (isLive(run)) this.stop(run);
				else this.host.foot.say(`${quoted(run)} has ended already`, "warning");
				return true;
			case "resume":
				if (isLive(run)) this.host.foot.say(`${quoted(run)} has not ended: a message reaches it`, "warning");
				else this.act(run, "resume", "");
				return true;
			case "message": {
				const does = isLive(run) ? "Message to" : "Continue";
				this.host.foot.askText(`${does} ${quoted(run)}`, (text) => this.act(run, "send", text));
				return true;
			}
			case "log":
				this.show(run, "log", `${LOG_LIMIT} tools`);
				return true;
			case "info":
				this.show(run, "info", "");
				return true;
			default:
				return false;
		}
	}

	openTranscript(run: BackgroundRun): void {
		this.host.open(new TranscriptView(this.host, this.around.session, this.runs, this, run));
	}

	private asks({ question }: BackgroundRun): boolean {
		return question !== undefined && this.around.answer !== undefined;
	}

	private stop(run: BackgroundRun): void {
		const question = `again stops ${quoted(run)} and everything it started, any other key leaves it`;
		this.host.foot.askAgain("stop", question, () => this.act(run, "stop", ""));
	}

	/** Does it, and says in a line what came of it. */
	private act(run: BackgroundRun, command: string, rest: string): void {
		const { foot } = this.host;
		foot.say(`${command} ${quoted(run)} …`, "muted");
		const done = this.command(run, command, rest).then(
			(report) => foot.say(summary(report), report.isError ? "error" : "success"),
			(error: unknown) => foot.say(failure(command, error), "error"),
		);
		unwaited(
			"the panel",
			done.then(() => this.runs.ask(true)),
		);
	}

	/** Asks for a report, and opens it. */
	private show(run: BackgroundRun, command: string, rest: string): void {
		// One at a time: keys can come faster than answers.
		if (this.isAsking) return;
		this.isAsking = true;
		this.host.foot.say(`${command} …`, "muted");
		const ask = async () => {
			try {
				return pageOf(commandReport(await this.command(run, command, rest)));
			} catch (error) {
				return pageOf(messageReport("error", failure(command, error)));
			}
		};
		const shown = ask().then((page) => {
			this.isAsking = false;
			this.host.open(new ReportView(this.host, page, ask, command === "log"));
		});
		unwaited("the panel", shown);
	}

	private async command({ key }: BackgroundRun, command: string, rest: string): Promise<CommandReport> {
		const { session, callbacks } = this.around;
		return await session.command([command, key, rest].filter(Boolean).join(" "), callbacks);
	}
}

/** A report below the head of the panel, which has its title. */
function pageOf({ title, lines }: Report): Page {
	return { title, lines: (columns, style) => reportLines(lines, columns, style) };
}

function quoted(run: BackgroundRun): string {
	return `“${clip(nameOf(run), LONGEST_NAME)}”`;
}

/** The first thing that a report says. */
function summary({ title, lines: [first] }: CommandReport): string {
	return oneLine(first ? [first.name, first.text].filter(Boolean).join(" ") : title);
}

function failure(command: string, error: unknown): string {
	return oneLine(`${command} failed: ${error instanceof Error ? error.message : error}`);
}
