/** Plays one scene in one variant, with real pi in tmux and a scripted model, and takes its pictures. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { ModelServer, packageDir, piCommand, startTui, World } from "../../__test__/support/pi.ts";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { cropped, isLate, settled } from "./cards.ts";
import { captureModel, prompt } from "./model.ts";
import type { Scene, Variant } from "./scene.ts";
import { croppedScreen, isScreenLate, settledScreen } from "./screens.ts";
import { type Paper, svg } from "./svg.ts";
import { type Row, readScreen, rowText } from "./terminal.ts";

/** High enough for every card. A live card is limited to the height of a usual terminal. */
const cardRows = 100;

/** A picture is taken once the screen has been the same this many times, at this interval. */
const stablePolls = 4;
const pollIntervalMs = 120;
const settleLimitMs = 15_000;

/** The project's files, which the children read. */
const project = {
	"src/config.ts": `export function load(files: string[]): Config {\n${"\t// …\n".repeat(38)}}\n`,
	"src/main.ts": 'import { load } from "./config.ts";\n\nstart(load(files()));\n',
	"test/main.test.ts": 'test("starts", () => {});\n',
};

/** The agents' tools exist on every machine, so that no card shows a note about missing tools. */
const agents = ["explorer", "reviewer", "tester", "implementer"];

function definition(agent: string): string {
	return `---\nname: ${agent}\ndescription: Looks.\nreadonly: true\ntools: read, ls\n---\nDo what the task says.\n`;
}

/** The terminal's colours. */
export const papers: Record<Variant["theme"], Pick<Paper, "color" | "ground">> = {
	dark: { color: "#d7dae0", ground: "#16181d" },
	light: { color: "#24292f", ground: "#ffffff" },
};

/** Plays the scene and returns its pictures by name. */
export async function perform(scene: Scene, variant: Variant): Promise<Map<string, string>> {
	const play = scene.play();
	const server = await ModelServer.start(captureModel(play.calls, play.children));
	const world = new World({
		baseUrl: server.baseUrl,
		extensions: [packageDir],
		settings: { theme: variant.theme, sessionDir: "~/.pi/sessions", ...scene.settings },
	});
	try {
		for (const [path, text] of Object.entries(project)) world.write(path, text);
		for (const agent of agents) world.writeAgentDir(`agents/${agent}.md`, definition(agent));
		for (const agent of scene.writers ?? [])
			world.writeAgentDir(
				`agents/${agent}.md`,
				`---\nname: ${agent}\ntools: read, write\n---\nDo what the task says.\n`,
			);
		for (const agent of scene.projectAgents ?? []) world.write(`.pi/agents/${agent}.md`, definition(agent));
		mkdirSync(join(world.home, ".pi", "sessions"), { recursive: true });
		const sign = join(world.home, "start");
		const inherited = scene.childExtension && {
			inheritExtensions: [world.writeAgentDir("of-children.ts", scene.childExtension)],
		};
		const config = { ...scene.config, ...inherited, ...(scene.holdsStarts && { piCommand: pausedPi(world, sign) }) };
		world.writeAgentDir("subagents.json", JSON.stringify({ subagents: config }));
		const opened = scene.session && join(world.root, "opened.jsonl");
		if (opened) {
			const lines = (await scene.session?.()) ?? [];
			const here = lines.map((line) => (line.type === "session" ? { ...line, cwd: world.cwd } : line));
			writeFileSync(opened, here.map((line) => `${JSON.stringify(line)}\n`).join(""));
		}
		const start = opened ? { args: ["--session", opened] } : { args: ["--session-id", "demo"], prompt };
		const tui = await startTui(world, { columns: variant.columns, rows: scene.rows ?? cardRows, ...start });
		const pictures = new Map<string, string>();
		await play.drive({
			variant,
			async sees(sight) {
				await tui.waitFor(sight);
			},
			press: (...keys) => tui.press(...keys),
			type: (text) => tui.type(text),
			letStart: () => writeFileSync(sign, ""),
			async take(picture) {
				const title = scene.pictures[picture];
				if (title === undefined) throw new Error(`the scene ${scene.name} has no picture ${picture}`);
				const ways = scene.rows === undefined ? cards : screens;
				const rows = await still(() => tui.styledScreen(), ways.made);
				if (ways.isLate(rows))
					throw new SetupProblem(`${picture} was taken too late.`, "The machine is too busy; run it again.");
				pictures.set(picture, svg(rows, { ...papers[variant.theme], columns: variant.columns, title }));
			},
		});
		await tui.close();
		const [problem] = server.problems;
		if (problem) throw new Error(problem);
		return pictures;
	} finally {
		await world.close().finally(() => server.close());
	}
}

/** Returns a command that waits for the file `sign`, and then runs pi. */
function pausedPi(world: World, sign: string): string[] {
	const script = `while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"`;
	return ["/bin/sh", "-c", script, sign, ...piCommand(world.version)];
}

/** The functions that turn a screen into a picture. */
const cards = { made: (rows: readonly Row[]) => settled(cropped(rows)), isLate };
const screens = { made: (rows: readonly Row[]) => settledScreen(croppedScreen(rows)), isLate: isScreenLate };

/** Waits until the screen stops changing, and returns the rows made from it. */
export async function still(screen: () => Promise<string>, made: (rows: readonly Row[]) => Row[]): Promise<Row[]> {
	const deadline = performance.now() + settleLimitMs;
	let before = "";
	let same = 0;
	for (;;) {
		const rows = made(readScreen(await screen()));
		const text = rows.map(rowText).join("\n");
		same = text === before ? same + 1 : 0;
		if (same === stablePolls) return rows;
		if (performance.now() > deadline) throw new Error(`the screen keeps changing:\n${text}`);
		before = text;
		await delay(pollIntervalMs);
	}
}
