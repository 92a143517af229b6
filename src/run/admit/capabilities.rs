//! What this machine can restrain a child with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::process::{Abilities, Supervision, probe};
use crate::run::context::HostContext;
use crate::text::chain;

/// What this machine can restrain a child with, as its warden reports.
#[derive(Clone, Debug)]
pub struct HostCapabilities(Result<(PathBuf, Arc<Abilities>), String>);

impl HostCapabilities {
    /// Asks the warden of a host. Caches the answer of a working warden for the life of the process.
    pub async fn look(context: &HostContext) -> Self {
        let Some(warden) = &context.warden else {
            return Self(Err(if cfg!(target_os = "linux") {
                "there is no warden: `PI_SUBAGENT_WARDEN` is set to none, or the addon does not know where it lies"
                    .to_owned()
            } else {
                "there is no warden for this system".to_owned()
            }));
        };
        let found = probe(warden).await.map_err(|error| chain(&error));
        Self(found.map(|abilities| (warden.clone(), abilities)))
    }

    /// A machine without a warden, with the reason.
    #[must_use]
    pub fn bare(reason: &str) -> Self {
        Self(Err(reason.to_owned()))
    }

    /// The warden's program.
    #[must_use]
    pub fn warden(&self) -> Option<&Path> {
        self.0.as_ref().ok().map(|(warden, _)| warden.as_path())
    }

    /// What the warden can do on this machine.
    ///
    /// # Errors
    ///
    /// The reason why there is no warden.
    pub fn abilities(&self) -> Result<&Abilities, &str> {
        self.0.as_ref().map(|(_, abilities)| &**abilities).map_err(String::as_str)
    }

    /// How this machine ensures the end of a child's process tree.
    #[must_use]
    pub fn supervision(&self, pid_namespace: bool) -> Supervision {
        match self.abilities() {
            Err(_) => Supervision::BARE,
            Ok(abilities) if pid_namespace && abilities.pid_namespace.is_ok() => Supervision::WardenNamespace,
            Ok(abilities) if abilities.cgroup.is_ok() => Supervision::WardenCgroup,
            Ok(_) => Supervision::Warden,
        }
    }
}
