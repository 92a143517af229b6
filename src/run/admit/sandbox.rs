//! Decides how the kernel holds a child: the sandbox around all of it, and the one around what its shell starts.

use crate::agent::{AgentDefinition, Network, SandboxMode, Source};
use crate::config::{AllowWrite, Config};
use crate::process::{Abilities, Mechanism};
use crate::run::launch::launcher::selected;
use crate::run::result::SandboxReport;

/// The version of Landlock's ABI that keeps a child from signalling what is outside its sandbox: Linux 6.12.
const HOLDS_SIGNALS: u32 = 6;

/// How a child is kept from writing, or from writing elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) enum SandboxPlan {
    /// The kernel refuses it to write, or to write outside of its tree.
    Held(Held),
    /// Only its choice of tools keeps it from that, or nothing does.
    Loose {
        /// The reason, for people.
        reason: String,
        /// Whether the child must not run without a sandbox.
        forbidden: bool,
    },
    /// The user's configuration says that nothing can be written where its launcher starts it.
    Declared {
        /// The launcher.
        launcher: String,
    },
}

/// A sandbox that can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the sandbox")]
pub(crate) struct Held {
    /// Whether the child gets a view of the file system of its own, which covers modes, owners and times too, and hides
    /// files and sockets.
    pub metadata: bool,
    /// Whether the child gets its own `/tmp` and `/dev/shm` in that view.
    pub temporaries: bool,
    /// Whether the child may write in its tree.
    pub writes: bool,
    /// Whether the child must not run with less than this.
    pub required: bool,
    /// What its shell reaches, if what the shell starts gets a sandbox of its own. Without that there is no shell.
    pub shell: Option<Network>,
    /// What stays open, and why.
    pub lacks: Vec<String>,
    /// What in its tree is not protected although it should be, and why.
    pub unprotected: Option<String>,
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
        let network = network_of(agent, config);
        let loose = |reason: &str, forbidden| {
            let open = if network == Network::Off { "; so the network is not switched off" } else { "" };
            Self::Loose { reason: format!("{reason}{open}"), forbidden }
        };
        let writes = may_write(agent, config);
        if let Ok(Some((launcher, settings))) = selected(agent, config) {
            let required = mode == SandboxMode::Required;
            if settings.readonly && !required {
                return Self::Declared { launcher: launcher.to_owned() };
            }
            let also = match (settings.readonly, writes) {
                (true, _) => {
                    "; nobody has checked that it is `readonly` there, as your configuration declares"
                }
                (false, true) => "; the agent may write wherever its account there can",
                (false, false) => "",
            };
            let why =
                format!("`{launcher}` starts the child elsewhere, where this machine holds nothing{also}");
            return loose(&why, required);
        }
        if writes && config.allow_write == AllowWrite::Everywhere {
            return loose("the agent may write wherever you can (`allowWrite` is `all`)", false);
        }
        let anywhere = if writes { ", so the agent may write wherever you can" } else { "" };
        if mode == SandboxMode::Off {
            return loose(&format!("it is switched off (`sandbox`){anywhere}"), false);
        }
        let required = mode == SandboxMode::Required;
        let missing = |reason: &str| loose(&format!("{reason}{anywhere}"), required);
        match abilities.map(|abilities| (abilities, &abilities.landlock)) {
            Err(reason) => missing(reason),
            Ok((_, Err(reason))) => missing(reason),
            Ok((abilities, Ok(version))) => {
                let held = Held::with(config, abilities, *version, network, writes);
                match &held.unprotected {
                    Some(reason) if required => loose(reason, true),
                    _ => Self::Held(Held { required, ..held }),
                }
            }
        }
    }

    /// Logs what holds the child, and each layer that is missing.
    pub(super) fn log(&self) {
        match self {
            Self::Held(Held { writes, shell, lacks, required, .. }) => {
                tracing::info!(target: "sandbox", writes, ?shell, required, "the kernel holds the child");
                for reason in lacks {
                    tracing::warn!(target: "sandbox", reason, "a layer is missing");
                }
            }
            Self::Loose { reason, forbidden } => {
                tracing::warn!(target: "sandbox", reason, required = forbidden, "nothing holds the child");
            }
            Self::Declared { launcher } => {
                tracing::info!(target: "sandbox", launcher, "the configuration declares the child readonly");
            }
        }
    }

    /// The sandbox, if there is one.
    pub(in crate::run) fn held(&self) -> Option<&Held> {
        match self {
            Self::Held(held) => Some(held),
            Self::Loose { .. } | Self::Declared { .. } => None,
        }
    }

    /// Whether the kernel refuses writes, but for those in its tree where the agent may write.
    pub(in crate::run) fn is_held(&self) -> bool {
        self.held().is_some()
    }

    /// Whether the kernel refuses to write anything of the user's.
    pub(in crate::run) fn is_read_only(&self) -> bool {
        self.held().is_some_and(|held| !held.writes)
    }

    /// Whether the child may write, and only in its tree.
    pub(in crate::run) fn is_confined(&self) -> bool {
        self.held().is_some_and(|held| held.writes)
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
        let in_force = mechanisms.unwrap_or_default();
        let enforced = in_force.contains(&Mechanism::Landlock);
        let (held, reason) = match self {
            Self::Loose { reason, .. } => (None, Some(reason.clone())),
            Self::Declared { launcher } => {
                let by = format!(
                    "your configuration declares `{launcher}` `readonly`; nothing on this machine has checked that"
                );
                (None, Some(by))
            }
            Self::Held(held) => (Some(held), mechanisms.and_then(|found| held.open_with(found))),
        };
        let shell = held.filter(|_| enforced).and_then(|held| held.shell);
        let names = in_force.iter().copied().filter(|mechanism| is_sandbox(*mechanism, enforced));
        let mechanism = names.chain(shell.map(|_| Mechanism::ToolSandbox));
        SandboxReport {
            enforced,
            mechanism: mechanism.map(|mechanism| mechanism.as_str().to_owned()).collect(),
            network: shell.unwrap_or(Network::On),
            reason,
        }
    }
}

