//! The means that this machine has to restrain a child.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::run::context::HostContext;
use sanitizer::chain;
use supervisor::{Abilities, Supervision, probe};

/// The means that this machine has to restrain a child, as its warden reports them.
#[derive(Clone, Debug)]
pub struct HostCapabilities(Found);

#[derive(Clone, Debug)]
enum Found {
    Warden(PathBuf, Arc<Abilities>),
    /// No warden is available, for this reason.
    Nothing(String),
    /// The warden could not be asked because the machine is short of something, for this reason.
    Unknown(String),
}

/// The variable that names another warden, or none.
const WARDEN_VARIABLE: &str = "PI_SUBAGENT_WARDEN";

/// It is unknown whether this machine could restrain a child.
#[derive(Clone, Debug, thiserror::Error)]
#[error("warden: {reason}")]
pub struct WardenUnknown {
    reason: String,
}

impl HostCapabilities {
    /// Asks the warden of a host. Caches the answer of a working warden for the life of the process.
    pub async fn probe(context: &HostContext) -> Self {
        let Some(warden) = &context.warden else {
            return Self::bare(if context.var(WARDEN_VARIABLE).is_some() {
                "there is no warden: the variable `PI_SUBAGENT_WARDEN` switches it off"
            } else if cfg!(target_os = "linux") {
                "there is no warden: the addon does not know its own path"
            } else {
                "there is no warden for this system"
            });
        };
        Self(match probe(warden).await {
            Ok(abilities) => Found::Warden(warden.clone(), abilities),
            Err(error) if error.is_transient() => Found::Unknown(chain(&error)),
            Err(error) => Found::Nothing(chain(&error)),
        })
        .logged()
    }

    fn logged(self) -> Self {
        if let Err(reason) = self.abilities() {
            tracing::warn!(target: "warden", reason, "there is no warden");
        }
        self
    }

    /// Describes a machine without a warden, with the reason.
    #[must_use]
    pub fn bare(reason: &str) -> Self {
        Self(Found::Nothing(reason.to_owned()))
    }

    /// Returns the path of the warden's program.
    #[must_use]
    pub fn warden(&self) -> Option<&Path> {
        match &self.0 {
            Found::Warden(warden, _) => Some(warden),
            Found::Nothing(_) | Found::Unknown(_) => None,
        }
    }

    /// Returns the abilities of the warden on this machine.
    ///
    /// # Errors
    ///
    /// Returns the reason why there is no warden, or why it could not be asked.
    pub fn abilities(&self) -> Result<&Abilities, &str> {
        match &self.0 {
            Found::Warden(_, abilities) => Ok(abilities),
            Found::Nothing(reason) | Found::Unknown(reason) => Err(reason),
        }
    }

    /// Returns the reason if no run may start now, because it is unknown whether this machine could restrain its
    /// child.
    pub(crate) fn forbids(&self) -> Option<WardenUnknown> {
        match &self.0 {
            Found::Unknown(reason) => Some(WardenUnknown { reason: reason.clone() }),
            Found::Warden(..) | Found::Nothing(_) => None,
        }
    }

    /// Returns the mechanism with which this machine ensures the end of a child's process tree.
    #[must_use]
    pub fn supervision(&self, pid_namespace: bool) -> Supervision {
        match self.abilities() {
            Err(_) => Supervision::WITHOUT_WARDEN,
            Ok(abilities) if pid_namespace && abilities.pid_namespace.is_ok() => Supervision::WardenNamespace,
            Ok(abilities) if abilities.cgroup.is_ok() => Supervision::WardenCgroup,
            Ok(_) => Supervision::Warden,
        }
    }
}
