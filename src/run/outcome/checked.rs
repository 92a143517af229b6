//! How the check of a run's work ended: what a result says of it, and what the child is told.

use crate::process::{Outcome, SpawnError, Supervised, exit_code, exit_signal, signal_name};
use crate::run::result::CheckReport;
use crate::text::figures::duration;
use crate::text::{Sanitizer, TruncateLimits, chain, fenced_as, one_line};

/// Most of a check's output that its child reads: head and tail, because tools print what failed first and a summary last.
const FOR_CHILD: TruncateLimits = TruncateLimits { max_bytes: 12 * 1024, max_lines: 300 };
/// The end of it that a result keeps.
const IN_RESULT: usize = 2 * 1024;
/// Characters of the command, and of how it ended.
const WORDS: usize = 300;

/// A check that has ended.
pub(in crate::run) struct Checked {
    /// What the result says.
    pub report: CheckReport,
    /// What the child is told of a failure that it may mend. `None`: it passed, or never started.
    pub words: Option<String>,
}

impl Checked {
    /// Judges a check by how its command ended.
    pub(in crate::run) fn of(
        command: &str,
        runs: u32,
        ended: Result<Supervised, SpawnError>,
        sanitizer: &Sanitizer,
    ) -> Self {
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let why = format!("{}: {}", error.stage(), chain(&error));
                return Self::never_started(command, runs, &why, sanitizer);
            }
        };
        let (passed, how) = match ended.outcome {
            Outcome::Exited(status) if status.success() => (true, "exit code 0".to_owned()),
            Outcome::Exited(status) => (
                false,
                match exit_signal(status) {
                    Some(signal) => format!("killed by {}", signal_name(signal)),
                    None => format!("exit code {}", exit_code(status)),
                },
            ),
            Outcome::HardTimeout { limit } => {
                (false, format!("not finished after {} (`check.timeoutMs`)", duration(limit)))
            }
            Outcome::OverLimit(over) => (false, format!("`limits.{}` reached", over.limit.as_str())),
            _ => (false, "it was ended from outside".to_owned()),
        };
        let output = sanitizer.sanitize(ended.stderr.trim());
        let report = CheckReport {
            command: line(command, sanitizer),
            passed,
            output: output.clip_tail(IN_RESULT).into_string(),
            ended: how,
            runs,
        };
        let words = (!passed).then(|| {
            let printed = match output.truncate(FOR_CHILD, None).0.into_string() {
                printed if printed.is_empty() => "It printed nothing.".to_owned(),
                printed => format!("It printed:\n\n{}", fenced_as("", &printed)),
            };
            format!(
                "Your work is not done: the check `{}` failed ({}). {printed}\n\nCorrect your work so that it passes; it runs \
                 again when you have finished. Then give your whole final answer again.",
                report.command, report.ended
            )
        });
        Self { report, words }
    }

    /// A check that could not be started, which no work of the child can change.
    pub(in crate::run) fn never_started(command: &str, runs: u32, why: &str, sanitizer: &Sanitizer) -> Self {
        let (command, ended) = (line(command, sanitizer), line(&format!("not started: {why}"), sanitizer));
        let report = CheckReport { command, passed: false, ended, runs, output: String::new() };
        Self { report, words: None }
    }
}

impl CheckReport {
    /// What the text of a result says.
    pub(super) fn text(&self) -> String {
        let Self { command, passed, ended, runs, output } = self;
        let state = if *passed { "passed" } else { "failed" };
        let times = if *runs > 1 { format!(", run {runs} times") } else { String::new() };
        let printed = if output.is_empty() { String::new() } else { format!("\n{}", fenced_as("", output)) };
        format!("Check `{command}` {state}: {ended}{times}{printed}")
    }

    /// The error of a run whose work does not pass.
    pub(super) fn error(&self) -> Option<String> {
        (!self.passed).then(|| format!("the check `{}` failed: {}", self.command, self.ended))
    }
}

fn line(text: &str, sanitizer: &Sanitizer) -> String {
    sanitizer.sanitize(&one_line(text, WORDS)).into_string()
}