impl Held {
    /// The sandbox of a machine with Landlock of this version, for a shell with such a network and a child that `writes` in
    /// its tree or does not.
    pub(crate) fn with(
        config: &Config,
        abilities: &Abilities,
        version: u32,
        network: Network,
        writes: bool,
    ) -> Self {
        let Abilities { mount_namespace, temporaries, pid_namespace, tools, .. } = abilities;
        let mut lacks = Vec::new();
        let no_view = match mount_namespace {
            _ if !config.sandbox.metadata => Some(" (`sandbox.metadata` is off)".to_owned()),
            Err(reason) => Some(format!(": {reason}")),
            Ok(()) => None,
        };
        lacks.extend(no_view.iter().map(|why| format!("{VIEW}{why}")));
        match (&no_view, temporaries) {
            (Some(_), _) => lacks.push(TEMPORARIES.to_owned()),
            (None, Err(reason)) => lacks.push(format!("{TEMPORARIES}: {reason}")),
            (None, Ok(())) => {}
        }
        let unprotected = no_view.filter(|_| writes).map(|why| format!("{PROTECTION}{why}"));
        lacks.extend(unprotected.clone());
        if version < HOLDS_SIGNALS {
            lacks.push(format!(
                "signals to your other processes are not held (Landlock ABI {version}, {HOLDS_SIGNALS} does)"
            ));
        }
        if let Err(reason) = pid_namespace {
            lacks.push(format!("{PROCESSES}: {reason}"));
        }
        if let Err(reason) = tools {
            lacks.push(format!(
                "what a shell starts would not be held apart from pi, so there is none: {reason}"
            ));
        }
        Self {
            metadata: config.sandbox.metadata && mount_namespace.is_ok(),
            temporaries: config.sandbox.metadata && mount_namespace.is_ok() && temporaries.is_ok(),
            writes,
            unprotected,
            required: false,
            shell: tools.is_ok().then_some(network),
            lacks,
        }
    }

    /// What the child was to get and did not, by the mechanisms that are in force.
    pub(in crate::run) fn missing(&self, mechanisms: &[Mechanism]) -> Option<String> {
        let is_missing = self.metadata && !mechanisms.contains(&Mechanism::MountNamespace);
        let also = if self.writes { format!("; {PROTECTION}") } else { String::new() };
        is_missing.then(|| format!("{VIEW}{also}: the mount namespace was refused"))
    }

    /// What stays open with the mechanisms that were in force after all.
    fn open_with(&self, mechanisms: &[Mechanism]) -> Option<String> {
        let mut open = self.lacks.clone();
        open.extend(self.missing(mechanisms));
        (!open.is_empty()).then(|| open.join("; "))
    }
}

/// What is open without a view of the file system of the child's own.
const VIEW: &str = "modes, owners and times are not covered, and files (`sandbox.hidden`) and sockets of your programs \
                    are not hidden";
/// What does not work without a `/tmp` and a `/dev/shm` of the child's own.
const TEMPORARIES: &str = "`/tmp` and `/dev/shm` are read-only, so POSIX semaphores (Python's `multiprocessing`) and \
                           programs that ignore `TMPDIR` fail";
/// What a child that may write can write as well, without a view of its own.
const PROTECTION: &str = "`.git` and `.pi` are writable";
/// What is open without a pid namespace.
const PROCESSES: &str =
    "limits of your other processes can be changed, and what the child leaves behind may outlive it";

/// Whether the child of an agent may write files of the user's.
pub(in crate::run) fn may_write(agent: &AgentDefinition, config: &Config) -> bool {
    !agent.readonly && config.allow_write.is_on()
}

/// Whether an agent's shell reaches the network. A project's agent can only switch it off.
fn network_of(agent: &AgentDefinition, config: &Config) -> Network {
    let configured = config.sandbox.network;
    match agent.network {
        Some(own) if agent.source == Source::Project => own.max(configured),
        own => own.unwrap_or(configured),
    }
}

/// Whether a mechanism is a part of the sandbox. A pid namespace is one only in a sandbox.
fn is_sandbox(mechanism: Mechanism, enforced: bool) -> bool {
    match mechanism {
        Mechanism::Landlock | Mechanism::MountNamespace | Mechanism::Seccomp | Mechanism::ToolSandbox => true,
        Mechanism::PidNamespace => enforced,
        Mechanism::Cgroup => false,
    }
}

#[cfg(test)]
mod tests;
