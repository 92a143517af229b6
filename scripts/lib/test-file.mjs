/**
 * Prepares the process of a test file; imported before the file. It applies only to this process: programs that the
 * tests start have their own environment.
 *
 * - Keeps the compiled modules, including TypeScript without its types, for the next start.
 * - Ends a process that does not exit after its tests, with an error. Node's test runner would wait for it without a
 *   limit.
 */

import module from "node:module";
import { join } from "node:path";
import { after } from "node:test";

import { setupDir } from "./places.mjs";

/** The time that a process has to exit after its last test. */
const exitMs = Number(process.env.TEST_EXIT_MS ?? 60_000);

// Node 20 lacks it.
module.enableCompileCache?.(join(setupDir, "compile-cache"));

// The process that starts the test files imports this, too.
if (process.env.NODE_TEST_CONTEXT) {
	after(() => {
		setTimeout(() => {
			const open = process.getActiveResourcesInfo().join(", ");
			process.stderr.write(`${process.argv[1]} does not exit after its tests. It keeps open: ${open}\n`);
			process.exit(1);
		}, exitMs).unref();
	});
}
