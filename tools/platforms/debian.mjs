/** Unpacks Debian packages of any architecture, from a release newer than this machine's, without installing them. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { setupDir } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { outputOf, runQuietly } from "../../scripts/lib/programs.mjs";

/** The first release whose musl supports the packed relocations of current programs for musl. */
const release = "trixie";

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/**
 * Unpacks packages once. apt's lists are kept in a separate folder, so the machine's own apt does not change.
 *
 * @param {string} folder an absolute path; created completely or not at all
 * @param {string[]} packages with their architecture, such as `musl:arm64`; dependencies are not fetched
 * @param {(path: string) => boolean} isNeeded selects the files to keep
 */
export async function unpackDebian(folder, packages, isNeeded) {
	if (existsSync(folder)) return;
	const mirror = outputOf("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"])
		?.split("\n")
		.find((uri) => /\/debian\/?$/.test(uri));
	if (!mirror || !existsSync(keyring)) {
		throw new SetupProblem(
			`Debian's apt is missing; it is needed to fetch ${packages.join(", ")}.`,
			"Run it on Debian.",
		);
	}
	const fresh = `${folder}.${process.pid}`;
	const apt = join(setupDir, `apt.part-${process.pid}`);
	try {
		for (const each of ["state/lists/partial", "cache/archives/partial", "packages"])
			mkdirSync(join(apt, each), { recursive: true });
		mkdirSync(fresh, { recursive: true });
		writeFileSync(join(apt, "sources"), `deb [signed-by=${keyring}] ${mirror} ${release} main\n`);
		const settings = {
			"Dir::Etc::sourcelist": join(apt, "sources"),
			"Dir::Etc::sourceparts": "/dev/null",
			"Dir::State": join(apt, "state"),
			"Dir::State::status": "/dev/null",
			"Dir::Cache": join(apt, "cache"),
			"Acquire::Languages": "none",
			// The user that apt would download as cannot enter root's folder.
			"APT::Sandbox::User": "",
		};
		const lines = Object.entries(settings).map(([key, value]) => `${key} "${value}";\n`);
		writeFileSync(join(apt, "apt.conf"), `${lines.join("")}APT::Architectures { "amd64"; "arm64"; };\n`);
		const options = { env: { APT_CONFIG: join(apt, "apt.conf") }, cwd: join(apt, "packages") };
		await runQuietly("apt-get update", ["apt-get", "update"], options);
		await runQuietly("apt-get download", ["apt-get", "download", ...packages], options);
		for (const name of readdirSync(options.cwd)) await runQuietly("dpkg", ["dpkg", "-x", name, fresh], options);
		for (const entry of readdirSync(fresh, { recursive: true, withFileTypes: true })) {
			const path = join(entry.parentPath, entry.name);
			if (!entry.isDirectory() && !isNeeded(relative(fresh, path))) rmSync(path);
		}
		// Links to removed files are broken, and some tools fail on broken links.
		for (const entry of readdirSync(fresh, { recursive: true, withFileTypes: true })) {
			const path = join(entry.parentPath, entry.name);
			if (entry.isSymbolicLink() && !existsSync(path)) rmSync(path);
		}
		renameSync(fresh, folder);
	} finally {
		rmSync(apt, { recursive: true, force: true });
		rmSync(fresh, { recursive: true, force: true });
	}
}
