import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { after, before, test } from "node:test";

import { bundle, bundleFiles } from "../../scripts/lib/bundle.mjs";
import { withOwnMessage } from "../../scripts/lib/loader.mjs";
import { checkFilledPackages, fillPlatformPackages } from "../../scripts/lib/packages.mjs";
import { npm } from "../../scripts/lib/programs.mjs";
import { wardenName } from "../../scripts/lib/warden.mjs";
import { versionPatterns } from "../../tools/lib/version.mjs";
import { packageDir } from "./versions.ts";

const platform = "linux-x64-gnu";
const addonName = `pi-subagent-native.${platform}.node`;

let folder: string;

before(() => {
	folder = mkdtempSync(join(tmpdir(), "psn-packages-"));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Copies the platform packages as they are committed, and makes the files of a build service, which have lost their
 * modes.
 */
function scene(name: string): { packages: string; artifacts: string } {
	const packages = join(folder, name, "npm");
	const artifacts = join(folder, name, "artifacts");
	cpSync(join(packageDir, "npm"), packages, {
		recursive: true,
		filter: (path) => !path.endsWith(".node") && !path.endsWith(wardenName),
	});
	const built = join(artifacts, "from-linux", platform);
	mkdirSync(built, { recursive: true });
	writeFileSync(join(built, addonName), "addon");
	writeFileSync(join(built, wardenName), "#!/bin/sh\necho warden\n", { mode: 0o644 });
	return { packages, artifacts };
}

/** Runs npm without a network, and returns its output. */
function runNpm(cwd: string, ...args: string[]): string {
	const [program, ...first] = npm();
	const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
	return execFileSync(program, [...first, ...args, ...options], {
		cwd,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "pipe"],
		timeout: 300_000,
	});
}

test("an installed platform package has a warden that runs next to its addon", () => {
	const { packages, artifacts } = scene("whole");
	cpSync(join(artifacts, "from-linux", platform, addonName), join(packages, platform, addonName));
	fillPlatformPackages(artifacts, packages);
	checkFilledPackages(packages);

	const home = join(folder, "whole", "home");
	mkdirSync(home);
	writeFileSync(join(home, "package.json"), "{}");
	runNpm(join(packages, platform), "pack", "--pack-destination", home);
	const tarball = readdirSync(home).find((name) => name.endsWith(".tgz")) ?? "";
	runNpm(home, "install", "--force", join(home, tarball));

	const installed = join(home, "node_modules", `pi-subagent-native-${platform}`);
	assert.ok(existsSync(join(installed, addonName)));
	assert.equal(statSync(join(installed, wardenName)).mode & 0o777, 0o755);
	assert.equal(execFileSync(join(installed, wardenName), { encoding: "utf8" }), "warden\n");
});

test("a build without its warden is not packaged", () => {
	const { packages, artifacts } = scene("half");
	rmSync(join(artifacts, "from-linux", platform, wardenName));
	assert.throws(() => fillPlatformPackages(artifacts, packages), /no warden for linux-x64-gnu/);
});

test("a package with a missing or broken warden is not published", () => {
	const { packages } = scene("bad");
	checkFilledPackages(packages);
	writeFileSync(join(packages, platform, addonName), "addon");
	assert.throws(() => checkFilledPackages(packages), /without a warden: linux-x64-gnu/);
	writeFileSync(join(packages, platform, wardenName), "warden", { mode: 0o644 });
	assert.throws(() => checkFilledPackages(packages), /without a warden: linux-x64-gnu/);
	chmodSync(join(packages, platform, wardenName), 0o755);
	checkFilledPackages(packages);
});

test("nothing is released while a platform lacks its addon", () => {
	const { packages } = scene("few");
	writeFileSync(join(packages, platform, addonName), "addon");
	assert.throws(
		() => checkFilledPackages(packages, true),
		/without an addon: darwin-arm64, .*linux-x64-musl, win32-x64-msvc/,
	);
});

test("the package of all platforms contains neither an addon nor a warden", () => {
	const [{ files }] = JSON.parse(runNpm(packageDir, "pack", "--dry-run", "--json"));
	const names = files.map(({ path }: { path: string }) => path);
	// The source map names the sources.
	for (const name of ["native.js", "extension/index.ts", ...bundleFiles]) assert.ok(names.includes(name), name);
	assert.deepEqual(
		names.filter((name: string) => name.endsWith(".node") || name.endsWith(wardenName)),
		[],
	);
	assert.deepEqual(
		names.sort(),
		[...shipped()].sort(),
		"the shipped files have changed: run UPDATE_SHIPPED=1 npm run test:packages",
	);
});

/** Returns the files that `npm run test:packages` found in the package of all platforms. */
function shipped(): Set<string> {
	const lines = readFileSync(join(packageDir, "__test__", "packages", "shipped.txt"), "utf8").split("\n");
	return new Set(lines.flatMap((line) => /^pi-subagent-native (\S+)/.exec(line)?.[1] ?? []));
}

test("every link and picture of a shipped page leads to a shipped file", () => {
	const files = shipped();
	const pages = [...files].filter((name) => name.endsWith(".md"));
	const dead = pages.flatMap((page) => {
		const prose = readFileSync(join(packageDir, page), "utf8").replace(/^(`{3,}).*?^\1`*$/gms, "");
		const links = [...prose.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? "");
		const paths = links.filter((link) => !/^([a-z]+:|#)/.test(link)).map((link) => link.replace(/#.*/, ""));
		return paths.filter((path) => !files.has(normalize(join(dirname(page), path)))).map((path) => `${page}: ${path}`);
	});
	assert.ok(pages.length > 20, `only ${pages.length} pages are shipped`);
	assert.deepEqual(dead, []);
});

/** Returns the loader's message in a process without an addon, after `change` made another system of it. */
function withoutAddon(name: string, change: string, files: Record<string, string> = {}): string {
	const place = join(folder, name);
	mkdirSync(place);
	cpSync(join(packageDir, "native.js"), join(place, "native.js"));
	for (const [file, text] of Object.entries(files)) writeFileSync(join(place, file), text);
	const program = `${change}; try { require("./native.js") } catch (error) { console.log(error.message) }`;
	return execFileSync(process.execPath, ["-e", program], { cwd: place, encoding: "utf8" }).trim();
}

const posing = (platform: string, arch: string) =>
	`Object.defineProperties(process, { platform: { value: "${platform}" }, arch: { value: "${arch}" } })`;

test("a program without the addon gets platform, libc and the fix in one line", () => {
	const start = "the native addon of pi-subagent-native could not be loaded";
	const node = `Node ${process.versions.node}`;
	const install = "Install it with `npm install --include=optional pi-subagent-native`.";
	const broken = { "pi-subagent-native.linux-arm64-gnu.node": "not a library" };
	const rows: [name: string, text: string, expected: RegExp | string][] = [
		[
			"a missing package",
			withoutAddon("missing", posing("linux", "arm64")),
			`${start} (linux-arm64, glibc, ${node}): its package pi-subagent-native-linux-arm64-gnu is not installed. ${install}`,
		],
		[
			"another system",
			withoutAddon("windows", posing("win32", "x64")),
			`${start} (win32-x64, ${node}): its package pi-subagent-native-win32-x64-msvc is not installed. ${install}`,
		],
		[
			"a platform without a package",
			withoutAddon("freebsd", posing("freebsd", "x64")),
			/: there is no package for this platform\. There are: darwin-arm64, .*, win32-x64-msvc\.$/,
		],
		[
			"an addon that does not load",
			withoutAddon("broken", posing("linux", "arm64"), broken),
			/\(linux-arm64, glibc, Node [\d.]+\): \S+linux-arm64-gnu\.node: .*\. Install it with `npm install/,
		],
		[
			"a clone",
			withoutAddon("clone", posing("linux", "x64"), { "Cargo.toml": "" }),
			`${start} (linux-x64, glibc, ${node}): it has not been built. Run \`npm run setup\` in ${join(folder, "clone")}.`,
		],
	];
	for (const [name, text, expected] of rows) {
		if (typeof expected === "string") assert.equal(text, expected, name);
		else assert.match(text, expected, name);
	}
});

test("the committed loader contains our message", () => {
	const loader = readFileSync(join(packageDir, "native.js"), "utf8");
	assert.equal(withOwnMessage(loader), loader, "the loader is not up to date: run npm run build");
	assert.throws(() => withOwnMessage("another loader"), /The end of napi's loader has changed/);
});

test("the newest version of the change log is the package's, in the form that pi reads", () => {
	const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
	const headings = readFileSync(join(packageDir, "CHANGELOG.md"), "utf8").match(/^## .*$/gm) ?? [];
	const versions = headings.map((heading) => /^## \[(\d+\.\d+\.\d+)\]$/.exec(heading)?.[1]);
	assert.equal(versions[0], version);
	assert.ok(!versions.includes(undefined), headings.join(", "));
});

/** Returns every version that a file of a clone gives, by file. */
function versionsIn(clone: string): Map<string, string[]> {
	const read = (file: string) => readFileSync(join(clone, file), "utf8");
	const json = (file: string) => JSON.parse(read(file));
	const lock = json("package-lock.json");
	const platforms = readdirSync(join(clone, "npm")).map((name) => join("npm", name, "package.json"));
	const found = new Map<string, string[]>([["package-lock.json", [lock.version, lock.packages[""].version]]]);
	for (const file of ["package.json", ...platforms]) found.set(file, [json(file).version]);
	for (const [file, pattern] of versionPatterns) found.set(file, read(file).match(new RegExp(pattern, "gm")) ?? []);
	for (const file of ["index.js", bundle])
		found.set(file, [/^\/\/ \S+ (\d+\.\d+\.\d+)[ .]/.exec(read(file))?.[1] ?? ""]);
	return found;
}

/** Fails unless every file gives this version. */
function assertVersion(clone: string, version: string): void {
	for (const [file, versions] of versionsIn(clone)) assert.deepEqual([...new Set(versions)], [version], file);
}

test("every file gives the version of package.json", () => {
	assertVersion(packageDir, JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")).version);
});

test("`npm version` changes every file that gives the version", () => {
	const clone = join(folder, "version");
	const sources = ["package-lock.json", "api", "extension", "extensions", "index.js", "npm", "scripts", "tools"];
	for (const name of ["package.json", ...sources, ...versionPatterns.keys()]) {
		cpSync(join(packageDir, name), join(clone, name), { recursive: true });
	}
	symlinkSync(join(packageDir, "node_modules"), join(clone, "node_modules"));
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@localhost", ...args], {
			cwd: clone,
			encoding: "utf8",
		});
	git("init", "-q");
	git("add", "package.json");
	git("commit", "-qm", "begin");
	const [program, ...first] = npm();
	execFileSync(program, [...first, "version", "9.8.7", "--no-git-tag-version"], { cwd: clone, stdio: "pipe" });
	assertVersion(clone, "9.8.7");
	assert.equal(git("diff", "--shortstat").trim(), "1 file changed, 1 insertion(+), 1 deletion(-)", git("diff"));
});
