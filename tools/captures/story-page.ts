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
	const sections = Object.entries(story.parts).flatMap(([moment, { heading, text, shows }]) => [
		...(heading ? ["", `## ${heading}`] : []),
		"",
		text,
		"",
		"<picture>",
		`  <source media="(prefers-color-scheme: light)" srcset="${story.name}/${pictureFile(story, moment, { name: "light" })}">`,
		`  <img src="${story.name}/${pictureFile(story, moment, { name: "dark" })}" alt="${shows}">`,
		"</picture>",
	]);
	return [...story.head, ...sections, ""].join("\n");
}

export function writeStoryPicture(story: Story, moment: string, variant: Variant, text: string): void {
	mkdirSync(storyFolder(story), { recursive: true });
	writeFileSync(join(storyFolder(story), pictureFile(story, moment, variant)), text);
}

/** Writes the page of a story and removes pictures that it no longer shows. */
export function writeStoryPage(story: Story): void {
	writeFileSync(storyPath(story), storyPage(story));
	const known = new Set(pictureFiles(story));
	for (const file of readdirSync(storyFolder(story))) if (!known.has(file)) rmSync(join(storyFolder(story), file));
}
