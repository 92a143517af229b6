//! The kinds of place in which a secret stands.

pub(in crate::text) mod assignment;
pub(in crate::text) mod bearer;
pub(in crate::text) mod command;
pub(in crate::text) mod entry;
pub(in crate::text) mod foreign;
pub(in crate::text) mod header;
pub(in crate::text) mod pem;
pub(in crate::text) mod separator;
pub(in crate::text) mod url;
pub(in crate::text) mod vendor;
