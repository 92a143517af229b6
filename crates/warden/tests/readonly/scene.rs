//! A project, an agent directory and a run's own directory, for the user that will attack them.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::io::FdFlags;
use tempfile::TempDir;

use crate::sandboxed::finish;
use crate::snapshot::Snapshot;

const INPUTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inputs");
/// A user that no system has, other than the user that represents unknown users in namespaces. Each test process has its own:
/// attacks send signals to all processes that their user may reach, and limits count all that it has started.
fn stranger() -> u32 {
    54_321 + std::process::id() % 10_000
}

/// The paths that stay read-only in the project, and the path that a `.git` in it names.
const PROTECTED: [&str; 6] = [
    "project/work/.git",
    "project/work/.pi",
    "project/work/.mcp.json",
    "project/work/sub/deep/.pi",
    "project/work/module/.git",
    "project/gitdirs/module",
];

/// The directories of a scene.
const PLACES: [&str; 8] = ["tree", "agent", "others", "home", "project", "tmp", "private", "session.jsonl"];

/// The directories that the tests ignore, except their protected paths.
const FREE: [&str; 5] = ["project/work", "home/.npm", "tmp", "private", "session.jsonl"];

/// The user that makes the attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// The user who runs the tests.
    Myself,
    /// A user without any rights. Only root can become that user.
    Stranger,
}

impl User {
    /// Everybody whom this test can be.
    pub(crate) fn all() -> Vec<Self> {
        if is_root() { vec![Self::Myself, Self::Stranger] } else { vec![Self::Myself] }
    }

