/** The workflows of the hosted CI: their builds, the actions that they run, and their permissions. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { crossTargets, planFor } from "../../tools/lib/cross.mjs";
import { packageDir } from "./versions.ts";

const folder = join(packageDir, ".github", "workflows");
const workflows = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
const release = workflows.get("release.yml") ?? "";

/** Returns the faults of a workflow, by line. */
function faults(text: string): string[] {
	const lines = text.split("\n");
	const found = lines.flatMap((line, index) => {
		const at = `line ${index + 1}`;
		const action = /^\s*(?:- )?uses: *(.*)$/.exec(line)?.[1];
		if (action !== undefined && !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))
			return [`${at}: not pinned`];
		const settings = lines.slice(index + 1, index + 3).map((each) => each.trim());
		if (action?.startsWith("actions/checkout@") && settings.join(" ") !== "with: persist-credentials: false") {
			return [`${at}: keeps credentials`];
		}
		return [];
	});
	if (!lines.includes("permissions: {}")) found.push("allows all jobs what one needs");
	// A value pasted into a script is run by the shell; in the environment it stays a value.
	const scripts = text.match(/^ *(?:- )?run: (?:\|\n(?: {10,}.*\n| *\n)+|.*)/gm) ?? [];
	for (const script of scripts) if (script.includes("${{")) found.push(`pasted into a script: ${script.trim()}`);
	return found;
}

test("actions are pinned, credentials are not kept, no value is pasted into a script", () => {
	assert.deepEqual([...workflows.keys()].sort(), ["ci.yml", "release.yml"]);
	for (const [name, text] of workflows) assert.deepEqual(faults(text), [], name);
});

test("a workflow that breaks one of these rules is found", () => {
	const value = ["$", "{{ github.ref }}"].join("");
	const changes: [what: string, from: string | RegExp, to: string, found: RegExp][] = [
		["a tag", /@[0-9a-f]{40} # v7\.0\.1/, "@v7", /not pinned/],
		["no version", / # v7\.0\.1/, "", /not pinned/],
		["an image", /uses: actions\/upload.*/, "uses: docker://node:24", /not pinned/],
		["credentials", /\n.*\n.*persist-credentials: false/, "", /keeps credentials/],
		["permissions", "\npermissions: {}\n", "\n", /allows all jobs/],
		["a value in a block", '          rustup target add "$TARGET"\n', `          echo ${value}\n`, /pasted/],
		["a value in a line", "run: npm run artifacts", `run: npm ${value}`, /pasted/],
	];
	for (const [what, from, to, found] of changes) {
		const changed = release.replace(from, to);
		assert.notEqual(changed, release, what);
		assert.match(faults(changed).join("\n"), found, what);
	}
});

test("one version of each action", () => {
	const actions = [...workflows.values()].flatMap((text) => text.match(/(?<=uses: ).*/g) ?? []);
	const names = new Set(actions.map((action) => action.split("@")[0]));
	assert.equal(new Set(actions).size, names.size);
});

test("only the job that publishes may sign, and nothing may write", () => {
	const granted = [...workflows].flatMap(([name, text]) =>
		(text.match(/^ {6}[\w-]+: (?:read|write)\b/gm) ?? []).map((grant) => `${name} ${grant.trim()}`),
	);
	assert.deepEqual([...new Set(granted)].sort(), [
		"ci.yml contents: read",
		"release.yml contents: read",
		"release.yml id-token: write",
	]);
	assert.equal(granted.filter((grant) => grant.endsWith("write")).length, 1);
	assert.ok(release.indexOf("id-token: write") > release.indexOf("\n  publish:\n"));
});

test("every packaged platform is built for a release, once", () => {
	const built = [...release.matchAll(/^ *- target: (.*)$/gm)].map(([, target]) => target);
	assert.deepEqual(built.sort(), crossTargets().sort());
});

test("the page of platforms has a row for each platform", () => {
	const page = readFileSync(join(packageDir, "docs", "platforms.md"), "utf8");
	const rows = [...page.matchAll(/^\| `([a-z0-9_]+-[a-z0-9_-]+)` \|/gm)].map(([, target]) => target);
	assert.deepEqual(rows.sort(), crossTargets().sort());
});

test("missing requirements of a build are reported before it begins", () => {
	const lacks = (...names: string[]) => ({ check: false, hasLibrary: (target: string) => !names.includes(target) });
	const linux = { ...lacks(), platform: "linux" };
	for (const target of crossTargets().filter((each) => !each.includes("windows"))) {
		assert.deepEqual(planFor(target, linux), { target, how: "zig", rustTarget: target, isTrial: false });
	}
	const windows = "x86_64-pc-windows-msvc";
	assert.throws(() => planFor(windows, linux), /built on Windows.*--check x86_64-pc-windows-msvc/s);
	assert.equal(planFor(windows, { ...linux, check: true }).how, "zig");
	assert.equal(planFor(windows, { ...lacks(), platform: "win32" }).how, "system");
	// A trial build is linked with any available toolchain, and never mistaken for the published one.
	const standIn = "x86_64-pc-windows-gnu";
	const trial = { target: windows, how: "zig", rustTarget: standIn, isTrial: true };
	assert.deepEqual(planFor(windows, { ...linux, isTrial: true }), trial);
	assert.throws(
		() => planFor(windows, { ...linux, ...lacks(standIn), isTrial: true }),
		/rustup target add x86_64-pc-windows-gnu/,
	);
	assert.equal(planFor(windows, { ...lacks(), platform: "win32", isTrial: true }).rustTarget, windows);
	assert.equal(planFor("aarch64-apple-darwin", { ...lacks(), platform: "darwin" }).how, "system");
	// The warden is linked with musl.
	const arm = "aarch64-unknown-linux-gnu";
	const musl = "aarch64-unknown-linux-musl";
	assert.throws(() => planFor(arm, lacks(musl)), /no standard library.*rustup target add aarch64-unknown-linux-musl/s);
	assert.equal(planFor(arm, { ...lacks(musl), check: true }).how, "zig");
});

test("a target without a package is refused with the list of packaged targets", () => {
	const script = join(packageDir, "tools", "cross.mjs");
	const { status, stderr } = spawnSync(process.execPath, [script, "riscv64gc-unknown-linux-gnu"], { encoding: "utf8" });
	assert.equal(status, 1);
	for (const name of ["riscv64gc-unknown-linux-gnu", ...crossTargets()]) assert.ok(stderr.includes(name), stderr);
});
