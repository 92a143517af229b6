/** A worker that starts a run and tells of it. */

import { createRequire } from "node:module";
import { parentPort, workerData } from "node:worker_threads";

/** @type {typeof import("../../../native.js")} */
const { startRun } = createRequire(import.meta.url)("../../../native.js");

const handle = startRun(workerData.options, (update) => parentPort?.postMessage({ update: update.content[0]?.text }));
if (workerData.waits) {
	const result = await handle.result();
	parentPort?.postMessage({ result: result.content[0]?.text });
} else {
	parentPort?.on("message", () => handle.abort());
}
