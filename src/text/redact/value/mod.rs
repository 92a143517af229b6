//! Whether a value is a secret: what its name promises (`name`), what it looks like (`looks`), and the verdict from
//! both and from where it stands (`judgement`; `header` for headers).

pub(in crate::text) mod header;
pub(in crate::text) mod judgement;
pub(in crate::text) mod looks;
pub(in crate::text) mod name;
