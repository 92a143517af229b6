//! How durations and limits are written in JSON: as numbers, with 0 for no limit.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! durations {
    ($($name:ident, $optional:ident, $millis:literal)*) => { $(
        pub(super) mod $name {
            use super::*;

            pub(in crate::config) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_u64(u64::try_from(value.as_millis() / $millis).unwrap_or(u64::MAX))
            }

            pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
                u64::deserialize(from).map(|value| Duration::from_millis(value.saturating_mul($millis)))
            }
        }

        pub(super) mod $optional {
            use super::*;

            #[expect(clippy::ref_option, reason = "the signature is serde's")]
            pub(in crate::config) fn serialize<S: Serializer>(
                value: &Option<Duration>,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                super::$name::serialize(&value.unwrap_or_default(), to)
            }

            pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<Option<Duration>, D::Error> {
                super::$name::deserialize(from).map(|value| (!value.is_zero()).then_some(value))
            }
        }
    )* };
}

macro_rules! limits {
    ($($optional:ident, $number:ty)*) => { $(
        pub(super) mod $optional {
            use super::*;

            #[expect(clippy::ref_option, reason = "the signature is serde's")]
            pub(in crate::config) fn serialize<S: Serializer>(
                value: &Option<$number>,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                value.unwrap_or_default().serialize(to)
            }

            pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(
                from: D,
            ) -> Result<Option<$number>, D::Error> {
                <$number>::deserialize(from).map(|value| (value > <$number>::default()).then_some(value))
            }
        }
    )* };
}

durations! {
    millis, millis_or_none, 1
    minutes, minutes_or_none, 60_000
}
limits! {
    count_or_none, u64
    amount_or_none, f64
}
