/** Schemas of results: JSON Schema as it is, and libraries that implement Standard Schema. */

/** Standard Schema, and its extension for JSON Schema. */
interface Standard {
	readonly validate: (value: unknown) => unknown;
	readonly jsonSchema?: { readonly input: (options: { target: string }) => unknown };
}

/** A validation by a library. */
interface Validated {
	readonly value?: unknown;
	readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
}

/** The version of JSON Schema that is asked for. */
const target = "draft-2020-12";

const standardOf = (schema: object): Standard | undefined => (schema as { "~standard"?: Standard })["~standard"];

/** Returns the JSON Schema of a schema. `undefined` if its library cannot write one. */
export function jsonSchemaOf(schema: object): Record<string, unknown> | undefined {
	const standard = standardOf(schema);
	// Without the fields that a library adds for itself: symbols and functions.
	const json = standard ? standard.jsonSchema?.input({ target }) : schema;
	return json === undefined ? undefined : JSON.parse(JSON.stringify(json));
}

/** Returns the value that the schema makes of a submitted one, or its mistakes. */
export async function validated(schema: object, value: unknown): Promise<{ value: unknown } | { problem: string }> {
	const standard = standardOf(schema);
	if (!standard) return { value };
	const { issues, value: output } = (await standard.validate(value)) as Validated;
	if (!issues) return { value: output };
	const described = issues.map(({ message, path = [] }) => [path.map(key).join("."), message].filter(Boolean).join(": "));
	return { problem: described.join("; ") };
}

/** A step of a path is a key, or an object with one. */
const key = (step: unknown) => String(typeof step === "object" && step !== null && "key" in step ? step.key : step);
