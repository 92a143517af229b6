#!/usr/bin/env node
/**
 * `npm run test:engines`: plays the scenes of `tests/launchers.rs` through real OpenSSH, on the loopback interface, with keys and
 * configuration of its own. The server is a Debian package that is unpacked below the set-up directory and not installed.
 */

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

import { newestPi, root } from "./lib/places.mjs";
import { runMain } from "./lib/problem.mjs";
import { coreFeatures, run } from "./lib/programs.mjs";
import { setUp } from "./setup.mjs";

const packages = ["openssh-server", "libwrap0"];
/** The user that a server of root's separates itself to; only the server sees this line. */
const separated = "sshd:x:65533:65534::/run/sshd:/bin/false";
/** How long the server may take to listen. It takes a tenth of a second. */
const listening = 10_000;

/** Unpacks the server, and returns where, or throws where it cannot be had. */
function unpack() {
	const folder = join(root, ".setup", "engines");
	const unpacked = join(folder, "root");
	if (!existsSync(join(unpacked, "usr", "sbin", "sshd"))) {
		mkdirSync(folder, { recursive: true });
		execFileSync("apt-get", ["download", ...packages], { cwd: folder, stdio: "pipe" });
		for (const file of readdirSync(folder).filter((name) => name.endsWith(".deb"))) {
			execFileSync("dpkg", ["-x", file, unpacked], { cwd: folder, stdio: "pipe" });
		}
	}
	return unpacked;
}

/**
 * A port that is free now.
 *
 * @returns {Promise<number>}
 */
function freePort() {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
			server.close(() => resolve(port));
		});
	});
}

/**
 * Starts the server, and returns it once it listens.
 *
 * @param {string} unpacked
 * @param {string} place
 * @param {number} port
 */
async function serve(unpacked, place, port) {
	for (const name of ["host", "user"]) {
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(place, name)], { stdio: "pipe" });
	}
	const server = [
		`Port ${port}`,
		"ListenAddress 127.0.0.1",
		`HostKey ${place}/host`,
		"PidFile none",
		`AuthorizedKeysFile ${place}/user.pub`,
		"StrictModes no",
		"UsePAM no",
		"PasswordAuthentication no",
		"MaxStartups 100",
	];
	writeFileSync(join(place, "sshd_config"), `${server.join("\n")}\n`);
	const client = [
		"Host far",
		"HostName 127.0.0.1",
		`Port ${port}`,
		`User ${userInfo().username}`,
		`IdentityFile ${place}/user`,
		"IdentitiesOnly yes",
		"BatchMode yes",
		"StrictHostKeyChecking accept-new",
		`UserKnownHostsFile ${place}/known`,
	];
	writeFileSync(join(place, "ssh_config"), `${client.join("\n")}\n`);
	const start = `exec "$1/usr/sbin/sshd" -D -e -f "$2/sshd_config"`;
	const apart = `{ cat /etc/passwd; echo '${separated}'; } >"$2/passwd" && mount --bind "$2/passwd" /etc/passwd &&
		mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd && ${start}`;
	const isRoot = process.getuid?.() === 0;
	const words = isRoot ? ["unshare", "-m", "sh", "-c", apart] : ["sh", "-c", start];
	const env = { ...process.env, LD_LIBRARY_PATH: join(unpacked, "usr", "lib", "x86_64-linux-gnu") };
	const [program = "sh", ...args] = [...words, "sshd", unpacked, place];
	const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
	await new Promise((resolve, reject) => {
		let said = "";
		const limit = setTimeout(() => reject(new Error(`the server does not listen: ${said}`)), listening);
		child.once("error", reject);
		child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
		child.stderr.on("data", (bytes) => {
			said += bytes;
			if (!said.includes("Server listening")) return;
			clearTimeout(limit);
			resolve(undefined);
		});
	});
	return child;
}

await runMain(async () => {
	const { node, pi } = await setUp({ addon: false });
	const place = mkdtempSync(join(tmpdir(), "pi-subagent-engines-"));
	/** @type {import("node:child_process").ChildProcess | undefined} */
	let server;
	try {
		try {
			server = await serve(unpack(), place, await freePort());
		} catch (error) {
			console.log(`skipped: OpenSSH cannot be had here: ${error instanceof Error ? error.message : error}`);
			return 0;
		}
		const env = { PI_SUBAGENT_TEST_SSH: join(place, "ssh_config"), PI_SUBAGENT_TEST_PI: `${node} ${pi[newestPi]}` };
		const code = await run(["cargo", "test", "--locked", ...coreFeatures, "--test", "launchers"], {
			env,
		});
		return typeof code === "number" ? code : 1;
	} finally {
		server?.kill();
		rmSync(place, { recursive: true, force: true });
	}
});
