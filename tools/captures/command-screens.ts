/** The answers and questions that the pages about them show: consent, waiting changes, a diff, and some commands. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

import { backgroundStage } from "../../__test__/support/background.ts";
import {
	call,
	delegate,
	type ModelRequest,
	newestPi,
	piCommand,
	say,
	startTui,
	type Tui,
	usage,
} from "../../__test__/support/pi.ts";
import type { Variant } from "./scene.ts";
import type { Part, Story, Take } from "./story.ts";

const task = "Add a retry to fetch.js.";
const before = "export async function load(url) {\n\treturn await fetch(url);\n}\n";
const after = before.replace("await fetch(url)", "await retry(() => fetch(url))");

const parts: Record<string, Part> = {
	waits: {
		shows: "A new session names the branch that waits, and /subagents list has its run.",
		from: /^ \S* ?1 branch waits/,
	},
	diff: {
		shows: "The changes of a run in the panel, with the keys that apply and discard them.",
		from: /^ Changes of/,
	},
	info: {
		shows: "The end of the answer to /subagents info: the changes, the state, the task and the cost.",
		from: /^ +changes +not applied/,
	},
	agents: {
		shows: "The answer to /subagents agents: a line for each agent, and the problems at the end.",
		from: /^ Sub-agents: /,
	},
	doctor: {
		shows: "The end of the answer to /subagents doctor: rg and fd are missing.",
		from: /`rg` is neither/,
	},
	consent: {
		shows: "The question before a project's agent runs: its file, its commands and the beginning of its prompt.",
		from: /^╭/,
		to: /^╰/,
	},
};

export const commandScreens: Story = {
	name: "screens",
	parts,
	times: { "Add a retry": { live: "3s", ended: "4.1s" }, worker: { live: "3s", ended: "4.1s" } },
	async play({ theme, columns }: Variant, rows: number, take: Take): Promise<void> {
		const root = realpathSync(mkdtempSync(join(tmpdir(), "psn-")));
		const cwd = join(root, "home", "service");
		const settings = { theme, sessionDir: "~/.pi/sessions" };
		const env = { PATH: withoutSearchPrograms(join(root, "bin")) };
		const stage = await backgroundStage({ settings, root, cwd, env, children: { Add: add } });
		const { world } = stage;
		const open = async (options: { args?: string[]; prompt?: string } = {}) => {
			const tui = await startTui(world, { columns, rows, ...options });
			await tui.waitFor("scripted-model");
			return tui;
		};
		try {
			mkdirSync(join(world.home, ".pi", "sessions"), { recursive: true });
			world.write("fetch.js", before);
			const identity = ["-c", "user.name=n", "-c", "user.email=n@localhost"];
			for (const args of [
				["init", "-q", "-b", "main"],
				["add", "-A"],
				[...identity, "commit", "-qm", "fetch: begin"],
			])
				execFileSync("git", args, { cwd, env: world.env });
			stage.configure({ allowWrite: true });
			const first = await open({ prompt: delegate({ agent: "worker", task }) });
			await first.waitFor(/on branch subagent\/\w{8}[\s\S]*The child says/);
			await first.press("C-d");
			await first.ended();
			await first.close();

			const tui = await open();
			await tui.waitFor(/1 branch waits/);
			await command(tui, "list");
			await tui.waitFor(/Runs: 1 ended[\s\S]*another\s+session/);
			await take("waits", tui);
			await tui.typeCommand("subagents");
			await tui.press("Escape", "Enter");
			await tui.waitFor("escape close");
			await tui.press("d");
			await tui.waitFor(/Changes of [\s\S]*\n a apply/);
			await take("diff", tui);
			await tui.press("q", "q");
			await tui.waitFor("scripted-model");
			await command(tui, "info last");
			await tui.waitFor(/--paths` shows/);
			await take("info", tui);
			await command(tui, "agents");
			await tui.waitFor(/agents NAME` shows/);
			await take("agents", tui);
			await command(tui, "doctor");
			await tui.waitFor(/^ \S \d+ (?:error|warning)/m);
			await take("doctor", tui);
			world.write(
				".pi/agents/migrator.md",
				"---\nname: migrator\ndescription: Changes the schema\ntools: read, write, bash\nsetup: npm ci\ncheck: npm test -- schema\n---\n" +
					"You change the schema of the database, one migration at a time.\n" +
					Array.from(
						{ length: 40 },
						(_, index) => `Rule ${index + 1}: never edit migration ${index + 1}, which has run.\n`,
					).join(""),
			);
			await tui.type(delegate({ agent: "migrator", task: "Add a column for the time zone." }));
			await tui.press("Enter");
			await tui.waitFor(/alt\+a answers/);
			await tui.press("M-a");
			await tui.waitFor(/→ No/);
			await take("consent", tui);
			await tui.close();
		} finally {
			await stage.close().finally(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
		}
	},
};

/** Makes a directory with all programs of `PATH` except `rg` and `fd`, so that `doctor` shows the same on every machine. */
function withoutSearchPrograms(folder: string): string {
	mkdirSync(folder, { recursive: true });
	const own = dirname(piCommand(newestPi)[0]);
	for (const from of [own, ...(process.env.PATH ?? "").split(delimiter)]) {
		for (const name of existsSync(from) ? readdirSync(from) : []) {
			const link = join(folder, name);
			if (!["rg", "fd", "fdfind"].includes(name) && !existsSync(link)) symlinkSync(join(from, name), link);
		}
	}
	return folder;
}

/** Plays the worker: it changes one file. */
function add({ toolAnswers }: ModelRequest) {
	if (toolAnswers.length > 0) return [usage({ input: 2_200, output: 70 }), say("`load` tries again.")];
	return [usage({ input: 1_400, output: 60 }), call("write", { path: "fetch.js", content: after })];
}

/** Types a subcommand, and sends it. */
async function command(tui: Tui, line: string): Promise<void> {
	await tui.typeCommand("subagents");
	await tui.type(` ${line}`);
	await tui.waitFor(`/subagents ${line}`);
	await tui.press("Escape", "Enter");
}
