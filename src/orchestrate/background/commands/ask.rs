//! What a person asks for.

use super::report::{Report, ReportLine};
use super::usage::{FORMS, SUBCOMMANDS, misuse, usage_report};
use crate::orchestrate::background::BackgroundRun;
use crate::text::quoted;

/// Lines of a conversation that are shown unless told otherwise.
pub const DEFAULT_LIMIT: usize = 20;
/// Lines of a conversation that are shown at most.
pub const MAX_LIMIT: usize = 200;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// What runs there are.
    List {
        /// Those of all sessions.
        all: bool,
    },
    /// The end of a run.
    Stop(Target),
    /// The end of all runs of the session.
    StopAll,
    /// The newest of a conversation.
    Log {
        /// Whose.
        target: Target,
        /// Lines, from 1 to [`MAX_LIMIT`].
        limit: usize,
        /// With tool calls.
        tools: bool,
    },
    /// Everything about a run.
    Info(Target),
    /// A message to a run.
    Send {
        /// To which.
        target: Target,
        /// It is not blank.
        message: String,
    },
    /// A run is to go on.
    Resume {
        /// Which.
        target: Target,
        /// With what it is told; it is not blank.
        message: Option<String>,
    },
}

/// What somebody calls a run by: a number in a list, the beginning of an id, a label, a session key, or `last`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target(pub(super) String);

impl Target {
    /// The run called so.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The whole key of a run, where that was given, alone or as the end of a session key.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        let key = self.0.rsplit(':').next().unwrap_or_default();
        uuid::Uuid::try_parse(key).is_ok().then_some(key)
    }

    /// Whether it is the whole id of a run.
    #[must_use]
    pub fn is_run_id_of(&self, run: &BackgroundRun) -> bool {
        self.0 == run.run_id
    }
}

/// Understands everything that follows `/subagents`; nothing at all asks for the list.
///
/// # Errors
///
/// What is missing, too much or unknown.
pub fn parse(line: &str) -> Result<Asked, Report> {
    let mut words = Words(line.trim());
    let Some(name) = words.next() else { return Ok(Asked::List { all: false }) };
    match name.as_str() {
        "list" => {
            let all = match words.next() {
                None => false,
                Some(word) if word == "all" => true,
                Some(word) => {
                    return Err(misuse(
                        "list",
                        format!("`list` takes nothing but `all`, not {}", quoted(&word)),
                    ));
                }
            };
            words.end("list", Asked::List { all })
        }
        "stop" => match words.whole_target("stop")? {
            Target(name) if name == "all" => Ok(Asked::StopAll),
            target => Ok(Asked::Stop(target)),
        },
        "info" => words.whole_target("info").map(Asked::Info),
        "log" => log(words),
        "send" => {
            let target = words.target("send")?;
            let message = words.rest().ok_or_else(|| misuse("send", "the message is missing"))?;
            Ok(Asked::Send { target, message })
        }
        "resume" => Ok(Asked::Resume { target: words.target("resume")?, message: words.rest() }),
        other => match SUBCOMMANDS.iter().find(|known| known.name == other) {
            Some(known) => Err(misuse(known.name, format!("`{}` stands alone", known.name))),
            None => Err(usage_report(Some(other))),
        },
    }
}

fn log(mut words: Words<'_>) -> Result<Asked, Report> {
    let target = words.target("log")?;
    let (mut limit, mut tools) = (None, false);
    while let Some(word) = words.next() {
        let number = word.strip_prefix('-').unwrap_or(&word);
        match word.as_str() {
            "tools" if !tools => tools = true,
            _ if limit.is_none()
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                let given = word.parse().ok().filter(|given| (1..=MAX_LIMIT).contains(given));
                let out_of_range =
                    || misuse("log", format!("the limit {} is not between 1 and {MAX_LIMIT}", quoted(&word)));
                limit = Some(given.ok_or_else(out_of_range)?);
            }
            _ => {
                let why = format!("{} is neither a limit from 1 to {MAX_LIMIT} nor `tools`", quoted(&word));
                return Err(misuse("log", why));
            }
        }
    }
    Ok(Asked::Log { target, limit: limit.unwrap_or(DEFAULT_LIMIT), tools })
}

/// The words of a line; one in quotes may have blanks.
struct Words<'a>(&'a str);

impl Words<'_> {
    fn next(&mut self) -> Option<String> {
        let line = self.0.trim_start();
        if line.is_empty() {
            return None;
        }
        if let Some((word, rest)) = line.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            self.0 = rest;
            return Some(word.to_owned());
        }
        let end = line.find(char::is_whitespace).unwrap_or(line.len());
        self.0 = &line[end..];
        Some(line[..end].to_owned())
    }

    fn target(&mut self, command: &str) -> Result<Target, Report> {
        let target = self.next().filter(|target| !target.trim().is_empty());
        target.map(Target).ok_or_else(|| {
            misuse(command, "the run is missing: say which one").with(ReportLine::below(FORMS))
        })
    }

    /// A target behind which nothing can stand, so that a label with blanks needs no quotes.
    fn whole_target(&mut self, command: &str) -> Result<Target, Report> {
        let Target(first) = self.target(command)?;
        Ok(Target(self.rest().map_or_else(|| first.clone(), |rest| format!("{first} {rest}"))))
    }

    /// Everything that is left, as it was written.
    fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.0).trim();
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    fn end(mut self, command: &str, asked: Asked) -> Result<Asked, Report> {
        match self.next() {
            None => Ok(asked),
            Some(word) => {
                let why =
                    format!("{} is one word too many; a label with blanks stands in quotes", quoted(&word));
                Err(misuse(command, why))
            }
        }
    }
}
