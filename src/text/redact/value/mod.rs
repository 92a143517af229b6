//! Whether a value is a secret: what its name promises (`name`), what it looks like (`looks`), and the verdict from
//! both and from where it stands (`judgement`; `header` for headers).

pub(crate) mod header;
pub(crate) mod judgement;
pub(crate) mod looks;
pub(crate) mod name;
