/** What the commands say: data, kept in the session, laid out whenever it is drawn, and never in the model's context. */

import { writeSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { CommandReport, DoctorCheck, Row } from "../../index.js";
import { loadAddon } from "../host/native.ts";
import { isObject, isText } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import { paint } from "../ui/paint.ts";
import type { Pen } from "../ui/pen.ts";
import { oneLine } from "../ui/text.ts";

/** Type of the session entries that hold reports. */
const REPORT_ENTRY = "subagents-report";
const STAMP = { kind: REPORT_ENTRY, version: 1 } as const;
const STDOUT = 1;
/** Pause before another try when a pipe is full, and how many there are: nobody may be reading. */
const RETRY_MS = 5;
const RETRIES = 1_000;

/** `text` is the same for whoever draws nothing; `exact` is for the screen of the person who asked, and never stored. */
export type Report = Pick<CommandReport, "title" | "lines" | "text" | "exact">;

/** The exact reports of entries, for the screen. They last as long as pi. */
const exactly = new WeakMap<object, Report>();

/** A report of one sentence, about what the addon cannot say. Without the addon it is an error. */
export function messageReport(status: DoctorCheck["status"], message: string): Report {
	const text = oneLine(message);
	const report = loadAddon().native?.sentenceReport(status, text);
	return report ?? { title: "", lines: [{ mark: "error", text }], text: `✗ ${text}` };
}

/** A report as rows, with its title unless that says nothing; nothing for what is no report of ours. */
export function reportRows(data: unknown): readonly Row[] | undefined {
	return loadAddon().native?.reportDrawing(JSON.stringify(data) ?? "") ?? undefined;
}

export function registerReportRenderer(pi: ExtensionAPI): void {
	pi.registerEntryRenderer(REPORT_ENTRY, ({ data }, _options, theme) => {
		const rows = reportRows((isObject(data) && exactly.get(data)) || data);
		if (rows) return component(theme, (pen) => paint(rows, pen));
		// What another release has written, or anybody else, as it reads.
		const text = isObject(data) && isText(data.text) ? data.text : undefined;
		const draw = (inner: Pen) => inner.paragraph(text ?? "", "toolOutput");
		return text === undefined ? undefined : component(theme, (pen) => pen.indented(1, draw));
	});
}

/**
 * TUI: an entry in the transcript. RPC: a notification, which every client shows. Print: standard output, where pi
 * itself prints nothing for a command. JSON: an entry, which pi writes as one event line.
 */
export function deliver(pi: ExtensionAPI, context: ExtensionContext, report: Report): void {
	const { title, lines, text, exact } = report;
	if (context.mode === "rpc") context.ui.notify(exact?.text ?? text, "info");
	else if (context.mode === "print") print(`${exact?.text ?? text}\n`);
	else {
		const kept = { ...STAMP, title, lines, text };
		if (exact) exactly.set(kept, { ...kept, ...exact });
		pi.appendEntry(REPORT_ENTRY, kept);
	}
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
