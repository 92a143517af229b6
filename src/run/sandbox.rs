//! Whether the kernel holds a child to reading.

use super::machine::Machine;
use super::result::SandboxReport;
use crate::agent::AgentDefinition;
use crate::config::{Config, SandboxMode};
use crate::process::{Ability, Mechanism};

/// The version of Landlock's ABI that keeps a child from signalling what is outside its sandbox: Linux 6.12.
const HOLDS_SIGNALS: u32 = 6;

/// How a child is held to reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SandboxPlan {
    /// The kernel refuses it to write.
    Held {
        /// Whether modes, owners and times are to be covered too.
        metadata: bool,
        /// Why they are not, where that was not wanted.
        lack: Option<String>,
    },
    /// Its tools alone hold it, or nothing does.
    Loose {
        /// Why.
        reason: String,
        /// Whether it was not to run like this.
        forbidden: bool,
    },
}

impl SandboxPlan {
    /// Decides for a child of an agent. An agent can ask for isolation, not waive it.
    pub(super) fn of(agent: &AgentDefinition, config: &Config, machine: &Machine) -> Self {
        let own = agent.sandbox.as_deref().and_then(SandboxMode::named).unwrap_or(SandboxMode::Off);
        let mode = own.max(config.sandbox.mode);
        if !agent.readonly && config.allow_write {
            return Self::loose("the agent may write (`allowWrite`)");
        }
        if mode == SandboxMode::Off {
            return Self::loose("it is switched off (`sandbox`)");
        }
        let missing = |reason: String| Self::Loose { reason, forbidden: mode == SandboxMode::Required };
        let abilities = match machine.abilities() {
            Ok(abilities) => abilities,
            Err(reason) => return missing(reason.to_owned()),
        };
        let version = match &abilities.landlock {
            Ability::Yes(version) => *version,
            Ability::No(reason) => return missing(reason.clone()),
        };
        let metadata = config.sandbox.metadata && abilities.mount_namespace.is_there();
        let lacks = [
            match (config.sandbox.metadata, abilities.mount_namespace.reason()) {
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
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }

    /// Why the child must not be started, if it must not.
    pub(super) fn forbids(&self) -> Option<String> {
        match self {
            Self::Loose { reason, forbidden: true } => {
                Some(format!("sandbox: it is `required` and cannot be had: {reason}"))
            }
            _ => None,
        }
    }

    /// What a caller is told; `mechanisms` is what really held the child, if one was started.
    pub(super) fn report(&self, mechanisms: Option<&[Mechanism]>) -> SandboxReport {
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
