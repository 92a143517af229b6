//! The shape of the result that a run has to submit.

use serde_json::{Map, Value, json};

/// The tool with which a child submits its result. Our guard in the child provides it.
pub const SUBMIT: &str = "submit_result";
/// Most bytes of a schema as JSON. It travels in the child's environment and stands in each request to its model.
const MAX_BYTES: usize = 16 * 1024;
/// The field of a result that is no object by itself: arguments of a tool are one.
const VALUE: &str = "value";

/// A JSON Schema that the result of a run has to fit. pi in the child checks it, and what is wrong goes back to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSchema(Map<String, Value>);

impl OutputSchema {
    /// Takes a schema.
    ///
    /// # Errors
    ///
    /// What a schema has to be, if this is none.
    pub fn new(schema: Value) -> Result<Self, String> {
        let expected = "a JSON Schema such as `{ \"type\": \"object\", \"properties\": { … } }`";
        let Value::Object(schema) = schema else { return Err(format!("expected {expected}")) };
        if schema.is_empty() {
            return Err(format!("it is empty; expected {expected}"));
        }
        let bytes = serde_json::to_vec(&schema).map_or(0, |text| text.len());
        if bytes > MAX_BYTES {
            return Err(format!("it has {bytes} bytes as JSON; expected at most {MAX_BYTES}"));
        }
        Ok(Self(schema))
    }

    /// The schema, as it was given.
    #[must_use]
    pub fn own(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The parameters of the tool: the schema itself, or an object with one field of that shape.
    #[must_use]
    pub fn parameters(&self) -> Value {
        let own = Value::Object(self.0.clone());
        if self.is_object() {
            return own;
        }
        json!({ "type": "object", "properties": { VALUE: own }, "required": [VALUE], "additionalProperties": false })
    }

    /// The result in what the tool was called with.
    #[must_use]
    pub fn result(&self, submitted: Value) -> Value {
        match submitted {
            Value::Object(mut fields) if !self.is_object() => fields.remove(VALUE).unwrap_or_default(),
            whole => whole,
        }
    }

    fn is_object(&self) -> bool {
        self.0.get("type").is_some_and(|kind| kind == "object")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_wrapped_and_comes_back_as_it_is() {
        let list = OutputSchema::new(json!({ "type": "array" })).expect("a schema");
        assert_eq!(list.parameters()["properties"][VALUE], json!({ "type": "array" }));
        assert_eq!(list.result(json!({ "value": [1] })), json!([1]));
        let object = OutputSchema::new(json!({ "type": "object" })).expect("a schema");
        assert_eq!(object.parameters(), json!({ "type": "object" }));
        assert_eq!(object.result(json!({ "value": 1 })), json!({ "value": 1 }));
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        let long = json!({ "type": "object", "description": "x".repeat(MAX_BYTES) });
        for (schema, why) in [(json!([]), "JSON Schema"), (json!({}), "empty"), (long, "at most 16384")] {
            let refused = OutputSchema::new(schema).expect_err("no schema");
            assert!(refused.contains(why), "{refused}");
        }
    }
}
