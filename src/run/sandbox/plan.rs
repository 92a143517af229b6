//! Decides how the kernel restrains a child: the sandbox around the whole child, and the one around programs that its
//! shell starts. Also decides whether a child that may not write gets a shell.

use std::io;
use std::path::Path;

use agents::config::{AllowWrite, Config};
use agents::{AgentDefinition, Network, SHELL, SandboxMode, ShellPolicy, Source};
use files::open;
use serde_json::Value;
use supervisor::{Abilities, Mechanism};

use crate::run::context::HostContext;
use crate::run::launcher::selected;

/// The first version of Landlock's ABI that keeps a child from signalling processes outside its sandbox: Linux 6.12.
const SIGNAL_SCOPE_ABI: u32 = 6;

/// The way in which a child is kept from writing, or from writing outside its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SandboxPlan {
    /// The kernel prevents all writing, or writing outside the child's tree.
    Enforced(EnforcedSandbox),
    /// Only the child's choice of tools prevents writing, or nothing does.
    Unenforced {
        /// The reason, for people.
        reason: String,
        /// True if the child must not run without a sandbox.
        forbidden: bool,
    },
    /// The user's configuration declares that the child cannot write anything on the machine where its launcher starts
    /// it.
    Declared {
        /// The name of the launcher.
        launcher: String,
    },
}

/// A sandbox that this machine can provide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the sandbox")]
pub(crate) struct EnforcedSandbox {
    /// True if the child gets its own view of the file system. It protects modes, owners and times as well, and hides
    /// files and sockets.
    pub metadata: bool,
    /// True if the child gets its own `/tmp` and `/dev/shm` in that view.
    pub temporaries: bool,
    /// True if the child may write in its tree.
    pub writes: bool,
    /// True if the child must not run with a weaker sandbox.
    pub required: bool,
    /// The network access of the shell, if programs that it starts get a sandbox of their own. Otherwise there is no
    /// shell.
    pub shell: Option<Network>,
    /// The remaining gaps, with reasons.
    pub lacks: Vec<String>,
    /// The parts of the tree that should be protected and are not, with the reason.
    pub unprotected: Option<String>,
}

/// A sandbox is required, and a layer of it is missing.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the required sandbox is unavailable: {reason}")]
pub struct SandboxUnavailable {
    pub(crate) reason: String,
}

impl SandboxPlan {
    /// Decides for the child of an agent on a machine with these abilities, or without a warden. An agent can ask for
    /// a sandbox, but cannot waive it.
    pub(crate) fn of(agent: &AgentDefinition, config: &Config, abilities: Result<&Abilities, &str>) -> Self {
        let own = agent.sandbox.unwrap_or(SandboxMode::Off);
        let mode = own.max(config.sandbox.mode);
        let network = network_of(agent, config);
        let loose = |reason: &str, forbidden| {
            let open = if network == Network::Off { "; so the network stays on" } else { "" };
            Self::Unenforced { reason: format!("{reason}{open}"), forbidden }
        };
        let writes = may_write(agent, config);
        if let Ok(Some((launcher, settings))) = selected(agent, config) {
            let required = mode == SandboxMode::Required;
            if settings.readonly && !required {
                return Self::Declared { launcher: launcher.to_owned() };
            }
            let also = match (settings.readonly, writes) {
                (true, _) => "; your configuration declares it `readonly`, but nothing has checked that",
                (false, true) => "; the agent may write wherever its remote account can",
                (false, false) => "",
            };
            let why = format!(
                "`{launcher}` starts the child on another machine, which this one cannot sandbox{also}"
            );
            return loose(&why, required);
        }
        if writes && config.allow_write == AllowWrite::Everywhere {
            let required = mode == SandboxMode::Required;
            let fix = if required { "; set `allowWrite` to `true`, or `sandbox` to `auto`" } else { "" };
            return loose(
                &format!("the agent may write wherever you can (`allowWrite` is `all`){fix}"),
                required,
            );
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
                let sandbox = EnforcedSandbox::with(config, abilities, *version, network, writes);
                match &sandbox.unprotected {
                    Some(reason) if required => loose(reason, true),
                    _ => Self::Enforced(EnforcedSandbox { required, ..sandbox }),
                }
            }
        }
    }

    /// Logs the restrictions on the child and each missing layer.
    pub(crate) fn log(&self) {
        match self {
            Self::Enforced(EnforcedSandbox { writes, shell, lacks, required, .. }) => {
                tracing::info!(target: "sandbox", writes, ?shell, required, "the kernel restrains the child");
                for reason in lacks {
                    tracing::warn!(target: "sandbox", reason, "a layer is missing");
                }
            }
            Self::Unenforced { reason, forbidden } => {
                tracing::warn!(target: "sandbox", reason, required = forbidden, "nothing restrains the child");
            }
            Self::Declared { launcher } => {
                tracing::info!(target: "sandbox", launcher, "the configuration declares the child readonly");
            }
        }
    }

    /// Returns the sandbox, if there is one.
    pub(crate) fn enforced(&self) -> Option<&EnforcedSandbox> {
        match self {
            Self::Enforced(sandbox) => Some(sandbox),
            Self::Unenforced { .. } | Self::Declared { .. } => None,
        }
    }

    /// Returns true if the kernel prevents writes, except those in the child's tree if the agent may write.
    pub(crate) fn is_enforced(&self) -> bool {
        self.enforced().is_some()
    }

    /// Returns true if the kernel prevents writing any file of the user's.
    pub(crate) fn is_read_only(&self) -> bool {
        self.enforced().is_some_and(|sandbox| !sandbox.writes)
    }

    /// Returns true if the child may write, but only in its tree.
    pub(crate) fn is_confined(&self) -> bool {
        self.enforced().is_some_and(|sandbox| sandbox.writes)
    }

    /// Returns the reason why the child must not start, if there is one.
    pub(crate) fn forbids(&self) -> Option<SandboxUnavailable> {
        match self {
            Self::Unenforced { reason, forbidden: true } => {
                Some(SandboxUnavailable { reason: reason.clone() })
            }
            _ => None,
        }
    }
}

