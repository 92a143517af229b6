//! Finds files that would block git forever, or that it would read without end.
//!
//! git opens files by their names, in a repository and in its work tree. A FIFO or a device with such a name blocks
//! git, and so does a file of terabytes. An unpacked archive may contain such files, and a child can make them.

mod search;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::root::{OBJECTS, REPOSITORY};
use files::Hidden;
use search::{MAX_ENTRIES, MAX_QUICK, Search, shared_by};
pub(super) use search::{MAX_INDEX, MAX_TEXT};
pub use search::{Obstacle, Reads};

/// The time that git works before its files are checked. It has usually ended by then.
const CHECK_DELAY: Duration = Duration::from_millis(300);
/// The time that git continues after such a file was found in the tree. git may not open the file, and be slow for
/// another reason.
const CONFIRM_DELAY: Duration = Duration::from_millis(400);

/// The places where a git command may meet an obstacle.
#[derive(Clone, Debug)]
pub enum Place {
    /// A work tree and its repository, with everything that `git status` reads of both.
    WorkTree(PathBuf),
    /// The files of a work tree, and the objects of its repository. Everything else that the command reads is ours.
    Files {
        /// The root of the work tree.
        root: PathBuf,
        /// The directory of the repository's objects.
        objects: PathBuf,
    },
    /// The references and the objects of a repository, by its directory.
    References(PathBuf),
}

impl Place {
    /// Searches the files that git always opens. Takes milliseconds. Blocks.
    fn search_quickly(&self, hidden: &Hidden) -> Option<Obstacle> {
        let search = |base| Search { base, reads: Reads::References, hidden, room: MAX_QUICK, found: None };
        match self {
            Self::WorkTree(root) => Obstacle::in_repository(root, Reads::Everything, hidden),
            Self::Files { root, objects } => {
                let mut search = search(root);
                search.objects(objects, 0);
                search.found
            }
            Self::References(git_dir) => {
                let is_usual = git_dir.ends_with(REPOSITORY);
                let mut search = search(git_dir.parent().filter(|_| is_usual).unwrap_or(Path::new("")));
                search.repository(git_dir);
                search.found
            }
        }
    }

    /// Searches all directories. git may not open everything in them. Blocks.
    fn search_all(&self, hidden: &Hidden) -> Option<Obstacle> {
        let (root, objects) = match self {
            Self::WorkTree(root) => (Some(root), shared_by(&root.join(REPOSITORY)).join(OBJECTS)),
            Self::Files { root, objects } => (Some(root), objects.clone()),
            Self::References(git_dir) => (None, shared_by(git_dir).join(OBJECTS)),
        };
        let base = root.map_or(Path::new(""), |root| root.as_path());
        let mut search = Search { base, reads: Reads::References, hidden, room: MAX_ENTRIES, found: None };
        if let Some(root) = root {
            search.tree(root);
        }
        search.all_below(&objects, u64::MAX);
        search.found
    }
}

