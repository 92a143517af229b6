/** The pages of the stories in `docs/` and their pictures. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../scripts/lib/places.mjs";
import { type Variant, variants } from "./scene.ts";
import type { Story } from "./story.ts";

/** The variants of the stories' pictures. */
export const storyVariants: readonly Variant[] = variants.filter(({ name }) => name !== "narrow");

export function storyPath({ name }: Story): string {
	return join(root, "docs", `${name}.md`);
}

export function storyFolder({ name }: Story): string {
	return join(root, "docs", name);
}

function pictureFile({ parts }: Story, moment: string, { name }: Pick<Variant, "name">): string {
	return `${Object.keys(parts).indexOf(moment) + 1}-${moment}-${name}.svg`;
}

export function pictureFiles(story: Story): string[] {
	return Object.keys(story.parts).flatMap((moment) =>
		storyVariants.map((variant) => pictureFile(story, moment, variant)),
	);
}

export function storyPage(story: Story): string {
	const sections = Object.entries(story.parts).flatMap(([moment, { heading, text }]) => [
		...(heading ? ["", `## ${heading}`] : []),
		...(text ? ["", text] : []),
		"",
		...pictureLines(story, moment),
	]);
	return [...(story.head ?? []), ...sections, ""].join("\n");
}

/** Returns the lines that show a moment on a page of `docs/`. */
export function pictureLines(story: Story, moment: string): string[] {
	const file = (name: "light" | "dark") => `${story.name}/${pictureFile(story, moment, { name })}`;
	return [
		"<picture>",
		`  <source media="(prefers-color-scheme: light)" srcset="${file("light")}">`,
		`  <img src="${file("dark")}" alt="${story.parts[moment]?.shows}">`,
		"</picture>",
	];
}

export function writeStoryPicture(story: Story, moment: string, variant: Variant, text: string): void {
	mkdirSync(storyFolder(story), { recursive: true });
	writeFileSync(join(storyFolder(story), pictureFile(story, moment, variant)), text);
}

/** Writes the page of a story, if it has one, and removes pictures that it no longer shows. */
export function writeStoryPage(story: Story): void {
	if (story.head) writeFileSync(storyPath(story), storyPage(story));
	const known = new Set(pictureFiles(story));
	for (const file of readdirSync(storyFolder(story))) if (!known.has(file)) rmSync(join(storyFolder(story), file));
}
