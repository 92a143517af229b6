//! Whether a value is a secret.

pub(in crate::text) mod extent;
pub(in crate::text) mod judgement;
pub(in crate::text) mod looks;
pub(in crate::text) mod name;
