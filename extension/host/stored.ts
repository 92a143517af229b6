/**
 * Reads back what we keep in sessions. A session outlives releases and is anybody's file: another extension may use our
 * names, a line may be cut, a person may edit it. So a value is checked as a whole, and one that is not ours is `undefined`:
 * whoever draws it falls back to the text that stands beside it.
 */

export type Check = (value: unknown) => boolean;

/** Says of stored data what it is. Releases before 0.2 wrote neither; another version may mean anything by the fields. */
export interface Stamp {
	kind: string;
	version: number;
}

export const isText = (value: unknown): value is string => typeof value === "string";
export const isFlag: Check = (value) => typeof value === "boolean";
/** JSON can spell infinity, as `1e999`. */
export const isNumber: Check = (value) => Number.isFinite(value);

export function oneOf(words: readonly string[]): Check {
	const known = new Set<unknown>(words);
	return (value) => known.has(value);
}

export function maybe(check: Check): Check {
	return (value) => value === undefined || check(value);
}

export function listOf(check: Check): Check {
	return (value) => Array.isArray(value) && value.every(check);
}

/** The text of a result or a message, whatever else is in it. */
export function contentText({ content }: { content?: unknown }): string {
	if (isText(content)) return content;
	if (!Array.isArray(content)) return "";
	return content.map((part: unknown) => (isObject(part) && isText(part.text) ? part.text : "")).join("\n");
}

/** What the addon reads of a value that may be anything, as a session file would hold it; nothing of one that none can hold. */
export function asJson(value: unknown): string {
	try {
		const json = JSON.stringify(value) ?? "";
		// Half a character, where a text was cut.
		if (!/\\ud[89a-f]/.test(json)) return json;
		return JSON.stringify(value, (_, field: unknown) => (isText(field) ? field.toWellFormed() : field));
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

/** Returns the value itself where it is one of ours. The same object is drawn many times and checked once. */
export function decoder<T extends object>({ kind, version }: Stamp, check: Check): (value: unknown) => T | undefined {
	const checked = new WeakMap<object, boolean>();
	const fits = (value: Record<string, unknown>) => {
		try {
			const isUnstamped = value.kind === undefined && value.version === undefined;
			return (isUnstamped || (value.kind === kind && value.version === version)) && check(value);
		} catch {
			return false;
		}
	};
	return (value) => {
		if (!isObject(value)) return undefined;
		const isOurs = checked.get(value) ?? fits(value);
		checked.set(value, isOurs);
		return isOurs ? (value as T) : undefined;
	};
}

/** Some of the fields of `from`, those that have a value. */
export function picked<T extends object, Name extends keyof T>(from: T, names: readonly Name[]): Pick<T, Name> {
	return defined(Object.fromEntries(names.map((name) => [name, from[name]])) as T);
}

/** The fields that have a value: whoever gets them may take an absent field, and not `undefined`. */
export function defined<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
