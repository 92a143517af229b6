//! Resolves the references of a JSON Schema.
//!
//! A schema moves on its way to the child, because it becomes the shape of a tool's arguments. After that, a reference
//! by an id, by an anchor or by a pointer from the root would lead nowhere. So every reference becomes a pointer from
//! the root, or the schema that it refers to.

use serde_json::{Map, Value};

use sanitizer::quoted;

/// The keywords that refer to a schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// The keywords for schemas that others refer to.
pub(super) const CONTAINERS: [&str; 2] = ["$defs", "definitions"];
/// Keywords that contain named schemas. The names are not keywords.
const MAPS: [&str; 6] =
    ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords that contain data.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];
/// Keywords without an effect on values. They may be next to a reference.
const NOTES: [&str; 8] =
    ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];
/// Keywords that only name a schema.
const NAMES: [&str; 7] =
    ["$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"];
/// The maximum number of values in a schema whose references are replaced. A larger schema keeps its references.
const MAX_VALUES: usize = 4096;

/// A reference without a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{keyword}` at {} is {}, {why}", quoted(pointer), quoted(reference))]
pub struct ReferenceError {
    keyword: &'static str,
    /// The pointer to the part with the reference.
    pointer: String,
    reference: String,
    why: Unresolved,
}

/// The reason why a reference has no target. The messages end a sentence about the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Unresolved {
    /// The schema has no such part.
    #[error("but the schema has no such part")]
    Dangling,
    /// It refers to another schema.
    #[error("which is not in the schema; expected a reference to its own parts, such as `#/$defs/item`")]
    Foreign,
}

/// A part of a schema with a name for references.
struct Named {
    /// The id of the part, or its anchor.
    name: String,
    /// The pointer of the part with the id around an anchor; `None` for an id.
    within: Option<String>,
    pointer: String,
}

/// Makes every reference a pointer from the root, and removes ids and anchors.
///
/// # Errors
///
/// Returns the pointer of a reference without a target.
pub(super) fn with_pointers(root: &Value) -> Result<Value, ReferenceError> {
    let mut named = Vec::new();
    collect(root, "", "", &mut named);
    with_pointer_references(root, root, "", "", &named)
}

/// Collects ids and anchors. `base` is the pointer of the nearest part with an id.
fn collect(schema: &Value, pointer: &str, base: &str, named: &mut Vec<Named>) {
    let mut base = base.to_owned();
    if let Some(id) = text(schema, "$id") {
        if let Some(anchor) = id.strip_prefix('#') {
            named.push(anchor_of(anchor, &base, pointer));
        } else {
            pointer.clone_into(&mut base);
            let name = id.trim_end_matches('#').to_owned();
            named.push(Named { name, within: None, pointer: pointer.to_owned() });
        }
    }
    for keyword in ["$anchor", "$dynamicAnchor"] {
        named.extend(text(schema, keyword).map(|anchor| anchor_of(anchor, &base, pointer)));
    }
    each_part(schema, |keys, part| collect(part, &joined(pointer, keys), &base, named));
}

fn anchor_of(anchor: &str, base: &str, pointer: &str) -> Named {
    Named { name: anchor.to_owned(), within: Some(base.to_owned()), pointer: pointer.to_owned() }
}

fn text<'a>(schema: &'a Value, keyword: &str) -> Option<&'a str> {
    schema.get(keyword)?.as_str()
}

/// Calls `of` with every schema directly inside another one, and with the keys that lead to it.
pub(super) fn each_part<'a>(schema: &'a Value, mut of: impl FnMut(&[&str], &'a Value)) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        let of_map = MAPS.contains(&&**keyword);
        match value {
            Value::Object(members) if of_map => {
                members.iter().for_each(|(name, part)| of(&[keyword, name], part));
            }
            _ if DATA.contains(&&**keyword) => {}
            Value::Object(_) => of(&[keyword], value),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, part)| of(&[keyword, &at.to_string()], part));
            }
            _ => {}
        }
    }
}

/// Returns a copy in which `change` has replaced every schema directly inside.
fn map_subschemas<E>(
    schema: &Value,
    mut change: impl FnMut(&[&str], &Value) -> Result<Value, E>,
) -> Result<Value, E> {
    let Value::Object(members) = schema else { return Ok(schema.clone()) };
    let mut copy = Map::new();
    for (keyword, value) in members {
        let value = match value {
            Value::Object(inner) if MAPS.contains(&&**keyword) => {
                let part =
                    |(name, part): (&String, &Value)| Ok((name.clone(), change(&[keyword, name], part)?));
                Value::Object(inner.iter().map(part).collect::<Result<_, E>>()?)
            }
            value if DATA.contains(&&**keyword) => value.clone(),
            Value::Object(_) => change(&[keyword], value)?,
            Value::Array(items) => {
                let part = |(at, part): (usize, &Value)| change(&[keyword, &at.to_string()], part);
                Value::Array(items.iter().enumerate().map(part).collect::<Result<_, E>>()?)
            }
            other => other.clone(),
        };
        copy.insert(keyword.clone(), value);
    }
    Ok(Value::Object(copy))
}

