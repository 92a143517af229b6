/** Numbers as pi's footer writes them. */

import type { RunUsage } from "../../index.js";

/** `950`, `1.2k`, `34k`, `5.6M`. */
export function tokens(count: number): string {
	if (count < 999.5) return String(Math.round(count));
	if (count < 9_950) return `${(count / 1_000).toFixed(1)}k`;
	if (count < 999_500) return `${Math.round(count / 1_000)}k`;
	if (count < 9_950_000) return `${(count / 1_000_000).toFixed(1)}M`;
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

/** The figures of a run as text, each only when there is something to say. */
export interface Figures {
	turns?: string;
	tokens?: string;
	cost?: string;
	model?: string;
}

export function figuresOf(usage: RunUsage, model: string | undefined): Figures {
	const figures: Figures = {};
	const flow = [
		["↑", usage.input],
		["↓", usage.output],
		["R", usage.cacheRead],
		["W", usage.cacheWrite],
	] as const;
	const counts = flow.filter(([, count]) => count > 0).map(([mark, count]) => mark + tokens(count));
	// A request that failed counts as a turn, but is no news where the model has neither read nor said a word.
	if (usage.turns > 0 && (counts.length > 0 || usage.cost > 0)) {
		figures.turns = usage.turns === 1 ? "1 turn" : `${usage.turns} turns`;
	}
	if (counts.length > 0) figures.tokens = counts.join(" ");
	if (usage.cost > 0) figures.cost = `$${usage.cost.toFixed(usage.cost < 0.01 ? 4 : 3)}`;
	if (model) figures.model = model;
	return figures;
}

/** Turns, tokens, cost and model. */
export function usageParts(usage: RunUsage, model: string | undefined): string[] {
	return Object.values(figuresOf(usage, model));
}

/** What several runs spent together. */
export function totalUsage(usages: readonly RunUsage[]): RunUsage {
	const total: RunUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, turns: 0 };
	for (const usage of usages) {
		for (const key of Object.keys(total) as (keyof RunUsage)[]) total[key] += usage[key];
	}
	return total;
}
