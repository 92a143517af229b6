/**
 * The reports of the commands. They are stored as data in the session, laid out when they are drawn, and never part of
 * the model's context.
 */

import { writeSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { CommandReport, DoctorCheck } from "../../native.js";
import { loadAddon } from "../host/native.ts";
import { isObject, isText } from "../host/stored.ts";
import type { Pen } from "../ui/pen.ts";
import { component } from "../ui/pen.ts";
import { oneLine } from "../ui/text.ts";

/** The type of the session entries that hold reports. */
const REPORT_ENTRY = "subagents-report";
const STAMP = { kind: REPORT_ENTRY, version: 1 } as const;
const STDOUT = 1;
/** The pause before another write to a full pipe, and the maximum number of attempts. The pipe may have no reader. */
const RETRY_MS = 5;
const RETRIES = 1_000;

/**
 * A report. `text` is its plain form for clients that draw nothing. `exact` is only for the screen of the user who
 * asked, and is never stored.
 */
export type Report = Pick<CommandReport, "title" | "lines" | "text" | "exact">;

/** The exact reports of entries, for the screen. They are stored until pi exits. */
const exactly = new WeakMap<object, Report>();

/** Returns a report of one sentence, for facts that the addon does not know. Without the addon it is an error. */
export function messageReport(status: DoctorCheck["status"], message: string): Report {
	const text = oneLine(message);
	const report = loadAddon().native?.sentenceReport(status, text);
	return report ?? { title: "", lines: [{ mark: "error", text }], text: `✗ ${text}` };
}

/** Returns a report's lines with its title, or `undefined` if `data` is not a report of this package. */
export function reportLines(data: unknown, pen: Pen): string[] | undefined {
	return pen.drawn((native, ...on) => native.drawReport(...on, JSON.stringify(data) ?? ""));
}

export function registerReportRenderer(pi: ExtensionAPI): void {
	pi.registerEntryRenderer(REPORT_ENTRY, ({ data }, _options, theme) => {
		const report = (isObject(data) && exactly.get(data)) || data;
		const text = isObject(data) && isText(data.text) ? data.text : undefined;
		if (text === undefined) return undefined;
		// A report in an unknown format, for example from another release, is shown as its text.
		const plain = (pen: Pen) => pen.indented(1, (inner) => inner.paragraph(text, "toolOutput"));
		return component(theme, (pen) => reportLines(report, pen) ?? plain(pen));
	});
}

/**
 * Shows a report. TUI: an entry in the transcript. RPC: a notification, which every client shows. Print: standard
 * output, because pi prints nothing for a command there. JSON: an entry, which pi writes as one event line.
 */
export function deliver(pi: ExtensionAPI, context: ExtensionContext, report: Report): void {
	const { title, lines, text, exact } = report;
	if (context.mode === "rpc") context.ui.notify(exact?.text ?? text, "info");
	else if (context.mode === "print") print(`${exact?.text ?? text}\n`);
	else {
		const stored = { ...STAMP, title, lines, text };
		if (exact) exactly.set(stored, { ...stored, ...exact });
		pi.appendEntry(REPORT_ENTRY, stored);
	}
}

/** Writes to the file descriptor, because pi redirects `process.stdout` to stderr in print mode. */
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
