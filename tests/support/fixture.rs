//! Tiny programs that are named after their behaviour.

use std::path::PathBuf;

use supervisor::ChildCommand;

/// Returns a program from `children/`, which are named after their behaviour.
pub(crate) fn fixture(name: &str, args: &[&str]) -> ChildCommand {
    let script = support().join("children").join(format!("{name}.sh"));
    assert!(script.is_file(), "there is no fixture {name}");
    ChildCommand {
        program: "/bin/sh".into(),
        args: std::iter::once(script.into()).chain(args.iter().map(Into::into)).collect(),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        guardian: None,
    }
}

pub(crate) fn support() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/support")
}
