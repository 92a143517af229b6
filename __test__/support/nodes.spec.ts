/**
 * The snippets of `docs/api.md`, `docs/workflows.md` and `index.d.ts` and the examples, as a user compiles them with `tsc --strict`, and run
 * on every supported Node as ES modules and as CommonJS. With `BUN_PROGRAM` they run in Bun, too.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, test } from "node:test";

import { findNode, nodesOfTests } from "../../scripts/lib/node-for-pi.mjs";
import { packageProgram } from "../../scripts/lib/programs.mjs";
import { blocks, examples, printedBySnippets, project, servesPage } from "./page-programs.ts";
import { packageDir as root } from "./versions.ts";

const limitMs = 120_000;

/** The number of programs at the same time. Each of them waits most of the time for a child. */
const programsAtOnce = 4;

const bun = process.env.BUN_PROGRAM;

const runtimes: [name: string, program: string | undefined][] = nodesOfTests().map((version) => [
	`Node ${version}`,
	findNode(version),
]);
if (bun) runtimes.push(["Bun", bun]);

/** The formats of modules, and the endings of their files. */
const formats = { CommonJS: "cjs", "ES modules": "mjs" };

interface Program {
	name: string;
	text: string;
	prints: RegExp;
	steps?: string;
	words?: string[];
}

const snippets = ["api", "workflows"].flatMap((page) =>
	blocks(`docs/${page}.md`)
		.filter(({ language }) => language === "ts")
		.map(
			({ text }, at): Program => ({
				name: `${page}-${at}`,
				text,
				prints: printedBySnippets[`docs/${page}.md`]?.[at] ?? /^$/,
			}),
		),
);

/** The output of the examples in the comments of `index.d.ts`, in order. */
const printedByComments = [
	["run", /^Done\.\n$/],
	["parallel", /^[01] true\n[01] true\n2\n$/],
	["chain", /^true\n$/],
	["define-agent", /^0\.\d+\n$/],
	["workflow", /^Done\.\n$/],
	["open-session", /^(\w+) true Done\.\n\1 true Done\.\n$/],
	["sanitize", /^token: \[\w.*\]\n$/],
	["truncate", /^true [\s\S]*word/],
	["collect", /^Done\. 0\.\d+\n$/],
] as const;

const inComments = [
	...readFileSync(join(root, "index.d.ts"), "utf8").matchAll(/^([\t ]*\* )```ts\n(.*?)^\1```$/gms),
].map(([, margin = "", text = ""], at): Program => {
	const [name, prints] = printedByComments[at] ?? [`more-${at}`, /^$/];
	return { name, prints, text: text.replaceAll(margin, "").replaceAll(margin.trimEnd(), "") };
});

const files = readdirSync(join(root, "examples/api")).map((name) => name.replace(/\.ts$/, ""));
const ofFiles = files.map(
	(name): Program => ({
		name,
		text: readFileSync(join(root, "examples/api", `${name}.ts`), "utf8"),
		prints: /^http:/,
		...examples[name],
	}),
);

const programs = [...snippets, ...inComments, ...ofFiles];

/** The same program without `await` at its top level, which CommonJS does not have. */
function asCommonJs(text: string): string {
	const imports = text.match(/^import [^;]*;\n/gm)?.join("") ?? "";
	return `${imports}\nvoid (async () => {\n${text.replace(/^import [^;]*;\n/gm, "")}\n})();\n`;
}

const folder = mkdtempSync(join(tmpdir(), "psn-nodes-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const { place, env } = project(folder);
const scripts = join(place, "scripts");
mkdirSync(scripts);
mkdirSync(join(folder, "bin"));
// The example of `collect` starts `pi` by its name.
writeFileSync(
	join(folder, "bin/pi"),
	`#!/bin/sh\nexec '${process.execPath}' '${join(root, "fake-pi/fake-pi.mjs")}' "$@"\n`,
);
chmodSync(join(folder, "bin/pi"), 0o755);
for (const { name, text } of programs) {
	writeFileSync(join(place, `${name}.mts`), `${text}\nexport {};\n`);
	writeFileSync(join(place, `${name}.cts`), asCommonJs(text));
}

/** Compiles all programs with the options of a user, without any check of the package's own types left out. */
function compile(options: Record<string, unknown>): void {
	const config = {
		compilerOptions: {
			strict: true,
			target: "es2023",
			types: ["node"],
			typeRoots: [join(root, "node_modules/@types")],
			...options,
		},
		files: programs.flatMap(({ name }) => [`${name}.mts`, `${name}.cts`]),
	};
	writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
	const [program, ...words] = packageProgram("typescript", "tsc");
	const { status, stdout } = spawnSync(program, [...words, "-p", place], { encoding: "utf8", timeout: limitMs });
	assert.equal(status, 0, stdout);
}

describe("the snippets and examples", { skip: process.platform === "win32" && "the program `pi` is a script" }, () => {
	test("are found", () => {
		assert.deepEqual([snippets.length, inComments.length, ofFiles.length], [12, 9, 6]);
	});

	for (const [module, moduleResolution] of [
		["node16", "node16"],
		["preserve", "bundler"],
		["nodenext", "nodenext"],
	]) {
		test(`compile with tsc --strict and the module resolution ${moduleResolution}`, () => {
			// The last one writes the programs that run.
			compile({ module, moduleResolution, ...(module === "nodenext" ? { outDir: "out" } : { noEmit: true }) });
		});
	}

	for (const [runtime, program] of runtimes) {
		for (const [format, ending] of Object.entries(formats)) {
			test(`run on ${runtime} as ${format}`, async () => {
				assert.ok(program, `${runtime} is not installed; run: npm test`);
				const waiting = programs.values();
				const worker = async () => {
					for (const one of waiting) await plays(program, one, ending);
				};
				await Promise.all(Array.from({ length: programsAtOnce }, worker));
			});
		}
	}
});

async function plays(runtime: string, { name, prints, steps = "answers", words = [] }: Program, ending: string) {
	const PATH = [join(folder, "bin"), process.env.PATH].join(delimiter);
	// Workflows of different pages have the same ids, which are unique in a directory.
	const cwd = name.startsWith("workflows") ? scripts : place;
	const options = { cwd, env: { ...env, PATH, FAKE_PI_SCENARIO: steps } };
	const file = join(place, `out/${name}.${ending}`);
	if (name === "web-page") {
		options.env.FAKE_PI_SCENARIO = "streams";
		await servesPage(runtime, [file], options);
		return;
	}
	const child = spawn(runtime, [file, ...words], { ...options, stdio: ["ignore", "pipe", "pipe"], timeout: limitMs });
	let [stdout, stderr] = ["", ""];
	child.stdout.on("data", (text) => {
		stdout += text;
	});
	child.stderr.on("data", (text) => {
		stderr += text;
	});
	const status = await new Promise((resolve) => child.once("close", resolve));
	assert.deepEqual([status, stderr], [0, ""], `${file}\n${stdout}`);
	assert.match(stdout, prints, file);
}
