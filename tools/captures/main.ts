/** Plays every scene and story in every variant, and writes the pictures and their pages. */

import { runMain, SetupProblem } from "../../scripts/lib/problem.mjs";
import { fileName, pageOf, variantsOf, writePages, writePicture } from "./page.ts";
import { type Scene, variants } from "./scene.ts";
import { scenes } from "./scenes.ts";
import { perform } from "./stage.ts";
import { stories } from "./stories.ts";
import { performStory, type Story } from "./story.ts";
import { storyVariants, writeStoryPage, writeStoryPicture } from "./story-page.ts";

await runMain(async () => {
	const wanted = process.argv.slice(2);
	const names = [...scenes, ...stories].map(({ name }) => name);
	const unknown = wanted.find((name) => !names.includes(name));
	if (unknown) throw new SetupProblem(`Unknown scene: ${unknown}.`, `Scenes: ${names.join(", ")}`);
	const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
	for (const scene of scenes) if (isWanted(scene.name)) await capture(scene);
	for (const story of stories) if (isWanted(story.name)) await captureStory(story);
	writePages();
	for (const story of stories) writeStoryPage(story);
	return 0;
});

async function captureStory(story: Story): Promise<void> {
	for (const variant of storyVariants) {
		process.stdout.write(`${story.name}, ${variant.name}\n`);
		const pictures = await performStory(story, variant);
		for (const moment of Object.keys(story.parts)) {
			const text = pictures.get(moment);
			if (text === undefined) throw new Error(`the story ${story.name} did not reach ${moment}`);
			writeStoryPicture(story, moment, variant, text);
		}
	}
}

async function capture(scene: Scene): Promise<void> {
	for (const variant of variants) {
		const wanted = Object.keys(scene.pictures).filter((picture) => variantsOf(scene, picture).includes(variant));
		if (wanted.length === 0) continue;
		process.stdout.write(`${scene.name}, ${variant.name}\n`);
		const pictures = await perform(scene, variant);
		for (const picture of wanted) {
			const text = pictures.get(picture);
			if (text === undefined) throw new Error(`the scene ${scene.name} did not take ${picture}`);
			writePicture(pageOf(scene), fileName(picture, variant), text);
		}
	}
}
