/** The pages of the captures and their pictures. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { panelKeys } from "../../extension/ui/keys.ts";
import { panelKeys as allKeys } from "../../native.js";
import { newestPi, root } from "../../scripts/lib/places.mjs";
import { type Scene, type Variant, variants } from "./scene.ts";
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
	["○", "not started: the model is writing the call, or the run waits for a slot, a rate limit or an earlier step"],
	["◐", "starting: the child boots"],
	["●", "running"],
	["?", "waiting for an answer to a question of its child (in the widget, the panel and lists)"],
	["↻", "retrying: the provider failed, and the next attempt starts soon"],
	["✓", "completed"],
	["✗", "failed, timed out, or killed"],
	["⚠", "stopped, interrupted, over budget, partly completed, or completed with an answer that a fact contradicts"],
	["→", "started, or continued. A message has the result, or the call that waits for the run"],
	["–", "skipped, because an earlier step failed"],
];

const HOW = [
	"`npm run captures` makes this page from real pi in tmux, with a scripted model and pi's own themes. Constant values replace",
	"times, run ids and time stamps in paths; all else is unchanged.",
];

export const pages: readonly Page[] = [
	{
		name: "cards",
		opening: [
			"# Cards",
			"",
			`pi shows one card for each call that delegates work. These pictures are from pi ${newestPi}. pi's own key expands and collapses`,
			"the cards. A mark and a word show each state, so no state depends on colour alone:",
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
				text: "`subagent_parallel` gives tasks to several agents that work in parallel.",
			},
			{
				start: "chain",
				heading: "One after the other",
				text: "`subagent_chain` takes steps. Each step can use the result of the step before it.",
			},
			{
				start: "foreign",
				heading: "From another extension",
				text: "A call that another extension or another release stored under the same tool name is shown as the text that the model read.",
			},
		],
	},
	{
		name: "panel",
		opening: [
			"# Panel and widget",
			"",
			`The panel shows all runs. The widget above the editor shows active runs without a card, and unread results. These pictures are from pi ${newestPi}. The marks are the same as on the [cards](cards.md).`,
			"",
			...HOW,
		],
		parts: [
			{
				start: "widget",
				heading: "Above the editor",
				text: [
					"The widget has a line for each live run and for each run with an unread result: at most five, and a line with the number of the",
					"others. The line of a live run has its newest call or its newest words. The first line ends with the command that opens the panel; in",
					"a narrow terminal that command has its own line. A running [workflow](workflows.md#in-pi) has one line in place of its runs, with the",
					"newest words of one of them. Without such runs there is no widget.",
				].join("\n"),
			},
			{
				start: "question",
				heading: "A question",
				text: "A run's question waits until you answer it.",
			},
			{
				start: "panel",
				heading: "The panel",
				text: "`/subagents` opens the panel. It covers pi's screen and follows the runs. When you close it, pi's screen is unchanged.",
			},
		],
		ending: [
			"",
			"## Keys",
			"",
			"| | |",
			"|---|---|",
			...panelKeys({})
				.names()
				.map((keys, index) => `| ${keys.join(" ")} | ${allKeys()[index]?.description} |`),
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
	if (!page) throw new Error(`the scene ${scene.name} belongs to no page`);
	return page;
}

/** Returns the variants in which a picture is taken. */
export function variantsOf(scene: Scene, picture: string): Variant[] {
	return variants.filter(({ name }) => name !== "narrow" || scene.narrow?.includes(picture));
}

export function fileName(picture: string, variant: Variant): string {
	return `${picture}-${variant.name}.svg`;
}

/** Returns the file names of all pictures of a page. */
export function fileNames(page: Page): string[] {
	return scenesOf(page).flatMap((scene) =>
		Object.keys(scene.pictures).flatMap((picture) =>
			variantsOf(scene, picture).map((variant) => fileName(picture, variant)),
		),
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
