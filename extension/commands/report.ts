/** What the commands say: plain data, kept in the session and laid out whenever it is drawn. */

import type { AgentCatalog, AgentInfo, Diagnostic, DoctorCheck, DoctorReport } from "../../index.js";
import type { CommandReport } from "../background/types.ts";
import { decoder, isNumber, isText, listOf, maybe, shape } from "../host/stored.ts";
import { oneLine } from "../ui/text.ts";
import { shortPath } from "../ui/tool-calls.ts";

const STAMP = { kind: "subagents-report", version: 1 } as const;

export type ReportLine = CommandReport["lines"][number];
export type ReportMark = NonNullable<ReportLine["mark"]>;

export interface Report {
	kind?: typeof STAMP.kind;
	version?: typeof STAMP.version;
	title: string;
	lines: ReportLine[];
	/** The same, for whoever draws nothing. */
	text: string;
}

/** What stands over a report that has no title of its own: it says whose words these are, where nothing else does. */
export const NO_TITLE = "Sub-agents";

export const SYMBOLS: Readonly<Record<ReportMark, string>> = {
	...{ ok: "✓", info: "·", warning: "⚠", error: "✗", running: "●", queued: "○" },
};

/** Columns of one step of indentation. */
export const STEP = 2;

/** A report that was kept. */
export const reportIn = decoder<Report>(
	STAMP,
	shape<Report>({
		...{ title: isText, text: isText },
		lines: listOf(
			shape<ReportLine>({ mark: maybe(isText), name: maybe(isText), text: isText, indent: maybe(isNumber) }),
		),
	}),
);

/** What the addon says to a command. */
export function commandReport({ title, lines, text }: CommandReport): Report {
	return { ...STAMP, title, lines, text };
}

function reportOf(title: string, lines: ReportLine[]): Report {
	const written = lines.map(({ mark, name = "", text, indent = 0 }) => {
		const sign = mark ? `${SYMBOLS[mark]} ` : "";
		return `${" ".repeat(STEP * indent)}${sign}${[name, text].filter(Boolean).join("  ")}`;
	});
	return { ...STAMP, title, lines, text: [title, "", ...written].join("\n") };
}

export function agentsReport(catalog: AgentCatalog): Report {
	const lines = catalog.agents.flatMap(agentLines);
	if (catalog.shadowed.length > 0) {
		const shadowed = catalog.shadowed.map(({ name, source, path, by }): ReportLine => {
			const where = path ? ` ${shortPath(oneLine(path))}` : "";
			return { mark: "info", name, text: `(${source})${where}: hidden by the ${by} agent of that name` };
		});
		lines.push(BLANK, { name: "Shadowed", text: "" }, ...shadowed);
	}
	if (catalog.diagnostics.length > 0) {
		lines.push(BLANK, { name: "Diagnostics", text: "" }, ...catalog.diagnostics.map(diagnosticLine));
	}
	const count = catalog.agents.length;
	return reportOf(`${NO_TITLE}: ${count === 1 ? "1 agent" : `${count} agents`}`, lines);
}

function agentLines(agent: AgentInfo): ReportLine[] {
	const traits = [agent.source, ...(agent.readonly ? ["readonly"] : [])].join(", ");
	const text = `(${traits})  ${oneLine(agent.description)}`;
	const lines: ReportLine[] = [{ mark: agent.runnable ? "ok" : "error", name: agent.name, text }];
	if (!agent.runnable && agent.problem) lines.push(detail("cannot run", agent.problem));
	if (agent.runnable) lines.push(detail("tools", agent.tools.join(", ") || "none"));
	for (const { tool, reason } of agent.dropped) lines.push(detail(`without ${tool}`, reason));
	const model = [agent.model, agent.thinking && `thinking ${agent.thinking}`].filter(Boolean).join(", ");
	if (model) lines.push(detail("model", model));
	if (agent.path) lines.push(detail("file", shortPath(oneLine(agent.path))));
	return lines;
}

function diagnosticLine({ severity, code, path, line, column, message }: Diagnostic): ReportLine {
	const position = [line, column].filter((part) => part !== undefined).join(":");
	const where = path ? [shortPath(oneLine(path)), position].filter(Boolean).join(":") : "";
	return { mark: severity, name: code, text: `${where && `${where}: `}${oneLine(message)}` };
}

export function doctorReport({ checks }: DoctorReport): Report {
	const lines = checks.flatMap(({ status, area, message, hint }): ReportLine[] => {
		const line: ReportLine = { mark: status, name: area, text: oneLine(message) };
		return hint ? [line, detail("→", hint)] : [line];
	});
	return reportOf(`${NO_TITLE}: ${verdict(checks)}`, lines);
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
	return reportOf(NO_TITLE, [{ mark: status, text: oneLine(message) }, ...more.map((line) => detail("", line))]);
}

const BLANK: ReportLine = { text: "" };

function detail(label: string, text: string): ReportLine {
	return { text: `${label && `${label}  `}${oneLine(text)}`, indent: 2 };
}
