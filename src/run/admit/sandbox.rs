//! Decides whether the kernel keeps a child from writing.

use crate::agent::{AgentDefinition, SandboxMode};
use crate::config::Config;
use crate::process::{Abilities, Mechanism};
use crate::run::result::SandboxReport;

/// The version of Landlock's ABI that keeps a child from signalling what is outside its sandbox: Linux 6.12.
const HOLDS_SIGNALS: u32 = 6;

/// How a child is kept from writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) enum SandboxPlan {
    /// The kernel refuses it to write.
    Held {
        /// Whether file modes, owners and times are covered too.
        metadata: bool,
        /// Why they are not covered, if that was asked for.
        lack: Option<String>,
    },
    /// Only its choice of tools keeps it from writing, or nothing does.
    Loose {
        /// The reason, for people.
        reason: String,
        /// Whether the child must not run without a sandbox.
        forbidden: bool,
    },
}

impl SandboxPlan {
    /// Decides for a child of an agent on a machine with these abilities, or without a warden. An agent can ask for a
    /// sandbox, but not waive one.
    pub(in crate::run) fn of(
        agent: &AgentDefinition,
        config: &Config,
        abilities: Result<&Abilities, &str>,
    ) -> Self {
        let own = agent.sandbox.unwrap_or(SandboxMode::Off);
        let mode = own.max(config.sandbox.mode);
        if !agent.readonly && config.allow_write {
            return Self::loose("the agent may write (`allowWrite`)");
        }
        if mode == SandboxMode::Off {
            return Self::loose("it is switched off (`sandbox`)");
        }
        let missing = |reason: String| Self::Loose { reason, forbidden: mode == SandboxMode::Required };
        let abilities = match abilities {
            Ok(abilities) => abilities,
            Err(reason) => return missing(reason.to_owned()),
        };
        let version = match &abilities.landlock {
            Ok(version) => *version,
            Err(reason) => return missing(reason.clone()),
        };
        let metadata = config.sandbox.metadata && abilities.mount_namespace.is_ok();
        let lacks = [
            match (config.sandbox.metadata, abilities.mount_namespace.as_ref().err()) {
                (false, _) => Some("modes, owners and times are left out (`sandbox.metadata`)".to_owned()),
                (true, reason) => {
                    reason.map(|reason| format!("modes, owners and times are not covered: {reason}"))
                }
            },
            (version < HOLDS_SIGNALS).then(|| {
                format!("signals to your other processes are not held (Landlock ABI {version}, {HOLDS_SIGNALS} does)")
            }),
        ];
        let lacks: Vec<String> = lacks.into_iter().flatten().collect();
        Self::Held { metadata, lack: (!lacks.is_empty()).then(|| lacks.join("; ")) }
    }

    fn loose(reason: &str) -> Self {
        Self::Loose { reason: reason.to_owned(), forbidden: false }
    }

    /// Whether the kernel refuses writes.
    pub(in crate::run) fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// Why the child must not start, if so.
    pub(in crate::run) fn forbids(&self) -> Option<String> {
        match self {
            Self::Loose { reason, forbidden: true } => {
                Some(format!("sandbox: required, but unavailable: {reason}"))
            }
            _ => None,
        }
    }

    /// The report for the caller. `mechanisms` are those that were in force, if a child was started.
    pub(in crate::run) fn report(&self, mechanisms: Option<&[Mechanism]>) -> SandboxReport {
        let was_started = mechanisms.is_some();
        let mechanisms = mechanisms.unwrap_or_default();
        let names = mechanisms.iter().filter(|mechanism| is_sandbox(**mechanism));
        let mechanism: Vec<String> = names.map(|mechanism| mechanism.as_str().to_owned()).collect();
        let reason = match self {
            Self::Loose { reason, .. } => Some(reason.clone()),
            Self::Held { .. } if !was_started => None,
            Self::Held { metadata: true, .. } if !mechanisms.contains(&Mechanism::MountNamespace) => {
                Some("modes, owners and times are not covered: the mount namespace was refused".to_owned())
            }
            Self::Held { lack, .. } => lack.clone(),
        };
        SandboxReport { enforced: mechanisms.contains(&Mechanism::Landlock), mechanism, reason }
    }
}

fn is_sandbox(mechanism: Mechanism) -> bool {
    matches!(mechanism, Mechanism::Landlock | Mechanism::MountNamespace)
}

#[cfg(test)]
mod tests;
