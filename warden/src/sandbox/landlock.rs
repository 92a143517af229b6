//! The layer that refuses to write.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Errno, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use rustix::io::Errno as Number;

use super::place::Place;

/// The first version that covers truncating a file.
pub(super) const OLDEST: u32 = 3;
/// What must be covered.
const REQUIRED: ABI = ABI::V3;
/// The newest version whose file rights are used: it adds requests to devices. Sockets, a later right, are outside the
/// sandbox on every kernel.
const NEWEST: ABI = ABI::V5;
/// The version that keeps signals and abstract sockets inside.
const SCOPES: ABI = ABI::V6;

/// Devices that keep nothing.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// What makes and what are pseudoterminals.
const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// Restricts this process and all that it starts to writing to `places`, harmless devices and, where they are their own,
/// pseudoterminals.
///
/// Reading and executing are not handled at all, so they cost nothing and nothing can go wrong with them.
pub(super) fn restrict(places: &[Place], own_terminals: bool) -> io::Result<()> {
    let status =
        ruleset(places, own_terminals).map_err(|error| io::Error::from_raw_os_error(*Errno::from(error)))?;
    if status == RulesetStatus::NotEnforced { Err(Number::OPNOTSUPP.into()) } else { Ok(()) }
}

fn ruleset(places: &[Place], own_terminals: bool) -> Result<RulesetStatus, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(REQUIRED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(NEWEST))?
        .scope(Scope::from_all(SCOPES))?
        .create()?;
    for place in places {
        let access = if place.is_directory() { in_a_directory() } else { of_a_file() };
        ruleset = ruleset.add_rule(PathBeneath::new(place, access))?;
    }
    for device in DEVICES.into_iter().filter_map(device) {
        ruleset = ruleset.add_rule(PathBeneath::new(device, of_a_file()))?;
    }
    if own_terminals {
        for terminal in TERMINALS.into_iter().filter_map(device) {
            // Requests to a device are what makes it a terminal.
            ruleset =
                ruleset.add_rule(PathBeneath::new(terminal, AccessFs::WriteFile | AccessFs::IoctlDev))?;
        }
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// Everything but devices: making them, and asking more of one than reading and writing.
fn in_a_directory() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev})
}

fn of_a_file() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{WriteFile | Truncate})
}

/// A device, if this system has it and lets it be reached.
fn device(path: &str) -> Option<PathFd> {
    PathFd::new(Path::new(path)).ok()
}
