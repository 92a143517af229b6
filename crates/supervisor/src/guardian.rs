//! The supervision of a child: the settings of its warden, and the resulting level.

use std::path::PathBuf;

use pi_subagent_warden::{Mechanism, Options};
use sanitizer::text_enum;

/// The warden to start a child through, and its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guardian {
    /// The warden's program, an absolute path.
    pub program: PathBuf,
    /// The options sent to the warden. The start of a child fills in the command.
    pub options: Options,
}

text_enum! {
    /// The level of certainty that a child's whole tree is ended, from the least to the most reliable.
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
    pub const WITHOUT_WARDEN: Self = if cfg!(unix) { Self::ProcessGroup } else { Self::Process };

    pub(super) fn from_mechanisms(mechanisms: &[Mechanism]) -> Self {
        if mechanisms.contains(&Mechanism::PidNamespace) {
            Self::WardenNamespace
        } else if mechanisms.contains(&Mechanism::Cgroup) {
            Self::WardenCgroup
        } else {
            Self::Warden
        }
    }
}
