/** The bubblewrap engine: children in namespaces on this machine. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { setupDir } from "../../scripts/lib/places.mjs";
import { launcherOf } from "./guide.mjs";
import { unpack } from "./packages.mjs";
import { permitted, wrap } from "./programs.mjs";

/** @type {import("./main.mjs").Engine} */
export const bubblewrap = {
	page: "containers.md",
	programs: ["bwrap"],
	async start(place) {
		const unpacked = unpack("bubblewrap", ["bubblewrap"]);
		const bwrap = wrap(place, "bwrap", [join(unpacked, "usr", "bin", "bwrap")]);
		permitted(bwrap, ["--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true"]);
		// Not below the directory for temporary files, which is mounted over it.
		const home = realpathSync(mkdtempSync(join(setupDir, "engines", "home-")));
		mkdirSync(join(home, "pi-box"));
		// The scenes are in the directory for temporary files, and their children write there. A clone may be there too.
		// The mounts of the guide's home therefore come later.
		const more = ["--bind", tmpdir(), tmpdir(), "--setenv", "HOME", home];
		return {
			launcher: launcherOf("containers.md", "box", { after: "/tmp", more, home }),
			first: { launcher: "box", login: ["sh", "-c", `cat >'${home}/pi-box/models.json'`] },
			stop: async () => rmSync(home, { recursive: true, force: true }),
		};
	},
};
