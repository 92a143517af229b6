//! The warden there, where pi has this package: it holds the tree of the child as it would be held here. The script does without
//! where there is none, or one that this machine's kernel or an older version makes useless.

/// Puts the path of a warden that works into `w`, or nothing.
pub(super) const FIND: &str = r#"w=; for f in "${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}"/npm/node_modules/pi-subagent-native-*/pi-subagent-warden; do
"$f" --hold -- /bin/sh -c : </dev/null >/dev/null 2>&1 && { w=$f; break; }; done
"#;

/// Stands before a command, and has `w` hold it. The shell finds the program, since a warden searches no path.
pub(super) const HOLD: &str = r#"${w:+"$w" --hold --grace-ms 5000 -- /bin/sh -c 'exec "$@"' sh} "#;

/// Prints [`IS_HELD`] where there is one.
pub(super) const SAY: &str = "echo ${w:+pi-subagent-held}";
pub(super) const IS_HELD: &str = "pi-subagent-held";
