//! Turns the log on, and writes its lines.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use time::OffsetDateTime;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{Registry, fmt as lines};

use super::file::{LogFile, timestamp};
use super::filter::{FilterError, VARIABLE, parse};
use files::layout;
use sanitizer::{Code, Diagnostic, Sanitizer, SanitizerOptions, Severity, quoted, with_cause};

/// Bytes of a line. A reason is far shorter.
const MAX_LINE: usize = 8 * 1024;
/// Values that the log redacts. A process that lives for months sees many tokens; the oldest ones have expired.
const MAX_SECRETS: usize = 4096;

/// The code of the notice that the variable is set, but there is no log.
const LOG_OFF: Code = (Severity::Warning, "LOG_OFF");

/// The reason why the variable is set, but there is no log.
#[derive(Debug, thiserror::Error)]
enum LogError {
    #[error("{}", quoted(&format!("{VARIABLE}={filter}")))]
    Filter { filter: String, source: FilterError },
    #[error("{VARIABLE}: no log in {}", directory.display())]
    File { directory: PathBuf, source: io::Error },
}

/// Decided once: a process logs to one file, or to none.
static LOG: OnceLock<Result<Log, LogError>> = OnceLock::new();

/// The log of this process.
struct Log {
    filter: String,
    path: PathBuf,
    file: Mutex<LogFile>,
    redacted: Mutex<SanitizerOptions>,
    sanitizer: RwLock<Arc<Sanitizer>>,
}

/// The state of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The variable is not set, or turns everything off.
    Off,
    /// Lines go to this file.
    On {
        /// The value of the variable.
        filter: String,
        /// The file.
        path: PathBuf,
    },
    /// The variable is set, and there is no log for this reason.
    Failed(String),
}

/// Turns the log on, unless `filter` turns everything off or this process has a log already. The log is a file below
/// the agent directory that gets every line, sanitized. Blocks for the creation of that file.
pub fn start(filter: &str, agent_dir: &Path, redacted: impl FnOnce() -> SanitizerOptions) {
    let parsed = match parse(filter) {
        Ok(None) => return,
        Ok(targets) => Ok(targets),
        Err(source) => Err(LogError::Filter { filter: filter.to_owned(), source }),
    };
    let mut targets = None;
    let log = LOG.get_or_init(|| {
        targets = parsed?;
        let directory = layout::logs(agent_dir);
        let file = LogFile::create(&directory, std::process::id(), header(filter));
        let file = file.map_err(|source| LogError::File { directory, source })?;
        Ok(Log::new(filter, file, redacted()))
    });
    if let (Ok(log), Some(targets)) = (log, targets) {
        let lines = lines::layer().with_ansi(false).with_timer(Clock).with_writer(log);
        // The error of a full disk must not appear in the terminal.
        let subscriber = Registry::default().with(targets).with(lines.log_internal_errors(false));
        // Fails only if the program around us has its own subscriber, which then gets the lines.
        drop(tracing::subscriber::set_global_default(subscriber));
    }
}

/// Redacts more values from now on. Does nothing while the log is off.
pub fn also_redact(more: &SanitizerOptions) {
    if let Some(Ok(log)) = LOG.get() {
        log.also_redact(more);
    }
}

/// Reports the file of the log, if there is one.
#[must_use]
pub fn report() -> Report {
    match LOG.get() {
        None => Report::Off,
        Some(Ok(log)) => Report::On { filter: log.filter.clone(), path: log.path.clone() },
        Some(Err(error)) => Report::Failed(with_cause(error)),
    }
}

/// The notice for the user if the variable is set and there is no log.
#[must_use]
pub fn notice() -> Option<Diagnostic> {
    let Report::Failed(why) = report() else { return None };
    Some(Diagnostic::new(LOG_OFF, format!("no log is written. {why}"), None, None))
}

fn header(filter: &str) -> String {
    let name = env!("CARGO_PKG_NAME");
    let version = env!("CARGO_PKG_VERSION");
    let os = std::env::consts::OS;
    let arch = std::env::consts::ARCH;
    format!("# {name} {version} on {os} {arch}, process {}, {VARIABLE}={filter}", std::process::id())
}

impl Log {
    fn new(filter: &str, file: LogFile, redacted: SanitizerOptions) -> Self {
        let sanitizer = RwLock::new(Arc::new(Sanitizer::new(redacted.clone())));
        let path = file.path().to_owned();
        let file = Mutex::new(file);
        Self { filter: filter.to_owned(), path, file, redacted: Mutex::new(redacted), sanitizer }
    }

    fn also_redact(&self, more: &SanitizerOptions) {
        let mut redacted = self.redacted.lock();
        let before = (redacted.secrets.len(), redacted.homes.len());
        let unknown = |known: &[String], values: &[String]| {
            values.iter().filter(|value| !known.contains(value)).cloned().collect::<Vec<_>>()
        };
        let secrets = unknown(&redacted.secrets, &more.secrets);
        redacted.secrets.extend(secrets);
        let homes = unknown(&redacted.homes, &more.homes);
        redacted.homes.extend(homes);
        if before != (redacted.secrets.len(), redacted.homes.len()) {
            let surplus = redacted.secrets.len().saturating_sub(MAX_SECRETS);
            redacted.secrets.drain(..surplus);
            *self.sanitizer.write() = Arc::new(Sanitizer::new(redacted.clone()));
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let sanitizer = Arc::clone(&self.sanitizer.read());
        let clean = sanitizer.clip(line, MAX_LINE).into_string();
        self.file.lock().append(&clean.replace('\n', "\\n"))
    }
}

/// The writer of one line, which it gets in a single call.
struct Line(&'static Log);

impl<'a> MakeWriter<'a> for &'static Log {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line(self)
    }
}

impl io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        // The run continues without a line that cannot be written.
        drop(self.0.append(text.trim_end_matches('\n')));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        writer.write_str(&timestamp(OffsetDateTime::now_utc()))
    }
}
