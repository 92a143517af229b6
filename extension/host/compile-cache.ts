/**
 * Puts pi's compiled code on disk, where children find it. Node does so when a process ends: without this the children of
 * the first pi since the machine has started would each compile all of pi.
 */

import module from "node:module";

let done = false;

/** Does so once, which takes a few milliseconds when nothing was there. Older Nodes and other runtimes cannot. */
export function shareCompiledCode(): void {
	if (done) return;
	done = true;
	module.flushCompileCache?.();
}
