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

/// The largest integer up to which a number of JavaScript is exact: 2^53.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;

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

/// A value from JavaScript. A field that is `undefined` or `null` counts as absent, and a whole number is an integer.
pub struct Parsed<T>(pub(super) T);

impl<T: DeserializeOwned> FromNapiValue for Parsed<T> {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        // SAFETY: the caller promises that both are valid.
        let mut value = unsafe { Value::from_napi_value(env, value)? };
        for_all(&mut value, &|value| {
            remove_nulls(value);
            make_integer(value);
        });
        let parsed = serde_json::from_value(value);
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
    for_all(&mut value, &remove_nulls);
    value
}

/// Applies a change to a value and to all values in it.
fn for_all(value: &mut Value, change: &impl Fn(&mut Value)) {
    change(value);
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| for_all(field, change)),
        Value::Array(items) => items.iter_mut().for_each(|item| for_all(item, change)),
        _ => {}
    }
}

fn remove_nulls(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|_, field| !field.is_null());
    }
}

/// Makes a whole number an integer. napi gives every number above `u32::MAX` as a float, such as a time in milliseconds.
fn make_integer(value: &mut Value) {
    let whole = value.as_f64().filter(|_| value.is_f64());
    let whole = whole.filter(|number| number.fract() == 0.0 && number.abs() <= MAX_INTEGER);
    if let Some(whole) = whole {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and no larger than MAX_INTEGER")]
        let whole = whole as i64;
        *value = whole.into();
    }
}
