/** The captures: plays every scene in every look and writes the pictures and their page. */

import { runMain, SetupProblem } from "../lib/problem.mjs";
import { fileName, looksOf, writePage, writePicture } from "./page.ts";
import { looks, type Scene } from "./scene.ts";
import { scenes } from "./scenes.ts";
import { perform } from "./stage.ts";

await runMain(async () => {
	const wanted = process.argv.slice(2);
	const unknown = wanted.find((name) => !scenes.some((scene) => scene.name === name));
	if (unknown) {
		const names = scenes.map(({ name }) => name).join(", ");
		throw new SetupProblem(`There is no scene ${unknown}.`, `Scenes: ${names}`);
	}
	for (const scene of scenes) {
		if (wanted.length === 0 || wanted.includes(scene.name)) await capture(scene);
	}
	writePage();
	return 0;
});

async function capture(scene: Scene): Promise<void> {
	for (const look of looks) {
		const wanted = Object.keys(scene.pictures).filter((picture) => looksOf(scene, picture).includes(look));
		if (wanted.length === 0) continue;
		process.stdout.write(`${scene.name}, ${look.name}\n`);
		const pictures = await perform(scene, look);
		for (const picture of wanted) {
			const text = pictures.get(picture);
			if (text === undefined) throw new Error(`the scene ${scene.name} has not taken ${picture}`);
			writePicture(fileName(picture, look), text);
		}
	}
}
