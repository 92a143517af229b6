//! Conversions of drawings to JavaScript's. Other values cross the border as `json`.
//!
//! A number becomes a double, a choice a text. Where JavaScript has an optional field for a value that is
//! always there, an empty list or `false` leaves it out.

/// Converts a value of the core to what JavaScript gets for it.
pub(super) trait IntoJs<Js> {
    fn into_js(self) -> Js;
}

/// Converts an object of the core to one of JavaScript, written as a literal: a field without a value has the same name in
/// the core.
macro_rules! object_into_js {
    (|$core:ident: $type:ty| $object:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        impl $crate::node::into_js::IntoJs<$object> for $type {
            fn into_js(self) -> $object {
                let $core = self;
                $object { $($field: object_into_js!(@field $core.$field $(= $value)?)),* }
            }
        }
    };
    (@field $core:ident.$field:ident) => { object_into_js!(@field $core.$field = $core.$field) };
    (@field $core:ident.$field:ident = $value:expr) => { $crate::node::into_js::IntoJs::into_js($value) };
}

pub(super) use object_into_js;

/// Values that are the same on both sides.
macro_rules! unchanged {
    ($($type:ty),*) => {
        $(impl IntoJs<Self> for $type {
            fn into_js(self) -> Self {
                self
            }
        })*
    };
}

unchanged!(bool, i32, u32, i64, f64, String);

/// A choice, or a text that is known when this is compiled.
impl<T: Into<&'static str>> IntoJs<&'static str> for T {
    fn into_js(self) -> &'static str {
        self.into()
    }
}

/// Counts stay exact in a JavaScript number up to 2^53, which no run reaches.
impl IntoJs<f64> for u64 {
    #[expect(clippy::cast_precision_loss, reason = "counts and milliseconds stay below 2^53")]
    fn into_js(self) -> f64 {
        self as f64
    }
}

impl IntoJs<f64> for usize {
    fn into_js(self) -> f64 {
        (self as u64).into_js()
    }
}

/// A place in a queue or a small count.
impl IntoJs<u32> for usize {
    fn into_js(self) -> u32 {
        u32::try_from(self).unwrap_or(u32::MAX)
    }
}

impl IntoJs<Option<bool>> for bool {
    fn into_js(self) -> Option<bool> {
        self.then_some(true)
    }
}

impl<T: IntoJs<Js>, Js> IntoJs<Option<Js>> for Option<T> {
    fn into_js(self) -> Option<Js> {
        self.map(T::into_js)
    }
}

impl<T: IntoJs<Js>, Js> IntoJs<Vec<Js>> for Vec<T> {
    fn into_js(self) -> Vec<Js> {
        self.into_iter().map(T::into_js).collect()
    }
}

impl<T: IntoJs<Js>, Js> IntoJs<Option<Vec<Js>>> for Vec<T> {
    fn into_js(self) -> Option<Vec<Js>> {
        (!self.is_empty()).then(|| self.into_js())
    }
}
