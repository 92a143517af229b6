//! What the attempts of a run that are over mean for the next one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::files::RunFiles;
use super::ready::blocking;
use super::report::Ending;
use super::result::ToolResult;
use crate::event::Usage;

/// Until when the provider has asked for a pause.
#[derive(Default)]
pub(super) struct Limited(Mutex<Option<Instant>>);

impl Limited {
    pub(super) fn note(&self, delay: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Instant::now().checked_add(delay).max(*until);
    }

    pub(super) fn left(&self) -> Duration {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default()
    }
}

/// The attempts that are over.
#[derive(Default)]
pub(super) struct Past {
    count: u32,
    /// What they have spent.
    pub usage: Usage,
    session: Option<PathBuf>,
}

impl Past {
    /// Adds an attempt, of which nothing stays but its session.
    pub(super) async fn add(&mut self, ending: &Ending, files: RunFiles) {
        (self.count, self.usage) = (ending.attempts, ending.usage());
        self.session = files.session().map(Path::to_path_buf);
        blocking(move || drop(files)).await;
    }

    /// The result of a run for which there is no further child: what the attempts before have spent stays spent.
    pub(super) fn end(self, result: ToolResult) -> ToolResult {
        if self.count == 0 {
            return result;
        }
        result.after_attempts(self.count, &self.usage, self.session.as_deref())
    }
}
