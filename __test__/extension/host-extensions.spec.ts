/** The look for the extensions that pi has loaded: it asks no registry and installs nothing. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

import { findHostExtensions, hostExtensions } from "../../extension/host/extensions.ts";
import { newestPi, piCommand } from "../support/versions.ts";

test("the search for pi's extensions finds packages of the command line and of the settings, and asks no registry", async () => {
	const root = mkdtempSync(join(tmpdir(), "psn-extensions-"));
	const agentDir = join(root, "agent");
	const [log, npm] = [join(root, "npm.log"), join(root, "npm")];
	const before = { argv: process.argv, dir: process.env.PI_CODING_AGENT_DIR, offline: process.env.PI_OFFLINE };
	// pi keeps packages of the command line in a folder that is named after the hash of their kind.
	const kind = createHash("sha256").update("npm-").digest("hex").slice(0, 8);
	const folders = ["npm/node_modules/settled", `tmp/extensions/npm/${kind}/node_modules/named`];
	for (const folder of folders.map((name) => join(agentDir, name))) {
		mkdirSync(folder, { recursive: true });
		const manifest = { name: folder.split("/").at(-1), version: "1.0.0", pi: { extensions: ["./gate.ts"] } };
		writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
		writeFileSync(join(folder, "gate.ts"), "export default () => {};\n");
	}
	writeFileSync(npm, `#!/bin/sh\necho "$@" >> '${log}'\necho '"9.9.9"'\n`);
	chmodSync(npm, 0o755);
	const packages = ["npm:settled@^1.0.0", "npm:missing"];
	writeFileSync(join(agentDir, "settings.json"), JSON.stringify({ npmCommand: [npm], packages }));
	try {
		process.argv = [process.execPath, piCommand(newestPi)[1], "-e", "npm:named"];
		process.env.PI_CODING_AGENT_DIR = agentDir;
		delete process.env.PI_OFFLINE;
		await findHostExtensions({ cwd: root, isProjectTrusted: () => true } as ExtensionContext);
		const found = (hostExtensions() ?? []).map(({ path }) => path);
		for (const folder of folders) assert.ok(found.includes(join(agentDir, folder, "gate.ts")), found.join("\n"));
		// A missing package may be in the folder of older versions of pi. npm is asked for that folder alone.
		const asked = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
		assert.deepEqual(
			asked.filter((command) => command !== "root -g"),
			[],
		);
	} finally {
		process.argv = before.argv;
		const restore = (name: string, value: string | undefined) => {
			if (value === undefined) delete process.env[name];
			else process.env[name] = value;
		};
		restore("PI_CODING_AGENT_DIR", before.dir);
		restore("PI_OFFLINE", before.offline);
		rmSync(root, { recursive: true, force: true });
	}
});
