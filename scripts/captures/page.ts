/** The pages of the captures and their pictures. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { panelKeys } from "../../extension/panel/keys.ts";
import { newestPi, root } from "../lib/places.mjs";
import { type Look, looks, type Scene } from "./scene.ts";
import { scenes } from "./scenes.ts";

/** A part of a page, with the scenes whose names begin with `start`. */
interface Part {
	start: string;
	heading: string;
	text: string;
}

/** `docs/<name>.md`, with its pictures in `docs/<name>/`. */
export interface Page {
	name: string;
	opening: readonly string[];
	parts: readonly Part[];
	ending?: readonly string[];
}

const docs = join(root, "docs");

const states: readonly (readonly [mark: string, meaning: string])[] = [
	[
		"○",
		"not started: the call is being written, the run is queued, a rate limit holds it back, an earlier step is due",
	],
	["◐", "its child is being started"],
	["●", "at work"],
	["?", "its child asks something and waits for the answer: in the widget, the panel and lists"],
	["↻", "an attempt failed for the provider's sake; the next one is about to begin"],
	["✓", "done"],
	["✗", "failed, out of time, or killed"],
	["⚠", "stopped, interrupted, over budget, or done in part"],
	["–", "skipped, because a step before it failed"],
];

const HOW = [
	"`npm run captures` makes this page: real pi in tmux, a scripted model, the colours of pi's own themes. Times, run ids",
	"and time stamps in paths are replaced by ones that stay the same; nothing else is touched.",
];

export const pages: readonly Page[] = [
	{
		name: "cards",
		opening: [
			"# Cards",
			"",
			`What a person sees of a delegation, in pi ${newestPi}: one card per call. pi's own key expands and collapses it. Marks and`,
			"words tell the states, so that none depends on colour:",
			"",
			"| | |",
			"|---|---|",
			...states.map(([mark, meaning]) => `| ${mark} | ${meaning} |`),
			"",
			...HOW,
		],
		parts: [
			{ start: "single", heading: "One run", text: "`subagent` gives one task to one agent." },
			{
				start: "parallel",
				heading: "Several at once",
				text: "`subagent_parallel` gives tasks to agents that work side by side.",
			},
			{
				start: "chain",
				heading: "One after the other",
				text: "`subagent_chain` takes steps; each may use what the step before came to.",
			},
			{
				start: "foreign",
				heading: "From another extension",
				text: "What another extension, or another release, has stored about a call of this name is drawn as the text that the model read.",
			},
		],
	},
	{
		name: "panel",
		opening: [
			"# Panel and widget",
			"",
			`What a person sees of background runs, in pi ${newestPi}. The marks are those of the [cards](cards.md).`,
			"",
			...HOW,
		],
		parts: [
			{
				start: "widget",
				heading: "Above the editor",
				text: "A line for each run under way, and for each that waits to be read: five at most and one that counts the others, nothing when there are none.",
			},
			{
				start: "question",
				heading: "A question",
				text: "What a run asks waits until somebody has time for it.",
			},
			{
				start: "panel",
				heading: "The panel",
				text: "`/subagents` opens it. It covers pi's screen, follows what happens, and leaves everything as it was.",
			},
		],
		ending: [
			"",
			"## Keys",
			"",
			"| | |",
			"|---|---|",
			...panelKeys({})
				.table()
				.map(([keys, does]) => `| ${keys} | ${does} |`),
		],
	},
];

export function pagePath({ name }: Page): string {
	return join(docs, `${name}.md`);
}

export function folder({ name }: Page): string {
	return join(docs, name);
}

function scenesOf({ parts }: Page): Scene[] {
	return scenes.filter(({ name }) => parts.some(({ start }) => name.split("-")[0] === start));
}

/** Returns the page that shows a scene's pictures. */
export function pageOf(scene: Scene): Page {
	const page = pages.find((known) => scenesOf(known).includes(scene));
	if (!page) throw new Error(`no page has a place for the scene ${scene.name}`);
	return page;
}

/** Returns the looks in which a picture is taken. */
export function looksOf(scene: Scene, picture: string): Look[] {
	return looks.filter(({ name }) => name !== "narrow" || scene.narrow?.includes(picture));
}

export function fileName(picture: string, look: Look): string {
	return `${picture}-${look.name}.svg`;
}

/** Returns the file names of all pictures of a page. */
export function fileNames(page: Page): string[] {
	return scenesOf(page).flatMap((scene) =>
		Object.keys(scene.pictures).flatMap((picture) => looksOf(scene, picture).map((look) => fileName(picture, look))),
	);
}

/** Returns the text of a page. */
export function written(page: Page): string {
	const { name: place, opening, parts, ending = [] } = page;
	const sections = parts.flatMap(({ start, heading, text }) => {
		const own = scenesOf(page).filter(({ name }) => name.split("-")[0] === start);
		const shown = own.flatMap((scene) =>
			Object.entries(scene.pictures).flatMap(([picture, sentence]) => [
				"",
				sentence,
				"",
				...images(place, picture, sentence),
			]),
		);
		const narrow = own.flatMap(({ narrow = [], pictures }) =>
			narrow.map((picture) => image(`${place}/${picture}-narrow.svg`, pictures[picture] ?? "")),
		);
		const ending = narrow.length > 0 ? ["", "In a terminal of 40 columns:", "", ...narrow] : [];
		return ["", `## ${heading}`, "", text, ...shown, ...ending];
	});
	return [...opening, ...sections, ...ending, ""].join("\n");
}

/** Returns the lines of a picture that follows the reader's choice of dark or light. */
function images(place: string, picture: string, sentence: string): string[] {
	return [
		"<picture>",
		`  <source media="(prefers-color-scheme: light)" srcset="${place}/${picture}-light.svg">`,
		`  ${image(`${place}/${picture}-dark.svg`, sentence)}`,
		"</picture>",
	];
}

function image(file: string, sentence: string): string {
	return `<img src="${file}" alt="${sentence.replaceAll('"', "&quot;")}">`;
}

export function writePicture(page: Page, file: string, text: string): void {
	mkdirSync(folder(page), { recursive: true });
	writeFileSync(join(folder(page), file), text);
}

/** Writes the pages and removes pictures that they no longer show. */
export function writePages(): void {
	for (const page of pages) {
		mkdirSync(folder(page), { recursive: true });
		writeFileSync(pagePath(page), written(page));
		const known = new Set(fileNames(page));
		for (const file of readdirSync(folder(page))) if (!known.has(file)) rmSync(join(folder(page), file));
	}
}
