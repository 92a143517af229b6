//! The interface of a rule, its result, and the names and descriptions of all rules.

use std::borrow::Cow;
use std::ops::Range;

use super::cursor::Cursor;
use super::search::Trigger;
use super::vendors::vendors;

/// The marker for a value of unknown kind.
pub(crate) const REDACTED: &str = "[REDACTED]";

/// A rule that finds one kind of secret.
///
/// The scan calls a rule at each of its triggers. The rule reads a bounded part of the text around the trigger, so
/// that the scan takes linear time: without a finding, each byte before the position where the scan continues is read
/// at most a constant number of times.
pub(crate) trait Rule: Send + Sync {
    /// Returns the words that call this rule.
    fn triggers(&self) -> Vec<Trigger>;

    /// Judges the text around `trigger`.
    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found;

    /// Returns the start of the part of a growing text that must be held back, because the following text may show that
    /// it is a secret. Returns `None` if the verdict of [`Rule::find`] is final, or if only one word is open, because
    /// the last word is always held back.
    fn open_from(&self, _cursor: &Cursor<'_>, _trigger: Range<usize>) -> Option<usize> {
        None
    }
}

/// One replacement and the name of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) with: Cow<'static, str>,
    /// The name of the rule, such as `github_token`.
    pub(crate) rule: &'static str,
}

impl Edit {
    pub(crate) fn new(range: Range<usize>, with: impl Into<Cow<'static, str>>, rule: &'static str) -> Self {
        debug_assert!(is_rule(rule), "{rule} is not on any list of rules");
        Self { range, with: with.into(), rule }
    }
}

/// The result of a rule: the redaction, or the position where the scan continues.
pub(super) type Found = Result<Edit, usize>;

/// The rule that shortens stack traces.
pub(crate) const STACK_FRAMES: &str = "stack_frames";

/// Rules that find secrets by their context.
const CONTEXT_RULES: [(&str, &str); 14] = [
    ("assignment", "the value of a name that marks it as secret"),
    ("authorization", "the value of a header that authorizes"),
    ("base64_json", "JSON in base64 that contains a secret"),
    ("basic_credentials", "a user and a password after `Basic`"),
    ("bearer", "the token after `Bearer`"),
    ("command_password", "a password on a command line"),
    ("cookie", "the value of a cookie header"),
    ("known_secret", "a secret that this process knows, from its environment or from pi's credentials"),
    ("kubernetes_secret", "a value in a `Secret` of Kubernetes"),
    ("password_file", "the password of a line of `.pgpass`"),
    ("private_key", "a private key"),
    ("sql_password", "a password in SQL, after `IDENTIFIED BY`"),
    ("table_column", "a value in a table column whose heading marks it as secret"),
    ("url_credentials", "a user or a password in an address"),
];

/// Rules for text that is not secret.
const HARMLESS_RULES: [(&str, &str); 3] = [
    ("control_sequence", "control characters and terminal sequences, which are removed"),
    ("home_directory", "a home directory, which becomes `~`"),
    (STACK_FRAMES, "the frames of a long stack trace, except five"),
];

/// Returns the rules that find secrets. A vendor's rule may occur several times.
pub(crate) fn secret_rules() -> impl Iterator<Item = &'static str> {
    CONTEXT_RULES.iter().map(|(rule, _)| *rule).chain(vendors().map(|vendor| vendor.rule))
}

/// Returns true if a rule finds secrets.
pub(crate) fn is_secret_rule(rule: &str) -> bool {
    !HARMLESS_RULES.iter().any(|(other, _)| *other == rule) && secret_rules().any(|known| known == rule)
}

/// Returns true if a rule with this name exists. Every redaction names one of them.
pub(super) fn is_rule(rule: &str) -> bool {
    is_secret_rule(rule) || HARMLESS_RULES.iter().any(|(other, _)| *other == rule)
}

/// Describes the text that a rule finds.
pub(crate) fn describe_rule(rule: &str) -> String {
    let known = CONTEXT_RULES.iter().chain(&HARMLESS_RULES).find(|(known, _)| *known == rule);
    known.map_or_else(
        || format!("{}, recognized by its shape", rule.replace('_', " ")),
        |(_, what)| (*what).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{HARMLESS_RULES, secret_rules};

    /// A person reads a rule's name in a result, and looks it up in the docs to understand the rule or to switch it
    /// off.
    #[test]
    fn the_docs_list_exactly_the_existing_rules() {
        let page = include_str!("../../../../docs/redaction.md");
        let (_, section) = page.split_once("\n## Rules\n").expect("the page has a section about rules");
        let section = section.split("\n## ").next().unwrap_or(section);
        let is_name = |word: &&str| {
            word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        let named: BTreeSet<&str> = section.split('`').skip(1).step_by(2).filter(is_name).collect();
        let known: BTreeSet<&str> =
            secret_rules().chain(HARMLESS_RULES.iter().map(|(rule, _)| *rule)).collect();
        let (missing, unknown): (Vec<_>, Vec<_>) =
            (known.difference(&named).collect(), named.difference(&known).collect());
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "`Rules` in docs/redaction.md: missing {missing:?}, unknown {unknown:?}"
        );
    }
}
