//! Records a run: what its child wrote and what it was told, sanitized and timed, for a report that can be replayed.
//!
//! ```text
//! bytes of the child ─▶ frames (what is kept of a record) ─▶ sanitize ─▶ recorder (one line of JSON each) ─▶ file
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `recorder` | which entries there are, and what bounds the file |
//! | `frames` | what is kept of the child's output |
//! | `header` | what a replay has to know of the run |
//!
//! The format is described in `docs/recordings.md`.

mod frames;
mod header;
mod recorder;

use std::time::SystemTime;

pub(in crate::run) use recorder::Recorder;

use crate::files::private::create_dir_all;
use crate::run::admit::admitted::AdmittedRun;
use crate::run::admit::below_home;
use crate::text::figures::epoch_ms;
use crate::text::{Sanitizer, chain};

/// The recorder of a run: in the file that its call names, else in the user's directory, else none. Blocks.
///
/// # Errors
///
/// When the file cannot be written, in words for the caller.
pub(in crate::run) fn recorder_of(
    run: &AdmittedRun,
    sanitizer: Sanitizer,
) -> Result<Option<Recorder>, String> {
    let (name, path) = match (&run.spec.overrides.record, &run.config().recordings) {
        (Some(path), _) => ("record", path.clone()),
        (None, Some(directory)) => {
            let home = run.spec.context.home.as_deref();
            let Some(directory) = below_home(directory, home) else { return Ok(None) };
            create_dir_all(&directory).map_err(|error| {
                format!("`recordings`: cannot create `{}`: {}", directory.display(), chain(&error))
            })?;
            // A run that goes on has the id of the one before.
            let file = format!("{}-{}.jsonl", run.id().get(), epoch_ms(SystemTime::now()));
            ("recordings", directory.join(file))
        }
        (None, None) => return Ok(None),
    };
    Recorder::create(name, &path, &header::header_of(run), sanitizer).map(Some)
}
