/** The packages as users install them. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { findNode } from "../../scripts/lib/node-for-pi.mjs";
import { setupDir } from "../../scripts/lib/places.mjs";
import {
	delegate,
	lastEnd,
	newestPi,
	onStage,
	PiProcess,
	packageDir,
	piVersions,
	runJson,
	runOf,
	startTui,
	textOf,
	type World,
} from "../support/pi.ts";
import { type Packed, platform, Registry } from "./registry.ts";

const name = "pi-subagent-native";
const shipped = join(packageDir, "__test__", "packages", "shipped.txt");

let registry: Registry;
let main: string;
/** The newest version in the registry. */
let published: string = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")).version;

before(async () => {
	registry = await Registry.start();
	main = registry.prepare(published);
	registry.publish(main);
});

after(() => registry?.stop());

function nodeOf(version: string): string {
	const node = findNode(version);
	assert.ok(node, `Node ${version} is not installed; run: npm run test:packages`);
	return node;
}

/**
 * Proves that the installed package works in this Node: the addon is found and runs a child, which the installed warden
 * guards.
 */
function works(project: string, node: string): void {
	const script = `
		const native = require("${name}");
		const { dirname } = require("node:path");
		const addon = require.resolve("${name}-${platform}", { paths: [dirname(require.resolve("${name}"))] });
		const child = [process.execPath, require.resolve("${name}/fake-pi/fake-pi.mjs")];
		const env = { FAKE_PI_SCENARIO: JSON.stringify([{ say: "From a package." }]) };
		const request = { agent: "explorer", task: "look", cwd: process.cwd(), agentDir: process.cwd(), piCommand: child, env };
		native.startRun(request).result().then(({ content, details }) => {
			console.log(JSON.stringify([content[0].text, details.results[0].supervision, dirname(addon)]));
		});`;
	const [words, supervision, folder] = JSON.parse(
		execFileSync(node, ["-e", script], { cwd: project, encoding: "utf8" }),
	) as string[];
	assert.match(words ?? "", /^From a package\./);
	assert.match(supervision ?? "", /^warden/);
	const warden = join(folder ?? "", "pi-subagent-warden");
	assert.equal(statSync(warden).mode & 0o111, 0o111, "the warden is executable");
	assert.equal(spawnSync(warden, ["--nothing"]).status, 125, "the warden rejects an unknown argument");
}

test("exactly these files are shipped", () => {
	const places = [main, ...readdirSync(join(main, "npm")).map((platform) => join(main, "npm", platform))];
	const lines = places.flatMap((place) => {
		const { name } = JSON.parse(readFileSync(join(place, "package.json"), "utf8")) as { name: string };
		return registry
			.packed(place)
			.files.map(({ path, mode }) => `${name} ${path}${mode & 0o111 ? " (executable)" : ""}`);
	});
	const found = `${lines.sort().join("\n")}\n`;
	if (process.env.UPDATE_SHIPPED) writeFileSync(shipped, found);
	assert.equal(found, readFileSync(shipped, "utf8"), "the shipped files have changed: set UPDATE_SHIPPED=1 to accept");
});

test("an installation is as small as docs/platforms.md says", () => {
	const page = readFileSync(join(packageDir, "docs", "platforms.md"), "utf8");
	const [, downloaded, onDisk] = /downloads at most (\d+) MB and takes at most (\d+) MB/.exec(page) ?? [];
	const packed = [main, join(main, "npm", platform)].map((place) => registry.packed(place));
	const sum = (of: (packed: Packed) => number) => packed.map(of).reduce((a, b) => a + b) / 1e6;
	const sizes = [sum(({ size }) => size), sum(({ unpackedSize }) => unpackedSize)];
	assert.ok(sizes[0] && sizes[0] <= Number(downloaded), `${sizes}`);
	assert.ok(sizes[1] && sizes[1] <= Number(onDisk), `${sizes}`);
});

