//! The Landlock layer, which refuses writes.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Errno, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use pi_subagent_warden::is_transient;
use rustix::io::Errno as Number;

use super::place::Place;

/// The first ABI version that covers truncating a file.
pub(super) const OLDEST: u32 = 3;
/// The access rights that the kernel has to support.
const REQUIRED: ABI = ABI::V3;
/// The newest ABI version whose file rights are used; it adds `ioctl` on devices. Sockets, a later right, are outside
/// the sandbox on every kernel.
const NEWEST: ABI = ABI::V5;
/// The ABI version that confines signals and abstract sockets.
const SCOPES: ABI = ABI::V6;

/// Devices that store nothing.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// The multiplexer of pseudoterminals, and their directory.
const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// Restricts this process and everything it starts to writing to `places`, to harmless devices and, if they are
/// private to the child, to pseudoterminals.
///
/// Reading and executing are not restricted, so they cost nothing and cannot break.
pub(super) fn restrict(places: &[Place], own_terminals: bool) -> io::Result<()> {
    let terminals = if own_terminals { devices(&TERMINALS)? } else { Vec::new() };
    let status = ruleset(places, devices(&DEVICES)?, terminals)
        .map_err(|error| io::Error::from_raw_os_error(*Errno::from(error)))?;
    if status == RulesetStatus::NotEnforced { Err(Number::OPNOTSUPP.into()) } else { Ok(()) }
}

fn ruleset(
    places: &[Place],
    devices: Vec<PathFd>,
    terminals: Vec<PathFd>,
) -> Result<RulesetStatus, RulesetError> {
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
    for device in devices {
        ruleset = ruleset.add_rule(PathBeneath::new(device, of_a_file()))?;
    }
    for terminal in terminals {
        // A terminal needs `ioctl` to work as one.
        ruleset = ruleset.add_rule(PathBeneath::new(terminal, AccessFs::WriteFile | AccessFs::IoctlDev))?;
    }
    Ok(ruleset.restrict_self()?.ruleset)
}

/// All write rights except creating devices and `ioctl` on them.
fn in_a_directory() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEWEST) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev})
}

fn of_a_file() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{WriteFile | Truncate})
}

/// Opens devices, except those that this system lacks or denies.
fn devices(paths: &[&str]) -> io::Result<Vec<PathFd>> {
    let open = |path: &&str| {
        PathFd::new(Path::new(path)).map_err(|error| io::Error::from_raw_os_error(*Errno::from(error)))
    };
    let opened = paths.iter().map(open);
    opened.filter(|opened| opened.as_ref().map_or_else(is_transient, |_| true)).collect()
}
