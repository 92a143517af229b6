/** Schemas of results: JSON Schema as it is, and libraries that implement Standard Schema. */

/** Standard Schema, and its extension for JSON Schema. */
interface Standard {
	readonly vendor: string;
	readonly validate: (value: unknown) => unknown;
	readonly jsonSchema?: { readonly input: (options: { target: string; libraryOptions?: object }) => unknown };
}

/** A validation by a library. */
interface Validated {
	readonly value?: unknown;
	readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
}

/** The version of JSON Schema that is asked for. */
const target = "draft-2020-12";

/**
 * The types that arktype replaces with a schema for any value, unless an option says otherwise. The child would submit a
 * value that arktype refuses in the end. Conditions that JSON Schema cannot express may be left out: arktype checks them afterwards.
 */
const refusedByArktype = ["date", "domain", "proto", "unit"];

function refuse({ code }: { code: string }): never {
	throw new Error(`arktype knows no JSON Schema for this \`${code}\``);
}

const libraryOptions: Readonly<Record<string, object>> = {
	arktype: { fallback: Object.fromEntries(refusedByArktype.map((code) => [code, refuse])) },
};

const standardOf = (schema: object): Standard | undefined => (schema as { "~standard"?: Standard })["~standard"];

/**
 * Returns the JSON Schema of a schema. `undefined` if its library writes none.
 *
 * Throws the library's error if a part of the schema cannot be written.
 */
export function jsonSchemaOf(schema: object): Record<string, unknown> | undefined {
	const standard = standardOf(schema);
	const options = standard && libraryOptions[standard.vendor];
	const json = standard ? standard.jsonSchema?.input({ target, ...(options && { libraryOptions: options }) }) : schema;
	// Without the fields that a library adds for itself: symbols and functions.
	return json === undefined ? undefined : JSON.parse(JSON.stringify(json));
}

/** Returns the value that the schema makes of a submitted one, or its mistakes. */
export async function validated(schema: object, value: unknown): Promise<{ value: unknown } | { problem: string }> {
	const standard = standardOf(schema);
	if (!standard) return { value };
	const { issues, value: output } = (await standard.validate(value)) as Validated;
	if (!issues) return { value: output };
	const described = issues.map(({ message, path = [] }) =>
		[path.map(key).join("."), message].filter(Boolean).join(": "),
	);
	return { problem: described.join("; ") };
}

/** A step of a path is a key, or an object with one. */
const key = (step: unknown) => String(typeof step === "object" && step !== null && "key" in step ? step.key : step);
