/** All scenes, in the order of the page. */

import type { Scene } from "./scene.ts";
import { chainScenes } from "./scenes-chain.ts";
import { foreignScenes } from "./scenes-foreign.ts";
import { panelScenes } from "./scenes-panel.ts";
import { parallelScenes } from "./scenes-parallel.ts";
import { singleScenes } from "./scenes-single.ts";

export const scenes: readonly Scene[] = [
	...singleScenes,
	...parallelScenes,
	...chainScenes,
	...foreignScenes,
	...panelScenes,
];
