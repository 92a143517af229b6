//! Makes a branch in the project's repository for a run's commit.

use std::collections::BTreeSet;
use std::path::Path;

use crate::git::{GitError, KEPT_OBJECTS, Scope};
use crate::root::RepositoryDirs;
use crate::snapshot::{Call, Snapshot, SnapshotError, SnapshotStore, off_thread};

/// The number of names tried for a branch: a continued run has one already.
const ATTEMPTS: u32 = 64;
/// The largest file with the name of a branch that is read.
const MAX_HEAD: u64 = 4096;

/// A way to name the branches of a run. The first is usual. A branch `subagent` leaves no room for it: git keeps no
/// branch below the name of another one.
#[derive(Clone, Copy)]
pub(super) struct BranchNaming(&'static str);

/// All ways, the usual one first.
pub(super) const BRANCH_NAMINGS: [BranchNaming; 2] = [BranchNaming("subagent/"), BranchNaming("subagent-")];

impl BranchNaming {
    /// Returns the possible names for the branches of a run, in the order in which they are tried.
    pub(super) fn names(self, id: &str) -> impl Iterator<Item = String> + use<> {
        let first = format!("{}{id}", self.0);
        (1..=ATTEMPTS).map(move |number| if number > 1 { format!("{first}-{number}") } else { first.clone() })
    }

    /// Returns the name of the branch that would leave no room for these names, if there is such a name.
    fn parent(self) -> Option<&'static str> {
        self.0.strip_suffix('/')
    }
}

/// Returns the name of the first branch of a run.
pub(super) fn branch_of(id: &str) -> String {
    format!("{}{id}", BRANCH_NAMINGS[0].0)
}

