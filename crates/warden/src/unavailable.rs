//! The reasons why a machine does not allow a feature. `--probe` prints them for users.

use std::io;
use std::path::PathBuf;

/// The reason why this machine does not allow a feature. The messages contain the system's error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unavailable {
    /// The kernel has no Landlock.
    #[error("this kernel was built without Landlock")]
    NoLandlock,
    /// Landlock is not among the active security modules.
    #[error("Landlock is switched off (kernel parameter `lsm=`)")]
    LandlockOff,
    /// The version of Landlock is unknown.
    #[error("Landlock does not answer: {0}")]
    UnknownLandlock(#[source] io::Error),
    /// Landlock is too old.
    #[error("Landlock ABI {version} cannot stop files from being truncated; ABI {oldest} (Linux 6.2) can")]
    OldLandlock { version: u32, oldest: u32 },
    /// The kernel refused a Landlock rule set, or the filter of system calls.
    #[error("Landlock cannot be applied: {0}")]
    Landlock(#[source] io::Error),
    /// This user cannot create namespaces.
    #[error("user and mount namespaces are not allowed here")]
    ForbiddenNamespaces,
    /// The limit of user namespaces is 0.
    #[error("user namespaces are switched off (`user.max_user_namespaces`)")]
    UserNamespacesOff,
    /// The kernel cannot change the attributes of a tree of mounts.
    #[error("this kernel cannot make a tree of mounts read-only (Linux 5.12)")]
    NoReadOnlyTree,
    /// The kernel refused a view of the file system for another reason.
    #[error("the file system cannot be made read-only: {0}")]
    MountNamespace(#[source] io::Error),
    /// The kernel has no overlays.
    #[error("this kernel has no overlay file system")]
    NoOverlay,
    /// Another mount, below a temporary directory, cannot be shown in an overlay.
    #[error("`{}` is mounted below `/tmp`", .0.display())]
    MountBelow(PathBuf),
    /// An overlay cannot cover a temporary directory.
    #[error("an overlay cannot cover `/tmp`")]
    OverlayRefused,
    /// A temporary directory is missing.
    #[error("`{0}` is missing")]
    NoTemporary(&'static str),
    /// A temporary directory is a link.
    #[error("`{0}` is a link")]
    LinkedTemporary(&'static str),
    /// The kernel refused the temporary directories for another reason.
    #[error("they cannot be mounted: {0}")]
    Temporaries(#[source] io::Error),
    /// The sandbox of the tools cannot be entered inside the child's.
    #[error("programs started by its tools cannot get their own sandbox: {0}")]
    ToolSandbox(#[source] io::Error),
    /// The kernel refused a pid namespace.
    #[error("the kernel refused a pid namespace: {0}")]
    PidNamespace(#[source] io::Error),
    /// A control group cannot be created.
    #[error("a control group cannot be created: {0}")]
    CreateCgroup(#[source] io::Error),
    /// A process cannot be started in a control group.
    #[error("a control group cannot be entered: {0}")]
    EnterCgroup(#[source] io::Error),
}
