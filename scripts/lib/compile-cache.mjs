/**
 * Imported before a test file: what its modules compile to, TypeScript without its types included, is kept for the next start.
 * Only for this process: what tests start has an environment of its own.
 */

import module from "node:module";
import { join } from "node:path";

import { setupDir } from "./places.mjs";

// Node 20 has none.
module.enableCompileCache?.(join(setupDir, "compile-cache"));
