//! Data only: the words that names and values are made of.

pub(in crate::text) mod names;
pub(in crate::text) mod words;
