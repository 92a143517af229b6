//! The kinds of place in which a secret stands.
//!
//! Each file has one or two rules; [`rules`] lists them all. `assignment` is the largest: `separator` and `entry` say
//! how a value is tied to its name, `extent` where the value begins and ends, and [`value`](super::value) whether it is
//! a secret. `header` takes over for names such as `Authorization`, and `bearer` falls back on assignments.

mod assignment;
mod bearer;
mod command;
mod database;
mod entry;
mod extent;
mod header;
mod home;
pub(crate) mod pem;
mod separator;
mod url;
mod vendor;

pub use home::HomePaths;
pub(crate) use home::Homes;

use super::rule::Rule;

/// Every rule. `homes` says which directories become `~`.
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
