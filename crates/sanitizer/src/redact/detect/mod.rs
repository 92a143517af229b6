//! The rules that find secrets in a text.
//!
//! Each file has one or two rules; [`rules`] lists all of them.
//!
//! | File | Finds |
//! |---|---|
//! | `assignment` | `name=value` and similar forms, the largest rule; [`value`](super::value) judges the value |
//! | `separator`, `entry` | the link between a name and its value, next to it or in another field: a `Separator` of `tie` |
//! | `escaped` | the same with escaped signs |
//! | `extent` | the beginning and the end of a value |
//! | `block` | values on the lines below their name: block scalars of YAML, heredocs |
//! | `header` | values of names such as `Authorization` |
//! | `bearer` | `Bearer x` and `Basic x` anywhere; falls back on assignments |
//! | `vendor` | tokens with a known shape |
//! | `pem` | private keys |
//! | `url` | credentials in URLs |
//! | `command` | passwords after flags such as `-p` of `mysql` |
//! | `database` | passwords in SQL and `.pgpass` |
//! | `home` | home directories |

mod assignment;
mod bearer;
pub(crate) mod block;
mod command;
mod database;
mod entry;
mod escaped;
mod extent;
mod header;
mod home;
pub(crate) mod pem;
mod separator;
mod tie;
mod url;
mod vendor;

pub use home::HomePaths;
pub(crate) use home::Homes;

use super::rule::Rule;

/// Returns every rule that reads a text without decoding it. `homes` selects the directories that become `~`.
pub(crate) fn rules(homes: &Homes) -> Vec<Box<dyn Rule>> {
    let mut rules: Vec<Box<dyn Rule>> = vec![
        Box::new(url::UserInfo),
        Box::new(url::CurlUser),
        Box::new(command::PasswordFlag),
        Box::new(database::IdentifiedBy),
        Box::new(database::PasswordFile),
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
