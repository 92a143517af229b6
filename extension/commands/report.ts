/** What the commands say: data, kept in the session, laid out whenever it is drawn, and never in the model's context. */

import { writeSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import type { Component } from "@earendil-works/pi-tui";
import type { CommandReport, DoctorCheck } from "../../index.js";
import { decoder, isNumber, isObject, isText, listOf, maybe, shape } from "../host/stored.ts";
import { component } from "../ui/component.ts";
import type { Style } from "../ui/style.ts";
import { indented, oneLine, plainText, widthOf, wrap } from "../ui/text.ts";
import { markNamed } from "../ui/words.ts";

/** Type of the session entries that hold reports. */
const REPORT_ENTRY = "subagents-report";
const STAMP = { kind: REPORT_ENTRY, version: 1 } as const;
const STDOUT = 1;
/** Pause before another try when a pipe is full, and how many there are: nobody may be reading. */
const RETRY_MS = 5;
const RETRIES = 1_000;
/** Columns of one step of indentation, and more of them than any report has. */
const STEP = 2;
const MAX_INDENT = 8;
/** Longer names do not widen the column of names. */
const NAME_COLUMNS = 28;
const GAP = "  ";
/** What stands over a report that has no title of its own: it says whose words these are, where nothing else does. */
const NO_TITLE = "Sub-agents";

type ReportLine = CommandReport["lines"][number];

/** `text` is the same for whoever draws nothing. */
export type Report = Pick<CommandReport, "title" | "lines" | "text"> & Partial<typeof STAMP>;

const isLine = shape<ReportLine>([isText, "text"], [maybe(isText), "mark", "name"], [maybe(isNumber), "indent"]);

/** A report that was kept. */
export const reportIn = decoder<Report>(STAMP, shape<Report>([isText, "title", "text"], [listOf(isLine), "lines"]));

/** What the addon says to a command. */
export function commandReport({ title, lines, text }: CommandReport): Report {
	return { ...STAMP, title, lines, text };
}

/** A report of one sentence, about what the addon cannot say. */
export function messageReport(status: DoctorCheck["status"], message: string): Report {
	const text = oneLine(message);
	const line = [markNamed(status).text, text].filter((part) => part !== "").join(" ");
	return { ...STAMP, title: NO_TITLE, lines: [{ mark: status, text }], text: `${NO_TITLE}\n\n${line}` };
}

export function registerReportRenderer(pi: ExtensionAPI): void {
	pi.registerEntryRenderer(REPORT_ENTRY, (entry, _options, theme) => {
		const report = reportIn(entry.data);
		if (!report) return unknownReport(entry.data, theme);
		return component(theme, (pen) => {
			// A sentence that was asked for needs no heading.
			const hasTitle = report.title !== NO_TITLE && report.title !== "";
			const title = pen.bold(pen.fg("accent", oneLine(report.title)));
			const head = hasTitle ? [...pen.indented(1, (inner) => inner.wrap(title)), ""] : [];
			return [...head, ...reportLines(report.lines, pen.width, pen)];
		});
	});
}

/** What another release has written, or anybody else, as it reads. */
function unknownReport(data: unknown, theme: Theme): Component | undefined {
	if (!isObject(data) || typeof data.text !== "string") return undefined;
	const text = plainText(data.text);
	return component(theme, (pen) => pen.indented(1, (inner) => inner.wrap(inner.fg("toolOutput", text))));
}

/** Lines of a report, one column in from the left like pi's own messages. */
export function reportLines(lines: readonly ReportLine[], width: number, style: Style): string[] {
	const room = Math.max(1, width - 1);
	const names = lines.map(({ name = "", text }) => (text === "" ? 0 : widthOf(oneLine(name))));
	const column = Math.max(0, ...names.filter((columns) => columns <= Math.min(NAME_COLUMNS, room / 3)));
	return lines.flatMap(({ mark, name = "", text, indent = 0 }) => {
		const { text: sign, color } = markNamed(mark ?? "none");
		const margin = " ".repeat(STEP * Math.min(MAX_INDENT, Math.max(0, Math.floor(indent))));
		const title = oneLine(name);
		const words = style.fg(sign ? "toolOutput" : "muted", plainText(text).replace(/\n/g, " "));
		const lead = margin + (sign && style.fg(color, `${sign} `));
		if (title === "") return indented(wrap(words, room, lead), 1);
		if (words === "") return indented(wrap(style.fg("accent", style.bold(title)), room, lead), 1);
		const gap = " ".repeat(Math.max(0, column - widthOf(title)) + GAP.length);
		const head = style.fg("accent", title) + gap;
		// What follows a name that fits into the column stands below the words, and not below the name.
		const fits = widthOf(title) <= column;
		return indented(fits ? wrap(words, room, lead + head) : wrap(head + words, room, lead), 1);
	});
}

/**
 * TUI: an entry in the transcript. RPC: a notification, which every client shows. Print: standard output, where pi
 * itself prints nothing for a command. JSON: an entry, which pi writes as one event line.
 */
export function deliver(pi: ExtensionAPI, context: ExtensionContext, report: Report): void {
	if (context.mode === "rpc") context.ui.notify(report.text, "info");
	else if (context.mode === "print") print(`${report.text}\n`);
	else pi.appendEntry(REPORT_ENTRY, report);
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
