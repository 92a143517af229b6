//! Checks the programs behind pi's tools `grep` and `find`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::check::{Check, Status};
use crate::run::{HostContext, Listing, fetched_programs, missing_programs};
use agents::config::Config;

/// The packages with these programs: the program, the package on most systems, and the package of Debian and Ubuntu.
const PACKAGES: [(&str, &str, &str); 2] = [("rg", "ripgrep", "ripgrep"), ("fd", "fd", "fd-find")];

/// Reports the missing programs behind the tools of the agents. pi looks for a program in its own directory of programs, then
/// on `PATH` outside of the directories `untrusted`. A child of another machine has its own programs.
pub(super) fn programs(
    listing: &Listing,
    config: &Config,
    untrusted: &[PathBuf],
    context: &HostContext,
) -> Vec<Check> {
    let configured = config.env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let env: Vec<_> = context.env.iter().cloned().chain(configured).collect();
    let missing = missing_programs(&context.agent_dir, &env, untrusted);
    missing.into_iter().filter_map(|(tool, program)| check(tool, program, listing, context)).collect()
}

fn check(tool: &str, program: &str, listing: &Listing, context: &HostContext) -> Option<Check> {
    let is_of_pi = |listed: &crate::run::HostTool| listed.name != tool || listed.extension.is_none();
    if !context.host.tools.iter().flatten().all(is_of_pi) {
        // An extension provides the tool.
        return None;
    }
    let has_tool = |plan: &agents::ToolPlan| plan.tools.iter().any(|used| used == tool);
    let local = listing.agents.iter().filter(|listed| !listed.is_remote);
    let users = local.filter(|listed| listed.plan.as_ref().is_ok_and(has_tool));
    let users: Vec<&str> = users.map(|listed| listed.agent.name.as_str()).collect();
    let (_, package, of_debian) = PACKAGES.into_iter().find(|(name, ..)| *name == program)?;
    let place = fetched_programs(&context.agent_dir);
    let message = format!(
        "`{program}` is neither in `{}` nor on `PATH`: pi's `{tool}` fails in every child that cannot download it; used by {}",
        place.display(),
        users.join(", ")
    );
    let hint = format!(
        "install `{program}`: `apt install {of_debian}`, `dnf install {of_debian}`, `brew install {package}`; or start pi \
         once with network access, which downloads it"
    );
    (!users.is_empty()).then(|| Check::new("programs", Status::Warning, message).hint(hint))
}
