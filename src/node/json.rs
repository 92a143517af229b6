//! Values on their way over the border, as JSON.
//!
//! A large value crosses as one text, which `JSON.parse` reads: a list of fifty runs is thousands of small values, and handing
//! them over one by one takes four times as long. `types.d.ts` has the types of these values, and `tests/types.rs` compares
//! it with them.

#![expect(unsafe_code, reason = "the methods of napi's traits for conversions are unsafe")]

use napi::bindgen_prelude::{
    Env, FromNapiValue, Function, JsObjectValue, JsValue, Object, ToNapiValue, TypeName, Unknown,
    ValidateNapiValue,
};
use napi::{Status, ValueType, sys};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value for JavaScript. It is written on the thread that makes it.
pub struct Json(String);

impl Json {
    pub(super) fn new(value: &impl Serialize) -> napi::Result<Self> {
        Ok(Self(serde_json::to_string(value)?))
    }
}

impl ToNapiValue for Json {
    unsafe fn to_napi_value(env: sys::napi_env, Self(text): Self) -> napi::Result<sys::napi_value> {
        let json: Object = Env::from_raw(env).get_global()?.get_named_property("JSON")?;
        let parse: Function<String, Unknown> = json.get_named_property("parse")?;
        Ok(parse.call(text)?.raw())
    }
}

/// A value from JavaScript. A field that is `undefined` or `null` counts as absent.
pub struct Parsed<T>(pub(super) T);

impl<T: DeserializeOwned> FromNapiValue for Parsed<T> {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        // SAFETY: the caller promises that both are valid.
        let value = unsafe { Value::from_napi_value(env, value)? };
        let parsed = serde_json::from_value(without_nulls(value));
        parsed.map(Self).map_err(|error| napi::Error::new(Status::InvalidArg, error.to_string()))
    }
}

impl<T> TypeName for Parsed<T> {
    fn type_name() -> &'static str {
        "Object"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl<T: DeserializeOwned> ValidateNapiValue for Parsed<T> {}

/// Leaves out the fields that have no value.
pub(super) fn without_nulls(mut value: Value) -> Value {
    remove_nulls(&mut value);
    value
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
