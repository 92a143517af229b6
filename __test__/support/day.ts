/**
 * A day with background runs, as a person has it at a terminal: the project, the typed text, and the models' answers.
 *
 * `pi-day.spec.ts` proves the results, `npm run captures` draws them for `docs/day.md`; both play this day.
 */

import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ModelServer } from "./model-server.ts";
import type { ModelRequest } from "./requests.ts";
import { call, hang, makeGate, type Step, say, until, usage } from "./steps.ts";
import { startTui, type Tui } from "./tui.ts";
import { packageDir } from "./versions.ts";
import { World } from "./world.ts";

/** The files of the project. */
const project = {
	"README.md": "# A service\n\nStarts, reads its configuration, serves.\n",
	"src/config.ts": `export function load(files: string[]): Config {\n${"\t// …\n".repeat(38)}}\n`,
	"src/main.ts": 'import { load } from "./config.ts";\n\nstart(load(files()));\n',
	"test/main.test.ts": 'test("starts", () => {});\n',
};

/** They need only features that every machine has, so that no run carries a notice about a missing one. */
const agents = ["explorer", "implementer"];

function definition(agent: string): string {
	return `---\nname: ${agent}\ndescription: Looks.\nreadonly: true\ntools: read, ls\n---\nDo what the task says.\n`;
}

/** The tasks, by label. */
export const tasks = {
	config: "Find where the configuration is loaded, and in which order its files count.",
	tests: "Find out which tests are missing.",
	"dead code": "Find code that nobody calls.",
	history: "Find out from the history why `load` takes a list of files.",
};

export type Label = keyof typeof tasks;

export const typed = {
	two: "Two things in the background: where is the configuration loaded, and which tests are missing?",
	chain: "Meanwhile, plan an option --profile that selects a third file.",
	steer: "/subagents send config Begin with who calls load.",
	dead: "In the background as well: is there code that nobody calls?",
	history: "And why does load take a list of files?",
	panel: "/subagents",
	resume: "/subagents resume last",
	thanks: "Thank you.",
	list: "/subagents list",
};

/** `budget.maxTurns`: one of the runs does not come to an end. */
const MAX_TURNS = 6;

export const answers = {
	config: "`load` in `src/config.ts` reads two files, the user's first; `src/main.ts` calls it once.",
	half: "`load` took one path at first. It takes a list since",
	rest: "`load` takes a list since the project's own file came: the user's is read first, and the project's can only tighten.",
	plan: "Read `--profile` in `src/main.ts`, pass it to `load`, and merge that file last.",
};

interface Gates {
	/** Lets the step of the chain that is under way end. */
	plan: ReturnType<typeof makeGate>;
	/** Lets the run that is steered take its next turn. */
	config: ReturnType<typeof makeGate>;
}

const spent = (index: number) => usage({ input: 1_400 + 800 * index, output: 60 + 70 * index, cached: index && 1_100 });

function spawnSteps(...labels: Label[]): Step[] {
	return labels.map((label) => call("sessions_spawn", { task: tasks[label], label }));
}

