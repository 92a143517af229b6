/**
 * The Podman engine: root's containers, below a separate directory, from an image that uses this machine's programs.
 */

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

import { findNodeForPi } from "../../scripts/lib/node-for-pi.mjs";
import { findPi } from "../../scripts/lib/pi.mjs";
import { newestPi } from "../../scripts/lib/places.mjs";
import { launcherOf } from "./guide.mjs";
import { Missing } from "./missing.mjs";
import { libraries, unpack } from "./packages.mjs";
import { command, permitted, wrap } from "./programs.mjs";

/** Folders and links of the image; all else is mounted from this machine. */
const folders = [
	"usr",
	"etc",
	"proc",
	"sys",
	"dev",
	"run",
	"root",
	"tmp",
	"var/tmp",
	"work",
	"opt/bin",
	"opt/node",
	"opt/pi",
];
const links = ["bin", "lib", "lib64", "sbin"];

/**
 * Podman's view of this machine. crun needs one hierarchy of control groups, either v1 or v2, not both. Some programs
 * start others without passing the environment on, so the loader has to find the libraries without it.
 */
const view = `mount -t cgroup2 none /sys/fs/cgroup && mount --bind "$1/ld.so.cache" /etc/ld.so.cache && shift && exec "$@"`;

/** @type {import("./main.mjs").Engine} */
export const podman = {
	page: "containers.md",
	programs: ["podman"],
	async start(place) {
		if (process.getuid?.() !== 0) throw new Missing("only root can set it up here");
		permitted("unshare", ["-m", "sh", "-c", "mount -t cgroup2 none /sys/fs/cgroup"]);
		const unpacked = unpack("podman", ["podman", "conmon", "crun"]);
		const program = (/** @type {string} */ name) => join(unpacked, "usr", "bin", name);
		const inside = piInside();
		const at = (/** @type {string} */ name) => join(place, name);
		const home = at("home/.config/containers");
		mkdirSync(home, { recursive: true });
		writeFileSync(join(home, "policy.json"), '{ "default": [{ "type": "insecureAcceptAnything" }] }');
		writeFileSync(at("registries.conf"), "");
		writeFileSync(at("containers.conf"), configuration(program("conmon"), program("crun"), inside.volumes));
		writeFileSync(at("ld.so.conf"), `${join(unpacked, libraries)}\ninclude /etc/ld.so.conf\n`);
		command("/sbin/ldconfig", ["-X", "-C", at("ld.so.cache"), "-f", at("ld.so.conf")]);
		const where = ["--root", at("storage"), "--runroot", at("run"), "--tmpdir", at("tmp"), "--storage-driver", "vfs"];
		const own = wrap(place, "podman", ["unshare", "-m", "sh", "-c", view, "sh", place, program("podman"), ...where], {
			HOME: at("home"),
			CONTAINERS_CONF: at("containers.conf"),
			CONTAINERS_REGISTRIES_CONF: at("registries.conf"),
		});
		const image = at("image");
		for (const folder of folders) mkdirSync(join(image, folder), { recursive: true });
		for (const link of links) symlinkSync(`usr/${link}`, join(image, link));
		chmodSync(join(image, "tmp"), 0o1777);
		// The working directory of a container hides the contents of `/work` here, which may include a clone.
		writeFileSync(at("image/opt/bin/pi"), `#!/bin/sh\nexec ${inside.command.join(" ")} "$@"\n`, { mode: 0o755 });
		command("tar", ["-cf", at("image.tar"), "-C", image, "."]);
		command(own, ["import", at("image.tar"), "pi-image"]);
		command(own, ["run", "--rm", "pi-image", "true"]);
		mkdirSync(at("home/pi-box"));
		return {
			launcher: launcherOf("containers.md", "container", { home: at("home") }),
			first: { launcher: "container", login: ["sh", "-c", `cat >'${at("home/pi-box")}/models.json'`] },
			pi: ["pi"],
			stop: async () => {},
		};
	},
};

/** Returns the mounts for pi in a container, and the command that starts it. */
function piInside() {
	const node = findNodeForPi();
	const script = findPi(newestPi);
	if (!node || !script) throw new Missing("pi is not installed; run: npm run setup");
	const folder = resolve(script, "../../../..");
	return {
		volumes: [`${resolve(node, "../..")}:/opt/node:ro`, `${folder}:/opt/pi:ro`],
		command: ["/opt/node/bin/node", join("/opt/pi", relative(folder, script))],
	};
}

/**
 * @param {string} conmon
 * @param {string} crun
 * @param {string[]} more volumes
 */
function configuration(conmon, crun, more) {
	const volumes = ["/usr:/usr:ro", "/etc:/etc:ro", `${tmpdir()}:${tmpdir()}`, ...more];
	return `[containers]
log_driver = "none"
volumes = ${JSON.stringify(volumes)}
default_ulimits = []
netns = "host"
env = ["PATH=/opt/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]
cgroups = "disabled"
[engine]
conmon_path = ["${conmon}"]
runtime = "crun"
cgroup_manager = "cgroupfs"
events_logger = "none"
[engine.runtimes]
crun = ["${crun}"]
`;
}
