/** Brings a command's report to where the user of each mode looks, and never into the model's context. */

import { writeSync } from "node:fs";
import type { PiApi, PiContext } from "../host/pi.ts";
import { component } from "../ui/component.ts";
import type { Style } from "../ui/style.ts";
import { indented, wrap } from "../ui/text.ts";
import { NO_TITLE, plain, plainReport, type Report, type Span } from "./report.ts";

/** Type of the session entries that hold reports. */
const REPORT_ENTRY = "subagents-report";
const STDOUT = 1;
/** Pause before another try when a pipe is full, and how many there are: nobody may be reading. */
const RETRY_MS = 5;
const RETRIES = 1_000;

export function registerReportRenderer(pi: PiApi): void {
	pi.registerEntryRenderer(REPORT_ENTRY, (entry, _options, theme) => {
		const report = entry.data as Report | undefined;
		return report && component(theme, (width, style) => reportLines(report, width, style));
	});
}

/** Lines of a report, one column in from the left like pi's own messages. */
export function reportLines(report: Report, width: number, style: Style): string[] {
	const body = report.lines.flatMap(({ line, hang }) => {
		// The mark, or the margin: what follows the first line stands below its end.
		const at = line.findIndex((_, index) => plain(line.slice(0, index + 1)).length > hang);
		const lead = line.slice(0, at < 0 ? line.length : at);
		return wrap(painted(line.slice(lead.length), style), width - 1, painted(lead, style));
	});
	// A sentence that was asked for needs no heading.
	const isTitled = report.title !== NO_TITLE && report.title !== "";
	const head = isTitled ? [...wrap(style.fg("accent", style.bold(report.title)), width - 1), ""] : [];
	return indented([...head, ...body], 1);
}

function painted(line: readonly Span[], style: Style): string {
	const drawn = line.map(({ text, color, bold }) => {
		const weighted = bold ? style.bold(text) : text;
		return color ? style.fg(color, weighted) : weighted;
	});
	return drawn.join("");
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
