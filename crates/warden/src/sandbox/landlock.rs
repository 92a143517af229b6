//! The Landlock layer, which refuses writes, and reads of devices and hidden files.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Errno, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};
use pi_subagent_warden::is_transient;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno as Number;
use rustix::thread::set_no_new_privs;

use super::place::Place;
use super::readable;
use crate::sys::sandbox::{allow_beneath, enter_ruleset};

/// The first ABI version that covers truncating a file.
pub(super) const OLDEST: u32 = 3;
/// The access rights that the kernel has to support.
const REQUIRED: ABI = ABI::V3;
/// The newest ABI version whose file rights are used here; it adds `ioctl` on devices. The later right for sockets is
/// used in the tools' sandbox alone.
const NEWEST: ABI = ABI::V5;
/// The ABI version that confines signals and abstract sockets.
const SCOPES: ABI = ABI::V6;
/// The ABI version that confines Unix sockets with a name.
pub(super) const SOCKETS: u32 = 9;

/// Devices that store nothing and show nothing. The terminal is not one of them, because the user types there.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// The multiplexer of pseudoterminals, and their directory.
const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// The permissions of a process under the layer.
#[derive(Debug, Default)]
pub(super) struct Rules<'a> {
    /// The writable places.
    pub places: &'a [Place],
    /// True if the visible pseudoterminals are the child's own, so that they may be used.
    pub own_terminals: bool,
    /// Files and directories that cannot be read, paths without links; all other devices come on top. `None` leaves reading
    /// unrestricted, so that it costs nothing: otherwise each file that is opened is looked up.
    pub hidden: Option<&'a [PathBuf]>,
    /// Readable files and directories below hidden ones.
    pub shown: &'a [Place],
    /// True if the names in hidden directories are hidden, too. The directories above hidden files can then not be listed,
    /// except the working directory.
    pub hides_names: bool,
}

/// Restricts this process and everything it starts to writing to the places, to harmless devices and, if they are
/// private to the child, to pseudoterminals.
///
/// Every file can be executed, and be read unless the rules hide it. A directory on the way to a hidden path can be
/// listed unless the rules hide names, and entries that appear in it later cannot be read.
pub(super) fn restrict(rules: &Rules<'_>) -> io::Result<()> {
    let reading = if rules.hidden.is_some() { AccessFs::ReadFile.into() } else { BitFlags::empty() };
    let listing = if rules.hides_names { AccessFs::ReadDir.into() } else { BitFlags::empty() };
    let mut ruleset = handled(reading | listing).map_err(refused)?;
    let hidden = rules.hidden.unwrap_or_default();
    // A rule for a directory would also allow reads of the hidden paths below it. Their neighbors are allowed one by one.
    let reading_of = |place: &Place| match place.is_directory() {
        true if hidden.iter().any(|hidden| hidden.starts_with(place.path())) => BitFlags::empty(),
        true => reading | listing,
        false => reading,
    };
    for place in rules.places {
        let writing = if place.is_directory() { in_a_directory() } else { of_a_file() };
        allow(&mut ruleset, place, writing | reading_of(place))?;
    }
    for place in rules.shown {
        let access = reading_of(place);
        if !access.is_empty() {
            allow(&mut ruleset, place, access)?;
        }
    }
    if rules.hides_names {
        let here = Place::open(Path::new("."))?;
        // A child may have put a link to a hidden directory in the place of the working directory.
        if !here.is_in(hidden) {
            allow(&mut ruleset, here, listing)?;
        }
    }
    for device in DEVICES.iter().filter_map(|path| device(path).transpose()) {
        allow(&mut ruleset, device?, of_a_file() | reading)?;
    }
    if rules.own_terminals {
        for terminal in TERMINALS.iter().filter_map(|path| device(path).transpose()) {
            // A terminal needs `ioctl` to work as one.
            let access = make_bitflags!(AccessFs::{WriteFile | IoctlDev});
            allow(&mut ruleset, terminal?, access | reading)?;
        }
    }
    // There is none on a kernel without Landlock.
    let ruleset = Option::<OwnedFd>::from(ruleset).ok_or(Number::OPNOTSUPP)?;
    if rules.hidden.is_some() {
        let (reading, both) = (reading.bits(), (reading | listing).bits());
        let mut allow = |readable: BorrowedFd<'_>| match allow_beneath(ruleset.as_fd(), readable, both) {
            // It is no directory, so it cannot be listed.
            Err(error) if both != reading && error.kind() == io::ErrorKind::InvalidInput => {
                allow_beneath(ruleset.as_fd(), readable, reading)
            }
            allowed => allowed,
        };
        readable::for_each(Path::new("/"), hidden, &mut allow)?;
        // The walk from the root does not enter hidden directories.
        let inner = rules.places.iter().chain(rules.shown);
        for place in inner.filter(|place| place.is_in(hidden) && reading_of(place).is_empty()) {
            readable::for_each(place.path(), hidden, &mut allow)?;
        }
    }
    set_no_new_privs(true)?;
    enter_ruleset(ruleset.as_fd())
}

fn handled(reading: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(REQUIRED) | reading)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(NEWEST))?
        .scope(Scope::from_all(SCOPES))?
        .create()
}

fn allow(ruleset: &mut RulesetCreated, at: impl AsFd, access: BitFlags<AccessFs>) -> io::Result<()> {
    ruleset.add_rule(PathBeneath::new(at, access)).map(drop).map_err(refused)
}

fn refused(error: RulesetError) -> io::Error {
    io::Error::from_raw_os_error(*Errno::from(error))
}

/// All write rights except creating devices and `ioctl` on them.
fn in_a_directory() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev})
}

fn of_a_file() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{WriteFile | Truncate})
}

/// A device; `None` when this system lacks it or denies it.
fn device(path: &str) -> io::Result<Option<OwnedFd>> {
    match openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(device) => Ok(Some(device)),
        Err(error) if is_transient(&error.into()) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
