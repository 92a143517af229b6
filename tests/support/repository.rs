//! A project's repository, and pi's directory next to it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use supervisor::probe;
use tempfile::TempDir;
use worktree::{Git, SnapshotLimits, SnapshotStore};

pub(crate) const ID: &str = "0badcafe";
pub(crate) const LIMITS: SnapshotLimits = SnapshotLimits { bytes: 1 << 20, files: 1000 };

/// A project, and pi's directory next to it.
pub(crate) struct Scene(pub(crate) TempDir);

impl Scene {
    pub(crate) fn new() -> Self {
        let this = Self(tempfile::tempdir().expect("a temporary directory is created"));
        fs::create_dir_all(this.at("project")).expect("the directory is created");
        this.git(&["init", "-q", "-b", "main"]);
        this
    }

    /// A project whose files are in memory, if this machine has such a place: for many files.
    pub(crate) fn in_memory() -> Self {
        let place = Some("/dev/shm").filter(|place| Path::new(place).is_dir());
        let made = place.map_or_else(tempfile::tempdir, tempfile::tempdir_in);
        let this = Self(made.expect("a temporary directory is created"));
        fs::create_dir_all(this.at("project")).expect("the directory is created");
        this.git(&["init", "-q", "-b", "main"]);
        this
    }

    /// A project with one commit.
    pub(crate) fn committed() -> Self {
        let this = Self::new();
        this.write("kept.txt", "kept");
        this.write("dir/inner.txt", "inner");
        this.commit();
        this
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("the path exists").join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("project")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, text).expect("the file is written");
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root(), args)
    }

    pub(crate) fn git_in(&self, directory: &Path, args: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=n@localhost", "-c", "protocol.file.allow=always"])
            .args(args)
            .env_clear()
            .envs(self.env())
            .current_dir(directory)
            .output()
            .expect("git runs");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-qm", "all"]);
    }

    pub(crate) fn env(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").expect("`PATH` is set");
        vec![("PATH".into(), path), ("HOME".into(), self.at("home").into())]
    }

    pub(crate) async fn store(&self) -> SnapshotStore {
        let git = Git::find(&self.env(), &[], None).await.expect("git is found");
        SnapshotStore::new(git, &self.at("agent"), &self.env(), LIMITS)
    }

    /// A store whose git runs in the sandbox, if this machine has one.
    pub(crate) async fn sandboxed(&self) -> SnapshotStore {
        let warden = super::program::warden();
        let abilities = probe(&warden).await.expect("the warden answers");
        let sandbox = abilities.landlock.is_ok().then(|| (warden, abilities.mount_namespace.is_ok()));
        let git = Git::find(&self.env(), &[], sandbox).await.expect("git is found");
        SnapshotStore::new(git, &self.at("agent"), &self.env(), LIMITS)
    }
}
