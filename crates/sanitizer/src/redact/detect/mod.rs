//! The rules that find secrets in a text.
//!
//! Each file has one or two rules; [`rules`] lists all of them.
//!
//! | File | Finds |
//! |---|---|
//! | `assignment` | `name=value` and similar forms, the largest rule; `judgement` judges the value |
//! | `separator` | the link between a name and its value, next to it or in another field: a `Separator` of `tie` |
//! | `escaped` | the same with escaped signs |
//! | `extent` | the beginning and the end of a value |
//! | `block` | values on the lines below their name: block scalars of YAML, heredocs |
//! | `header` | values of names such as `Authorization` |
//! | `bearer` | `Bearer x` and `Basic x` anywhere; falls back on assignments |
//! | `vendor` | tokens with a known shape |
//! | `pem` | private keys |
//! | `passwords` | credentials in URLs, after flags such as `-p` of `mysql`, in SQL and `.pgpass` |
//! | `home` | home directories |

mod assignment;
mod bearer;
pub(crate) mod block;
mod escaped;
mod extent;
mod header;
mod home;
mod passwords;
pub(crate) mod pem;
mod separator;
mod tie;
mod vendor;

pub(crate) use header::{header_kind, is_secret_header};
pub use home::HomePaths;
pub(crate) use home::Homes;

use super::rule::Rule;

/// Returns every rule that reads a text without decoding it. `homes` selects the directories that become `~`.
pub(crate) fn rules(homes: &Homes) -> Vec<Box<dyn Rule>> {
    let mut rules: Vec<Box<dyn Rule>> = vec![
        Box::new(crate::redact::detect::passwords::UserInfo),
        Box::new(crate::redact::detect::passwords::CurlUser),
        Box::new(crate::redact::detect::passwords::PasswordFlag),
        Box::new(crate::redact::detect::passwords::IdentifiedBy),
        Box::new(crate::redact::detect::passwords::PasswordFile),
        Box::new(pem::Begin),
        Box::new(pem::End),
        Box::new(bearer::Bearer),
        Box::new(bearer::Basic),
        Box::new(assignment::Assignment),
        Box::new(assignment::ForeignName),
    ];
    rules.extend(home::rules(homes));
    rules.extend(vendor::rules());
    rules
}