/** Returns the steps of the session's own model. */
function parentSteps({ userText, toolAnswers }: ModelRequest): Step[] {
	const isAnswered = toolAnswers.length > 0;
	const price = usage({ input: 2_000, output: 60 });
	if (userText === typed.two) {
		return [price, ...(isAnswered ? [say("Both are under way.")] : spawnSteps("config", "tests"))];
	}
	if (userText === typed.dead) {
		return [price, ...(isAnswered ? [say("A third one is under way.")] : spawnSteps("dead code"))];
	}
	if (userText === typed.history) {
		return [price, ...(isAnswered ? [say("So is the fourth.")] : spawnSteps("history"))];
	}
	if (userText === typed.chain) {
		const steps = [
			{ agent: "explorer", task: "Find how the command line is read." },
			{ agent: "implementer", task: "Plan an option --profile. What is known: {previous}" },
		];
		return [price, isAnswered ? say("The plan is in the card above.") : call("subagent_chain", { steps })];
	}
	if (userText === typed.thanks) return [price, say("You are welcome.")];
	if (userText.startsWith("Background run ")) {
		const results = [...userText.matchAll(/^Background run \w+ \((.*), agent .*\nStatus: (\w+)$/gm)];
		return [price, say(`I have read it: ${results.map(([, label, status]) => `${label} (${status})`).join(", ")}.`)];
	}
	throw new Error("the parent's script has no answer");
}

/** Returns the steps of the runs. */
function childSteps(request: ModelRequest, gates: Gates): Step[] {
	const prompts = request.messages.filter(({ role }) => role === "user").map(({ content }) => JSON.stringify(content));
	const is = (words: string) => prompts[0]?.includes(JSON.stringify(words).slice(1, -1));
	const turn = request.messages.filter(({ role }) => role === "assistant").length;
	const price = spent(turn);
	if (is(tasks.config)) {
		if (turn === 0) return [price, say("First the lay of the land."), call("ls", { path: "." })];
		if (turn === 1) return [price, until(gates.config.opened), call("read", { path: "src/config.ts", limit: 40 })];
		if (turn === 2) return [price, say("Then its callers first."), call("read", { path: "src/main.ts" })];
		return [price, say(`# Where it is\n\n${answers.config}`)];
	}
	if (is(tasks.tests)) {
		if (turn === 0) return [price, call("ls", { path: "test" })];
		return [price, say("`test/main.test.ts` only starts it. What is missing so far:"), hang()];
	}
	if (is(tasks["dead code"])) {
		// However late the run is ended, it does not get to another turn.
		if (turn >= MAX_TURNS) return [price, hang()];
		const paths = ["src", "test", ".", "src/main.ts", "src/config.ts", "README.md", "test/main.test.ts"];
		const path = paths[turn % paths.length] ?? ".";
		return [price, say("Nothing yet."), call(path.includes(".ts") || path.includes(".md") ? "read" : "ls", { path })];
	}
	if (is(tasks.history)) {
		if (request.userText !== tasks.history) return [price, say(answers.rest)];
		if (turn === 0) return [price, call("read", { path: "src/config.ts", limit: 20 })];
		return [price, say(answers.half), hang()];
	}
	if (is("Plan an option --profile")) {
		return [price, say("Two places change."), until(gates.plan.opened), say(`\n\n${answers.plan}`)];
	}
	if (turn === 0) return [price, call("read", { path: "src/main.ts" })];
	return [price, say("`src/main.ts` reads it by hand, before `load`.")];
}

export interface DayOptions {
	theme?: "dark" | "light";
	columns?: number;
	rows?: number;
}

/** Moments of the day, in their order. At each of them the screen stays as it is for as long as it is looked at. */
export const moments = [
	"spawned",
	"steered",
	"arrived",
	"budget",
	"panel",
	"transcript",
	"stopped",
	"quit",
	"interrupted",
	"resumed",
	"list",
] as const;

export type Moment = (typeof moments)[number];

/** Looks at a moment of the day. */
export type ScreenCheck = (moment: Moment, tui: Tui) => Promise<void> | void;

/** The world of the day: its project, its agents, the model of everybody in it. */
export class Day {
	readonly server: ModelServer;
	readonly world: World;
	readonly #gates: Gates;
	readonly #options: DayOptions;

	private constructor(server: ModelServer, world: World, gates: Gates, options: DayOptions) {
		this.server = server;
		this.world = world;
		this.#gates = gates;
		this.#options = options;
	}

	static async begin(options: DayOptions = {}): Promise<Day> {
		const gates: Gates = { plan: makeGate(), config: makeGate() };
		const server = await ModelServer.start((request) =>
			request.isParent ? parentSteps(request) : childSteps(request, gates),
		);
		const root = mkdtempSync(join(tmpdir(), "psn-"));
		const settings = { theme: options.theme ?? "dark", sessionDir: "~/.pi/sessions" };
		// Below the home directory, so that pi and we say where it is in few words.
		const cwd = join(realpathSync(root), "home", "service");
		const world = new World({ baseUrl: server.baseUrl, extensions: [packageDir], settings, root, cwd });
		for (const [path, text] of Object.entries(project)) world.write(path, text);
		for (const agent of agents) world.writeAgentDir(`agents/${agent}.md`, definition(agent));
		mkdirSync(join(world.home, ".pi", "sessions"), { recursive: true });
		world.writeAgentDir("subagents.json", JSON.stringify({ subagents: { budget: { maxTurns: MAX_TURNS } } }));
		return new Day(server, world, gates, options);
	}

	/** Plays it from the first prompt to the last result. At its end pi has been quit. */
	async play(check: ScreenCheck = () => {}): Promise<void> {
		await this.#untilQuit(check);
		await this.#afterReopening(check);
		await this.#nextDay(check);
	}

	/** Another day: the terminal is closed while a run works, and the session is opened again. Returns its screen. */
	async playClosed(): Promise<string> {
		const closed = await this.#open();
		await enter(closed, typed.history);
		await closed.waitFor(/So is the fourth\.[\s\S]*^ ● history .* takes a list since/m);
		await this.server.waitFor(({ userText, toolAnswers }) => userText === tasks.history && toolAnswers.length === 1);
		await enter(closed, typed.panel);
		await closed.waitFor(answers.half.slice(-20));
		await closed.close();
		const tui = await this.#open("--continue");
		const screen = await tui.waitFor(/^ ⚠ history .*interrupted\n(?: {3}.*\n)+ {3}.*↑/m);
		await quit(tui);
		return screen;
	}

	async #untilQuit(look: ScreenCheck): Promise<void> {
		const tui = await this.#open();
		await enter(tui, typed.two);
		await tui.waitFor(/Both are under way\.[\s\S]*^ ● tests .*only starts it\..*\n ● config .* ls \. /m);
		await look("spawned", tui);

		await enter(tui, typed.chain);
		await tui.waitFor(/Two places change\./);
		await enter(tui, typed.steer);
		await tui.waitFor(/→ sent to/);
		await look("steered", tui);
		this.#gates.config.open();
		// Its result is there, and waits for the turn to end.
		await tui.waitFor((screen) => !/^ ● config /m.test(screen));
		this.#gates.plan.open();
		await tui.waitFor(acknowledgementOf("config (success)"));
		await look("arrived", tui);

		await enter(tui, typed.dead);
		await tui.waitFor("A third one is under way.");
		await enter(tui, typed.history);
		await tui.waitFor(acknowledgementOf("dead code (error)"));
		await tui.waitFor(/^ ● history .* takes a list since/m);
		await look("budget", tui);

		await enter(tui, typed.panel);
		await tui.waitFor(/▸ ● 1 history/);
		// The steps of the chain are listed, too.
		await tui.press("Down", "Down", "Down", "Down");
		await tui.waitFor(/▸ ● 5 tests[\s\S]*What is missing so far:/);
		await look("panel", tui);
		await tui.press("Enter");
		await tui.waitFor(/❯ Find out which tests are missing\.[\s\S]*What is missing so far:/);
		await look("transcript", tui);
		await tui.press("s");
		await tui.waitFor(/other keys cancel: “tests”/);
		await tui.press("s");
		await tui.waitFor(/^ ⚠ tests /m);
		await look("stopped", tui);
		await tui.press("Escape");
		await tui.waitFor(/▸ ⚠ 5 tests/);
		await tui.press("Escape");
		await tui.waitFor(/⚠ tests .*stopped[\s\S]*^ ● history .*\n─/m);
		await quit(tui, () => look("quit", tui));
	}

	async #afterReopening(look: ScreenCheck): Promise<void> {
		const tui = await this.#open("--continue");
		await tui.waitFor(/^ ⚠ history .*interrupted\n[\s\S]*It takes a list since/m);
		await look("interrupted", tui);
		await enter(tui, typed.resume);
		await tui.waitFor(/→ resumed/);
		await tui.waitFor(acknowledgementOf("history (success)"));
		await look("resumed", tui);
		await quit(tui);
	}

	/**
	 * Opens the session again. All messages are already in it, and a second delivery of one would come with the prompt.
	 */
	async #nextDay(look: ScreenCheck): Promise<void> {
		const tui = await this.#open("--continue");
		await enter(tui, typed.thanks);
		await tui.waitFor("You are welcome.");
		await enter(tui, typed.list);
		await tui.waitFor(/Runs: [\s\S]*#1 /);
		await look("list", tui);
		await quit(tui);
	}

	async #open(...args: string[]): Promise<Tui> {
		const { columns = 100, rows = 40 } = this.#options;
		const tui = await startTui(this.world, { columns, rows, args });
		await tui.waitFor("scripted-model");
		return tui;
	}

	/** The file of the session. */
	get sessionFile(): string {
		const folder = join(this.world.home, ".pi", "sessions");
		const [file, other] = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
		if (!file || other) throw new Error(`expected one session: ${file}, ${other}`);
		return join(folder, file);
	}

	/** Ends everything, and proves that nothing is left and that the script had an answer for each request. */
	async end(): Promise<void> {
		try {
			await this.world.close().finally(() => this.server.close());
			const [problem] = this.server.problems;
			if (problem) throw new Error(problem);
		} finally {
			rmSync(this.world.root, { recursive: true, force: true, maxRetries: 5 });
		}
	}
}

/** Returns the answer of the session's model to the message about its ended runs. */
function acknowledgementOf(results: string): string {
	return `I have read it: ${results}.`;
}

/** Types a prompt or a command, and sends it. */
async function enter(tui: Tui, text: string): Promise<void> {
	await tui.type(text);
	await tui.waitFor((screen) => screen.includes(text));
	await tui.press("Enter");
}

/** Quits pi, and proves that it has left nothing; `look` sees its terminal at that time. */
async function quit(tui: Tui, look: () => Promise<void> | void = () => {}): Promise<void> {
	await tui.press("C-d");
	const code = await tui.ended();
	if (code !== 0) throw new Error(`pi ended with ${code}:\n${await tui.screen()}`);
	await look();
	await tui.close();
}
