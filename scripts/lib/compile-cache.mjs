/**
 * Keeps the compiled modules of a test file, including TypeScript without its types, for the next start. Imported
 * before a test file. It applies only to this process: programs that the tests start have their own environment.
 */

import module from "node:module";
import { join } from "node:path";

import { setupDir } from "./places.mjs";

// Node 20 lacks it.
module.enableCompileCache?.(join(setupDir, "compile-cache"));
