//! Checks whether the store of runs can be used, and whether changes of runs wait.

use std::fs;
use std::path::Path;

use super::check::{Check, Status};
use crate::run::{HostContext, RunRecord, store_of, waiting_text};
use files::layout;
use store::Store;

/// Returns the problem of the store; `None` if it works or does not exist yet. Does not create one.
pub(super) fn store(context: &HostContext) -> Option<Check> {
    let agent_dir = &context.agent_dir;
    // Any file or link counts, even a dangling link.
    fs::symlink_metadata(layout::store(agent_dir)).ok()?;
    let error = match store_of(agent_dir) {
        Some(store) => store.directories(1).err()?,
        // `store_of` gives the reason only once, and does not try again for a while.
        None => Store::open(agent_dir).err()?,
    };
    let message = format!("the store of runs cannot be used: {}", error.in_full());
    Some(Check::new("store", Status::Warning, message).hint(
        "runs work without it, but `maxConcurrentPerUser` has no effect, and background runs and the \
         spending of sessions are not saved",
    ))
}

/// Reports the changes in the project around `cwd` that wait for a person, in any session.
pub(super) fn waiting(cwd: &Path, context: &HostContext) -> Option<Check> {
    let agent_dir = &context.agent_dir;
    let agent_of = |id: &str| {
        fs::symlink_metadata(layout::store(agent_dir)).ok()?;
        let runs = store_of(agent_dir)?.runs_with_id(id).ok()?;
        RunRecord::from_json(&runs.first()?.body).ok().map(|run| run.agent)
    };
    let text = waiting_text(agent_dir, cwd, agent_of)?;
    Some(Check::new("changes", Status::Info, text))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{chown, symlink};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::run::Host;

    fn checked(agent_dir: &Path) -> Option<String> {
        let context = HostContext {
            agent_dir: agent_dir.into(),
            home: None,
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
            host: Host::default(),
        };
        store(&context).map(|check| check.message)
    }

    #[test]
    fn an_entry_in_the_place_of_the_store_is_reported_and_left_alone() {
        type Put = fn(&Path) -> bool;
        let cases: [(Put, &str); 5] = [
            (|path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).is_ok(), "it is not a regular file"),
            (|path| fs::create_dir(path).is_ok(), "it is not a regular file"),
            (|path| symlink("/dev/null", path).is_ok(), "it is a link, which is not followed here"),
            (|path| symlink("/no/such/file", path).is_ok(), "it is a link, which is not followed here"),
            // Only root can give a file away.
            (
                |path| fs::write(path, "").is_ok() && chown(path, Some(4242), None).is_ok(),
                "it belongs to another user",
            ),
        ];
        for (put, expected) in cases {
            let root = tempfile::tempdir().expect("a temporary directory is created");
            let path = layout::store(root.path());
            fs::create_dir_all(path.parent().expect("the path has a parent"))
                .expect("the directory is created");
            if !put(&path) {
                continue;
            }
            let message = checked(root.path()).expect("the check reports the store");
            assert!(message.contains("runs.db") && message.ends_with(expected), "{message}");
            // Asked again at once.
            assert_eq!(checked(root.path()), Some(message));
            assert!(fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).is_ok());
            assert_eq!(checked(root.path()), None, "a missing store is not reported and not created");
        }
    }

    #[test]
    fn a_working_store_is_not_reported_until_it_is_replaced() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let open_store = store_of(root.path()).expect("the store is opened");
        assert_eq!(checked(root.path()), None);
        let path = layout::store(root.path());
        fs::remove_file(&path).expect("the file is removed");
        fs::create_dir(&path).expect("the directory is created");
        let message = checked(root.path()).expect("the check reports the store");
        assert!(message.ends_with("it is not a regular file"), "{message}");
        drop(open_store);
    }
}
