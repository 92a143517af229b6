//! The shape of the result that a run must submit.

mod keywords;
mod references;

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::keywords::KeywordError;
use self::references::{
    CONTAINERS, REFERENCES, ReferenceError, inlined, merged, referenced_schema, with_pointers,
};

/// The tool with which a child submits its result. Our guard in the child provides it.
pub const SUBMIT: &str = "submit_result";
/// The maximum size of a schema as JSON, in bytes. The schema is in the child's environment and in each request to its
/// model.
const MAX_BYTES: usize = 16 * 1024;
/// The maximum depth of a schema. No model fills in a deeper result.
const MAX_LEVELS: usize = 64;
/// The maximum number of schemas that are read to decide if a schema describes an object, and to list its properties.
const MAX_SCHEMAS: usize = 10_000;
/// The maximum size of the parameters, in bytes. They may be longer than the schema after references have been
/// replaced.
const MAX_INLINED_BYTES: usize = 2 * MAX_BYTES;
/// The field for a result that is not an object. Arguments of a tool must be an object.
const VALUE: &str = "value";
/// Keywords that combine schemas. Providers refuse them at the top level of a tool's parameters.
const COMBINING: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords about unnamed properties of an object.
const OTHER_PROPERTIES: [&str; 4] =
    ["additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"];
/// Keywords of objects.
const OBJECT_KEYWORDS: [&str; 4] = ["properties", "required", "additionalProperties", "patternProperties"];

/// The expected form of a schema.
const EXPECTED: &str = "a JSON Schema such as `{ \"type\": \"object\", \"properties\": { … } }`";

/// The reason why a value is not a schema for a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// JSON cannot represent it.
    #[error("expected a value that JSON can represent")]
    NotJson,
    /// It is not an object.
    #[error("expected {expected}", expected = EXPECTED)]
    NotAnObject,
    /// It has no members.
    #[error("it is empty; expected {expected}", expected = EXPECTED)]
    Empty,
    /// It is too long.
    #[error("it has {bytes} bytes as JSON; expected at most {limit}", limit = MAX_BYTES)]
    TooLarge {
        /// Its size as JSON.
        bytes: usize,
    },
    /// It is nested too deep.
    #[error("it is nested more than {limit} levels deep; expected fewer", limit = MAX_LEVELS)]
    TooDeep,
    /// A keyword has a wrong value.
    #[error(transparent)]
    Keyword(#[from] KeywordError),
    /// A reference has no target.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// The whole schema refers to itself.
    #[error("`$ref` at `#` leads to itself")]
    Circular,
}

/// A JSON Schema for the result of a run. pi in the child checks the result and reports mistakes to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSchema {
    own: Map<String, Value>,
    parameters: Value,
    is_wrapped: bool,
}

impl OutputSchema {
    /// Creates an output schema from a JSON Schema.
    ///
    /// # Errors
    ///
    /// Returns the expected form if the value is not a schema, and the pointer of a wrong keyword or reference.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        let Value::Object(own) = schema else { return Err(SchemaError::NotAnObject) };
        if own.is_empty() {
            return Err(SchemaError::Empty);
        }
        let bytes = serde_json::to_vec(&own).map_or(0, |text| text.len());
        if bytes > MAX_BYTES {
            return Err(SchemaError::TooLarge { bytes });
        }
        let schema = Value::Object(own.clone());
        if !fits(&schema, MAX_LEVELS) {
            return Err(SchemaError::TooDeep);
        }
        keywords::check(&schema)?;
        let schema = with_pointers(&schema)?;
        if (0..=MAX_LEVELS).try_fold(&schema, |part, _| referenced_schema(part, &schema)).is_some() {
            return Err(SchemaError::Circular);
        }
        let is_short = |whole: &Value| whole.to_string().len() <= MAX_INLINED_BYTES;
        let is_flat = |whole: &Value| fits(whole, MAX_LEVELS);
        let schema = inlined(&schema).filter(is_short).filter(is_flat).unwrap_or(schema);
        let is_wrapped = !is_object(
            &schema,
            &schema,
            &SearchLimits { levels: MAX_LEVELS, schemas: &Cell::new(MAX_SCHEMAS) },
        );
        let parameters = if is_wrapped { wrapped(&schema) } else { object(&schema) };
        Ok(Self { own, parameters, is_wrapped })
    }

    /// Returns the original schema.
    #[must_use]
    pub fn original(&self) -> &Map<String, Value> {
        &self.own
    }

    /// Returns the parameters of the tool: the schema itself, or an object with one field of that shape.
    #[must_use]
    pub fn parameters(&self) -> Value {
        self.parameters.clone()
    }

    /// Returns the result in the arguments of the tool call.
    #[must_use]
    pub fn result(&self, submitted: Value) -> Value {
        match submitted {
            Value::Object(mut fields) if self.is_wrapped => fields.remove(VALUE).unwrap_or_default(),
            whole => whole,
        }
    }
}

