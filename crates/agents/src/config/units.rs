//! Durations and limits in JSON: numbers, with 0 for no limit.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use sanitizer::figures::millis;

/// A duration, as a number of units of this many milliseconds.
pub(super) struct Unit<const MILLIS: u64>;

pub(super) type Millis = Unit<1>;

impl<const MILLIS: u64> Unit<MILLIS> {
    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        millis(*value).div_euclid(MILLIS).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(|value| Duration::from_millis(value.saturating_mul(MILLIS)))
    }
}

/// A duration that is a limit, in the same units.
pub(super) struct UnitLimit<const MILLIS: u64>;

pub(super) type MillisLimit = UnitLimit<1>;
pub(super) type MinutesLimit = UnitLimit<60_000>;

impl<const MILLIS: u64> UnitLimit<MILLIS> {
    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        Unit::<MILLIS>::serialize(&value.unwrap_or_default(), to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Unit::<MILLIS>::deserialize(from).map(|value| Some(value).filter(|value| !value.is_zero()))
    }
}

/// A number that is a limit; 0 is no limit.
pub(super) struct Limit;

impl Limit {
    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(super) fn serialize<T, S>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error>
    where
        T: Copy + Default + Serialize,
        S: Serializer,
    {
        value.unwrap_or_default().serialize(to)
    }

    pub(super) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: Default + PartialOrd + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        T::deserialize(from).map(|value| Some(value).filter(|value| *value > T::default()))
    }
}
