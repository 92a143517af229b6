//! Errors that prevent a child's start. Each message names the cause.
#![cfg(target_os = "linux")]

use std::error::Error as _;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use crate::support::program::{fixture, support};
use supervisor::{ChildCommand, SpawnError, capture};

async fn refusal(command: ChildCommand) -> SpawnError {
    capture(command, Duration::from_secs(20), 1024).await.expect_err("the program cannot start")
}

#[tokio::test]
async fn each_cause_is_named_with_its_stage_and_the_system_error() {
    let scratch = tempfile::tempdir().expect("a temporary directory is created");
    let writing = scratch.path().join("half-written");
    let still_open = OpenOptions::new().create(true).write(true).truncate(false).mode(0o755).open(&writing);
    let programs = support().join("programs");
    let start = |change: &dyn Fn(&mut ChildCommand)| {
        let mut command = fixture("exits", &["0"]);
        change(&mut command);
        command
    };
    let table = [
        start(&|c| c.cwd = scratch.path().join("gone")),
        start(&|c| c.cwd = programs.join("garbage")),
        start(&|c| c.cwd = programs.join("garbage/below")),
        // Both are missing: the directory is checked first.
        start(&|c| (c.cwd, c.program) = (scratch.path().join("gone"), "gone".into())),
        start(&|c| c.program = "no-such-program".into()),
        start(&|c| (c.program, c.env) = ("sh".into(), vec![])),
        start(&|c| (c.program, c.env) = ("not-executable".into(), vec![("PATH".into(), (&programs).into())])),
        start(&|c| c.program = programs.join("gone")),
        start(&|c| (c.cwd, c.program) = (programs.clone(), "./gone".into())),
        start(&|c| c.program = programs.join("garbage/below")),
        start(&|c| c.program.clone_from(&programs)),
        start(&|c| c.program = "".into()),
        start(&|c| c.program = programs.join("not-executable")),
        start(&|c| c.program = programs.join("orphaned-script")),
        start(&|c| c.program = programs.join("garbage")),
        start(&|c| c.program.clone_from(&writing)),
        start(&|c| c.args.push("x".repeat(4 << 20).into())),
        start(&|c| c.args.push("x\0y".into())),
        start(&|c| c.env.push(("NAME".into(), "x\0y".into()))),
    ];
    let mut found = Vec::new();
    for command in table {
        let error = refusal(command).await;
        let source = error.source().expect("the error has a source").to_string();
        found.push(format!("{}: {error} ({source})", error.stage()));
    }
    drop(still_open.expect("the file is opened"));
    let found = found.join("\n").replace(programs.to_str().expect("the path is UTF-8"), "[programs]");
    let found = found.replace(scratch.path().to_str().expect("the path is UTF-8"), "[scratch]");
    insta::assert_snapshot!(found, @r"
    cwd: working directory `[scratch]/gone` does not exist (No such file or directory (os error 2))
    cwd: working directory `[programs]/garbage` is not a directory (not a directory)
    cwd: working directory `[programs]/garbage/below` is not a directory (Not a directory (os error 20))
    cwd: working directory `[scratch]/gone` does not exist (No such file or directory (os error 2))
    executable: program `no-such-program` is in no directory of PATH (entity not found)
    executable: program `sh` is in no directory of PATH (entity not found)
    executable: program `[programs]/not-executable` may not be executed by this user (permission denied)
    executable: program `[programs]/gone` does not exist (No such file or directory (os error 2))
    executable: program `[programs]/./gone` does not exist (No such file or directory (os error 2))
    executable: program `[programs]/garbage/below` does not exist (Not a directory (os error 20))
    executable: program `[programs]` is a directory (Permission denied (os error 13))
    executable: program `` is in no directory of PATH (entity not found)
    executable: program `[programs]/not-executable` may not be executed by this user (Permission denied (os error 13))
    exec: program `[programs]/orphaned-script` needs an interpreter that does not exist (No such file or directory (os error 2))
    exec: program `[programs]/garbage` has a format that this system cannot execute (Exec format error (os error 8))
    exec: program `[scratch]/half-written` is open for writing (Text file busy (os error 26))
    exec: program `/bin/sh` cannot start: its arguments and environment are too large (Argument list too long (os error 7))
    exec: program `/bin/sh` cannot start: an argument contains a NUL byte (invalid input parameter)
    exec: program `/bin/sh` cannot start: a variable contains a NUL byte (invalid input parameter)
    ");
}

#[tokio::test]
async fn a_bare_name_is_found_in_the_path_of_the_child() {
    let mut command = fixture("exits", &["0"]);
    command.program = "sh".into();
    command.env = vec![("PATH".into(), "/nonexistent:relative:/usr/bin:/bin".into())];
    let ended = capture(command, Duration::from_secs(20), 1024).await.expect("the program starts");
    assert!(ended.is_success());
}

#[tokio::test]
async fn a_relative_path_starts_at_the_directory_of_the_child() {
    let mut command = fixture("exits", &["0"]);
    command.program = "bin/sh".into();
    command.cwd = "/".into();
    let ended = capture(command, Duration::from_secs(20), 1024).await.expect("the program starts");
    assert!(ended.is_success());
}
