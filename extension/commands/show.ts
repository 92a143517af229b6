/** Brings a command's report to where the user of each mode looks, and never into the model's context. */

import { writeSync } from "node:fs";
import { component } from "../cards/render.ts";
import type { PiApi, PiContext } from "../host/pi.ts";
import { type Line, wrap } from "../ui/spans.ts";
import { NO_TITLE, plainReport, type Report } from "./report.ts";

/** Type of the session entries that hold reports. */
const REPORT_ENTRY = "subagents-report";
const STDOUT = 1;
/** Pause before another try when a pipe is full, and how many there are: nobody may be reading. */
const RETRY_MS = 5;
const RETRIES = 1_000;
const MARGIN: Line = [{ text: " " }];

export function registerReportRenderer(pi: PiApi): void {
	pi.registerEntryRenderer(REPORT_ENTRY, (entry, _options, theme) => {
		const report = entry.data as Report | undefined;
		return report && component(theme, (width) => reportLines(report, width));
	});
}

/** Lines of a report, one column in from the left like pi's own messages. */
export function reportLines(report: Report, width: number): Line[] {
	const room = Math.max(1, width - 1);
	const body = report.lines.flatMap(({ line, hang }) => wrap(line, room, hang));
	// A sentence that was asked for needs no heading.
	const head =
		report.title === NO_TITLE ? [] : [...wrap([{ text: report.title, color: "accent", bold: true }], room), []];
	return [...head, ...body].map((line) => [...MARGIN, ...line]);
}

/**
 * TUI: an entry in the transcript. RPC: a notification, which every client shows. Print: standard output, where pi
 * itself prints nothing for a command. JSON: an entry, which pi writes as one event line.
 */
export function deliver(pi: PiApi, context: PiContext, report: Report): void {
	if (context.mode === "rpc") context.ui.notify(plainReport(report), "info");
	else if (context.mode === "print") print(`${plainReport(report)}\n`);
	else pi.appendEntry(REPORT_ENTRY, { ...report, text: plainReport(report) });
}

/** Writes to the descriptor: in print mode pi redirects `process.stdout` to stderr. */
function print(text: string): void {
	let rest = Buffer.from(text);
	for (let tries = 0; rest.length > 0 && tries < RETRIES; tries++) {
		try {
			rest = rest.subarray(writeSync(STDOUT, rest));
		} catch (error) {
			if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
		}
	}
}
