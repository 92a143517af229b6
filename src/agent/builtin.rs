//! The agents that come with this package. They are compiled in, so no directory can replace them.

use std::sync::LazyLock;

use super::definition::Source;
use super::parse::{Parsed, parse};

/// In listing order.
const FILES: [&str; 5] = [
    include_str!("../../agents/explorer.md"),
    include_str!("../../agents/researcher.md"),
    include_str!("../../agents/reviewer.md"),
    include_str!("../../agents/implementer.md"),
    include_str!("../../agents/tester.md"),
];

static PARSED: LazyLock<Vec<Parsed>> =
    LazyLock::new(|| FILES.iter().map(|file| parse(file.as_bytes(), Source::Builtin, None)).collect());

/// All builtins, parsed once per process.
pub(super) fn all() -> Vec<Parsed> {
    PARSED.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_readonly_and_without_a_diagnostic() {
        for file in all() {
            assert_eq!(file.diagnostics, []);
            let agent = file.agent.expect("a builtin is an agent");
            assert!(agent.readonly && agent.tools.is_some() && !agent.prompt.is_empty(), "{}", agent.name);
        }
    }
}
