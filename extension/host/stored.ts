/**
 * Reads back what we keep in sessions. A session outlives releases and is anybody's file: another extension may use our
 * names, a line may be cut, a person may edit it. So a value is checked as a whole, and one that is not ours is `undefined`:
 * whoever draws it falls back to the text that stands beside it.
 */

export type Check = (value: unknown) => boolean;

export const isText = (value: unknown): value is string => typeof value === "string";
/** JSON can spell infinity, as `1e999`. */
export const isNumber: Check = (value) => Number.isFinite(value);

export function maybe(check: Check): Check {
	return (value) => value === undefined || check(value);
}

/** The text of a result or a message, whatever else is in it. */
export function contentText({ content }: { content?: unknown }): string {
	if (isText(content)) return content;
	if (!Array.isArray(content)) return "";
	return content.map((part: unknown) => (isObject(part) && isText(part.text) ? part.text : "")).join("\n");
}

/**
 * What the addon reads of a value that may be anything, as a session file would hold it, or of these fields of it; nothing of
 * one that none can hold.
 */
export function asJson(value: unknown, fields?: string[]): string {
	try {
		const json = JSON.stringify(value, fields) ?? "";
		// Half a character, where a text was cut.
		if (!/\\ud[89a-f]/.test(json)) return json;
		return JSON.stringify(JSON.parse(json), (_, field: unknown) => (isText(field) ? field.toWellFormed() : field));
	} catch {
		return "";
	}
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/** An object whose fields fit: each row names those that one check is for. Others may hold anything, and must not be read. */
export function shape<T>(...rows: [Check, ...(keyof T & string)[]][]): Check {
	return (value) => isObject(value) && rows.every(([check, ...names]) => names.every((name) => check(value[name])));
}

/** Some of the fields of `from`, those that have a value. */
export function picked<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
	return defined(Object.fromEntries(names.map((name) => [name, from[name]])) as T);
}

/** The fields that have a value: whoever gets them may take an absent field, and not `undefined`. */
export function defined<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
