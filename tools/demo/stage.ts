/** The demo's environment: a temporary one with the scripted model, or the user's own configuration. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import {
	endAll,
	ModelServer,
	newestPi,
	type Place,
	packageDir,
	type Script,
	World,
} from "../../__test__/support/pi.ts";
import { markVariable } from "../../__test__/support/survivors.ts";
import { setupDir } from "../../scripts/lib/places.mjs";

/** The number of demos whose sessions are kept. */
const maxDemos = 5;

export interface Stage {
	place: Place;
	/** A mark in the environment of every process of the demo. */
	mark: string;
	/** Ends everything that the demo has started. */
	close(): Promise<void>;
}

/** Creates an environment inside the clone with the scripted model. Its sessions are kept. */
export async function scriptedStage(script: (canGrep: boolean) => Script): Promise<Stage> {
	const server = await ModelServer.start(script(hasRipgrep()));
	const world = new World({
		baseUrl: server.baseUrl,
		root: newFolder(),
		cwd: packageDir,
		extensions: [packageDir],
	});
	return {
		place: world,
		mark: world.mark,
		async close() {
			try {
				await world.close();
			} finally {
				await server.close();
			}
		},
	};
}

/** Returns the user's own pi configuration, model and home. */
export function liveStage(): Stage {
	const mark = crypto.randomUUID();
	const env = Object.fromEntries(
		Object.entries(process.env).filter(
			(entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith("PI_SUBAGENT_"),
		),
	);
	const closers = new Set<() => Promise<void>>();
	const place: Place = {
		version: newestPi,
		cwd: packageDir,
		env: { ...env, [markVariable]: mark },
		extensionArgs: ["-e", packageDir],
		own(closer) {
			closers.add(closer);
			return () => closers.delete(closer);
		},
	};
	return {
		place,
		mark,
		async close() {
			await Promise.all([...closers].map((closer) => closer()));
			await endAll(mark);
		},
	};
}

/** Creates `.setup/demo/<time>` and removes older folders. */
function newFolder(): string {
	const all = join(setupDir, "demo");
	mkdirSync(all, { recursive: true });
	const old = readdirSync(all)
		.sort()
		.slice(0, -(maxDemos - 1));
	for (const name of old) rmSync(join(all, name), { recursive: true, force: true });
	const folder = join(all, `${new Date().toISOString().replaceAll(/[:.]/g, "-")}-${process.pid}`);
	mkdirSync(folder);
	return folder;
}

function hasRipgrep(): boolean {
	return spawnSync("rg", ["--version"]).status === 0;
}
