//! Judges the commands in a child's tree. Formats the outcome of a check for the result and for the child, and the
//! error of a private tree that could not be prepared.

use crate::run::facts::CheckReport;
use crate::run::result::artifacts::MAX_COMMAND_CHARS;
use sanitizer::figures::duration;
use sanitizer::{Sanitizer, TruncateLimits, fenced_as, quoted_within};
use supervisor::{Outcome, Supervised, exit_code, exit_signal, signal_name};

/// The limits of the check's output that its child reads. The child gets the beginning and the end, because tools print
/// the first failure first and a summary last.
const CHILD_LIMITS: TruncateLimits = TruncateLimits { max_bytes: 12 * 1024, max_lines: 300 };
/// The end of a check's output that a result keeps, in bytes.
const MAX_RESULT_BYTES: usize = 2 * 1024;

/// A check that has ended.
pub(crate) struct Checked {
    /// The report in the result.
    pub report: CheckReport,
    /// The message to the child about a failure that it may repair. `None` if the check passed or did not start.
    pub message: Option<String>,
}

impl Checked {
    /// Judges a check by how its command ended.
    pub(crate) fn of(command: &str, runs: u32, ended: &Supervised, sanitizer: &Sanitizer) -> Self {
        let CommandOutcome { passed, description, printed } = judge(ended, "check.timeoutMs");
        let output = sanitizer.sanitize(printed.trim());
        let report = CheckReport {
            command: line(command, sanitizer),
            passed,
            output: output.clip_tail(MAX_RESULT_BYTES).into_string(),
            ended: description,
            runs,
        };
        let message = (!passed).then(|| {
            let printed = match output.truncate(CHILD_LIMITS, None).0.into_string() {
                printed if printed.is_empty() => "It printed nothing.".to_owned(),
                printed => format!("It printed:\n\n{}", fenced_as("", &printed)),
            };
            format!(
                "Your work is not done: the check {} failed ({}). {printed}\n\nCorrect your work so that it passes; it runs \
                 again when you have finished. Then give your whole final answer again.",
                quoted_within(&report.command, MAX_COMMAND_CHARS),
                report.ended
            )
        });
        Self { report, message }
    }

    /// A check that could not be started, which no work of the child can change.
    pub(crate) fn never_started(command: &str, runs: u32, why: &str, sanitizer: &Sanitizer) -> Self {
        let command = line(command, sanitizer);
        let ended = line(&format!("not started: {why}"), sanitizer);
        let report = CheckReport { command, passed: false, ended, runs, output: String::new() };
        Self { report, message: None }
    }
}

/// The words for a private tree that could not be prepared.
pub(crate) struct SetUp;

impl SetUp {
    /// Returns the error of a run whose preparation `command` failed, with the end of its output. `None` if it
    /// succeeded.
    pub(crate) fn failure(command: &str, ended: &Supervised, sanitizer: &Sanitizer) -> Option<String> {
        let CommandOutcome { passed, description, printed } = judge(ended, "isolation.setupTimeoutMs");
        let tail = sanitizer.sanitize(printed.trim()).clip_tail(MAX_RESULT_BYTES).into_string();
        let printed =
            if tail.is_empty() { "it printed nothing".to_owned() } else { format!("it printed:\n{tail}") };
        (!passed).then(|| {
            format!(
                "the private tree could not be prepared: {} failed ({description}); {printed}",
                quoted_within(&line(command, sanitizer), MAX_COMMAND_CHARS)
            )
        })
    }

    /// Returns the error of a run whose preparation `command` could not be started.
    pub(crate) fn never_started(command: &str, why: &str, sanitizer: &Sanitizer) -> String {
        let command = quoted_within(&line(command, sanitizer), MAX_COMMAND_CHARS);
        let why = line(why, sanitizer);
        format!("the private tree could not be prepared, because {command} was not started: {why}")
    }
}

/// The outcome of a command in a tree.
struct CommandOutcome<'a> {
    passed: bool,
    description: String,
    printed: &'a str,
}

/// Judges a command by how it ended; `limit` is the setting that bounds it.
fn judge<'a>(ended: &'a Supervised, limit: &str) -> CommandOutcome<'a> {
    let description = match ended.outcome {
        Outcome::Exited(status) => match exit_signal(status) {
            Some(signal) => format!("killed by {}", signal_name(signal)),
            None => format!("exit code {}", exit_code(status)),
        },
        Outcome::HardTimeout { limit: time } => format!("not finished after {} (`{limit}`)", duration(time)),
        Outcome::OverLimit(ref exceeded) => format!("`limits.{}` reached", exceeded.limit.as_str()),
        _ => "it was ended from outside".to_owned(),
    };
    let passed = matches!(ended.outcome, Outcome::Exited(status) if status.success());
    CommandOutcome { passed, description, printed: &ended.stderr }
}

/// A command, or how it ended, in a line.
pub(crate) fn line(text: &str, sanitizer: &Sanitizer) -> String {
    sanitizer.line(text, MAX_COMMAND_CHARS).into_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sanitizer::SanitizerOptions;

    #[test]
    fn a_command_is_truncated_after_its_secrets_are_redacted() {
        let secret = "made-up value of forty-two words 0123456789";
        let sanitizer = Sanitizer::new(SanitizerOptions {
            secrets: vec![secret.to_owned()],
            ..SanitizerOptions::default()
        });
        for back in 0..secret.len() {
            let command = format!("{}{secret}", "x".repeat(MAX_COMMAND_CHARS - back));
            let report = Checked::never_started(&command, 1, &command, &sanitizer).report;
            let error = SetUp::never_started(&command, &command, &sanitizer);
            for text in [report.command, report.ended, error] {
                assert!(!text.contains(&secret[..8]), "{back}: {text}");
            }
        }
    }
}