describe("npm install", () => {
	for (const version of ["20", "22", "24"]) {
		for (const scripts of ["", "--ignore-scripts"]) {
			test(`on Node ${version} ${scripts}`, () => {
				const project = registry.project(`npm-${version}${scripts}`);
				registry.npm(project, "install", name, ...(scripts ? [scripts] : []));
				const installed = readdirSync(join(project, "node_modules")).filter((folder) => folder.startsWith(name));
				assert.deepEqual(
					installed.sort(),
					[name, `${name}-${platform}`],
					"only the package of this platform is installed",
				);
				works(project, nodeOf(version));
			});
		}
	}
});

describe("pnpm add", () => {
	for (const scripts of ["", "--ignore-scripts"]) {
		test(`on Node 20, 22 and 24 ${scripts}`, () => {
			const project = registry.project(`pnpm${scripts}`);
			const pnpm = join(setupDir, "pnpm-12.21.0", "node_modules", "@pnpm", "exe.linux-x64", "pnpm");
			const store = join(registry.root, `pnpm-store${scripts}`);
			const args = ["add", name, "--registry", registry.url, "--store-dir", store, ...(scripts ? [scripts] : [])];
			const env = { ...process.env, ...registry.env, XDG_CACHE_HOME: registry.root, XDG_STATE_HOME: registry.root };
			execFileSync(pnpm, args, { cwd: project, env, stdio: "pipe" });
			for (const version of ["20", "22", "24"]) works(project, nodeOf(version));
		});
	}
});

