//! The reported changes of a run, in real repositories.

use std::fs;

use tempfile::TempDir;

use super::*;

/// A repository with one committed file. No configuration of this machine takes part.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let this = Self(tempfile::tempdir().expect("a temporary directory is created"));
        this.git(&["init", "-q"]);
        this.write("kept.txt", "kept");
        this.commit();
        this
    }

    fn env() -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").expect("`PATH` is set");
        let nothing = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];
        nothing
            .map(|(name, value)| (name.into(), value.into()))
            .into_iter()
            .chain([("PATH".into(), path)])
            .collect()
    }

    fn git(&self, args: &[&str]) {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=n@localhost"])
            .args(args)
            .env_clear()
            .envs(Self::env())
            .current_dir(&self.0)
            .output()
            .expect("git runs");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("the file is written");
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-qm", "all"]);
    }

    async fn read(&self) -> WorkTree {
        WorkTree::read(self.0.path(), &Self::env(), &[], None).await.expect("the work tree is readable")
    }
}

async fn changed(before: WorkTree) -> Option<Vec<String>> {
    before.changes().await.ok().map(|changed| changed.listed())
}

#[tokio::test]
async fn every_difference_from_the_earlier_state_is_a_change() {
    let repository = Repository::new();
    repository.write("dirty.txt", "dirty before");
    repository.write("cleaned.txt", "dirty before");
    repository.write("left.txt", "dirty before, and left as it is");
    fs::create_dir(repository.0.path().join("nested")).expect("the directory is created");
    let before = repository.read().await;

    assert_eq!(changed(repository.read().await).await, Some(vec![]), "an unchanged work tree has no changes");
    repository.write("dirty.txt", "dirty, and longer now");
    repository.write("nested/a  name.txt", "added");
    fs::remove_file(repository.0.path().join("cleaned.txt")).expect("the file is removed");
    fs::remove_file(repository.0.path().join("kept.txt")).expect("the file is removed");
    let expected = ["cleaned.txt", "dirty.txt", "kept.txt", "nested/a  name.txt"].map(str::to_owned);
    assert_eq!(changed(before).await, Some(expected.to_vec()));
}

#[tokio::test]
async fn committed_files_count_as_changed() {
    let repository = Repository::new();
    let before = repository.read().await;
    repository.write("committed.txt", "by the run");
    repository.commit();
    repository.write("kept.txt", "changed after the commit");
    let expected = ["committed.txt", "kept.txt"].map(str::to_owned);
    assert_eq!(changed(before).await, Some(expected.to_vec()));
}

#[tokio::test]
async fn the_first_commit_of_a_repository_is_changed_too() {
    let empty = Repository(tempfile::tempdir().expect("a temporary directory is created"));
    empty.git(&["init", "-q"]);
    let before = empty.read().await;
    empty.write("first.txt", "by the run");
    empty.commit();
    empty.write("second.txt", "not committed");
    let expected = ["first.txt", "second.txt"].map(str::to_owned);
    assert_eq!(changed(before).await, Some(expected.to_vec()));
}

#[tokio::test]
async fn a_long_list_of_changes_is_cut_and_ends_with_the_number_of_omitted_ones() {
    for (number, last) in [(MAX_CHANGES, "f199"), (MAX_CHANGES + 2, "and 2 more")] {
        let repository = Repository::new();
        let before = repository.read().await;
        (0..number).for_each(|file| repository.write(&format!("f{file:03}"), ""));
        let changes = changed(before).await.expect("the changes are listed");
        assert_eq!(changes.last().map(String::as_str), Some(last));
    }
}

/// git once read another directory, without the blank in its name.
#[cfg(unix)]
#[tokio::test]
async fn a_repository_may_end_in_a_blank() {
    let repository = Repository::new();
    let other = Repository::new();
    let parent = tempfile::tempdir().expect("a temporary directory is created");
    let blank = parent.path().join("mine ");
    let plain = parent.path().join("mine");
    fs::rename(repository.0.path(), &blank).expect("the rename succeeds");
    fs::rename(other.0.path(), &plain).expect("the rename succeeds");
    let before =
        WorkTree::read(&blank, &Repository::env(), &[], None).await.expect("the work tree is readable");
    fs::write(plain.join("theirs.txt"), "").expect("the file is written");
    fs::write(blank.join("mine.txt"), "").expect("the file is written");
    assert_eq!(changed(before).await, Some(vec!["mine.txt".to_owned()]));
}

