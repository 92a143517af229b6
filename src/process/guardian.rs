//! How a child is guarded: the settings of its warden, and the level of supervision that results.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::text::text_enum;
use pi_subagent_warden::{Limits, Mechanism, Options, Sandbox};

/// The warden to start a child through, and its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guardian {
    /// The warden's program, an absolute path.
    pub program: PathBuf,
    /// The read-only sandbox of the child; `None` leaves it unrestricted.
    pub sandbox: Option<Sandbox>,
    /// What the whole tree may use.
    pub limits: Limits,
    /// Paths that the warden removes when this process dies before the child. Otherwise the caller removes them.
    pub scratch: Vec<PathBuf>,
    /// Paths removed with `scratch`, unless [`Started::keep`](crate::process::Started::keep) was called.
    pub unless_kept: Vec<PathBuf>,
    /// The directory removed last, if it is empty by then.
    pub directory: Option<PathBuf>,
    /// Whether to give the tree a pid namespace, so that it dies even when its warden is killed.
    pub pid_namespace: bool,
    /// The grace period when the warden ends the tree because this process died.
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
    /// How reliably a child's tree is ended, from the least to the most reliable.
    #[derive(PartialOrd, Ord)]
    pub enum Supervision {
        /// Only the child itself is ended.
        Process = "process",
        /// The child and its process group are ended. A process that leaves the group is not covered, nor is a host
        /// that gets killed.
        ProcessGroup = "process-group",
        /// The whole tree is ended, even when this process is killed.
        Warden = "warden",
        /// The whole tree is ended, even when this process or the warden is killed.
        WardenCgroup = "warden+cgroup",
        /// The whole tree is ended, even when this process and the warden are both killed.
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