/// Returns true if a value has at most this number of levels.
fn fits(value: &Value, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else { return false };
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, inner)),
        Value::Object(members) => members.values().all(|value| fits(value, inner)),
        _ => true,
    }
}

/// Returns the schemas that a keyword combines.
fn combined<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The remaining limits for one search. Without them, a schema that combines itself would take exponential time.
struct SearchLimits<'a> {
    levels: usize,
    schemas: &'a Cell<usize>,
}

impl SearchLimits<'_> {
    /// Returns the limits for the parts of a schema, or `None` if they are used up.
    fn next(&self) -> Option<Self> {
        self.schemas.set(self.schemas.get().checked_sub(1)?);
        Some(Self { levels: self.levels.checked_sub(1)?, schemas: self.schemas })
    }
}

/// Returns true if only objects fit a schema.
fn is_object(schema: &Value, root: &Value, limits: &SearchLimits<'_>) -> bool {
    let Some(limits) = limits.next() else { return false };
    let is_object = |part: &Value| is_object(part, root, &limits);
    match schema.get("type") {
        Some(kind) => kind == "object" || *kind == json!(["object"]),
        None => {
            referenced_schema(schema, root).is_some_and(is_object)
                || ["anyOf", "oneOf"].iter().any(|keyword| {
                    let parts = combined(schema, keyword);
                    !parts.is_empty() && parts.iter().all(is_object)
                })
                || combined(schema, "allOf").iter().any(is_object)
                || OBJECT_KEYWORDS.iter().any(|keyword| schema.get(keyword).is_some())
        }
    }
}

/// Returns the parameters for a result that is an object. A provider shows its model only the properties of the top
/// level.
fn object(schema: &Value) -> Value {
    let mut whole = without_reference(schema, schema);
    let shape =
        shape_of(&whole, schema, &SearchLimits { levels: MAX_LEVELS, schemas: &Cell::new(MAX_SCHEMAS) });
    let Some(members) = whole.as_object_mut() else { return whole };
    members.insert("type".to_owned(), "object".into());
    let is_combined = COMBINING.iter().any(|keyword| members.contains_key(*keyword));
    if is_combined && !["if", "then", "else"].iter().any(|keyword| members.contains_key(*keyword)) {
        let then: Map<String, Value> =
            COMBINING.iter().filter_map(|keyword| members.remove_entry(*keyword)).collect();
        members.insert("if".to_owned(), json!({}));
        members.insert("then".to_owned(), then.into());
        members.extend(shape.into_members());
    }
    whole
}

/// Replaces the references at the top level of a schema by the parts that they refer to.
fn without_reference(schema: &Value, root: &Value) -> Value {
    let mut whole = schema.clone();
    for _ in 0..MAX_LEVELS {
        let Some(target) = referenced_schema(&whole, root).cloned() else { break };
        let mut own = whole;
        let containers: Vec<(String, Value)> = own.as_object_mut().map_or_else(Vec::new, |members| {
            for keyword in REFERENCES {
                members.remove(keyword);
            }
            CONTAINERS.iter().filter_map(|name| members.remove_entry(*name)).collect()
        });
        whole = merged(target, own);
        if let Some(members) = whole.as_object_mut() {
            members.extend(containers);
        }
    }
    whole
}

/// The properties of an object for combined schemas, never stricter than these schemas.
#[derive(Default)]
struct ObjectShape {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// Set if the object allows no other properties.
    is_closed: bool,
}

impl ObjectShape {
    fn into_members(self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            members.insert("required".to_owned(), self.required.into());
        }
        members
    }
}