#[tokio::test]
async fn reading_the_state_writes_nothing_and_needs_a_repository() {
    let repository = Repository::new();
    // Its time makes git refresh the index.
    repository.write("kept.txt", "kept");
    let index = repository.0.path().join(".git/index");
    let before = fs::read(&index).expect("the index is readable");
    repository.read().await;
    assert!(fs::read(&index).expect("the index is readable") == before, "git refreshed the index");

    let nothing = tempfile::tempdir().expect("a temporary directory is created");
    let looked = WorkTree::read(nothing.path(), &Repository::env(), &[], None).await;
    assert!(matches!(looked, Err(NoAnswer::Failed)));
}

/// Writes files and settings with which a repository could make git run programs. Returns the directories from which
/// git is started, with labels.
#[cfg(unix)]
fn traps(repository: &Repository) -> Vec<(&'static str, std::path::PathBuf)> {
    let root = repository.0.path();
    let bad = root.join("evil.sh");
    repository.write("evil.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran-$1\"\ncat\n");
    fs::set_permissions(&bad, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("the permissions are set");
    let bad = bad.display();
    repository.write(".gitattributes", "*.txt filter=one\n*.md filter=t.w-o\n");
    repository.write("a.md", "text");
    // git reads a submodule in a separate process, with filters that only the submodule configures.
    repository.git(&["init", "-q", "module"]);
    repository.write("module/.gitattributes", "*.txt filter=sub\n");
    repository.write("module/in.txt", "text");
    repository.git(&["-C", "module", "add", "--all"]);
    repository.git(&["-C", "module", "commit", "-qm", "module"]);
    repository.git(&["add", "--all"]);
    repository.git(&["commit", "-qm", "traps"]);
    repository.git(&["-C", "module", "config", "filter.sub.clean", &format!("{bad} module")]);
    repository.write("module/in.txt", "TEXT");
    repository.git(&["config", "filter.one.clean", &format!("{bad} clean")]);
    repository.git(&["config", "filter.one.required", "true"]);
    repository.git(&["config", "filter.t.w-o.process", &format!("{bad} process")]);
    repository.git(&["config", "core.fsmonitor", &format!("{bad} monitor")]);
    repository.git(&["config", "core.hooksPath", "."]);
    // The new contents have the same length, so that git has to read them.
    repository.write("kept.txt", "KEPT");
    repository.write("a.md", "TEXT");
    // A bare repository that a clone brings as files.
    let bare = root.join("assets");
    fs::create_dir_all(bare.join("objects")).expect("the directory is created");
    fs::create_dir_all(bare.join("refs")).expect("the directory is created");
    fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").expect("the file is written");
    let config = format!("[core]\n\tworktree = ..\n\tbare = false\n\tfsmonitor = {bad} bare\n");
    fs::write(bare.join("config"), config).expect("the file is written");
    vec![("the work tree", root.to_path_buf()), ("a bare repository in it", bare)]
}

#[cfg(unix)]
#[tokio::test]
async fn reading_the_state_runs_no_program_of_the_repository() {
    let repository = Repository::new();
    for (label, cwd) in traps(&repository) {
        if let Ok(before) = WorkTree::read(&cwd, &Repository::env(), &[], None).await {
            repository.write("kept.txt", "kEPT");
            assert!(
                changed(before).await.is_some_and(|paths| paths.contains(&"kept.txt".to_owned())),
                "{label}"
            );
        } else {
            assert_eq!(label, "a bare repository in it");
        }
        let ran = fs::read_dir(repository.0.path())
            .expect("the directory is readable")
            .flatten()
            .map(|entry| entry.file_name());
        let ran: Vec<_> = ran.filter(|name| name.to_string_lossy().starts_with("ran-")).collect();
        assert!(ran.is_empty(), "{label}: {ran:?}");
    }
}