    /// Returns true if root makes the attempts.
    pub(crate) fn is_root(self) -> bool {
        self == Self::Myself && is_root()
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(crate) struct Scene {
    directory: TempDir,
    user: User,
    target: Target,
    /// True if there is a project in which the child may write.
    has_project: bool,
    /// The number of renewals.
    renewed: u32,
    _listener: UnixListener,
}

/// The target of the attacks: the project and the agent directory in their initial state, and a user who works with them.
struct Target {
    victim: Child,
    /// Stays open in the test, and every program that is started inherits it.
    _leak: File,
    before: Snapshot,
}

impl Scene {
    pub(crate) fn new(user: User) -> Self {
        Self::with(user, false)
    }

    /// A scene that has a project, too, in which the child may write.
    pub(crate) fn with_project(user: User) -> Self {
        Self::with(user, true)
    }

    fn with(user: User, has_project: bool) -> Self {
        let directory = tempfile::tempdir().expect("a directory for the scene");
        let root = directory.path();
        fs::set_permissions(root, Permissions::from_mode(0o755)).expect("it is ours");
        for name in ["home", "original"] {
            fs::create_dir(root.join(name)).expect("a directory of the scene");
        }
        for name in ["mutations.sh", "works.sh", "writer.sh"] {
            fs::copy(Path::new(INPUTS).join(name), root.join(name)).expect("a copy that everybody can read");
        }
        if user == User::Stranger {
            for name in [".", "home", "original"] {
                chown(root.join(name), Some(stranger()), Some(stranger())).expect("root may do that");
            }
        }
        let original = root.join("original");
        let mut fixture = plain_command(root, user, "/bin/sh");
        fixture.args([
            root.join("mutations.sh"),
            "--fixture".into(),
            original.join("tree"),
            original.join("agent"),
        ]);
        run(&mut fixture);
        if has_project {
            let script = root.join("writer.sh");
            run(plain_command(root, user, "/bin/sh").arg(script).arg("--fixture").arg(&original));
        }
        let name = SocketAddr::from_abstract_name(abstract_name(root)).expect("a short name");
        let listener = UnixListener::bind_addr(&name).expect("a socket without a file");
        let target = Target::new(root, user, &PLACES);
        Self { directory, user, target, has_project, renewed: 0, _listener: listener }
    }

    /// Makes everything as it was, where anything has changed.
    ///
    /// Old directories are moved and not removed: ext4 waits for a while before it gives the inode of a removed file away, which
    /// made this the most expensive part of all.
    pub(crate) fn renew(&mut self) {
        let root = self.directory.path();
        let now = look(root);
        let mut used = PLACES.to_vec();
        // The home directory is one of the fixture's with a project only.
        used.retain(|name| self.has_project || *name != "home");
        used.retain(|name| self.target.before.differs(&now, &root.join(name)));
        self.renewed += 1;
        for name in used.iter().copied().chain(["agent.old"]) {
            let aside = fs::rename(root.join(name), root.join(format!("old-{}-{name}", self.renewed)));
            assert!(aside.is_ok() || !root.join(name).exists(), "{name} cannot be put aside: {aside:?}");
        }
        self.target = Target::new(root, self.user, &used);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The user and group that a file must be given to, if it is not the present one.
    pub(crate) fn owner(&self) -> Option<u32> {
        (self.user == User::Stranger).then(stranger)
    }

    /// Returns the paths that a child in the sandbox may write.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        ["tmp", "private", "session.jsonl"].map(|name| self.path(name)).to_vec()
    }

    /// Returns the paths that a child in the sandbox may write when it works on the project, and the paths in it that stay
    /// read-only.
    pub(crate) fn writable_with_project(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let mut writable = self.writable();
        writable.extend(["project/work", "home/.npm"].map(|name| self.path(name)));
        (writable, PROTECTED.map(|name| self.path(name)).to_vec())
    }

    /// A command of the user, with everything in the environment that the scripts want.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let root = self.directory.path();
        let mut command = plain_command(root, self.user, program);
        command
            .current_dir(root.join("tree"))
            .env("TREE", root.join("tree"))
            .env("AGENT", root.join("agent"))
            .env("OTHERS", root.join("others"))
            .env("PRIVATE", root.join("private"))
            .env("SESSION", root.join("session.jsonl"))
            .env("VICTIM", self.target.victim.id().to_string())
            .env("ABSTRACT", abstract_name(root))
            .env("GIT_OPTIONAL_LOCKS", "0");
        command
    }

    /// Returns the changes since the scene was made, without the places that may change.
    pub(crate) fn changes(&mut self) -> io::Result<Vec<String>> {
        let root = self.directory.path();
        let mut changes = self.target.before.differences(&look(root), |path| is_free(root, path));
        if self.target.victim.try_wait()?.is_some() {
            changes.push("the process outside was ended".into());
        }
        Ok(changes)
    }
}

impl Target {
    /// Makes some places, and starts a user who works with them.
    fn new(root: &Path, user: User, places: &[&str]) -> Self {
        for &place in places {
            let path = root.join(place);
            let original = root.join("original").join(place);
            match place {
                "tmp" | "private" => run(plain_command(root, user, "mkdir").arg(path)),
                "session.jsonl" => run(plain_command(root, user, "touch").arg(path)),
                _ if original.exists() => {
                    run(plain_command(root, user, "cp").arg("-aT").args([original, path]));
                }
                _ => {}
            }
        }
        let log = || File::options().append(true).open(root.join("tree/victim.log")).expect("the log");
        let leak = log();
        rustix::io::fcntl_setfd(&leak, FdFlags::empty()).expect("the descriptor is open");
        let mut victim = plain_command(root, user, "sleep");
        victim.arg("600").current_dir(root.join("tree")).stdin(Stdio::null()).stdout(log());
        let before = look(root);
        let victim = victim.stderr(Stdio::null()).spawn().expect("somebody to attack");
        Self { victim, _leak: leak, before }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.victim.kill());
        drop(self.victim.wait());
    }
}

/// Runs a command that must succeed.
fn run(command: &mut Command) {
    let (code, text) = finish(command);
    assert_eq!(code, Some(0), "{command:?}: {text}");
}

/// Everything that an attempt or a piece of work could change.
fn look(root: &Path) -> Snapshot {
    Snapshot::of(&PLACES.map(|name| root.join(name)))
}

/// Returns true if a path may be written, so that the tests ignore it.
fn is_free(root: &Path, path: &Path) -> bool {
    let is_below = |name: &&str| path.starts_with(root.join(name));
    FREE.iter().any(is_below) && !PROTECTED.iter().any(is_below)
}

fn abstract_name(root: &Path) -> String {
    format!("readonly{}", root.display())
}

fn plain_command(root: &Path, user: User, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
        .env("RUSTUP_HOME", rustup())
        .env("HOME", root.join("home"))
        .env("TMPDIR", root.join("tmp"));
    if user == User::Stranger {
        command.uid(stranger()).gid(stranger());
    }
    command
}

/// Returns the directory of the programs that build Rust, for any home directory.
fn rustup() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".rustup");
    std::env::var_os("RUSTUP_HOME").map_or_else(home, PathBuf::from)
}
