/** What the commands say, as lines that a terminal and a plain stream can both show. */

import type { AgentCatalog, AgentInfo, Diagnostic, DoctorCheck, DoctorReport } from "../../index.js";
import type { CommandReport } from "../background/types.ts";
import type { Color } from "../ui/style.ts";
import { oneLine, plainText } from "../ui/text.ts";
import { shortPath } from "../ui/tool-calls.ts";

export interface Span {
	text: string;
	color?: Color;
	bold?: boolean;
}

export interface ReportLine {
	line: readonly Span[];
	/** Columns by which continuation lines are indented. */
	hang: number;
}

/** Plain data: it is kept in the session and drawn again when that is resumed. */
export interface Report {
	title: string;
	lines: ReportLine[];
}

/** What stands over a report that has no title of its own: it says whose words these are, where nothing else does. */
export const NO_TITLE = "Sub-agents";

const MARKS: Record<NonNullable<CommandReport["lines"][number]["mark"]>, { text: string; color: Color }> = {
	ok: { text: "✓", color: "success" },
	info: { text: "·", color: "muted" },
	warning: { text: "⚠", color: "warning" },
	error: { text: "✗", color: "error" },
	running: { text: "●", color: "accent" },
	queued: { text: "○", color: "muted" },
};

/** Columns of one step of indentation. */
const STEP = 2;

/** What the addon says to a command. */
export function commandReport({ title, lines }: CommandReport): Report {
	return {
		title: oneLine(title),
		lines: lines.map(({ mark, name, text, indent = 0 }) => {
			const margin = " ".repeat(STEP * indent);
			const sign = mark && MARKS[mark];
			const words = plainText(text).replace(/\n/g, " ");
			return {
				line: [
					{ text: margin },
					...(sign ? [{ text: `${sign.text} `, color: sign.color }] : []),
					...(name ? [{ text: oneLine(name), color: "accent" as const }, { text: words && "  " }] : []),
					{ text: words, color: sign ? ("toolOutput" as const) : ("muted" as const) },
				],
				hang: margin.length + (sign ? STEP : 0),
			};
		}),
	};
}

export function agentsReport(catalog: AgentCatalog): Report {
	const lines = catalog.agents.flatMap(agentLines);
	if (catalog.shadowed.length > 0) {
		lines.push(blank(), heading("Shadowed"));
		for (const agent of catalog.shadowed) {
			const where = agent.path ? ` ${shortPath(oneLine(agent.path))}` : "";
			lines.push(
				entry("·", "muted", agent.name, ` (${agent.source})${where}: hidden by the ${agent.by} agent of that name`),
			);
		}
	}
	if (catalog.diagnostics.length > 0) {
		lines.push(blank(), heading("Diagnostics"), ...catalog.diagnostics.map(diagnosticLine));
	}
	const count = catalog.agents.length;
	return { title: `Sub-agents: ${count === 1 ? "1 agent" : `${count} agents`}`, lines };
}

function agentLines(agent: AgentInfo): ReportLine[] {
	const traits = [agent.source, ...(agent.readonly ? ["readonly"] : [])].join(", ");
	const mark = agent.runnable ? MARKS.ok : MARKS.error;
	const lines = [entry(mark.text, mark.color, agent.name, ` (${traits})  ${oneLine(agent.description)}`)];
	if (!agent.runnable && agent.problem) lines.push(detail("cannot run", oneLine(agent.problem), "warning"));
	if (agent.runnable) lines.push(detail("tools", agent.tools.map(oneLine).join(", ") || "none"));
	for (const { tool, reason } of agent.dropped) lines.push(detail(`without ${oneLine(tool)}`, oneLine(reason)));
	const model = [agent.model, agent.thinking && `thinking ${agent.thinking}`].filter(Boolean).join(", ");
	if (model) lines.push(detail("model", oneLine(model)));
	if (agent.path) lines.push(detail("file", shortPath(oneLine(agent.path))));
	return lines;
}

function diagnosticLine(diagnostic: Diagnostic): ReportLine {
	const { text, color } = MARKS[diagnostic.severity];
	const position = [diagnostic.line, diagnostic.column].filter((part) => part !== undefined).join(":");
	const where = diagnostic.path ? [shortPath(oneLine(diagnostic.path)), position].filter(Boolean).join(":") : "";
	return entry(text, color, diagnostic.code, `${where && ` ${where}`}: ${oneLine(diagnostic.message)}`);
}

export function doctorReport(report: DoctorReport): Report {
	const lines = report.checks.flatMap(({ status, area, message, hint }) => {
		const { text, color } = MARKS[status];
		const line = entry(text, color, oneLine(area), `  ${oneLine(message)}`);
		return hint ? [line, detail("→", oneLine(hint), "accent")] : [line];
	});
	return { title: `Sub-agents: ${verdict(report.checks)}`, lines };
}

function verdict(checks: readonly DoctorCheck[]): string {
	const errors = checks.filter((check) => check.status === "error").length;
	const warnings = checks.filter((check) => check.status === "warning").length;
	const parts = [
		...(errors > 0 ? [errors === 1 ? "1 error" : `${errors} errors`] : []),
		...(warnings > 0 ? [warnings === 1 ? "1 warning" : `${warnings} warnings`] : []),
	];
	return parts.join(", ") || "all checks passed";
}

/** A report of one sentence: usage, or why there is no report. */
export function messageReport(status: DoctorCheck["status"], message: string, more: readonly string[] = []): Report {
	const { text, color } = MARKS[status];
	return {
		title: NO_TITLE,
		lines: [entry(text, color, "", oneLine(message)), ...more.map((line) => detail("", oneLine(line)))],
	};
}

export function plainReport(report: Report): string {
	return [report.title, "", ...report.lines.map(({ line }) => plain(line).trimEnd())].join("\n");
}

/** A line without its colours. */
export function plain(line: readonly Span[]): string {
	return line.map(({ text }) => text).join("");
}

function blank(): ReportLine {
	return { line: [], hang: 0 };
}

function heading(text: string): ReportLine {
	return { line: [{ text, bold: true, color: "toolTitle" }], hang: 0 };
}

function entry(mark: string, color: Color, name: string, text: string): ReportLine {
	return {
		line: [
			{ text: `${mark} `, color },
			{ text: name, color: "accent" },
			{ text, color: "toolOutput" },
		],
		hang: 2,
	};
}

function detail(label: string, text: string, color: Color = "muted"): ReportLine {
	return { line: [{ text: "    " }, { text: label && `${label}  `, color: "dim" }, { text, color }], hang: 6 };
}
