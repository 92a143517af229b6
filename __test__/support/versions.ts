/** The installed versions of pi, and the Node that runs them. */

import { freshenBundle } from "../../scripts/lib/bundle.mjs";
import { findNodeForPi } from "../../scripts/lib/node-for-pi.mjs";
import { findPi } from "../../scripts/lib/pi.mjs";
import { newestPi, oldestPi, root } from "../../scripts/lib/places.mjs";

// Makes pi load the current sources.
await freshenBundle();

/** This package, as `pi -e` and `pi install` take it. */
export const packageDir: string = root;

export { newestPi, oldestPi };

/** Every version that a promise about real pi has to hold for. */
export const piVersions: readonly string[] = [newestPi, oldestPi];

/** The program and the first argument that start pi; throws where set-up has not run. */
export function piCommand(version: string): [node: string, script: string] {
	const node = findNodeForPi();
	const script = findPi(version);
	if (node && script) return [node, script];
	throw new Error(`${node ? `pi ${version}` : "a Node for pi"} is not installed; run: npm run setup`);
}
