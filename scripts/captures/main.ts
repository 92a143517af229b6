/** The captures: plays every scene and the day in every look and writes the pictures and their pages. */

import { runMain, SetupProblem } from "../lib/problem.mjs";
import { performDay } from "./day.ts";
import { dayLooks, writeDayPage, writeDayPicture } from "./day-page.ts";
import { fileName, looksOf, pageOf, writePages, writePicture } from "./page.ts";
import { looks, type Scene } from "./scene.ts";
import { scenes } from "./scenes.ts";
import { perform } from "./stage.ts";

/** The name of the day among the scenes. */
const DAY = "day";

await runMain(async () => {
	const wanted = process.argv.slice(2);
	const names = [...scenes.map(({ name }) => name), DAY];
	const unknown = wanted.find((name) => !names.includes(name));
	if (unknown) throw new SetupProblem(`There is no scene ${unknown}.`, `Scenes: ${names.join(", ")}`);
	const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
	for (const scene of scenes) if (isWanted(scene.name)) await capture(scene);
	if (isWanted(DAY)) await captureDay();
	writePages();
	writeDayPage();
	return 0;
});

async function captureDay(): Promise<void> {
	for (const look of dayLooks) {
		process.stdout.write(`${DAY}, ${look.name}\n`);
		for (const [moment, text] of await performDay(look)) writeDayPicture(moment, look, text);
	}
}

async function capture(scene: Scene): Promise<void> {
	for (const look of looks) {
		const wanted = Object.keys(scene.pictures).filter((picture) => looksOf(scene, picture).includes(look));
		if (wanted.length === 0) continue;
		process.stdout.write(`${scene.name}, ${look.name}\n`);
		const pictures = await perform(scene, look);
		for (const picture of wanted) {
			const text = pictures.get(picture);
			if (text === undefined) throw new Error(`the scene ${scene.name} has not taken ${picture}`);
			writePicture(pageOf(scene), fileName(picture, look), text);
		}
	}
}
