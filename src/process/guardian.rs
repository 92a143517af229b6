//! What a child is guarded by.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::text::text_enum;
use pi_subagent_warden::{Limits, Mechanism, Options, Sandbox};

/// The warden that a child is started through, and what it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guardian {
    /// The warden's program, an absolute path.
    pub program: PathBuf,
    /// The read-only sandbox of the child, if it gets one.
    pub sandbox: Option<Sandbox>,
    /// What the whole tree may use.
    pub limits: Limits,
    /// What the warden removes when this process dies before the child does. In any other case that is the caller's.
    pub scratch: Vec<PathBuf>,
    /// What it removes with that as long as the child has no work: see [`Started::keep`](crate::process::Started::keep).
    pub unless_kept: Vec<PathBuf>,
    /// The directory that it removes after that, if nothing is left in it.
    pub directory: Option<PathBuf>,
    /// Whether the tree gets a pid namespace, which dies even with a warden that is killed.
    pub pid_namespace: bool,
    /// From the polite request to the forced end, when the warden ends the tree because this process died.
    pub grace: Duration,
}

impl Guardian {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has a warden"))]
    pub(super) fn arguments(&self, program: &Path, args: &[OsString]) -> Vec<OsString> {
        let command = [program.as_os_str().to_owned()].into_iter().chain(args.iter().cloned()).collect();
        let Self { sandbox, limits, scratch, unless_kept, directory, pid_namespace, grace, .. } =
            self.clone();
        Options { grace, sandbox, limits, scratch, unless_kept, directory, pid_namespace, command }.to_args()
    }
}

text_enum! {
    /// How far the end of a child's tree is certain. The order is that of certainty.
    #[derive(PartialOrd, Ord)]
    pub enum Supervision {
        /// The child itself is ended.
        Process = "process",
        /// The child and its process group are ended; who leaves the group, and a host that is killed, are not covered.
        ProcessGroup = "process-group",
        /// The whole tree is ended, when this process is killed too.
        Warden = "warden",
        /// The whole tree is ended, when this process or the warden is killed too.
        WardenCgroup = "warden+cgroup",
        /// The whole tree is ended, when this process and the warden are killed too.
        WardenNamespace = "warden+pid-ns",
    }
}

impl Supervision {
    /// The level without a warden.
    pub const BARE: Self = if cfg!(unix) { Self::ProcessGroup } else { Self::Process };

    pub(super) fn by(mechanisms: &[Mechanism]) -> Self {
        if mechanisms.contains(&Mechanism::PidNamespace) {
            Self::WardenNamespace
        } else if mechanisms.contains(&Mechanism::Cgroup) {
            Self::WardenCgroup
        } else {
            Self::Warden
        }
    }
}
