//! The sockets of servers of the user that run commands for all who connect: terminal multiplexers, containers, the
//! session bus, agents with keys, editors.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use pi_subagent_warden::is_transient;

/// The paths at which such servers listen on most systems.
const WELL_KNOWN: [&str; 26] = [
    "/run/user",
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/dbus",
    "/var/run/dbus",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/libvirt",
    "/run/lxd",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
    "/run/incus",
    "/var/lib/incus/unix.socket",
    "/run/screen",
    "/run/tmux",
    "/run/cups",
    "/run/gssproxy.sock",
    "/run/pcscd",
    "/run/supervisor.sock",
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
];

/// The prefixes of the names that other such servers use below `/tmp`.
const IN_TMP: [&str; 10] =
    ["tmux-", "ssh-", "dbus-", "emacs", "nvim", "vscode-", "kitty-", "mykitty", "zellij-", "screens"];

/// The separators between a path and the rest of an environment variable's value: `unix:path=/run/bus,guid=1`, `/tmp/a,1,0`.
const SEPARATORS: [char; 4] = [',', ':', ';', '='];

/// The paths of such servers, with their directories where these hold nothing else. Some may not exist.
///
/// # Errors
///
/// If a resource has run out, so that it is unknown whether a path exists.
pub(super) fn paths() -> io::Result<Vec<PathBuf>> {
    let mut paths = known_paths();
    let in_tmp = match fs::read_dir("/tmp") {
        Err(error) if is_transient(&error) => return Err(error),
        entries => entries.into_iter().flatten().flatten(),
    };
    for entry in in_tmp {
        if entry.file_name().to_str().is_some_and(|name| IN_TMP.iter().any(|begin| name.starts_with(begin))) {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

/// Those whose names are known without looking for them: what may have started since, at little cost.
pub(super) fn known_paths() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = WELL_KNOWN.iter().map(PathBuf::from).collect();
    paths.push(format!("/tmp/tmux-{}", rustix::process::geteuid().as_raw()).into());
    // `SSH_AUTH_SOCK`, `DOCKER_HOST`, `DBUS_SESSION_BUS_ADDRESS`, `TMUX`, `VSCODE_IPC_HOOK`, …
    let values: Vec<OsString> = std::env::vars_os().map(|(_, value)| value).collect();
    let candidates = values.iter().flat_map(|value| value.to_str().unwrap_or_default().split(SEPARATORS));
    let mut candidates: Vec<&str> = candidates.map(|path| path.strip_prefix("//").unwrap_or(path)).collect();
    candidates.retain(|path| path.starts_with('/'));
    // Many name the same files and directories.
    candidates.sort_unstable();
    candidates.dedup();
    paths.extend(candidates.into_iter().filter(|path| is_socket(path)).map(PathBuf::from));
    paths
}

fn is_socket(path: &str) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_socket())
}