/// Returns the properties that an object can have under any of the combined schemas.
fn shape_of(schema: &Value, root: &Value, limits: &SearchLimits<'_>) -> ObjectShape {
    let mut found = ObjectShape::default();
    let Some(limits) = limits.next() else { return found };
    if let Some(target) = referenced_schema(schema, root) {
        found = shape_of(target, root, &limits);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    found.properties.extend(properties.cloned().unwrap_or_default());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    found.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
    found.is_closed |= schema.get("additionalProperties") == Some(&Value::Bool(false));
    // The own properties are complete, or the schema decides about other properties.
    let is_complete = OTHER_PROPERTIES.iter().any(|keyword| schema.get(keyword).is_some());
    for keyword in COMBINING {
        let parts: Vec<ObjectShape> =
            combined(schema, keyword).iter().map(|part| shape_of(part, root, &limits)).collect();
        let names = parts.iter().flat_map(|part| part.properties.keys());
        let names: BTreeSet<&String> = names.filter(|name| !found.properties.contains_key(*name)).collect();
        if !is_complete {
            let of =
                |name: &String| if keyword == "allOf" { first(&parts, name) } else { variants(&parts, name) };
            found.properties.extend(names.into_iter().map(|name| (name.clone(), of(name))));
        }
        let names = parts.iter().flat_map(|part| part.required.iter().cloned());
        let is_in_all =
            |name: &String| keyword == "allOf" || parts.iter().all(|part| part.required.contains(name));
        found.required.extend(names.filter(is_in_all));
    }
    found.required.sort_unstable();
    found.required.dedup();
    found
}

/// Returns the condition for a property that must fit all of several objects, taken from one of them.
fn first(objects: &[ObjectShape], name: &str) -> Value {
    objects.iter().find_map(|object| object.properties.get(name)).cloned().unwrap_or_default()
}

/// Returns the alternatives for a property that must fit one of several objects.
fn variants(objects: &[ObjectShape], name: &str) -> Value {
    let mut variants: Vec<&Value> = Vec::new();
    for variant in objects.iter().filter_map(|object| object.properties.get(name)) {
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    let anything = json!({});
    if objects.iter().any(|object| !object.is_closed && !object.properties.contains_key(name)) {
        variants.push(&anything);
    }
    match variants[..] {
        [only] => only.clone(),
        _ => json!({ "anyOf": variants }),
    }
}

/// Returns the parameters for a result that is not an object.
fn wrapped(schema: &Value) -> Value {
    let mut own = schema.clone();
    move_references(&mut own);
    let containers: Vec<(String, Value)> = own.as_object_mut().map_or_else(Vec::new, |members| {
        CONTAINERS.iter().filter_map(|name| members.remove_entry(*name)).collect()
    });
    let mut whole = json!({ "type": "object", "properties": { VALUE: own }, "required": [VALUE], "additionalProperties": false });
    if let Some(members) = whole.as_object_mut() {
        members.extend(containers);
    }
    whole
}

/// Updates the references of a schema after its parts have moved: the containers to the root, and all others below the
/// single property.
fn move_references(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(move_references),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(reference) if REFERENCES.contains(&&**name) => {
                        let pointer = reference.trim_start_matches('#');
                        let is_contained =
                            CONTAINERS.iter().any(|name| pointer.starts_with(&format!("/{name}/")));
                        if !is_contained {
                            *reference = format!("#/properties/{VALUE}{pointer}");
                        }
                    }
                    value => move_references(value),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(schema: Value) -> Value {
        OutputSchema::new(schema).expect("the schema is valid").parameters()
    }

    #[test]
    fn a_result_that_is_not_an_object_is_wrapped_and_unwrapped() {
        let list = OutputSchema::new(json!({ "type": "array" })).expect("the schema is valid");
        assert_eq!(list.parameters()["properties"][VALUE], json!({ "type": "array" }));
        assert_eq!(list.result(json!({ "value": [1] })), json!([1]));
        let object = OutputSchema::new(json!({ "type": "object" })).expect("the schema is valid");
        assert_eq!(object.parameters(), json!({ "type": "object" }));
        assert_eq!(object.result(json!({ "value": 1 })), json!({ "value": 1 }));
    }

    #[test]
    fn a_schema_that_combines_itself_is_read_in_bounded_time() {
        let itself = json!({ "$ref": "#" });
        for keyword in COMBINING {
            for kind in [json!({}), json!({ "type": "object" })] {
                let mut schema = kind;
                schema[keyword] = json!([itself, itself, itself]);
                let _ = OutputSchema::new(schema);
            }
        }
    }

    #[test]
    fn references_are_replaced_by_their_targets() {
        let item =
            json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
        let list = json!({ "type": "array", "items": item });
        for (label, schema) in [
            (
                "the default of zod-to-json-schema",
                json!({
                    "$ref": "#/definitions/report", "definitions": { "report": item },
                    "$schema": "http://json-schema.org/draft-07/schema#"
                }),
            ),
            (
                "an id of TypeBox",
                json!({ "$id": "T", "$ref": "T2", "$defs": { "x": { "$id": "T2", "type": "object",
                "properties": item["properties"], "required": ["path"] } } }),
            ),
            (
                "an anchor",
                json!({ "$ref": "#it", "$defs": { "x": { "$anchor": "it", "type": "object",
                "properties": item["properties"], "required": ["path"] } } }),
            ),
            (
                "through another one, with escapes",
                json!({ "$ref": "#/$defs/a%20b", "$defs": { "a b": { "$ref": "#/$defs/c~1d" },
                "c/d": item } }),
            ),
            (
                "deeper in the schema",
                json!({ "type": "object", "properties": { "path": { "$ref": "#/$defs/s" } },
                "required": ["path"], "$defs": { "s": { "type": "string" } } }),
            ),
            (
                "the whole address of the schema",
                json!({ "$id": "https://example.com/it", "type": "object",
                "properties": { "path": { "$ref": "https://example.com/it#/$defs/s" } }, "required": ["path"],
                "$defs": { "s": { "type": "string" } } }),
            ),
        ] {
            assert_eq!(parameters(schema), item, "{label}");
        }
        for (label, schema) in [
            (
                "in a list",
                json!({ "type": "array", "items": { "$ref": "#/$defs/item" }, "$defs": { "item": item } }),
            ),
            (
                "a reference to a list",
                json!({ "$ref": "#/definitions/all", "definitions": { "item": item,
                "all": { "type": "array", "items": { "$ref": "#/definitions/item" } } } }),
            ),
            (
                "a pointer to any part",
                json!({ "type": "array", "prefixItems": [], "items": { "$ref": "#/x-parts/item" },
                "x-parts": { "item": item } }),
            ),
        ] {
            let value = &parameters(schema)["properties"][VALUE];
            assert_eq!((&value["type"], &value["items"]), (&list["type"], &list["items"]), "{label}");
        }
        let noted = parameters(
            json!({ "type": "object", "$defs": { "s": { "type": "string", "description": "d" } },
            "properties": { "a": { "$ref": "#/$defs/s", "description": "e" }, "b": { "$ref": "#/$defs/s", "minLength": 1 } } }),
        );
        assert_eq!(
            noted["properties"],
            json!({ "a": { "type": "string", "description": "e" },
                "b": { "minLength": 1, "allOf": [{ "type": "string", "description": "d" }] } })
        );
    }

    #[test]
    fn a_recursive_schema_keeps_its_references() {
        let node = |reference: &str| json!({ "type": "object", "properties": { "all": { "type": "array", "items": { "$ref": reference } } } });
        for (schema, expected) in [
            (node("#"), node("#")),
            (
                json!({ "$ref": "#/definitions/Node", "definitions": { "Node": node("#/definitions/Node") } }),
                json!({ "type": "object", "properties": node("#/definitions/Node")["properties"],
                    "definitions": { "Node": node("#/definitions/Node") } }),
            ),
            (
                json!({ "type": "array", "items": { "$ref": "#/$defs/Node" }, "$defs": { "Node": node("#/$defs/Node") } }),
                json!({ "type": "object", "required": ["value"], "additionalProperties": false,
                    "properties": { "value": { "type": "array", "items": { "$ref": "#/$defs/Node" } } },
                    "$defs": { "Node": node("#/$defs/Node") } }),
            ),
            (
                json!({ "type": "array", "items": { "$ref": "#" } }),
                json!({ "type": "object", "required": ["value"], "additionalProperties": false,
                    "properties": { "value": { "type": "array", "items": { "$ref": "#/properties/value" } } } }),
            ),
            (
                json!({ "$id": "T0", "type": "array", "items": { "$ref": "T0" } }),
                json!({ "type": "object", "required": ["value"], "additionalProperties": false,
                    "properties": { "value": { "type": "array", "items": { "$ref": "#/properties/value" } } } }),
            ),
        ] {
            assert_eq!(parameters(schema), expected);
        }
    }

    #[test]
    fn object_alternatives_are_submitted_unwrapped() {
        let one = json!({ "type": "object", "properties": { "kind": { "const": "one" }, "at": { "type": "integer" } },
            "required": ["kind", "at"] });
        let none =
            json!({ "type": "object", "properties": { "kind": { "const": "none" } }, "required": ["kind"] });
        // An object of the other kind may have any property with that name.
        let at = json!({ "anyOf": [{ "type": "integer" }, {}] });
        for (keyword, schema) in [
            ("anyOf", json!({ "anyOf": [one, none] })),
            (
                "oneOf",
                json!({ "oneOf": [{ "$ref": "#/$defs/one" }, { "$ref": "#/$defs/none" }], "$defs": { "one": one, "none": none } }),
            ),
        ] {
            let schema = OutputSchema::new(schema).expect("the schema is valid");
            assert_eq!(
                schema.parameters(),
                json!({
                    "type": "object", "required": ["kind"],
                    "properties": { "kind": { "anyOf": [{ "const": "one" }, { "const": "none" }] }, "at": at },
                    "if": {}, "then": { keyword: [one, none] },
                })
            );
            assert_eq!(schema.result(json!({ "kind": "none" })), json!({ "kind": "none" }));
        }
        let both =
            parameters(json!({ "allOf": [one, { "properties": { "more": {} }, "required": ["more"] }] }));
        assert_eq!(both["required"], json!(["at", "kind", "more"]));
        assert_eq!(both["properties"]["at"], json!({ "type": "integer" }));
        let closed = json!({ "properties": none["properties"], "additionalProperties": false });
        let schema = parameters(json!({ "oneOf": [one, closed] }));
        assert_eq!(
            schema["properties"]["at"],
            json!({ "type": "integer" }),
            "a closed alternative does not allow `at`"
        );
        let own = json!({ "at": { "type": "string" } });
        for more in [json!({}), json!({ "additionalProperties": false })] {
            let mut schema = json!({ "type": "object", "properties": own, "anyOf": [one, none] });
            schema
                .as_object_mut()
                .expect("the value is an object")
                .extend(more.as_object().expect("the value is an object").clone());
            let sent = parameters(schema);
            assert_eq!(sent["properties"]["at"], own["at"], "an alternative keeps its own properties");
            assert_eq!(sent["properties"].get("kind").is_some(), more == json!({}));
        }
        let mixed = parameters(json!({ "anyOf": [one, { "type": "null" }] }));
        assert_eq!(mixed["required"], json!([VALUE]), "an alternative that is not an object is wrapped");
    }

    #[test]
    fn names_and_data_are_not_references() {
        let schema = json!({ "type": "object", "properties": {
            "$ref": { "type": "string" }, "x": { "const": { "$ref": "#/nowhere" } }, "y": { "enum": [{ "$ref": "https://x" }] },
            "$id": { "type": "string", "default": { "$id": "z" } },
        } });
        assert_eq!(parameters(schema.clone()), schema);
    }

    #[test]
    fn an_unresolvable_reference_is_refused_with_its_pointer() {
        for (schema, pointer, reference) in [
            (json!({ "$ref": "#/definitions/gone" }), "`#`", "`#/definitions/gone`"),
            (json!({ "type": "array", "items": { "$ref": "#/$defs/a/b" } }), "`#/items`", "`#/$defs/a/b`"),
            (json!({ "properties": { "a/b": { "$ref": "#nowhere" } } }), "`#/properties/a~1b`", "`#nowhere`"),
            (
                json!({ "properties": { "a": { "$ref": "https://example.com/a.json#/x" } } }),
                "`#/properties/a`",
                "`https://example.com/a.json#/x`",
            ),
            (json!({ "allOf": [{ "$ref": "other.json" }] }), "`#/allOf/0`", "`other.json`"),
            (json!({ "$ref": "file:///etc/passwd" }), "`#`", "`file:///etc/passwd`"),
        ] {
            let refused = OutputSchema::new(schema).expect_err("the reference is refused").to_string();
            assert!(refused.contains(&format!("`$ref` at {pointer} is {reference}")), "{refused}");
        }
        let itself = OutputSchema::new(json!({ "$ref": "#" })).map(|schema| schema.parameters());
        assert_eq!(itself, Err(SchemaError::Circular));
    }

    #[test]
    fn a_value_that_is_not_a_schema_is_refused() {
        let long = json!({ "type": "object", "description": "x".repeat(MAX_BYTES) });
        let deep = (0..MAX_LEVELS).fold(json!({}), |inner, _| json!({ "not": inner }));
        for (schema, why) in
            [(json!([]), "JSON Schema"), (json!({}), "empty"), (long, "at most 16384"), (deep, "64 levels")]
        {
            let refused = OutputSchema::new(schema).expect_err("the value is refused").to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
