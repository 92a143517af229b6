//! What a child elsewhere does without.

use crate::agent::Isolation;
use crate::config::LOCAL;
use crate::run::admit::values::AgentValues;
use crate::run::spec::RunOverrides;

/// Why a child cannot be started elsewhere, if it cannot: it needs what only this machine has.
pub(in crate::run) fn only_here(
    launcher: &str,
    writes: bool,
    values: &AgentValues,
    overrides: &RunOverrides,
) -> Option<String> {
    let what = if overrides.resumes.is_some() {
        "a run cannot be continued"
    } else if writes && values.isolation.value == Isolation::Private && values.setup.value.is_some() {
        "`setup` is not available"
    } else if writes && values.check.value.is_some() {
        "`check` is not available"
    } else {
        return None;
    };
    Some(format!(
        "launcher: {what} with `{launcher}`, which starts the child elsewhere; `launcher: {LOCAL}` keeps it here"
    ))
}

/// What is said of a child elsewhere that may write there.
pub(in crate::run) fn changes_there(launcher: &str) -> String {
    format!("what the child changes is neither listed nor undone here: `{launcher}` starts it elsewhere")
}
