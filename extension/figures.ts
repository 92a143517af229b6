/** Numbers as pi's footer writes them. */

import type { RunUsage } from "../index.js";

/** `950`, `1.2k`, `34k`, `5.6M`. */
export function tokens(count: number): string {
	if (count < 1_000) return String(Math.round(count));
	if (count < 10_000) return `${(count / 1_000).toFixed(1)}k`;
	if (count < 1_000_000) return `${Math.round(count / 1_000)}k`;
	if (count < 10_000_000) return `${(count / 1_000_000).toFixed(1)}M`;
	return `${Math.round(count / 1_000_000)}M`;
}

/** `0.4s`, `3.2s`, `47s`, `2m05s`, `1h02m`. A clock that ticks leaves the tenths out. */
export function duration(ms: number, ticking: boolean): string {
	const seconds = Math.floor(Math.max(0, ms) / 1_000);
	if (seconds < 10 && !ticking) return `${(Math.max(0, ms) / 1_000).toFixed(1)}s`;
	if (seconds < 60) return `${seconds}s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes}m${pad(seconds % 60)}s`;
	return `${Math.floor(minutes / 60)}h${pad(minutes % 60)}m`;
}

function pad(value: number): string {
	return String(value).padStart(2, "0");
}

/** Turns, tokens, cost and model, each part only when there is something to say. */
export function usageParts(usage: RunUsage, model: string | undefined): string[] {
	const parts: string[] = [];
	if (usage.turns > 0) parts.push(usage.turns === 1 ? "1 turn" : `${usage.turns} turns`);
	const flow = [
		["↑", usage.input],
		["↓", usage.output],
		["R", usage.cacheRead],
		["W", usage.cacheWrite],
	] as const;
	const counts = flow.filter(([, count]) => count > 0).map(([mark, count]) => mark + tokens(count));
	if (counts.length > 0) parts.push(counts.join(" "));
	if (usage.cost > 0) parts.push(`$${usage.cost.toFixed(usage.cost < 0.01 ? 4 : 3)}`);
	if (model) parts.push(model);
	return parts;
}
