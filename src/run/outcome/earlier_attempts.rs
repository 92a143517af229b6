//! What the attempts of a run that are over mean for the next one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::report::AttemptReport;
use crate::event::Usage;
use crate::run::admit::ready::blocking;
use crate::run::launch::files::RunFiles;
use crate::run::result::ToolResult;

/// Until when the provider has asked for a pause.
#[derive(Default)]
pub(in crate::run) struct Limited(Mutex<Option<Instant>>);

impl Limited {
    pub(in crate::run) fn note(&self, delay: Duration) {
        let mut until = self.0.lock();
        *until = Instant::now().checked_add(delay).max(*until);
    }

    pub(in crate::run) fn left(&self) -> Duration {
        let until = *self.0.lock();
        until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default()
    }
}

/// The attempts that are over.
#[derive(Default)]
pub(in crate::run) struct EarlierAttempts {
    count: u32,
    /// What they have spent.
    pub usage: Usage,
    session: Option<PathBuf>,
}

impl EarlierAttempts {
    /// Adds an attempt, of which nothing stays but its session.
    pub(in crate::run) async fn add(&mut self, attempt_report: &AttemptReport, files: RunFiles) {
        (self.count, self.usage) = (attempt_report.attempts, attempt_report.usage());
        self.session = files.session().map(Path::to_path_buf);
        blocking(move || drop(files)).await;
    }

    /// The result of a run for which there is no further child: what the attempts before have spent stays spent.
    pub(in crate::run) fn end(self, result: ToolResult) -> ToolResult {
        if self.count == 0 {
            return result;
        }
        result.after_attempts(self.count, &self.usage, self.session.as_deref())
    }
}
