/** Scenes with runs one after the other. */

import { makeGate } from "../../__test__/support/steps.ts";
import { read, turns } from "./model.ts";
import type { Scene } from "./scene.ts";
import { at, EXPAND, explore, find, optionPlan, outOfCredit } from "./tasks.ts";

const chained = "Plan an option --profile. What is known:";
const judged = "Judge this plan:";
const chainSteps = [
	at("explorer", find),
	at("implementer", `${chained} {previous}`),
	at("reviewer", `${judged} {previous}`),
];

export const chainScenes: readonly Scene[] = [
	{
		name: "chain",
		pictures: {
			"chain-running": "The numbered steps. The arrow marks the running step; the others wait.",
			"chain-done": "Completed: the last step's answer is the result.",
			"chain-done-expanded": "The same, expanded.",
		},
		narrow: ["chain-running"],
		play() {
			const rest = makeGate();
			return {
				calls: [{ tool: "subagent_chain", args: { steps: chainSteps } }],
				children: {
					[find]: explore,
					[chained]: turns(
						{ text: "I read it.", calls: [read("src/main.ts")] },
						{ text: optionPlan, after: rest.opened },
					),
					[judged]: turns({ text: "The plan fits: the option is read before `load` is called." }),
				},
				async drive(screen) {
					await screen.sees(screen.variant.columns < 60 ? /step 2 of 3[\s\S]*read \S/ : /step 2 of 3[\s\S]*\ds ago/);
					await screen.take("chain-running");
					rest.open();
					await screen.sees(/✓ subagent chain/);
					await screen.take("chain-done");
					await screen.press(EXPAND);
					await screen.sees(/session [~…]/);
					await screen.take("chain-done-expanded");
				},
			};
		},
	},
	{
		name: "chain-failed",
		pictures: { "chain-failed": "A step failed and the chain stopped. The earlier results are kept." },
		settings: { retry: { enabled: false } },
		play: () => ({
			calls: [{ tool: "subagent_chain", args: { steps: chainSteps } }],
			children: { [find]: explore, [chained]: outOfCredit },
			async drive(screen) {
				await screen.sees(/[✗⚠] subagent chain/);
				await screen.take("chain-failed");
			},
		}),
	},
];
