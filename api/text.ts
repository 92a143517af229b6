/** Texts of children: without secrets, cut to a limit, or collected from a stream. */

import type { EventSource, TruncateOptions } from "../index.js";
import type { CollectedOutput, SanitizeOptions, TruncatedOutput } from "../native.js";
import { collectOutput, collectOutputFile, OutputCollector, sanitizeOutput, truncateHead, truncateOutput, truncateTail } from "../native.js";
import { OptionsError } from "./options.ts";

/** Which part of a text is kept. */
const keepers = { ends: truncateOutput, head: truncateHead, tail: truncateTail };

/** Replaces secrets, home directories and control characters. */
export async function sanitize(text: string, options?: SanitizeOptions): Promise<string> {
	return await sanitizeOutput(text, options);
}

/** Cuts a text to a limit. */
export async function truncate(
	text: string,
	{ keep = "ends", ...limits }: TruncateOptions = {},
): Promise<TruncatedOutput> {
	if (!Object.hasOwn(keepers, keep)) throw new OptionsError("keep", keep, "ends, head or tail");
	return await keepers[keep](text, limits);
}

/** Reads pi's stream of events: a text, bytes, pieces of either as they arrive, or the file at a URL or path. */
export async function collect(source: EventSource): Promise<CollectedOutput> {
	if (typeof source === "string" || source instanceof Uint8Array) return await collectOutput(source);
	if ("file" in source) return await collectOutputFile(source.file);
	const collector = new OutputCollector();
	for await (const piece of source) collector.push(piece);
	return await collector.finish();
}
