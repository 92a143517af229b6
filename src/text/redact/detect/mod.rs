//! The kinds of place in which a secret stands.
//!
//! Each file has one or two rules; [`rules`] lists them all.
//!
//! | File | Finds |
//! |---|---|
//! | `assignment` | `name=value` and its relatives: the largest; [`value`](super::value) says whether the value is a secret |
//! | `separator`, `entry` | how a value is tied to its name, beside it or in a field of its own: a `Separator` of `tie` |
//! | `escaped` | the same where the signs between them are escaped |
//! | `extent` | where a value begins and ends |
//! | `block` | values on the lines behind their name: block scalars of YAML, heredocs |
//! | `header` | values of names such as `Authorization` |
//! | `bearer` | `Bearer x` and `Basic x` anywhere; falls back on assignments |
//! | `vendor` | tokens that are known by their shape |
//! | `pem` | private keys |
//! | `url` | credentials in URLs |
//! | `command` | passwords behind flags such as `-p` of `mysql` |
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

/// Every rule that reads a text as it stands. `homes` says which directories become `~`.
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
