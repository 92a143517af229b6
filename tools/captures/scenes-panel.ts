/** Scenes with background runs: the widget above the editor, and the panel. */

import { fail, makeGate } from "../../__test__/support/steps.ts";
import { list, read, turns } from "./model.ts";
import type { Play, Scene, Screen } from "./scene.ts";
import { at, find, found, noMistake, outOfCredit, plan, review, tests } from "./tasks.ts";

const ROWS = 24;
const count = "Count the lines of each file.";

/** Opens the panel with its command. */
async function open(screen: Screen): Promise<void> {
	await screen.type("/subagents");
	await screen.sees(/→ subagents/);
	await screen.press("Enter");
	await screen.sees(/^ Sub-agents/);
}

function spawned(task: { agent: string; task: string }, label: string): Play["calls"][number] {
	return { tool: "sessions_spawn", args: { agentId: task.agent, task: task.task, label } };
}

/** Returns a play with two ended runs, two live ones, and a queued one. */
function busy(): Play & { rest: ReturnType<typeof makeGate> } {
	const rest = makeGate();
	const beginning = found.slice(0, 80);
	const end = found.slice(80);
	return {
		rest,
		calls: [
			spawned(at("reviewer", review), "review"),
			spawned(at("tester", tests), "tests"),
			spawned(at("explorer", find), "the loader"),
			spawned(at("implementer", plan), "option --profile"),
			spawned(at("explorer", count), "lines"),
		],
		children: {
			[review]: turns({ text: "The file first.", calls: [read("src/config.ts")] }, { text: noMistake }),
			[tests]: outOfCredit,
			[find]: turns(
				{ text: "First the lay of the land.", calls: [list("."), read("src/config.ts", 40)] },
				{ text: "Who calls it?", calls: [list("src"), read("src/main.ts")] },
				{ text: beginning, more: { after: rest.opened, text: end } },
			),
			[plan]: turns(
				{ text: "The options first.", calls: [read("src/main.ts")] },
				{ text: "It is read nowhere yet.", more: { after: rest.opened, text: " So it is new." } },
			),
			[count]: turns({ text: "Two and forty." }),
		},
		drive: async () => {},
	};
}

/** Matches the screen of `busy` once the results of the ended runs have been read. */
const IS_BUSY =
	/^(?![\s\S]*waiting to be read)[\s\S]*○ lines[\s\S]*● option .*nowhere yet[\s\S]*● the loader .*user's first/;

/** An extension in the child that asks for consent to a tool. */
const ASK_EXTENSION = `export default (pi) => {
	pi.on("before_agent_start", async (_event, { ui }) => {
		await ui.confirm("Delete build/ and everything in it?", "214 files, 38 MB. Nothing of it is under version control.");
	});
};
`;
const cleanup = "Remove what the build has left.";
const overloaded = { body: { error: { message: "The model is overloaded.", type: "overloaded_error" } } };

export const panelScenes: readonly Scene[] = [
	{
		name: "widget",
		pictures: { widget: "Two live runs and a queued one." },
		narrow: ["widget"],
		rows: ROWS,
		config: { maxConcurrent: 2 },
		play() {
			const play = busy();
			const drive = async (screen: Screen) => {
				await screen.sees(IS_BUSY);
				await screen.take("widget");
				play.rest.open();
			};
			return { ...play, drive };
		},
	},
	{
		name: "widget-retry",
		pictures: { "widget-retry": "The provider is overloaded, and pi repeats the request." },
		rows: ROWS,
		settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 9_000 } },
		play() {
			let requests = 0;
			return {
				calls: [spawned(at("reviewer", review), "review")],
				children: {
					[review]: (request) => (requests++ === 0 ? [fail(503, overloaded)] : turns({ text: noMistake })(request)),
				},
				async drive(screen) {
					await screen.sees(/↻ review .* retry 1 of 3/);
					await screen.take("widget-retry");
				},
			};
		},
	},
	{
		name: "question",
		pictures: {
			"question-waits":
				"A line shows the run and its question. Keys go to the editor, and no dialog opens while you type.",
			"question-open":
				"`alt+a` opens the question. Enter gives the harmless answer. To say yes, select it with an arrow key first.",
		},
		rows: ROWS,
		childExtension: ASK_EXTENSION,
		play: () => ({
			calls: [spawned(at("explorer", find), "the loader"), spawned(at("tester", cleanup), "cleanup")],
			children: { [find]: turns({ text: found }), [cleanup]: turns({ text: "Nothing was deleted." }) },
			async drive(screen) {
				await screen.sees(/\? \S.* asks: Delete[\s\S]*\? \S.* asks: Delete/);
				await screen.type("Meanwhile, look at the tests");
				await screen.sees(/^Meanwhile, look at the tests/m);
				await screen.take("question-waits");
				await screen.press("M-a");
				await screen.sees(/→ No/);
				await screen.take("question-open");
			},
		}),
	},
	{
		name: "panel",
		pictures: {
			"panel-list": "The runs of the session, newest first, and the details of the selected run.",
			"panel-stop": "`s` stops a run, after a confirmation.",
			"panel-transcript": "Enter shows the transcript as it grows.",
			"panel-ended": "The result, at the end of the transcript.",
			"panel-keys": "`?` shows the keys.",
		},
		narrow: ["panel-list", "panel-transcript"],
		rows: ROWS,
		config: { maxConcurrent: 2 },
		play() {
			const play = busy();
			const drive = async (screen: Screen) => {
				await screen.sees(IS_BUSY);
				await open(screen);
				await screen.press("Down", "Down");
				await screen.sees(/▸ ● 3 the loader[\s\S]*src\/config\.ts reads/);
				await screen.take("panel-list");
				await screen.press("s");
				await screen.sees(/s again/);
				await screen.take("panel-stop");
				await screen.press("Escape");
				await screen.sees(/enter open/);
				await screen.press("Enter");
				await screen.sees(/Who calls it\?[\s\S]*src\/config\.ts reads/);
				await screen.take("panel-transcript");
				play.rest.open();
				await screen.sees(/✓ completed/);
				await screen.take("panel-ended");
				await screen.press("?");
				await screen.sees(/^ Keys/);
				await screen.take("panel-keys");
			};
			return { ...play, drive };
		},
	},
	{
		name: "panel-empty",
		pictures: { "panel-empty": "A session without runs." },
		rows: 16,
		play: () => ({
			calls: [],
			children: {},
			async drive(screen) {
				await screen.sees(/That is all|Good|Yes/);
				await open(screen);
				await screen.sees(/No runs in this session/);
				await screen.take("panel-empty");
			},
		}),
	},
];
