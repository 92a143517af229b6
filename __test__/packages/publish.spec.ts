/** The steps of the release workflow that publish the packages, with the registry on the loopback interface. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { hasWarden, wardenName } from "../../scripts/lib/warden.mjs";
import { packageDir } from "../support/versions.ts";
import { platform, Registry } from "./registry.ts";

const release = readFileSync(join(packageDir, ".github", "workflows", "release.yml"), "utf8");
const [, publishing = ""] = release.split("\n  publish:\n");
/** The arguments of npm in the steps that publish, in their order. */
const steps = [...publishing.matchAll(/^ +- run: npm ((?:run artifacts|publish)\b.*)$/gm)].map(([, words = ""]) =>
	words.split(" "),
);
const { name, version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));

/** Each target with a package, and the platform of the package. */
const platforms = new Map([
	["x86_64-unknown-linux-gnu", "linux-x64-gnu"],
	["aarch64-unknown-linux-gnu", "linux-arm64-gnu"],
	["x86_64-unknown-linux-musl", "linux-x64-musl"],
	["aarch64-unknown-linux-musl", "linux-arm64-musl"],
	["x86_64-apple-darwin", "darwin-x64"],
	["aarch64-apple-darwin", "darwin-arm64"],
	["x86_64-pc-windows-msvc", "win32-x64-msvc"],
]);
const packages = [...platforms.values()].map((platform) => `${name}-${platform}`);

let registry: Registry;
let clone: string;

before(async () => {
	registry = await Registry.start();
	clone = join(registry.root, "clone");
	const files = execFileSync("git", ["ls-files", "-z"], { cwd: packageDir, encoding: "utf8" }).split("\0");
	for (const file of files.filter((file) => file !== "" && existsSync(join(packageDir, file)))) {
		cpSync(join(packageDir, file), join(clone, file));
	}
	symlinkSync(join(packageDir, "node_modules"), join(clone, "node_modules"));
	for (const [target, each] of platforms) {
		const folder = join(clone, "artifacts", target);
		mkdirSync(folder, { recursive: true });
		for (const file of [`${name}.${each}.node`, ...(hasWarden(each) ? [wardenName] : [])]) {
			// The other platforms are built in the hosted CI only.
			if (each === platform) cpSync(join(packageDir, file), join(folder, file));
			else writeFileSync(join(folder, file), `not built for ${each}`);
			// A build service's archive loses the mode.
			chmodSync(join(folder, file), 0o644);
		}
	}
});

after(() => registry?.stop());

const isPublished = (each: string) =>
	fetch(`${registry.url}${each}`, { headers: { connection: "close" } }).then(({ ok }) => ok);

test("the steps of the release name every package in a dry run, and publish none", async () => {
	assert.deepEqual(
		steps.map(([first, second]) => (first === "run" ? second : first)),
		["artifacts", "publish"],
	);
	const [artifacts = [], publish = []] = steps;
	registry.npm(clone, ...artifacts);
	const output = registry.npm(clone, ...publish, "--dry-run");
	const named = [...output.matchAll(/^\+ (\S+)@(\S+)$/gm)].map(([, each, of]) => `${each} ${of}`);
	assert.deepEqual(named.sort(), [name, ...packages].map((each) => `${each} ${version}`).sort());
	assert.equal(await isPublished(name), false);
	assert.equal(await isPublished(`${name}-${platform}`), false);
});

test("publishing the package publishes the packages of all platforms, and depends on them", async () => {
	const [, publish = []] = steps;
	// Only a hosted build can prove where it took place.
	registry.npm(clone, ...publish.filter((word) => word !== "--provenance"));
	for (const each of packages) assert.equal(await isPublished(each), true, each);
	const published = JSON.parse(registry.npm(clone, "view", name, "--json"));
	assert.deepEqual(published.optionalDependencies, Object.fromEntries(packages.map((each) => [each, version])));
});
