/**
 * Reads back the data that this package stores in sessions. A session outlives releases, and other programs can write
 * to it: another extension may use our names, a line may be cut, a user may edit it. A value is therefore checked as a
 * whole. An invalid value becomes `undefined`, and the renderer falls back to the text stored next to it.
 */

export type Check = (value: unknown) => boolean;

export const isText = (value: unknown): value is string => typeof value === "string";
/** JSON can encode infinity, as `1e999`. */
export const isNumber: Check = (value) => Number.isFinite(value);

export function optional(check: Check): Check {
	return (value) => value === undefined || check(value);
}

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

/**
 * Returns a check for objects. Each row names the fields that one check applies to. The other fields may hold any value
 * and must not be read.
 */
export function shape<T>(...rows: [Check, ...(keyof T & string)[]][]): Check {
	return (value) => isObject(value) && rows.every(([check, ...names]) => names.every((name) => check(value[name])));
}

/** Returns the named fields of `from` that have a value. */
export function picked<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
	return defined(Object.fromEntries(names.map((name) => [name, from[name]])) as T);
}

/** Returns the fields that have a value. The receiver may accept an absent field but not `undefined`. */
export function defined<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