impl EnforcedSandbox {
    /// Describes the sandbox on a machine with this version of Landlock. `network` is the shell's network access;
    /// `writes` is true if the child may write in its tree.
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
        if version < SIGNAL_SCOPE_ABI {
            lacks.push(format!(
                "the child can signal your other processes (Landlock ABI {version}; ABI {SIGNAL_SCOPE_ABI} prevents this)"
            ));
        }
        if let Err(reason) = pid_namespace {
            lacks.push(format!("{PROCESSES}: {reason}"));
        }
        if let Err(reason) = tools {
            lacks.push(format!(
                "there is no shell, because its programs could not be isolated from pi: {reason}"
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

    /// Returns the layers that the child should have and does not, according to the active mechanisms.
    pub(crate) fn missing(&self, mechanisms: &[Mechanism]) -> Option<String> {
        let is_missing = self.metadata && !mechanisms.contains(&Mechanism::MountNamespace);
        let also = if self.writes { format!("; {PROTECTION}") } else { String::new() };
        is_missing.then(|| format!("{VIEW}{also}: the mount namespace was refused"))
    }

    /// Returns the gaps that remain with the mechanisms that were active.
    pub(crate) fn open_with(&self, mechanisms: &[Mechanism]) -> Option<String> {
        let mut open = self.lacks.clone();
        open.extend(self.missing(mechanisms));
        (!open.is_empty()).then(|| open.join("; "))
    }
}

/// The gap without a separate view of the file system.
const VIEW: &str = "modes, owners and times are not protected, and files (`sandbox.hidden`) and sockets of your programs \
                    are not hidden";
/// The features that fail without a separate `/tmp` and `/dev/shm`.
const TEMPORARIES: &str = "`/tmp` and `/dev/shm` are read-only, so POSIX semaphores (Python's `multiprocessing`) and \
                           programs that ignore `TMPDIR` fail";
/// The additional paths that a writing child can change without a separate view.
const PROTECTION: &str = "`.git` and `.pi` are writable";
/// The gap without a pid namespace.
const PROCESSES: &str =
    "the child can change limits of your other processes, and its remaining processes may outlive it";

/// Returns true if the child of an agent may write the user's files.
pub(crate) fn may_write(agent: &AgentDefinition, config: &Config) -> bool {
    !agent.readonly && config.allow_write.is_on()
}

/// Returns the network access of an agent's shell. A project's agent can only switch it off.
fn network_of(agent: &AgentDefinition, config: &Config) -> Network {
    let configured = config.sandbox.network;
    match agent.network {
        Some(own) if agent.source == Source::Project => own.max(configured),
        own => own.unwrap_or(configured),
    }
}

/// The path of pi's settings in a project.
const PROJECT_SETTINGS: &str = ".pi/settings.json";
/// The maximum size of these settings, in bytes.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// The setting that names the shell.
const SHELL_PATH: &str = "shellPath";

/// Decides whether a child in this sandbox gets a shell. Blocks.
pub(crate) fn shell_policy(sandbox: &SandboxPlan, cwd: &Path, context: &HostContext) -> ShellPolicy {
    if let SandboxPlan::Declared { .. } = sandbox {
        return ShellPolicy::Sandboxed;
    }
    let Some(sandbox) = sandbox.enforced() else { return ShellPolicy::NoSandbox };
    let tools = context.host.tools.iter().flatten();
    let is_foreign = tools.into_iter().any(|tool| tool.name == SHELL && tool.extension.is_some());
    if sandbox.shell.is_none() {
        ShellPolicy::NoToolSandbox
    } else if is_foreign {
        ShellPolicy::FromExtension
    } else if names_shell(cwd) {
        ShellPolicy::FromProject
    } else {
        ShellPolicy::Sandboxed
    }
}

/// Returns true if the project's settings name a shell, which would take precedence over the one in the child's
/// settings. Also returns true if the settings cannot be read, because pi might be able to read them.
fn names_shell(cwd: &Path) -> bool {
    match open::regular(&cwd.join(PROJECT_SETTINGS)).and_then(|file| open::read(file, MAX_SETTINGS)) {
        Ok(bytes) => {
            match serde_json::from_slice::<Value>(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)) {
                Ok(settings) => settings.get(SHELL_PATH).is_some(),
                Err(_) => !bytes.is_empty(),
            }
        }
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

#[cfg(test)]
mod tests;
