//! The programs that tests start: the test program again, as a second process, the warden, and fixtures.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(target_os = "linux")]
use supervisor::ChildCommand;

/// Marks a process that runs one test.
const ALONE: &str = "TEST_ALONE";

/// Returns the path of the test program.
pub(crate) fn path() -> PathBuf {
    std::env::current_exe().expect("the test program has a path")
}

/// Returns the full name of a test in the caller's file, which `--exact` takes.
#[track_caller]
pub(crate) fn test_name(test: &str) -> String {
    let module = Path::new(Location::caller().file()).file_stem().expect("the caller is in a file");
    format!("{}::{test}", module.to_string_lossy())
}

/// Runs the current test in a process of its own and returns true, unless this process is one. For tests of what a process has
/// only once, such as its log and its spare children, and of its memory. nextest always gives each test a process.
pub(crate) fn runs_alone() -> bool {
    let is_marked = |name| std::env::var_os(name).is_some();
    let thread = std::thread::current();
    // With one thread there is no other test at the same time, and the thread has another name.
    let name = thread.name().filter(|name| name.contains("::"));
    let Some(name) = name.filter(|_| !is_marked(ALONE) && !is_marked("NEXTEST")) else { return false };
    let output = Command::new(path())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("the test program starts");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    true
}

#[cfg(target_os = "linux")]
/// Returns the path of the warden, next to the folder of the test programs. Cargo does not build it for the tests of this package alone.
pub(crate) fn warden() -> PathBuf {
    let test = path();
    let path =
        test.ancestors().nth(2).expect("the test program is in a build directory").join("pi-subagent-warden");
    assert!(path.exists(), "{} does not exist: run `cargo build -p pi-subagent-warden`", path.display());
    path
}

#[cfg(target_os = "linux")]
/// Returns a program from `children/`, which are named after their behaviour.
pub(crate) fn fixture(name: &str, args: &[&str]) -> ChildCommand {
    let script = support().join("children").join(format!("{name}.sh"));
    assert!(script.is_file(), "there is no fixture {name}");
    ChildCommand {
        program: "/bin/sh".into(),
        args: std::iter::once(script.into()).chain(args.iter().map(Into::into)).collect(),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        untrusted: Vec::new(),
        guardian: None,
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn support() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/support")
}