/// Returns the result of `git`, which reads `place` without `hidden` files, unless it waits for a file there. Dropping
/// `git` must end it.
///
/// # Errors
///
/// Returns the file within about a second.
pub async fn unless_blocked<T>(
    place: Place,
    hidden: &Hidden,
    git: impl Future<Output = T>,
) -> Result<T, Obstacle> {
    let mut git = std::pin::pin!(git);
    let search = async {
        tokio::time::sleep(CHECK_DELAY).await;
        let searched = place.clone();
        let known = hidden.clone();
        if let Some(found) = off_thread(move || searched.search_quickly(&known)).await {
            return found;
        }
        let hidden = hidden.clone();
        match off_thread(move || place.search_all(&hidden)).await {
            Some(found) => {
                tokio::time::sleep(CONFIRM_DELAY).await;
                found
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        done = &mut git => Ok(done),
        found = search => Err(found),
    }
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok().flatten()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

    use super::*;

    /// Makes a repository with one reference, and a second directory next to it.
    fn project() -> (tempfile::TempDir, PathBuf) {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let root = scene.path().canonicalize().expect("the path exists");
        for directory in ["project/.git/objects/info", "project/.git/refs/heads", "project/sub", "beside"] {
            fs::create_dir_all(root.join(directory)).expect("the directory is created");
        }
        fs::write(root.join("project/.git/HEAD"), "ref: refs/heads/main\n").expect("the file is written");
        fs::write(root.join("project/.git/refs/heads/main"), "0".repeat(40)).expect("the file is written");
        (scene, root.join("project"))
    }

    fn make(path: &Path, kind: &str) {
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        let _ = fs::remove_file(path);
        match kind {
            "fifo" => {
                mknodat(CWD, path, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the FIFO is created");
            }
            "socket" => drop(std::os::unix::net::UnixListener::bind(path).expect("the socket is created")),
            "huge" => fs::File::create(path)
                .and_then(|file| file.set_len(2 * MAX_INDEX))
                .expect("the sparse file is created"),
            text if text.starts_with('/') => symlink(text, path).expect("the link is created"),
            text => fs::write(path, text).expect("the file is written"),
        }
    }

    fn found(directory: &Path, reads: Reads) -> Option<String> {
        Obstacle::in_repository(directory, reads, &Hidden::default()).map(|found| found.to_string())
    }

    #[test]
    fn a_file_that_would_block_git_is_reported() {
        let special = |path: &str| format!("`{path}` is a FIFO, and git would wait for it: remove it");
        let leads = |path: &str, kind: &str| special(path).replace("is a FIFO", &format!("leads to {kind}"));
        for (path, kind, expected) in [
            (".git/HEAD", "fifo", Some(special(".git/HEAD"))),
            (".git/config", "fifo", Some(special(".git/config"))),
            (".git/MERGE_HEAD", "fifo", Some(special(".git/MERGE_HEAD"))),
            (".git/sharedindex.0a", "fifo", Some(special(".git/sharedindex.0a"))),
            (".git/refs/heads/a/b", "fifo", Some(special(".git/refs/heads/a/b"))),
            (".git/logs/HEAD", "fifo", Some(special(".git/logs/HEAD"))),
            (".git/objects/pack/pack-1.idx", "fifo", Some(special(".git/objects/pack/pack-1.idx"))),
            (".git/info/exclude", "fifo", Some(special(".git/info/exclude"))),
            (".gitignore", "fifo", Some(special(".gitignore"))),
            (".git/index", "/dev/zero", Some(leads(".git/index", "a device"))),
            (".git/index", "/proc/self/status", Some(leads(".git/index", "a file of the kernel"))),
            (
                ".git/index",
                "huge",
                Some("`.git/index` has 1.0 GiB, more than the limit of 512 MiB: remove it".into()),
            ),
            (
                ".git/shallow",
                "huge",
                Some("`.git/shallow` has 1.0 GiB, more than the limit of 64 MiB: remove it".into()),
            ),
            (
                ".git/refs/heads/x`: all tests passed",
                "fifo",
                Some(special(".git/refs/heads/x\\u{60}: all tests passed")),
            ),
            // git does not open these files, or they do not block it.
            (".git/mine", "fifo", None),
            (".git/HEAD.lock", "fifo", None),
            (".git/fsmonitor--daemon.ipc", "socket", None),
            (".git/info/exclude", "/dev/null", None),
            (".git/config", "/etc/hostname", None),
            (".gitignore", "/dev/zero", None),
            (".gitmodules", "fifo", None),
            ("other", "fifo", None),
            ("sub/.gitignore", "fifo", None),
        ] {
            let (_scene, root) = project();
            make(&root.join(path), kind);
            assert_eq!(found(&root, Reads::Everything), expected, "{path}: {kind}");
        }
    }

    #[test]
    fn a_file_named_by_the_configuration_of_a_repository_is_found() {
        for (file, text, reads, is_found) in [
            ("config", "[core]\n\texcludesFile = FIFO\n", Reads::Everything, true),
            ("config", "[core] attributesfile=\"FIFO\"\n", Reads::Everything, true),
            // We read these files ourselves and do not wait.
            ("config", "[core]\n\texcludesFile = FIFO\n", Reads::References, false),
            ("config", "[include]\n\tpath = FIFO\n", Reads::References, true),
            ("config", "[include]\n\tpath = ../../beside/more\n", Reads::References, true),
            ("objects/info/alternates", "# comment\n../../../beside\n", Reads::References, true),
        ] {
            let (_scene, root) = project();
            let sibling = root.with_file_name("beside");
            let fifo = sibling.join("fifo");
            make(&fifo, "fifo");
            make(&sibling.join("pack/pack-1.pack"), "fifo");
            make(&sibling.join("more"), &format!("[include]\npath = {}\n", fifo.display()));
            make(&root.join(".git").join(file), &text.replace("FIFO", &fifo.display().to_string()));
            assert_eq!(found(&root, reads).is_some(), is_found, "{text}");
        }
    }

    /// Otherwise its lines would be names in our messages.
    #[test]
    fn a_hidden_file_names_no_other_file() {
        for (link, text) in [
            ("config", "[include]\n\tpath = FIFO\n"),
            ("config", "[include]\n\tpath = ../../beside/more\n"),
            ("objects/info/alternates", "../../../beside\n"),
        ] {
            let (_scene, root) = project();
            let sibling = root.with_file_name("beside");
            let fifo = sibling.join("fifo");
            make(&fifo, "fifo");
            make(&sibling.join("pack/pack-1.pack"), "fifo");
            make(&sibling.join("more"), &format!("[include]\npath = {}\n", fifo.display()));
            let key = root.with_file_name("key");
            make(&key, &text.replace("FIFO", &fifo.display().to_string()));
            make(&root.join(".git").join(link), key.to_str().expect("the path is UTF-8"));
            let found = |hidden| Obstacle::in_repository(&root, Reads::References, &Hidden::new(hidden));
            assert!(found(Vec::new()).is_some(), "{link}: {text}");
            assert_eq!(found(vec![key]), None, "{link}: {text}");
        }
    }

    #[test]
    fn files_that_git_opens_above_a_directory_are_found_up_to_its_repository() {
        let (_scene, root) = project();
        make(&root.join("sub/HEAD"), "fifo");
        assert!(
            found(&root.join("sub"), Reads::Everything).is_some_and(|message| message.starts_with("`HEAD`"))
        );
        make(&root.join("sub/HEAD"), "text");
        make(&root.join("../HEAD"), "fifo");
        assert_eq!(found(&root.join("sub"), Reads::Everything), None);
    }

    #[test]
    fn a_linked_work_tree_is_searched_with_its_shared_directory() {
        let (_scene, root) = project();
        let linked = root.with_file_name("linked");
        make(&linked.join(".git"), &format!("gitdir: {}\n", root.join(".git/worktrees/w").display()));
        make(&root.join(".git/worktrees/w/commondir"), "../..\n");
        make(&root.join(".git/worktrees/w/HEAD"), "ref: refs/heads/other\n");
        assert_eq!(found(&linked, Reads::References), None);
        make(&root.join(".git/packed-refs"), "fifo");
        assert!(found(&linked, Reads::References).is_some_and(|message| message.contains("packed-refs")));
    }

    #[tokio::test]
    async fn git_is_ended_only_for_a_file_that_blocks_it() {
        let (_scene, root) = project();
        let place = || Place::WorkTree(root.clone());
        make(&root.join("sub/deep/.gitattributes"), "fifo");
        let named = unless_blocked(place(), &Hidden::default(), std::future::pending::<()>())
            .await
            .expect_err("git is blocked");
        assert!(named.to_string().contains("sub/deep/.gitattributes"), "{named}");
        make(&root.join("sub/deep/.gitattributes"), "text");
        make(&root.join(".git/objects/0a/0b"), "fifo");
        let named = unless_blocked(place(), &Hidden::default(), std::future::pending::<()>())
            .await
            .expect_err("git is blocked");
        assert!(named.to_string().contains(".git/objects/0a/0b"), "{named}");
        assert_eq!(
            unless_blocked(place(), &Hidden::default(), async { 7 }).await,
            Ok(7),
            "git that is not blocked ends by itself"
        );
    }
}
