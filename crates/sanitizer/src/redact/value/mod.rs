//! Judges a value as secret or harmless: `name` classifies its name, `shape` its look, and `judgement` combines both
//! with its context (`header` for headers).

pub(crate) mod header;
pub(crate) mod judgement;
pub(crate) mod name;
pub(crate) mod shape;
