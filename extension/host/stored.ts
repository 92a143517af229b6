/**
 * Reads values of any form: data that a session has stored, and arguments that a model writes. A session outlives releases,
 * and other programs can write to it.
 */

export const isText = (value: unknown): value is string => typeof value === "string";

/** Returns the text of a result or a message; other content is skipped. */
export function contentText({ content }: { content?: unknown }): string {
	if (isText(content)) return content;
	if (!Array.isArray(content)) return "";
	return content.map((part: unknown) => (isObject(part) && isText(part.text) ? part.text : "")).join("\n");
}

/**
 * Serializes a value for the addon like a session file does, optionally with only some of its fields. Returns an empty
 * string for a value that JSON cannot represent.
 */
export function asJson(value: unknown, fields?: string[]): string {
	try {
		const json = JSON.stringify(value, fields) ?? "";
		// A text was cut between two halves of a character.
		if (!/\\ud[89a-f]/.test(json)) return json;
		return JSON.stringify(JSON.parse(json), (_, field: unknown) => (isText(field) ? field.toWellFormed() : field));
	} catch {
		return "";
	}
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the fields that have a value. The receiver may accept an absent field but not `undefined`. */
export function defined<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
