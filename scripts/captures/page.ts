/** `docs/cards.md`, and the files that it shows. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newestPi, root } from "../lib/places.mjs";
import { type Look, looks, type Scene } from "./scene.ts";
import { scenes } from "./scenes.ts";

export const docs = join(root, "docs");
export const pagePath = join(docs, "cards.md");
export const folder = join(docs, "cards");

const parts: readonly (readonly [start: string, heading: string, text: string])[] = [
	["single", "One run", "`subagent` gives one task to one agent."],
	["parallel", "Several at once", "`subagent_parallel` gives tasks to agents that work side by side."],
	["chain", "One after the other", "`subagent_chain` takes steps; each may use what the step before came to."],
];

const states: readonly (readonly [mark: string, meaning: string])[] = [
	[
		"○",
		"not started: the call is being written, the run is queued, a rate limit holds it back, an earlier step is due",
	],
	["◐", "its child is being started"],
	["●", "at work"],
	["↻", "an attempt failed for the provider's sake; the next one is about to begin"],
	["✓", "done"],
	["✗", "failed, out of time, or killed"],
	["⚠", "aborted, over budget, or done in part"],
	["–", "skipped, because a step before it failed"],
];

/** The looks in which a picture is taken. */
export function looksOf(scene: Scene, picture: string): Look[] {
	return looks.filter(({ name }) => name !== "narrow" || scene.narrow?.includes(picture));
}

export function fileName(picture: string, look: Look): string {
	return `${picture}-${look.name}.svg`;
}

/** Every file that belongs to the page. */
export function fileNames(): string[] {
	return scenes.flatMap((scene) =>
		Object.keys(scene.pictures).flatMap((picture) => looksOf(scene, picture).map((look) => fileName(picture, look))),
	);
}

export function page(): string {
	const sections = parts.flatMap(([start, heading, text]) => {
		const own = scenes.filter(({ name }) => name.split("-")[0] === start);
		const shown = own.flatMap((scene) =>
			Object.entries(scene.pictures).flatMap(([picture, sentence]) => ["", sentence, "", ...images(picture, sentence)]),
		);
		const narrow = own.flatMap(({ narrow = [], pictures }) =>
			narrow.map((picture) => image(`${picture}-narrow.svg`, pictures[picture] ?? "")),
		);
		return ["", `## ${heading}`, "", text, ...shown, "", "In a terminal of 40 columns:", "", ...narrow];
	});
	return [
		"# Cards",
		"",
		`What a person sees of a delegation, in pi ${newestPi}: one card per call. pi's own key expands and collapses it. Marks and`,
		"words tell the states, so that none depends on colour:",
		"",
		"| | |",
		"|---|---|",
		...states.map(([mark, meaning]) => `| ${mark} | ${meaning} |`),
		"",
		"`npm run captures` makes this page: real pi in tmux, a scripted model, the colours of pi's own themes. Times, run ids",
		"and time stamps in paths are replaced by ones that stay the same; nothing else is touched.",
		...sections,
		"",
	].join("\n");
}

/** A picture that follows the reader's own choice of dark or light. */
function images(picture: string, sentence: string): string[] {
	return [
		"<picture>",
		`  <source media="(prefers-color-scheme: light)" srcset="cards/${picture}-light.svg">`,
		`  ${image(`${picture}-dark.svg`, sentence)}`,
		"</picture>",
	];
}

function image(file: string, sentence: string): string {
	return `<img src="cards/${file}" alt="${sentence.replaceAll('"', "&quot;")}">`;
}

export function writePicture(file: string, text: string): void {
	mkdirSync(folder, { recursive: true });
	writeFileSync(join(folder, file), text);
}

/** Writes the page and removes pictures that are no longer on it. */
export function writePage(): void {
	mkdirSync(folder, { recursive: true });
	writeFileSync(pagePath, page());
	const known = new Set(fileNames());
	for (const file of readdirSync(folder)) if (!known.has(file)) rmSync(join(folder, file));
}
