/** The programs of the pages and of `examples/api`, and a project in which the package is installed. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { npm } from "../../scripts/lib/programs.mjs";
import { packageDir as root } from "./versions.ts";

const limitMs = 120_000;

/** The fenced blocks of a page: language and text. */
export function blocks(page: string): { language: string; text: string }[] {
	const found = readFileSync(join(root, page), "utf8").matchAll(/^(`{3,})(\w*)\n(.*?)^\1$/gms);
	return [...found].map(([, , language = "", text = ""]) => ({ language, text }));
}

/** The output of the programs of a page, in order. A program without one prints nothing, because its child submits nothing. */
export const printedBySnippets: Record<string, readonly RegExp[]> = {
	"docs/api.md": [
		/^Done\. 0\.\d+$/m,
		/^Done\.completed$/m,
		/^src\/a\.ts completed$.*^true$/ms,
		/^true$/m,
		// Node and Bun print other quotes.
		/^Done\. \[ ['"]no_write['"] \]$/m,
		/^$/,
		/^\w+ true Done\.\n\w+ true Done\.$/m,
		/^Done\.$/m,
		/^false So far$/m,
	],
	"docs/how-to.md": [/^Done\.$/m],
	"docs/tutorial.md": [/^greet\.js: Done\.\nREADME\.md: Done\.$/m],
	"docs/workflows.md": [/^Done\.$/m, /^Done\.\nDone\.$/m],
};

/** The steps of a child that submits a result of the shape that its caller has asked for. */
const submits = JSON.stringify([{ submit: { files: ["a.rs"] } }]);

/** The examples of `examples/api`: the steps of the child, the arguments of the program, and its output. */
export const examples: Record<string, { steps?: string; words?: string[]; prints: RegExp }> = {
	"run-and-abort": { prints: /^completed\nDone\.\n$/ },
	"parallel-with-budgets": { prints: /^completed, \$0\.\d+: Find .*\ncompleted, \$0\.\d+: Find .*\n$/ },
	"background-and-continue": {
		steps: "repeats",
		prints: /^(\w+) true You said: Where .*\n\1 true You said: And/s,
	},
	"structured-result": { steps: submits, prints: /^a\.rs\n$/ },
	"recorded-file": {
		words: [join(root, "tests/inputs/streams/1.6.0/plain.jsonl")],
		prints: /^Hello there\n\d+ events, \$0\.\d+\n$/,
	},
};

/** Makes a project with the package installed as the README says, with fake pi in the place of pi. */
export function project(folder: string): {
	place: string;
	env: NodeJS.ProcessEnv;
	installed: ReturnType<typeof spawnSync>;
} {
	const place = join(folder, "project");
	for (const name of ["project/.git", "other", "agent", "home"]) mkdirSync(join(folder, name), { recursive: true });
	writeFileSync(join(place, "package.json"), '{ "type": "module" }');
	const standIn = { piCommand: [process.execPath, join(root, "fake-pi/fake-pi.mjs")] };
	writeFileSync(join(folder, "agent/subagents.json"), JSON.stringify({ subagents: standIn }));
	const env: NodeJS.ProcessEnv = {
		...process.env,
		HOME: join(folder, "home"),
		PI_CODING_AGENT_DIR: join(folder, "agent"),
	};
	// Else a program that is a test reports to the runner of this file, and prints nothing to read.
	delete env.NODE_TEST_CONTEXT;
	const [program, ...first] = npm();
	const words = [...first, "install", root, "--offline", "--no-audit", "--no-fund"];
	const installed = spawnSync(program, words, { cwd: place, env, encoding: "utf8", timeout: limitMs });
	symlinkSync(join(root, "fake-pi"), join(place, "fake-pi"));
	return { place, env, installed };
}

/** Starts the example of a web page, and reads from it what a browser would. */
export async function servesPage(
	program: string,
	words: string[],
	options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<void> {
	const child = spawn(program, words, { ...options, stdio: ["ignore", "pipe", "inherit"] });
	try {
		const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
		const url = await new Promise<string>((resolve, reject) => {
			child.stdout.once("data", (text) => resolve(String(text).trim()));
			child.once("exit", () => reject(new Error("the example ended before it printed its address")));
		});
		assert.match(await (await fetch(url)).text(), /EventSource/);
		const events = await (await fetch(`${url}events`)).text();
		assert.match(events, /"state":"running"/);
		const said = [...events.matchAll(/"type":"text".*?"text":"(.*?)"/g)].map(([, text]) => text).join("");
		assert.match(said, /^One word after the other/);
		assert.match(events, /"type":"done","state":"ended"/);
		assert.equal(await ended, 0);
	} finally {
		child.kill();
	}
}