test("without its platform's package it names platform, libc and the command that helps, and the command helps", () => {
	const project = registry.project("missing");
	registry.npm(project, "install", name, "--omit=optional");
	assert.ok(
		!existsSync(join(project, "node_modules", `${name}-${platform}`)),
		"the package of the platform is not installed",
	);
	const stderr = spawnSync(nodeOf("24"), ["-e", `require("${name}")`], { cwd: project, encoding: "utf8" }).stderr;
	const line = stderr.split("\n").find((line) => line.startsWith("Error: ")) ?? stderr;
	const [, help = ""] = / Install it with `npm (install [^`]+)`\.$/.exec(line) ?? [];
	assert.equal(
		line.replace(/ Install it with.*/, "").replace(/Node [\d.]+/, "Node 24"),
		`Error: the native addon of ${name} could not be loaded (linux-x64, glibc, Node 24): ` +
			`its package ${name}-${platform} is not installed.`,
	);
	assert.doesNotMatch(stderr, /npm has a bug|package-lock/);
	registry.npm(project, ...help.split(" "));
	works(project, nodeOf("24"));
});

/** Runs a command of pi such as `install` in this world, and returns its output. */
async function command(world: World, ...args: string[]): Promise<string> {
	return await commandWith({}, world, ...args);
}

async function commandWith(env: Record<string, string>, world: World, ...args: string[]): Promise<string> {
	const { stdout, stderr } = await new PiProcess(world, args, { env }, "ignore").finished;
	return stdout + stderr;
}

/** Has a child of real pi answer, and returns the text of the tool's result. */
async function ask(world: World): Promise<string> {
	const { log } = await runJson(world, delegate({ agent: "explorer", task: "say from a package" }));
	return textOf(lastEnd(log));
}

/** Runs `work` with pi on this version of Node, instead of the version that set-up found. */
async function onNode(version: string, work: () => Promise<void>): Promise<void> {
	const before = process.env.PI_TEST_NODE;
	process.env.PI_TEST_NODE = nodeOf(version);
	try {
		await work();
	} finally {
		if (before === undefined) delete process.env.PI_TEST_NODE;
		else process.env.PI_TEST_NODE = before;
	}
}

for (const version of piVersions) {
	test(`pi ${version} installs it from npm, works with it, and updates it under a running pi`, async () => {
		const env = { ...registry.env, PI_OFFLINE: "" };
		await onStage({ version, load: "none", env }, async ({ world }) => {
			const answer = async () => {
				const { log } = await runJson(world, delegate({ agent: "explorer", task: "say from a package" }));
				assert.match(textOf(lastEnd(log)), /^from a package/, runOf(lastEnd(log)).error);
			};
			const installed = () => {
				const path = join(world.agentDir, "npm", "node_modules", name, "package.json");
				assert.ok(existsSync(path), "pi keeps npm packages below its directory");
				return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
			};
			await command(world, "install", `npm:${name}`);
			assert.equal(installed(), published);
			await answer();
			const tui = await startTui(world, { prompt: "Are you there?" });
			await tui.waitFor("Yes.");
			const before = published;
			const next = before.replace(/\d+$/, (patch) => `${Number(patch) + 1}`);
			registry.publish(registry.prepare(next));
			published = next;
			await command(world, "update", "--extensions");
			assert.equal(installed(), next);
			await tui.submitCommand("reload");
			const stale = `this pi still runs ${before}, while ${next} is installed; restart pi to use it`;
			await tui.waitFor((screen) => screen.includes("Reloaded") && screen.includes(stale));
			await tui.type(delegate({ agent: "explorer", task: "say still here" }));
			await tui.press("Enter");
			await tui.waitFor("The child says: still here");
			await tui.close();
			await answer();
			const again = await startTui(world, { prompt: "Are you there?" });
			await again.waitFor("Yes.");
			const changes = await again.screen();
			await again.submitCommand("reload");
			await again.waitFor("Reloaded");
			assert.doesNotMatch(await again.screen(), /restart pi/);
			// Of the two only the newest knows changelogs of packages.
			if (version === newestPi)
				assert.match(changes, new RegExp(`Extension Updates[^]*What version ${next} brings\\.`));
			await again.close();
		});
	});
}

for (const version of piVersions) {
	test(`pi ${version} on Node 22: without its platform's package it names the fix, and the fix helps`, async () => {
		const env = { ...registry.env, PI_OFFLINE: "", NPM_CONFIG_IGNORE_SCRIPTS: "true" };
		await onNode("22", async () => {
			await onStage({ version, load: "none", env }, async ({ world }) => {
				await commandWith({ NPM_CONFIG_OMIT: "optional" }, world, "install", `npm:${name}`);
				const answer = await ask(world);
				assert.match(
					answer,
					/could not be loaded \(linux-x64, glibc, Node 22\.[\d.]+\): its package pi-subagent-native-linux-x64-gnu is not installed\./,
				);
				const [, help = ""] =
					/with `pi (install npm:[\w-]+)`, with optional dependencies allowed\.$/.exec(answer) ?? [];
				await command(world, ...help.split(" "));
				assert.match(await ask(world), /^from a package/);
			});
		});
	});
}

test("an installation by pi from git names the command to run in one line", async () => {
	const clone = join(registry.root, "clone");
	execFileSync("git", ["clone", "-q", "--depth=1", `file://${packageDir}`, clone]);
	// A local repository stands in for one of GitHub's.
	const address = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: `url.file://${clone}.insteadOf` };
	const source = "https://github.com/example/pi-subagent-native";
	const env = { ...registry.env, ...address, GIT_CONFIG_VALUE_0: source, PI_OFFLINE: "" };
	await onStage({ load: "none", env }, async ({ world }) => {
		await command(world, "install", `git:${source.slice("https://".length)}`);
		const { log } = await runJson(world, delegate({ agent: "explorer", task: "say never" }));
		const folder = join(world.agentDir, "git", "github.com", "example", name);
		const text = textOf(lastEnd(log));
		assert.match(text, /could not be loaded \(linux-x64, glibc, Node [\d.]+\): it has not been built\. Run/);
		assert.ok(text.endsWith(`Run \`npm run setup\` in ${folder}.`), text);
	});
});