fn full(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// The present use of a name.
enum NameUse {
    /// Nothing.
    Free,
    /// A branch with this very commit.
    SameCommit,
    Other,
}

impl SnapshotStore {
    /// Copies a commit and its objects into the project's repository and makes a branch. Moves the branch of a
    /// continued run instead, from its present `tip`.
    ///
    /// # Errors
    ///
    /// Returns the error of the first naming if git accepts no name.
    pub(super) async fn publish(
        &self,
        snapshot: &Snapshot,
        (branch, tip): (&str, &str),
        commit: &str,
    ) -> Result<String, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let dirs = self.repository(&snapshot.root).await?;
        // The repository decides where references are kept. Nothing is executed: hooks are off, and no file is read.
        let writable: &[&Path] = &[&snapshot_dir, &dirs.own, &dirs.shared];
        let scope = Scope { git_dir: &dirs.own, writable, reads: &[], cwd: &snapshot_dir, env: &[] };
        let range = self.range(scope, commit, snapshot.base.as_deref()).await?;
        let kept_objects = snapshot_dir.join(KEPT_OBJECTS);
        let own = [&*snapshot_dir.join("objects"), &*kept_objects];
        let own = if kept_objects.is_dir() { &own[..] } else { &own[..1] };
        // Straight into the repository: a pack can be larger than the limit for a command's output.
        let into: &Path = &snapshot.objects;
        let call = Call {
            work_tree: into,
            alternates: own,
            objects: Some(into),
            writable: &[into],
            ..Call::of(snapshot)
        };
        self.call(snapshot, call, &["pack-objects", "--revs", "-q", "pack/pack"], range).await?;
        if snapshot.branch.as_deref() == Some(branch) {
            if commit == tip {
                return Ok(branch.to_owned());
            }
            // If a work tree has the branch checked out, it must not move: the work tree would show the run's changes
            // as undone.
            let is_free = !is_in_use(&dirs, branch).await;
            let moved = [&full(branch), commit, tip];
            if is_free {
                match self.program().update_ref(scope, &moved).await {
                    Ok(()) => return Ok(branch.to_owned()),
                    // The branch was moved or deleted in the meantime.
                    Err(GitError::Failed { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let mut first = None;
        for naming in BRANCH_NAMINGS {
            match self.name(scope, &dirs, naming, &snapshot.id, commit).await {
                Ok(branch) => return Ok(branch),
                Err(error) => drop(first.get_or_insert(error)),
            }
        }
        Err(first.expect("there is a branch naming").into())
    }

    /// Returns the input for `pack-objects`: the commit without the objects that the references of the repository lead
    /// to. If a reference leads to `base`, `base` alone is excluded, because git finds the objects faster then.
    async fn range(&self, scope: Scope<'_>, commit: &str, base: Option<&str>) -> Result<Vec<u8>, GitError> {
        let asked = ["for-each-ref", "--format=%(objectname)"];
        let listed = self.program().run(scope, &asked, Vec::new()).await?;
        let head = ["rev-parse", "--verify", "--quiet", "HEAD"];
        let head = self.program().try_run(scope, &head, Vec::new()).await?.stdout;
        let tips = [listed, head].concat();
        let tips: BTreeSet<&[u8]> =
            tips.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|tip| !tip.is_empty()).collect();
        let without = match base.map(str::as_bytes).filter(|base| tips.contains(base)) {
            Some(base) => [base].into(),
            None => tips,
        };
        let without = without.into_iter().flat_map(|tip| [b"^", tip, b"\n"].concat());
        Ok(commit.bytes().chain(*b"\n").chain(without).collect())
    }

    async fn name(
        &self,
        scope: Scope<'_>,
        dirs: &RepositoryDirs,
        naming: BranchNaming,
        id: &str,
        commit: &str,
    ) -> Result<String, GitError> {
        let failed = |why: &str| GitError::Failed { command: "update-ref".into(), why: why.to_owned() };
        if let Some(parent) = naming.parent()
            && is_in_use(dirs, parent).await
        {
            // If this branch has no commit yet, a branch below its name would prevent its first commit.
            return Err(failed(&format!("the branch `{parent}` is checked out")));
        }
        let none = "0".repeat(commit.len());
        for branch in naming.names(id) {
            match self.use_of(scope, &branch, commit).await? {
                NameUse::SameCommit => return Ok(branch),
                NameUse::Free if !is_in_use(dirs, &branch).await => {}
                _ => continue,
            }
            self.program().update_ref(scope, &[&full(&branch), commit, &none]).await?;
            return Ok(branch);
        }
        Err(failed(&format!("{ATTEMPTS} names are taken")))
    }

    /// Looks for a branch of this name or below it, and for a tag, which git would take for the branch.
    async fn use_of(&self, scope: Scope<'_>, branch: &str, commit: &str) -> Result<NameUse, GitError> {
        let name = full(branch);
        let tag = format!("refs/tags/{branch}");
        let other = format!("refs/{branch}");
        let asked = ["for-each-ref", "--format=%(objectname) %(refname)", &name, &tag, &other];
        let listed = self.program().run(scope, &asked, Vec::new()).await?;
        let listed = String::from_utf8_lossy(&listed);
        Ok(match listed.trim() {
            "" => NameUse::Free,
            only if only == format!("{commit} {name}") => NameUse::SameCommit,
            _ => NameUse::Other,
        })
    }
}

/// Returns true if a work tree of the repository has a branch checked out, or rebases or bisects it. Such a branch must
/// not be made, moved or deleted.
pub(crate) async fn is_in_use(dirs: &RepositoryDirs, branch: &str) -> bool {
    let dirs = dirs.clone();
    let branch = branch.to_owned();
    off_thread(move || is_used(&dirs, &branch)).await
}

fn is_used(dirs: &RepositoryDirs, branch: &str) -> bool {
    /// The files that name a branch, in the directory of a work tree.
    const NAMING: [&str; 4] = ["HEAD", "rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
    let linked = std::fs::read_dir(dirs.shared.join("worktrees")).into_iter().flatten().flatten();
    let mut all = linked.map(|entry| entry.path()).chain([dirs.own.clone(), dirs.shared.clone()]);
    let name = full(branch);
    all.any(|directory| {
        NAMING.iter().any(|file| {
            let read = files::open::regular(&directory.join(file))
                .and_then(|file| files::open::read(file, MAX_HEAD));
            let text = read.unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let at = text.strip_prefix("ref:").unwrap_or(&text).trim();
            at == name || (*file == "BISECT_START" && at == branch)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_branch_is_in_use_if_a_work_tree_has_it_checked_out_or_rebases_it() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let shared = scene.path().to_owned();
        let dirs =
            RepositoryDirs { own: shared.clone(), shared: shared.clone(), objects: shared.join("objects") };
        for (file, text, expected) in [
            ("HEAD", "ref: refs/heads/subagent/1\n", true),
            ("HEAD", "ref: refs/heads/subagent/1-2\n", false),
            ("worktrees/w/HEAD", "ref: refs/heads/subagent/1\n", true),
            ("worktrees/w/rebase-merge/head-name", "refs/heads/subagent/1\n", true),
            ("rebase-apply/head-name", "refs/heads/subagent/1\n", true),
            ("BISECT_START", "subagent/1\n", true),
            ("BISECT_START", "main\n", false),
        ] {
            let path = shared.join(file);
            fs::create_dir_all(path.parent().expect("the path has a parent"))
                .expect("the directory is created");
            fs::write(&path, text).expect("the file is written");
            assert_eq!(is_used(&dirs, "subagent/1"), expected, "{file}: {text}");
            fs::remove_file(path).expect("the file is removed");
        }
    }
}
