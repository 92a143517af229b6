//! Checks the disk space that this user's runs take up, and that the next run can write its directory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::check::{Check, Status};
use crate::archive::{disk_use, run_directories};
use crate::run::HostContext;
use crate::run::store_of;
use agents::config::Config;
use files::layout;
use sanitizer::{chain, figures};

/// The maximum number of runs of the store that are counted.
const MAX_RUNS: usize = 100_000;

/// Counts the run directories that the store knows, the ones of this session, and the ones without a session.
/// Directories next to other sessions that are missing from the store are not found.
pub(super) fn disk(context: &HostContext, config: &Config) -> Check {
    let homeless = layout::runs(&context.agent_dir, None);
    let current = layout::runs(&context.agent_dir, context.host.session_file.as_deref());
    let recorded_directories = recorded_directories(context);
    let mut all: BTreeSet<PathBuf> = recorded_directories.iter().cloned().collect();
    all.extend(run_directories(&current));
    let without_session = run_directories(&homeless);
    let unknown = without_session.iter().filter(|path| !recorded_directories.contains(*path)).count();
    all.extend(without_session);
    let all: Vec<PathBuf> = all.into_iter().filter(|path| path.is_dir()).collect();
    // The snapshots of runs' trees count too.
    let snapshots = run_directories(&layout::snapshots(&context.agent_dir));
    let found = disk_use(&[&all[..], &snapshots].concat());
    let about = if found.is_complete { "" } else { "more than " };
    let count = match (all.len(), snapshots.len()) {
        (1, 0) => "1 run directory takes".to_owned(),
        (count, 0) => format!("{count} run directories take"),
        (count, trees) => {
            let directories = if count == 1 { "directory" } else { "directories" };
            let trees = figures::counted(trees, "snapshot");
            format!("{count} run {directories} and {trees} of their trees take")
        }
    };
    let orphaned = match unknown {
        0 => String::new(),
        unknown => format!("; not in the store: {unknown} in `{}`", homeless.display()),
    };
    let quota = match config.quota_bytes {
        0 => "; there is no limit (`quotaBytes` is 0)".to_owned(),
        quota => format!(" of `quotaBytes`, {}", figures::bytes(quota)),
    };
    let message = format!("{count} up {about}{}{quota}{orphaned}", figures::bytes(found.bytes));
    if config.quota_bytes == 0 || found.bytes <= config.quota_bytes {
        return Check::new("disk", Status::Ok, message);
    }
    Check::new("disk", Status::Warning, message).hint(
        "while a session is open, the files of the oldest runs, including runs in calls, are removed within \
         minutes, but not within an hour of their end. Remove files of runs that are not in the store by hand",
    )
}

/// The maximum number of private trees that are named.
const MAX_NAMED: usize = 5;

/// Reports the private trees that were kept because changes in them were not imported.
pub(super) fn unimported_trees(context: &HostContext) -> Option<Check> {
    let snapshots = layout::snapshots(&context.agent_dir);
    let entries = fs::read_dir(layout::private_trees(&context.agent_dir)).into_iter().flatten().flatten();
    // A tree with a record is in use, or its changes are imported when a conversation is opened.
    let is_noted = |name: &std::ffi::OsStr| snapshots.join(name).join(layout::PRIVATE_TREE).exists();
    let mut trees: Vec<PathBuf> =
        entries.filter(|entry| !is_noted(&entry.file_name())).map(|entry| entry.path()).collect();
    trees.sort();
    let named: Vec<_> = trees.iter().take(MAX_NAMED).map(|path| format!("`{}`", path.display())).collect();
    let more = trees.len().checked_sub(MAX_NAMED).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    let size = figures::bytes(disk_use(&trees).bytes);
    let message = format!("kept private trees take up {size}: {}{more}", named.join(", "));
    // The git configuration in these trees is the child's, and can name programs that git runs. So this check runs no
    // git in them, and the hint advises against it.
    let hint = "they hold changes that are on no branch: copy the files you need, and fetch commits with \
                `git fetch DIRECTORY/PROJECT \
                '+refs/*:refs/kept/*'` in your own repository. Do not run git inside them: their \
                configuration is not yours. Then remove the directory";
    (!trees.is_empty()).then(|| Check::new("disk", Status::Info, message).hint(hint))
}

/// The directories that the store knows. Does not create a store.
fn recorded_directories(context: &HostContext) -> BTreeSet<PathBuf> {
    let exists = layout::store(&context.agent_dir).exists();
    let store = exists.then(|| store_of(&context.agent_dir)).flatten();
    let directories = store.and_then(|store| store.directories(MAX_RUNS).ok()).unwrap_or_default();
    directories.into_iter().map(|run| PathBuf::from(run.directory)).collect()
}

/// Checks that runs can write their directories.
pub(super) fn directories(context: &HostContext) -> Vec<Check> {
    let fallback = layout::runs(&context.agent_dir, None);
    let current = layout::runs(&context.agent_dir, context.host.session_file.as_deref());
    let mut checks = vec![writable(&current)];
    if current != fallback {
        checks.push(writable(&fallback));
    }
    checks
}

