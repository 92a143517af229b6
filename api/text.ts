/** Texts of children: without secrets, cut to a limit, or collected from a stream. */

import type { EventSource, TruncateOptions } from "../index.js";
import type { CollectedOutput, SanitizeOptions, TruncatedOutput } from "../native.js";
import {
	collectOutput,
	collectOutputFile,
	OutputCollector,
	sanitizeOutput,
	truncateHead,
	truncateOutput,
	truncateTail,
} from "../native.js";
import { checkPiece, checkSanitize, checkSource, checkTruncate, unsearchable } from "./options.ts";

/** Which part of a text is kept. */
const keepers = { ends: truncateOutput, head: truncateHead, tail: truncateTail };

/** Replaces secrets, home directories and control characters. */
export function sanitize(text: string, options: SanitizeOptions = {}): Promise<string> {
	checkSanitize(text, options);
	return sanitized(text, options);
}

async function sanitized(text: string, options: SanitizeOptions): Promise<string> {
	const { secrets = [] } = options;
	// The engine knows best which values it searches for.
	const alone = await Promise.all(secrets.map((secret) => sanitizeOutput(secret, { secrets: [secret], homes: [] })));
	const index = secrets.findIndex((secret, at) => secret === alone[at]);
	if (index >= 0) throw unsearchable(secrets[index] ?? "", index);
	return await sanitizeOutput(text, options);
}

/** Cuts a text to a limit. */
export function truncate(text: string, options: TruncateOptions = {}): Promise<TruncatedOutput> {
	checkTruncate(text, options);
	const { keep = "ends", ...limits } = options;
	return keepers[keep](text, limits);
}

/** Reads pi's stream of events. */
export function collect(source: EventSource): Promise<CollectedOutput> {
	checkSource(source);
	return collected(source);
}

async function collected(source: EventSource): Promise<CollectedOutput> {
	if (typeof source === "string" || source instanceof Uint8Array) return await collectOutput(source);
	if ("file" in source) return await collectOutputFile(source.file);
	const collector = new OutputCollector();
	for await (const piece of source) {
		checkPiece(piece, "source");
		collector.push(piece);
	}
	return await collector.finish();
}
