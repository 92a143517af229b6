/**
 * The words and figures of runs. The addon has them, so that every screen, the list and announcements say the same. Without
 * the addon no run works, and a card of one that failed, or of an older one, names its state and has no figures.
 */

import type { ThemeColor as Color } from "@earendil-works/pi-coding-agent";
import type { RunStanding, RunUsage, StateWords, UsageWords } from "../../index.js";
import type { RunOutcome, TaskState } from "../host/details.ts";
import { loadAddon, type Native } from "../host/native.ts";
import { oneLine } from "./text.ts";

export interface Mark {
	text: string;
	color: Color;
}

/** What is known of a state; fields that are undefined count as absent. */
export type Standing = { [Field in keyof RunStanding]: RunStanding[Field] | undefined } & { state: string };

const MOST_KNOWN = 1_000;

/** Keeps what was found: fifty runs are drawn again every second, and say the same few things. */
function known<Words>(): (key: string, find: () => Words) => Words {
	const before = new Map<string, Words>();
	return (key, find) => {
		const found = before.get(key);
		if (found !== undefined) return found;
		const words = find();
		if (before.size >= MOST_KNOWN) before.clear();
		// Without the addon they are other ones as soon as it can be loaded.
		if (loadAddon().native) before.set(key, words);
		return words;
	};
}

const states = known<StateWords>();
const clocks = known<string>();
const spent = known<UsageWords>();
const marks = known<Mark>();

type Source = Pick<Native, "durationText" | "markStyles" | "stateWords" | "toolCallLine" | "usageWords">;

const WITHOUT_ADDON: Source = {
	durationText: (ms) => `${Math.round(ms / 1_000)}s`,
	markStyles: () => [{ name: "error", sign: "✗", color: "error" }],
	stateWords: ({ state }) => ({ mark: state === "failed" ? "error" : "none", word: state, note: state }),
	toolCallLine: (name) => name,
	usageWords: () => ({}),
};

function addon(): Source {
	return loadAddon().native ?? WITHOUT_ADDON;
}

/** The mark of this name. A session can name one that only a later release knows. */
export function markNamed(name: string): Mark {
	return marks(name, () => {
		const { sign, color } = addon()
			.markStyles()
			.find((style) => style.name === name) ?? { sign: "", color: "muted" };
		return { text: sign, color };
	});
}

export function markOfState(standing: Standing): Mark {
	return markNamed(wordsFor(standing).mark);
}

/** What to say of a state beside its mark; nothing for a run that simply works or is done. */
export function noteOfState(standing: Standing): string {
	return oneLine(wordsFor(standing).note ?? "");
}

function wordsFor(standing: Standing): StateWords {
	const words = () => addon().stateWords({ ...(standing as RunStanding), nowMs: Date.now() });
	// A retry counts down.
	return standing.retry ? words() : states(Object.values(standing).join("|"), words);
}

/** A clock that ticks leaves the tenths out. */
export function duration(ms: number, ticking: boolean): string {
	if (!ticking) return addon().durationText(ms, false);
	return clocks(`${Math.floor(ms / 1_000)}`, () => addon().durationText(ms, true));
}

/** What runs have used together. */
export function usageWords(usages: readonly RunUsage[]): UsageWords {
	const key = usages.map((usage) => Object.values(usage).join("|")).join(";");
	return spent(key, () => addon().usageWords([...usages]));
}

/** Turns, tokens, cost and model, each only when there is something to say. */
export function usageParts(usages: readonly RunUsage[], model: string | undefined): string[] {
	const { turns = "", tokens = "", cost = "" } = usageWords(usages);
	return [turns, tokens, cost, model ?? ""].filter((part) => part !== "");
}

/** A tool call on one line. */
export function callText(name: string, args: unknown): string {
	const { toolCallLine } = addon();
	try {
		return oneLine(toolCallLine(name, args));
	} catch {
		// Arguments that are nested too deeply to be passed.
		return `${oneLine(name)} …`;
	}
}

/** `planned`: the call is not under way yet. */
export type ShownState = TaskState | "planned";

/** Whether a child is at work, or about to be. */
export function isActive(state: ShownState): boolean {
	return state === "running" || state === "starting" || state === "retrying";
}

/** Whether it has come to an end. */
export function isOver(state: ShownState): state is RunOutcome {
	return !isActive(state) && state !== "planned" && state !== "waiting" && state !== "queued";
}

const COUNTED: readonly [word: string, color: Color, states: readonly ShownState[]][] = [
	["done", "muted", ["completed"]],
	["failed", "error", ["failed", "idle_timeout", "hard_timeout", "killed"]],
	["interrupted", "warning", ["interrupted"]],
	["over budget", "warning", ["budget"]],
	["stopped", "warning", ["aborted"]],
	["skipped", "muted", ["skipped"]],
	["running", "muted", ["starting", "running", "retrying"]],
	["queued", "muted", ["queued"]],
	["waiting", "muted", ["waiting"]],
	["planned", "muted", ["planned"]],
];

/** How many runs are in which state. */
export function counts(states: readonly ShownState[]): { count: number; word: string; color: Color }[] {
	return COUNTED.map(([word, color, counted]) => {
		return { word, color, count: states.filter((state) => counted.includes(state)).length };
	}).filter(({ count }) => count > 0);
}