pub(super) fn joined(pointer: &str, keys: &[&str]) -> String {
    keys.iter().fold(pointer.to_owned(), |pointer, key| {
        format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
    })
}

fn with_pointer_references(
    schema: &Value,
    root: &Value,
    pointer: &str,
    base: &str,
    named: &[Named],
) -> Result<Value, ReferenceError> {
    let has_id = text(schema, "$id").is_some_and(|id| !id.starts_with('#'));
    let base = if has_id { pointer } else { base };
    let mut copy = map_subschemas(schema, |keys, part| {
        with_pointer_references(part, root, &joined(pointer, keys), base, named)
    })?;
    let Some(members) = copy.as_object_mut() else { return Ok(copy) };
    for keyword in REFERENCES {
        if let Some(reference) = text(schema, keyword) {
            let target = target_of(reference, base, root, named).map_err(|why| ReferenceError {
                keyword,
                pointer: format!("#{pointer}"),
                reference: reference.to_owned(),
                why,
            })?;
            members.insert(keyword.to_owned(), format!("#{target}").into());
        }
    }
    for name in NAMES {
        if members.get(name).is_some_and(|value| !value.is_object()) {
            members.remove(name);
        }
    }
    Ok(copy)
}

/// Returns the pointer to the target of a reference.
fn target_of(reference: &str, base: &str, root: &Value, named: &[Named]) -> Result<String, Unresolved> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let resource = if document.is_empty() {
        base
    } else {
        let found = named.iter().find(|known| known.within.is_none() && known.name == document);
        &found.ok_or(Unresolved::Foreign)?.pointer
    };
    if fragment.is_empty() || fragment.starts_with('/') {
        let is_schema =
            |pointer: &str| root.pointer(pointer).is_some_and(|part| part.is_object() || part.is_boolean());
        let pointers =
            [fragment.to_owned(), decoded(fragment)].map(|fragment| format!("{resource}{fragment}"));
        return pointers.into_iter().find(|pointer| is_schema(pointer)).ok_or(Unresolved::Dangling);
    }
    let anchored = |known: &&Named| {
        known.within.as_deref() == Some(resource) && [fragment, &decoded(fragment)].contains(&&*known.name)
    };
    named.iter().find(anchored).map(|known| known.pointer.clone()).ok_or(Unresolved::Dangling)
}

/// Returns a fragment without percent-encoding.
fn decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = fragment.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        out.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(out).unwrap_or_else(|_| fragment.to_owned())
}

/// Returns the target of a schema's reference, in a schema with pointers.
pub(super) fn referenced_schema<'a>(schema: &Value, root: &'a Value) -> Option<&'a Value> {
    REFERENCES.iter().find_map(|keyword| root.pointer(text(schema, keyword)?.strip_prefix('#')?))
}

/// Replaces every reference by its target. Returns `None` if the schema contains itself, or would become too large.
pub(super) fn inlined(root: &Value) -> Option<Value> {
    inline(root, root, &mut Vec::new(), &mut { MAX_VALUES }).ok()
}

/// The error for references that cannot be replaced.
struct NotInlinable;

/// Replaces the references in a schema. `open` has the references around it.
fn inline(
    schema: &Value,
    root: &Value,
    open: &mut Vec<String>,
    remaining: &mut usize,
) -> Result<Value, NotInlinable> {
    *remaining = remaining.checked_sub(1).ok_or(NotInlinable)?;
    let mut own = schema.clone();
    if let Some(members) = own.as_object_mut() {
        members.retain(|name, _| !REFERENCES.contains(&&**name) && !CONTAINERS.contains(&&**name));
    }
    let own = map_subschemas(&own, |_, part| inline(part, root, open, remaining))?;
    let Some(reference) = REFERENCES.iter().find_map(|keyword| text(schema, keyword)) else { return Ok(own) };
    if open.iter().any(|known| known == reference) {
        return Err(NotInlinable);
    }
    open.push(reference.to_owned());
    let target = referenced_schema(schema, root).ok_or(NotInlinable)?;
    let whole = inline(target, root, open, remaining)?;
    open.pop();
    Ok(merged(whole, own))
}

/// Merges a referenced schema with the keywords next to the reference.
pub(super) fn merged(whole: Value, own: Value) -> Value {
    let Value::Object(mut own) = own else { return whole };
    match whole {
        Value::Object(mut whole) if own.keys().all(|name| NOTES.contains(&&**name)) => {
            whole.append(&mut own);
            Value::Object(whole)
        }
        whole if own.is_empty() => whole,
        whole => {
            let mut all = vec![whole];
            if let Some(Value::Array(mut more)) = own.remove("allOf") {
                all.append(&mut more);
            }
            own.insert("allOf".to_owned(), all.into());
            Value::Object(own)
        }
    }
}
