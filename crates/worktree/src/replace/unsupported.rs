//! Refuses to write on systems other than Unix.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::step::{Failure, OnFailure, Place, State, Step};

fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "files of a work tree are replaced on Unix only")
}

pub(crate) fn write_all<'a>(_: &'a Path, _: &'a str, steps: Vec<Step<'a>>, _: OnFailure) -> Vec<Failure> {
    steps.into_iter().map(|step| (step.path.to_owned(), unsupported().into())).collect()
}

pub(crate) fn probe(_: &Path, _: &Path, _: Option<State<'_>>) -> io::Result<Place> {
    Err(unsupported())
}

pub(crate) fn has_asides(_: &Path, _: &Path, _: &str) -> bool {
    false
}

pub(crate) fn remove_asides(
    _: &Path,
    _: &str,
    _: &BTreeMap<&Path, Vec<State<'_>>>,
) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    Ok(Vec::new())
}

pub(crate) fn permissions(_: &Metadata) -> u32 {
    0
}

pub(crate) fn make_directory(_: &Path, _: &Path) -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn remove_directory(_: &Path, _: &Path) -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn set_permissions(_: &Path, _: &Path, _: u32, _: u32) -> io::Result<()> {
    Err(unsupported())
}

pub(crate) fn set_directory_permissions(_: &Path, _: &Path, _: u32) -> io::Result<()> {
    Err(unsupported())
}
