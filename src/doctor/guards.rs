//! Checks what restrains a child: the warden and the sandbox.

use super::check::{Check, Status};
use crate::run::{EnforcedSandbox, HostCapabilities};
use agents::config::{AllowWrite, Config};
use agents::{Network, SandboxMode};
use supervisor::{Abilities, Mechanism, Supervision};

/// Reports which of a child's processes are certain to end, and when.
pub(super) fn supervision(config: &Config, capabilities: &HostCapabilities) -> Check {
    const AREA: &str = "supervision";
    let level = capabilities.supervision(config.pid_namespace);
    let promise = match level {
        Supervision::Process => "abort, limits and a dropped run end the child",
        Supervision::ProcessGroup => "abort, limits and a dropped run end the child and its process group",
        Supervision::Warden => "all processes of a child end with it, and with this pi, even if pi is killed",
        Supervision::WardenCgroup => {
            "all processes of a child end with it, with this pi or with the warden, even if one of them is killed"
        }
        Supervision::WardenNamespace => {
            "everything that a child starts ends with it, with this pi and with the warden, even if both are killed"
        }
    };
    let message = format!("{}: {promise}", level.as_str());
    match capabilities.abilities() {
        Ok(abilities) => match (&abilities.pid_namespace, config.pid_namespace) {
            (Err(reason), true) => Check::new(AREA, Status::Warning, message)
                .hint(format!("`pidNamespace` is on, but unavailable here: {reason}")),
            _ => Check::new(AREA, Status::Ok, message),
        },
        Err(reason) => {
            // On Linux the warden is part of the package, so a missing one means a broken installation.
            let status = if cfg!(target_os = "linux") { Status::Error } else { Status::Info };
            let uncovered = match level {
                Supervision::Process => {
                    "programs started by the child, and children of a killed pi, are not covered"
                }
                _ => "processes that leave the group (setsid), and children of a killed pi, are not covered",
            };
            Check::new(AREA, status, format!("{message}; {reason}")).hint(uncovered)
        }
    }
}

/// Reports whether the kernel keeps readonly children from writing, and other children inside their tree.
pub(super) fn sandbox(config: &Config, capabilities: &HostCapabilities) -> Check {
    const AREA: &str = "sandbox";
    if config.sandbox.mode == SandboxMode::Off {
        return Check::new(AREA, Status::Info, "switched off (`sandbox`)").hint(NO_SHELL);
    }
    let missing = |reason: &str| {
        let required = config.sandbox.mode == SandboxMode::Required;
        let status = if required { Status::Error } else { Status::Warning };
        let effect = if required { "`sandbox` is `required`, so no readonly agent runs" } else { NO_SHELL };
        Check::new(AREA, status, format!("none: {reason}")).hint(effect)
    };
    match capabilities.abilities() {
        Err(reason) => missing(reason),
        Ok(Abilities { landlock: Err(reason), .. }) => missing(reason),
        Ok(abilities @ Abilities { landlock: Ok(version), pid_namespace, .. }) => {
            let writes = config.allow_write == AllowWrite::Tree;
            let EnforcedSandbox { metadata, shell, lacks, .. } =
                EnforcedSandbox::with(config, abilities, *version, config.sandbox.network, writes);
            let layers = [
                (Mechanism::MountNamespace, metadata),
                (Mechanism::PidNamespace, pid_namespace.is_ok()),
                (Mechanism::ToolSandbox, shell.is_some()),
            ];
            let active = layers.iter().filter(|(_, is_active)| *is_active).map(|(layer, _)| layer.as_str());
            let names: Vec<&str> = [Mechanism::Landlock.as_str()].into_iter().chain(active).collect();
            let network = if shell == Some(Network::Off) { ", their shell without network" } else { "" };
            let names = format!("{} (Landlock ABI {version}){network}", names.join(", "));
            if lacks.is_empty() {
                let others =
                    if writes { ", and others to change anything outside of their tree" } else { "" };
                let message =
                    format!("{names}: the kernel refuses readonly agents to change anything{others}");
                return Check::new(AREA, Status::Ok, message);
            }
            Check::new(AREA, Status::Info, format!("{names}; {}", lacks.join("; ")))
        }
    }
}

const NO_SHELL: &str = "only their tools restrict readonly agents, so they have no `bash`";