/// Creates and removes a file in the nearest existing ancestor. Creates no directory.
fn writable(directory: &Path) -> Check {
    const AREA: &str = "directories";
    // The nearest ancestor that exists. If it is not a directory, the probe fails.
    let Some(existing) = directory.ancestors().find(|ancestor| fs::symlink_metadata(ancestor).is_ok()) else {
        return Check::new(AREA, Status::Error, format!("`{}` has no parent directory", directory.display()));
    };
    let probe = existing.join(format!(".subagent-probe-{}", uuid::Uuid::new_v4().simple()));
    match fs::File::create_new(&probe).and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => Check::new(AREA, Status::Ok, format!("`{}` is writable", directory.display())),
        Err(error) => Check::new(
            AREA,
            Status::Error,
            format!("`{}` is not writable: {}", existing.display(), chain(&error)),
        )
        .hint("each child stores its prompt and its session there: make the directory writable"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::Host;
    use store::{StoredRun, attach};

    #[test]
    fn private_trees_that_were_not_imported_are_listed_with_their_size() {
        let home = tempfile::tempdir().expect("a temporary directory is created");
        let context = HostContext {
            agent_dir: home.path().to_owned(),
            host: Host::default(),
            home: None,
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
        };
        assert_eq!(unimported_trees(&context), None);
        let trees = layout::private_trees(home.path());
        for id in ["00000001.kept-1", "00000002"] {
            fs::create_dir_all(trees.join(id)).expect("the directory is created");
        }
        let noted = layout::snapshots(home.path()).join("00000002");
        fs::create_dir_all(&noted).expect("the directory is created");
        fs::write(noted.join(layout::PRIVATE_TREE), "{}").expect("the file is written");
        let check = unimported_trees(&context).expect("the check lists the private tree");
        let size = figures::bytes(disk_use(&[trees.join("00000001.kept-1")]).bytes);
        let expected =
            format!("kept private trees take up {size}: `{}`", trees.join("00000001.kept-1").display());
        assert_eq!((check.status, check.message), (Status::Info, expected));
    }

    #[test]
    fn all_directories_of_this_user_are_counted_once_and_too_many_bytes_are_a_warning() {
        let home = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = home.path().join("agent");
        let session_file = home.path().join("sessions/one.jsonl");
        let context = HostContext {
            agent_dir: agent_dir.clone(),
            host: Host { session_file: Some(session_file), ..Host::default() },
            home: None,
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
        };
        let mut config = Config { quota_bytes: 40, ..Config::default() };
        // The disk space of a file depends on the file system.
        let probe = home.path().join("probe");
        fs::write(&probe, "0123456789").expect("the file is written");
        let all = 5 * disk_use(&[home.path().to_owned()]).bytes;
        let check = disk(&context, &config);
        assert_eq!(check.message, "0 run directories take up 0 B of `quotaBytes`, 40 B");
        assert!(!agent_dir.exists(), "a check creates nothing");
        let run = |path: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(&path).expect("the directory is created");
            fs::write(path.join("session.jsonl"), "0123456789").expect("the file is written");
            path.to_string_lossy().into_owned()
        };
        run("sessions/one/00000001");
        run("agent/subagents/runs/00000002");
        let known = [
            run("sessions/one/00000003"),
            run("sessions/other/00000004"),
            run("agent/subagents/runs/00000005"),
            home.path().join("sessions/other/00000006").to_string_lossy().into_owned(),
        ];
        let store = attach(&agent_dir).store.expect("the store is available");
        for (at, directory) in known.iter().enumerate() {
            let run =
                StoredRun { key: at.to_string(), directory: Some(directory.clone()), ..StoredRun::default() };
            store.settle_run(&run, None, false).expect("the end is stored");
        }
        let check = disk(&context, &config);
        assert_eq!(check.status, Status::Warning);
        let expected = format!(
            "5 run directories take up {} of `quotaBytes`, 40 B; not in the store: 1 in `{}`",
            figures::bytes(all),
            agent_dir.join("subagents/runs").display()
        );
        assert_eq!(check.message, expected);
        config.quota_bytes = all;
        assert_eq!(disk(&context, &config).status, Status::Ok);
        // The quota counts the snapshots of trees, and this check does too.
        run("agent/subagents/snapshots/00000005");
        let check = disk(&context, &config);
        assert_eq!(check.status, Status::Warning, "{}", check.message);
        let expected = format!(
            "5 run directories and 1 snapshot of their trees take up {} of",
            figures::bytes(all / 5 * 6)
        );
        assert!(check.message.starts_with(&expected), "{}", check.message);
        fs::remove_dir_all(layout::snapshots(&agent_dir)).expect("the directory is removed");
        config.quota_bytes = 0;
        let check = disk(&context, &config);
        assert_eq!(check.status, Status::Ok);
        assert!(
            check
                .message
                .contains(&format!("take up {}; there is no limit (`quotaBytes` is 0)", figures::bytes(all)))
        );
    }
}
