/** Scenes with calls that another extension has stored. */

import { exampleSession } from "../../__test__/support/foreign.ts";
import { newestPi } from "../../scripts/lib/places.mjs";
import type { Scene } from "./scene.ts";
import { EXPAND } from "./tasks.ts";

export const foreignScenes: readonly Scene[] = [
	{
		name: "foreign",
		pictures: {
			foreign: "Recorded with pi's example of such a tool: one task, two parallel tasks, and an unknown agent.",
		},
		session: () => exampleSession(newestPi),
		play: () => ({
			calls: [],
			children: {},
			async drive(screen) {
				await screen.sees(/That was all/);
				await screen.press(EXPAND);
				await screen.take("foreign");
			},
		}),
	},
];
