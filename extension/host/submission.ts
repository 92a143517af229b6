/** The values that runs submit. The package for programs uses this file, too. */

import { readFile } from "node:fs/promises";

import type { SingleResult } from "../../native.js";

/** The fields of a run with its value. */
export type Submission = Pick<SingleResult, "structured" | "structuredFile">;

/** Returns the value that a run has submitted. A large one is in a file. */
export async function submittedBy({ structured, structuredFile }: Submission): Promise<unknown> {
	if (structured !== undefined || !structuredFile) return structured;
	return JSON.parse(await readFile(structuredFile, "utf8"));
}
