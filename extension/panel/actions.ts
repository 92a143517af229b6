/** What the panel does with a run: the commands of `/subagents`, by one key each. */

import type { HostCallbacks } from "../../index.js";
import type { BackgroundRun, BackgroundSession, CommandReport } from "../background/types.ts";
import { commandReport, messageReport } from "../commands/report.ts";
import type { Key } from "../ui/keys.ts";
import { isLive, nameOf } from "../ui/run-line.ts";
import { type Line, oneLine } from "../ui/spans.ts";
import { ReportView } from "./report.ts";
import type { PanelRuns } from "./runs.ts";
import { TranscriptView } from "./transcript.ts";
import type { Hint, PanelHost } from "./view.ts";

/** How much of a conversation `l` shows: the most that the command takes. */
const LOG_LIMIT = 200;

export class PanelActions {
	private readonly host: PanelHost;
	private readonly session: BackgroundSession;
	private readonly runs: PanelRuns;
	private readonly callbacks: HostCallbacks;
	/** A report is on its way. */
	private isAsking = false;

	constructor(host: PanelHost, session: BackgroundSession, runs: PanelRuns, callbacks: HostCallbacks) {
		this.host = host;
		this.session = session;
		this.runs = runs;
		this.callbacks = callbacks;
	}

	hints(run: BackgroundRun): Hint[] {
		const live = isLive(run);
		return [
			live ? { keys: "s", does: "stop", rank: 2 } : { keys: "r", does: "resume", rank: 2 },
			{ keys: "m", does: "message", rank: 3 },
			{ keys: "l", does: "log", rank: 5 },
			{ keys: "i", does: "info", rank: 4 },
		];
	}

	press({ name }: Key, run: BackgroundRun): boolean {
		switch (name) {
			case "s":
				this.stop(run);
				return true;
			case "r":
				if (isLive(run))
					this.host.say([{ text: `${quoted(run)} has not ended: m sends it a message`, color: "warning" }]);
				else this.act(run, "resume", "");
				return true;
			case "m": {
				const does = isLive(run) ? "Message to" : "Continue";
				this.host.askText(`${does} ${quoted(run)}`, (text) => this.act(run, "send", text));
				return true;
			}
			case "l":
				this.show(run, "log", `${LOG_LIMIT} tools`);
				return true;
			case "i":
				this.show(run, "info", "");
				return true;
			default:
				return false;
		}
	}

	openTranscript(run: BackgroundRun): void {
		this.host.open(new TranscriptView(this.host, this.session, this.runs, this, run));
	}

	private stop(run: BackgroundRun): void {
		if (!isLive(run)) {
			this.host.say([{ text: `${quoted(run)} has ended already`, color: "warning" }]);
			return;
		}
		const question = `s again stops ${quoted(run)} and everything it started, any other key leaves it`;
		this.host.askAgain("s", [{ text: question, color: "warning" }], () => this.act(run, "stop", ""));
	}

	/** Does it, and says in a line what came of it. */
	private act(run: BackgroundRun, command: string, rest: string): void {
		this.host.say([{ text: `${command} ${quoted(run)} …`, color: "muted" }]);
		const said = this.command(run, command, rest).then(firstLine, (error: unknown) => failed(command, error));
		void said.then((line) => {
			this.host.say(line);
			this.runs.ask(true);
		});
	}

	/** Asks for a report, and opens it. */
	private show(run: BackgroundRun, command: string, rest: string): void {
		// One at a time: keys can come faster than answers.
		if (this.isAsking) return;
		this.isAsking = true;
		this.host.say([{ text: `${command} …`, color: "muted" }]);
		const ask = async () => {
			try {
				return commandReport(await this.command(run, command, rest));
			} catch (error) {
				return messageReport("error", failureText(command, error));
			}
		};
		const view = new ReportView(this.host, ask, { startsAtEnd: command === "log" });
		void view.load().then(() => {
			this.isAsking = false;
			this.host.open(view);
		});
	}

	private async command({ key }: BackgroundRun, command: string, rest: string): Promise<CommandReport> {
		return await this.session.command([command, key, rest].filter(Boolean).join(" "), this.callbacks);
	}
}

function quoted(run: BackgroundRun): string {
	const name = nameOf(run);
	return name.length > 40 ? `“${name.slice(0, 39)}…”` : `“${name}”`;
}

/** The first thing that a report says. */
function firstLine({ isError, title, lines }: CommandReport): Line {
	const [first] = lines;
	const said = first ? [first.name, first.text].filter(Boolean).join(" ") : title;
	return [{ text: oneLine(said), color: isError ? "error" : "success" }];
}

function failed(command: string, error: unknown): Line {
	return [{ text: failureText(command, error), color: "error" }];
}

function failureText(command: string, error: unknown): string {
	return oneLine(`${command} failed: ${error instanceof Error ? error.message : error}`);
}
