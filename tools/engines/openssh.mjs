/** The OpenSSH engine: a server on another host or on the loopback interface, with its own keys and configuration. */

import { mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";

import { note } from "../../scripts/lib/progress.mjs";
import { launcherOf } from "./guide.mjs";
import { twoHosts } from "./hosts.mjs";
import { libraries, unpack } from "./packages.mjs";
import { command, freePorts, permitted, programsOf, Servers, wrap } from "./programs.mjs";

/** The user for privilege separation when root runs the server. Only the server sees this line. */
const separated = "sshd:x:65533:65534::/run/sshd:/bin/false";

const start = `exec "$1/usr/sbin/sshd" -D -e -f "$2/sshd_config"`;
/**
 * Root's server needs a user and a directory that only an installed server has. The commands also mount a disk that is
 * full after a few bytes, and a small disk for pi's own directory.
 */
const apart = `{ cat /etc/passwd; echo '${separated}'; } >"$2/passwd" && mount --bind "$2/passwd" /etc/passwd &&
	mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd && mount -t tmpfs -o size=4k,mode=1777 tmpfs "$2/full" && mount -t tmpfs -o size=4m tmpfs "$2/home" && ${start}`;

/** @type {import("./main.mjs").Engine} */
export const openssh = {
	page: "ssh.md",
	programs: ["ssh"],
	async start(place) {
		const unpacked = unpack("openssh", ["openssh-server", "openssh-client"]);
		const env = { LD_LIBRARY_PATH: join(unpacked, libraries) };
		const keygen = wrap(place, "ssh-keygen", [join(unpacked, "usr", "bin", "ssh-keygen")], env);
		for (const name of ["host", "user"]) {
			command(keygen, ["-q", "-t", "ed25519", "-N", "", "-f", join(place, name)]);
		}
		for (const name of ["full", "home", "tmp", "work"]) mkdirSync(join(place, name));
		wrap(place, "ssh", [join(unpacked, "usr", "bin", "ssh"), "-F", join(place, "ssh_config")], env);
		const isRoot = process.getuid?.() === 0;
		if (isRoot) permitted("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", "/run"]);
		const servers = new Servers();
		try {
			const hosts = await twoHosts(servers);
			const isApart = typeof hosts !== "string";
			note(
				isApart ? "openssh: two hosts in network namespaces" : `openssh: over the loopback interface, because ${hosts}`,
			);
			if (!isRoot) note("openssh: the full-disk scene is skipped, because only root can mount a disk");
			const [port = 0] = isApart ? [2222] : await freePorts(1);
			const address = isApart ? hosts.address : "127.0.0.1";
			configure(place, address, port);
			const argv = isRoot ? ["unshare", "-m", "sh", "-c", apart] : ["sh", "-c", start];
			const prefix = isApart ? hosts.far : [];
			const server = servers.start([...prefix, ...argv, "sshd", unpacked, place], { ...process.env, ...env });
			await servers.until("the server does not listen", () => server.output.includes("Server listening"));
			return {
				launcher: launcherOf("ssh.md", "build-box"),
				tests: ["launchers_openssh", "launcher_survivors"],
				env: {
					PI_SUBAGENT_TEST_SSH: `${address}:${port}`,
					PI_SUBAGENT_TEST_SSH_DIRECTORY: place,
					...(isRoot ? { PI_SUBAGENT_TEST_SSH_FULL: join(place, "full") } : {}),
				},
				first: {
					launcher: "build-box",
					login: [
						"ssh",
						"-T",
						"-o",
						"BatchMode=yes",
						"build-box",
						"--",
						"mkdir -p ~/.pi/agent && cat >~/.pi/agent/models.json",
					],
					work: join(place, "work"),
					...(isRoot && { smallDisk: join(place, "home") }),
					...(isApart && { address: hosts.here }),
				},
				...(isApart ? { within: hosts.near } : {}),
				stop: () => servers.stop(),
			};
		} catch (error) {
			await servers.stop();
			throw error;
		}
	},
};

/**
 * Writes the configuration of server and client.
 *
 * @param {string} place
 * @param {string} address
 * @param {number} port
 */
function configure(place, address, port) {
	const server = [
		`Port ${port}`,
		`ListenAddress ${address}`,
		`HostKey ${place}/host`,
		"PidFile none",
		`AuthorizedKeysFile ${place}/user.pub`,
		"StrictModes no",
		"UsePAM no",
		"PasswordAuthentication no",
		// A separate home, pi in PATH, and a place for the directories of scripts that a scene kills.
		`SetEnv HOME=${place}/home TMPDIR=${place}/tmp PATH=${programsOf(place)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
		"MaxStartups 100",
		// A client that vanished without closing is noticed after four seconds.
		"ClientAliveInterval 2",
		"ClientAliveCountMax 2",
	];
	writeFileSync(join(place, "sshd_config"), `${server.join("\n")}\n`);
	const client = [
		"Host build-box",
		`HostName ${address}`,
		`Port ${port}`,
		`User ${userInfo().username}`,
		`IdentityFile ${place}/user`,
		"IdentitiesOnly yes",
		"BatchMode yes",
		"StrictHostKeyChecking accept-new",
		`UserKnownHostsFile ${place}/known`,
	];
	writeFileSync(join(place, "ssh_config"), `${client.join("\n")}\n`);
}
