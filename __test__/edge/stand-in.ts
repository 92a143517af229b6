/** Scenes whose child is the fake pi, and the fake pi's observations. */

import { existsSync, readFileSync } from "node:fs";
import type { TestContext } from "node:test";

import {
	type HostCallbacks,
	type RunHandle,
	type RunOptions,
	startChain,
	startParallel,
	type TaskOptions,
	type ToolResult,
} from "../../native.js";
import { fakePi, type Scenario } from "./fault.ts";
import { Scene, textOf, until } from "./scene.ts";

export type Protocol = "json" | "rpc";

export const protocols: readonly Protocol[] = ["json", "rpc"];

export type Json = Record<string, unknown>;

/** The objects of a stream, one a line. */
export const eventsOf = (stream: string): Json[] =>
	stream
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));

const noLimits = { warnAfter: 0, stopAfter: 0 };

/** A scene that plays a scenario; the driving protocol is `rpc` unless the configuration says otherwise. */
export function playing(test: TestContext, scenario: Scenario, change: Partial<RunOptions> = {}): Scene {
	const scene = new Scene(test, "", {
		piCommand: fakePi,
		...change,
		// With extensions, of which one could ask. It may repeat itself as long as a test wants.
		config: { protocol: "rpc", graceMs: 1_000, inheritExtensions: "all", loop: noLimits, ...change.config },
	});
	const env = { FAKE_PI_LOG: scene.path("log"), HERE: scene.root, ...scripted(scene, "scenario", scenario) };
	Object.assign(scene.options.env ?? {}, env);
	return scene;
}

/** A step that lasts until the test opens the gate: `scene.open()`. */
export const gate = (name = "go") => ({ await: `{env.HERE}/${name}` });

/** The environment that has a child play this. */
export function scripted(scene: Scene, name: string, scenario: Scenario): Record<string, string> {
	const named = typeof scenario === "string" ? scenario : scene.write(`${name}.json`, JSON.stringify(scenario));
	return { FAKE_PI_SCENARIO: named };
}

/** Returns the observations of a scene's children so far, in order. */
export function records(scene: Scene): Json[] {
	if (!existsSync(scene.path("log"))) return [];
	const text = readFileSync(scene.path("log"), "utf8");
	// Without a line that is still being written.
	return eventsOf(text.slice(0, text.lastIndexOf("\n") + 1));
}

/** The values of one kind that the children of a scene have told so far. */
export function recordsOf(scene: Scene, kind: string): unknown[] {
	return records(scene)
		.filter((entry) => kind in entry)
		.map((entry) => entry[kind]);
}

/** Waits until children have told as many values of a kind, and returns them. */
export async function untilRecorded(scene: Scene, kind: string, count = 1): Promise<unknown[]> {
	await until(() => recordsOf(scene, kind).length >= count, `${count} records of the kind \`${kind}\``);
	return recordsOf(scene, kind);
}

/** Resolves with the first update that fits. */
export function updateWith(fits: (update: ToolResult) => boolean): [Promise<ToolResult>, (update: ToolResult) => void] {
	const { promise, resolve } = Promise.withResolvers<ToolResult>();
	return [promise, (update) => fits(update) && resolve(update)];
}

/** Returns true if an update shows this text. */
export const shows = (text: string) => (update: ToolResult) => textOf(update).includes(text);

/** Returns true if an update shows a tool call as its newest item. */
export const showsCall = (update: ToolResult) => update.details.streaming?.displayItems.at(-1)?.type === "toolCall";

/** A task of several: its words, or more of it. */
export type Several = (string | Partial<TaskOptions>)[];

/** The options of a call with several tasks. */
export type Around = [
	change?: Partial<RunOptions>,
	onUpdate?: ((update: ToolResult) => void) | undefined,
	host?: HostCallbacks,
];

/** Starts several tasks of a scene's agent, side by side or one after the other. */
export function startSeveral(
	kind: "parallel" | "chain",
	scene: Scene,
	several: Several,
	...[change = {}, ...callbacks]: Around
): RunHandle {
	const { agent, task, ...around } = { ...scene.options, ...change };
	const tasks = several.map((one) => ({ agent, task, ...(typeof one === "string" ? { task: one } : one) }));
	if (kind === "parallel") return startParallel({ ...around, tasks }, ...callbacks);
	return startChain({ ...around, steps: tasks }, ...callbacks);
}

/** Outcome by outcome. */
export const outcomesOf = ({ details }: ToolResult) => details.results.map(({ outcome }) => outcome);
