//! Files: where they lie, who may read them, and how one is opened that somebody else may have put there.
//!
//! [`layout`] knows every name below the agent directory and in the directory of a run, [`private`] makes what only its
//! owner may read, and [`open`] reads what may be anything. Beside `text` at the bottom: it knows no layer above.

pub mod layout;
pub mod open;
pub mod private;
