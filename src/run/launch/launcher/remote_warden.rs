//! Uses a warden on the remote machine, if this package is installed there: it restrains the child's process tree as
//! on this machine. The script continues without one if there is none, or if the kernel or an older version makes it
//! useless.

/// Sets `w` to the path of a working warden, or to nothing.
pub(super) const FIND: &str = r#"w=; for f in "${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}"/npm/node_modules/pi-subagent-native-*/pi-subagent-warden; do
"$f" --hold -- /bin/sh -c : </dev/null >/dev/null 2>&1 && { w=$f; break; }; done
"#;

/// A prefix that makes the warden in `w` run a command. The shell finds the program, because a warden does not search
/// `PATH`.
pub(super) const RUN: &str = r#"${w:+"$w" --hold --grace-ms 5000 -- /bin/sh -c 'exec "$@"' sh} "#;

/// Prints [`IS_FOUND`] if there is a warden.
pub(super) const REPORT: &str = "echo ${w:+pi-subagent-held}";
pub(super) const IS_FOUND: &str = "pi-subagent-held";
