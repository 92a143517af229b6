/**
 * The commands on the pages: every command names something that exists. Commands that need no network, no hour and no
 * settings of the user run here or in the named test, and so does every program. Configurations, agent files and lines
 * for `/subagents` are read by `tests/documents.rs`.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { packageProgram } from "../../scripts/lib/programs.mjs";
import { blocks, examples, printedBySnippets, project, servesPage } from "./page-programs.ts";
import { newestPi, piCommand, packageDir as root } from "./versions.ts";

const docs = readdirSync(join(root, "docs"), { encoding: "utf8", recursive: true }).filter((name) =>
	name.endsWith(".md"),
);
const pages = [
	"README.md",
	"README.zh.md",
	"CONTRIBUTING.md",
	"ARCHITECTURE.md",
	"fake-pi/README.md",
	...docs.map((name) => `docs/${name}`),
];
const limitMs = 120_000;

const folder = mkdtempSync(join(tmpdir(), "psn-documents-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The commands of a page, in blocks of a shell and between the lines. */
function commands(page: string): string[] {
	const prose = readFileSync(join(root, page), "utf8").replace(/^(`{3,}).*?^\1$/gms, "");
	// Code may continue in the next line, and is between double backquotes if it contains one.
	const inline = [...prose.matchAll(/``.*?``|`([^`]+)`/gs)].map(([, code = ""]) => code.replaceAll("\n", " "));
	const shell = blocks(page).filter(({ language }) => language === "sh");
	const lines = shell.flatMap(({ text }) => text.replaceAll("\\\n", "").split("\n"));
	const whole = lines.map((line) => line.replace(/ {2,}#.*/, "").trim()).filter(Boolean);
	return [
		...whole,
		...inline.filter((code) => /^(npm|npx|pi|cargo|rustup|node|git|ssh|srun|podman|kubectl) \S/.test(code)),
	];
}

const programs = pages.flatMap((page) =>
	blocks(page)
		.filter(({ language }) => ["ts", "js"].includes(language))
		.map(({ language, text }, index) => ({ page, text, name: `${page.replace(/\W+/g, "-")}-${index}.${language}` })),
);

const { place, env, installed } = project(folder);
const options = { cwd: place, env, encoding: "utf8", timeout: limitMs } as const;

/** A pi in which the package is installed answers without a model. */
const inPi = (...words: string[]) => {
	const [node, pi] = piCommand(newestPi);
	return spawnSync(node, [pi, ...words], options);
};

/**
 * A function that runs a command of the pages here. Instead of it, a command may have the file that runs it, or the
 * reason why no test does.
 */
type Run = () => { status: number | null; stderr: string; stdout: string };
const known: [command: RegExp, run: Run | { file: string } | string][] = [
	[/^npm install \/path\/to\/the\/clone$/, () => installed as never],
	[
		/^pi install \/path\/to\/the\/clone$/,
		() => {
			const added = inPi("install", root);
			assert.match(readFileSync(join(folder, "agent/settings.json"), "utf8"), /"packages"/);
			return added;
		},
	],
	[/^pi -e \/path\/to\/the\/clone$/, () => printed(inPi("-e", root, "-p", "/subagents agents"), /^✓ explorer/m)],
	[/^pi -p "\/subagents list all"$/, () => printed(inPi("-e", root, "-p", "/subagents list all"), /^Runs: none/)],
	[/^echo .* \| FAKE_PI_SCENARIO=calls node fake-pi/, () => shell('echo "What is it?" | FAKE_PI_SCENARIO=calls')],
	[/^npm run setup$/, { file: "__test__/support/setup.spec.ts" }],
	[/^(pi install npm:|npm install )pi-subagent-native$/, { file: "__test__/packages/install.spec.ts" }],
	[/^pi (-p|--mode json)$/, { file: "__test__/extension/pi-background-headless.spec.ts" }],
	[/^pi --continue$/, { file: "__test__/extension/pi-day.spec.ts" }],
	[/^PI_SUBAGENT_LOG=debug pi$/, { file: "__test__/extension/pi-log.spec.ts" }],
	[/^pi --session PATH$/, { file: "__test__/extension/pi-delegation.spec.ts" }],
	[/^npm run demo( -- --(tui|live))?$/, { file: "__test__/extension/pi-demo.spec.ts" }],
	[/^npm run faults( -- abort)?$/, { file: "__test__/support/faults.spec.ts" }],
	[/^npm run captures( -- [\w-]+)?$/, { file: "__test__/extension/captures-stories.spec.ts" }],
	[/^npm run bench( -- --draw)?$/, { file: "__test__/support/figures.spec.ts" }],
	[/^npm run (packages|artifacts)$/, { file: "__test__/support/packages.spec.ts" }],
	[/^npm run test:kill/, { file: "__test__/edge/kill-loop.spec.ts" }],
	[/^npm run (bench -- --only|build|build:extension)\b/, "`npm test` builds, and runs every section in its quick form"],
	[/^npm run lint:workflows$/, "the hosted CI; the program is had from PyPI"],
	[
		/^npm run (test:packages|test:platforms|test:engines|cross|bench:redaction)\b/,
		"is a test, or measures, of minutes and with more than npm",
	],
	[/^npm test\b/, "this test is part of it"],
	[/^(npx (tsc|biome)|cargo (fmt|check))\b/, "`npm test` does the same"],
	[
		/^(mkdir greeter|echo '|git add -A && git commit|pi$|git branch -D)/,
		{ file: "__test__/extension/pi-tutorial.spec.ts" },
	],
	[/^pi -p "\/subagents doctor"$/, () => printed(inPi("-e", root, "-p", "/subagents doctor"), /^✓ child command/m)],
	[/^pi (remove npm:pi-subagent-native|-p "Let )/, { file: "__test__/extension/pi-how-to.spec.ts" }],
	[/^(rm -rf ~|find |git branch --list )/, { file: "__test__/extension/pi-how-to.spec.ts" }],
	[/^git (log|status|init|diff)$/, { file: "crates/warden/tests/inputs/works.sh" }],
	[/^(git fetch|npm install)$/, { file: "__test__/extension/pi-tools-sandbox.spec.ts" }],
	[/^git fetch subagent-trees\/RUN\.kept-1\/PROJECT /, { file: "tests/isolation.rs" }],
	[/^git fsck --strict$/, "named for comparison"],
	[/^npm version \S+ --no-git-tag-version$/, { file: "__test__/support/packages.spec.ts" }],
	[/^npm publish$/, { file: "__test__/packages/install.spec.ts" }],
	[/^cargo (nextest|test|build)\b/, "part of `npm test`"],
	[/^(cargo (mutants|insta|install|\+nightly)|rustup)\b/, "installs or needs a tool of its own"],
	[
		/^(ssh|srun|squeue|scancel|scontrol|sinfo|bwrap|podman|kubectl)\b/,
		"npm run test:engines, where the engine is there",
	],
	[/^node (tools\/lock\.mjs|__test__\/support\/record-streams\.ts)/, "writes to the clone"],
];

/** Checks the output of a command. */
function printed(ran: ReturnType<Run>, words: RegExp) {
	assert.match(ran.stdout, words);
	return ran;
}

function shell(start: string) {
	return spawnSync("sh", ["-c", `${start} "$0" fake-pi/fake-pi.mjs --mode json -p`, process.execPath], options);
}

test("every command of a page runs here, or has a known reason not to", () => {
	const [run, used] = [new Set<unknown>(), new Set<unknown>()];
	for (const page of pages) {
		for (const command of commands(page)) {
			const [, how] = known.find(([pattern]) => pattern.test(command)) ?? [];
			assert.ok(how, `${page}: \`${command}\` is not run: add it to the list with a way to run it, or a reason not to`);
			used.add(how);
			if (typeof how !== "function" || run.has(how)) continue;
			run.add(how);
			const { status, stderr, stdout } = how();
			assert.equal(status, 0, `${page}: ${command}\n${stdout}\n${stderr}`);
		}
	}
	for (const [pattern, how] of known) {
		assert.ok(used.has(how), `no page has a command like ${pattern}`);
		if (typeof how === "object") assert.ok(existsSync(join(root, how.file)), how.file);
	}
});

test("every script, file and test that a command of a page names exists", () => {
	const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	const { stderr } = spawnSync(process.execPath, [join(root, "tools/bench.mjs"), "--only", "none"], options);
	const sections = new Set(/Sections: (\S+)/.exec(stderr)?.[1]?.split(","));
	for (const page of pages) {
		for (const command of commands(page)) {
			const [, script] = /^npm (?:run (?:-s )?)?([\w:-]+)/.exec(command) ?? [];
			if (script && !["install", "publish", "version"].includes(script))
				assert.ok(scripts[script], `${page}: \`${command}\` names no script of package.json`);
			const [, file] = /\bnode ([\w/.-]+)/.exec(command) ?? [];
			const [, ...named] = /^cargo .*?--test[= ](\w+)(?: (\w+)::)?/.exec(command) ?? [];
			const [, crate] = /^cargo .*?-p ([\w-]+)/.exec(command) ?? [];
			const tests = named.filter(Boolean).map((name) => `${crate ? `crates/${crate}/` : ""}tests/${name}.rs`);
			const [, folder] = /^cargo mutants -f '([\w/]+)\/\*\*'/.exec(command) ?? [];
			const words = /^npm run bench -- --only (\S+)/.exec(command)?.[1]?.split(",") ?? [];
			for (const path of [file, folder, ...tests]) {
				if (path) assert.ok(existsSync(join(root, path)), `${page}: \`${command}\` names ${path}`);
			}
			for (const word of words)
				assert.ok(sections.has(word), `${page}: \`${command}\` names no section of the benchmarks`);
		}
	}
});

test("every program of a page is checked by tsc, against the package as it is installed", () => {
	for (const { name, text } of programs) writeFileSync(join(place, name), `${text}\nexport {};\n`);
	const config = {
		extends: join(root, "tsconfig.json"),
		compilerOptions: { typeRoots: [join(root, "node_modules/@types")], noUnusedLocals: false },
		files: programs.map(({ name }) => name),
		include: [],
	};
	writeFileSync(join(place, "tsconfig.json"), JSON.stringify(config));
	symlinkSync(join(root, "node_modules/@earendil-works"), join(place, "node_modules/@earendil-works"));
	const [program, ...words] = packageProgram("typescript", "tsc");
	const checked = spawnSync(program, [...words, "-p", place], options);
	assert.equal(checked.status, 0, checked.stdout);
	assert.ok(programs.length >= 4, `only ${programs.length} programs were found`);
});

for (const { page, name } of programs) {
	test(`the program of ${page} runs: ${name}`, (t) => {
		// It may use the agents of its page.
		const agents = join(folder, "agent/agents");
		mkdirSync(agents);
		t.after(() => rmSync(agents, { recursive: true }));
		const files = blocks(page).filter(({ language }) => language === "markdown");
		for (const [index, { text }] of files.entries()) writeFileSync(join(agents, `${index}.md`), text);
		const words = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", name];
		const ran = spawnSync(process.execPath, words, options);
		assert.equal(ran.status, 0, `${ran.stdout}\n${ran.stderr}`);
		assert.equal(ran.stderr, "");
		const prints = printedBySnippets[page];
		if (prints) assert.match(ran.stdout, prints[Number(/\d+/.exec(name)?.[0])] ?? /^$/);
	});
}

const [runExample = "", refusalExample = ""] = blocks("docs/results.md").map(({ text }) => text);

/** Plays the run of `docs/results.md` here, and returns its details. */
function detailsOf(agent: string): Record<string, unknown> {
	const steps = [
		{ stream: "I look." },
		{ call: "read", args: { path: "src/config.ts" }, result: "export const depth = 1;" },
		{ say: "In src/config.ts, with API_KEY=Zk3vQ9xT1mLp7Rw2." },
	];
	const program = `
		import { startRun } from "pi-subagent-native/extension";
		const task = "Where is the configuration loaded?";
		const run = startRun({ agent: "${agent}", task, cwd: process.cwd(), sessionId: "s1", parentSessionFile: "parent.jsonl" });
		console.log(JSON.stringify((await run.result()).details));`;
	const ran = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
		...options,
		env: { ...env, FAKE_PI_SCENARIO: JSON.stringify(steps) },
	});
	assert.equal(ran.status, 0, ran.stderr);
	return JSON.parse(ran.stdout);
}

/** Result fields that differ on each machine and each time: only their type is compared. */
const varying = /^(runId|sessionFile|\w+Ms|peakRssBytes|processes|enforced|mechanism|supervision)$/;

/** A result with types in the place of what varies. */
function settled(value: unknown, key = ""): unknown {
	if (varying.test(key)) return Array.isArray(value) ? value.map((one) => typeof one)[0] : typeof value;
	if (Array.isArray(value)) return value.map((one) => settled(one));
	if (typeof value !== "object" || value === null) return value;
	// The reason why a machine has a weaker sandbox.
	const entries = Object.entries(value).filter(([key]) => key !== "reason");
	return Object.fromEntries(entries.map(([key, one]) => [key, settled(one, key)]));
}

test("the results on the page of results match such calls", () => {
	assert.deepEqual(settled(JSON.parse(runExample)), settled(detailsOf("explorer")));
	assert.deepEqual(JSON.parse(refusalExample), detailsOf("nobody"));
});

test("the page of results has a row for every field, absent or not, and each literal", () => {
	const page = readFileSync(join(root, "docs/results.md"), "utf8");
	const types = readFileSync(join(root, "native.d.ts"), "utf8");
	const fields = (name: string) => {
		const [, body = ""] = new RegExp(`^export interface ${name} \\{\n(.*?)^\\}`, "ms").exec(types) ?? [];
		return [...body.matchAll(/^ {2}(\w+)(\??): (.*)$/gm)].map(([, key = "", maybe, type = ""]) => ({
			key,
			maybe,
			type,
		}));
	};
	const rows = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([^|]+) \| (.*) \|$/gm)].flatMap(
		([, keys = "", kinds = "", what = ""]) =>
			[...keys.matchAll(/`(\w+)`/g)].map(([, key], index) => ({ key, kind: kinds.split(", ")[index] ?? kinds, what })),
	);
	// Kind and version stand in all that is written today.
	const always = ["kind", "version"];
	for (const { key, maybe, type } of [...fields("RunDetails"), ...fields("SingleResult")]) {
		const found = rows.filter((row) => row.key === key);
		assert.ok(found.length > 0, `docs/results.md has no row for ${key}`);
		const isOptional = maybe === "?" && !always.includes(key);
		assert.ok(
			found.some(({ kind }) => kind.endsWith("?") === isOptional),
			`docs/results.md states wrongly if ${key} may be absent`,
		);
		for (const [, word] of type.matchAll(/"([^"]+)"/g))
			assert.ok(
				found.some(({ what }) => what.includes(`\`${word}\``)),
				`docs/results.md does not name the value ${word} of ${key}`,
			);
	}
	for (const name of ["CheckReport", "IsolationReport", "SandboxReport", "Resources", "RedactedValues", "RunUsage"])
		for (const { key, maybe } of fields(name))
			assert.match(page, new RegExp(`\`(\\{ .*)?${key}${maybe ? "\\?" : "(?!\\?)"}`), `${name}.${key}`);
});

function started(name: string, steps = "answers") {
	const file = `example-${name}.ts`;
	writeFileSync(join(place, file), readFileSync(join(root, "examples/api", `${name}.ts`), "utf8"));
	return { file, env: { ...env, FAKE_PI_SCENARIO: steps } };
}

for (const [name, { steps, words = [], prints }] of Object.entries(examples)) {
	test(`the example runs: ${name}`, () => {
		const { file, env } = started(name, steps);
		const ran = spawnSync(process.execPath, [file, ...words], { ...options, env });
		assert.deepEqual([ran.status, ran.stderr], [0, ""]);
		assert.match(ran.stdout, prints);
	});
}

test("the example of an aborted run keeps its text", () => {
	const { file, env } = started("run-and-abort", "stalls");
	const abortAfter = (ms: string) => spawnSync(process.execPath, [file, ms], { ...options, env });
	// On a busy machine the child may need longer than the first limit for its text.
	let ran = abortAfter("1500");
	if (!ran.stdout.includes("so far")) ran = abortAfter("30000");
	assert.deepEqual([ran.status, ran.stderr], [0, ""]);
	assert.match(ran.stdout, /^aborted\naborted: .*timeout\nso far\n$/);
});

test("the example of a web page sends updates and the answer, and ends", { timeout: limitMs }, async () => {
	const { file, env } = started("web-page", "streams");
	await servesPage(process.execPath, [file], { cwd: place, env });
});

test("every example is run", () => {
	const files = readdirSync(join(root, "examples/api")).sort();
	assert.deepEqual(files, [...Object.keys(examples), "web-page"].map((name) => `${name}.ts`).sort());
});
