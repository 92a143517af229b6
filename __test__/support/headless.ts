/** pi without a user: print mode and JSON mode. */

import { EventLog, type PiEvent } from "./event-log.ts";
import { type Finished, PiProcess, type Place, type StartOptions } from "./process.ts";

export interface JsonOptions extends StartOptions {
	onEvent?: (event: PiEvent) => void;
}

/** A pi in JSON mode, while it runs. */
export interface JsonSession {
	pi: PiProcess;
	log: EventLog;
	finished: Promise<Finished>;
}

/** The result of a pi in JSON mode. */
export interface JsonResult extends Finished {
	log: EventLog;
}

/** Runs `pi -p`: the answer is all that it prints. */
export async function runPrint(place: Place, prompt: string, options: StartOptions = {}): Promise<Finished> {
	return await new PiProcess(place, ["-p", prompt], options, "ignore").finished;
}

/** Starts `pi --mode json -p` and hands its events out as they come. */
export function startJson(place: Place, prompt: string, options: JsonOptions = {}): JsonSession {
	const pi = new PiProcess(place, ["--mode", "json", "-p", prompt], options, "ignore");
	const log = new EventLog(options.onEvent);
	pi.child.stdout?.on("data", (chunk: Buffer) => log.push(chunk));
	const finished = pi.finished.finally(() => log.end(`pi has ended (${pi.child.exitCode ?? pi.child.signalCode})`));
	finished.catch(() => undefined);
	return { pi, log, finished };
}

/** Runs `pi --mode json -p` to its end. */
export async function runJson(place: Place, prompt: string, options: JsonOptions = {}): Promise<JsonResult> {
	const { log, finished } = startJson(place, prompt, options);
	return { ...(await finished), log };
}
