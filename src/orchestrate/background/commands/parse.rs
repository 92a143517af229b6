//! Parses the line after `/subagents`: the subcommands, their arguments, and the errors.

use crate::orchestrate::background::find::Target;
use crate::present::{DEFAULT_LOG_LINES, MAX_LOG_LINES, Mark, PATHS, Report, ReportLine};
use sanitizer::{nearest, quoted, suggestion};

/// A command that was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Lists runs.
    List {
        /// True to list the runs of all sessions.
        all: bool,
    },
    /// Ends all runs of the session.
    StopAll,
    /// Lists the agents.
    Agents {
        /// The agent whose details are shown instead.
        name: Option<String>,
    },
    /// Checks whether delegation works.
    Doctor,
    /// Describes the subcommands.
    Help,
    /// Moves the runs of waiting calls to the background.
    Background {
        /// The run whose call is meant; without one, every call of the session.
        run: Option<Target>,
    },
    /// Starts an agent in the background.
    Run {
        /// The agent's name.
        agent: String,
        /// Its task; not blank.
        task: String,
        /// True if the person waits and wants to watch the run.
        wait: bool,
    },
    /// Runs the script of a workflow, or lists all workflows.
    Workflow {
        /// The path of the script.
        file: Option<String>,
    },
    /// Aborts the last apply.
    AbortApply,
    /// Carries out a command on one run.
    On(Target, RunCommand),
}

/// A command for a single run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunCommand {
    /// Ends the run.
    Stop,
    /// Shows the newest lines of its conversation.
    Log {
        /// Lines, from 1 to [`MAX_LOG_LINES`].
        limit: usize,
        /// True to show tool calls.
        tools: bool,
    },
    /// Shows everything known about it.
    Info {
        /// True to show its paths and keys instead.
        paths: bool,
    },
    /// Sends it a message.
    Send {
        /// The message; not blank.
        message: String,
    },
    /// Continues it.
    Resume {
        /// Its next prompt; not blank.
        message: Option<String>,
    },
    /// Reverts the files that it has changed.
    Undo,
    /// Shows the changes in its private tree.
    Diff,
    /// Applies the changes in its private tree.
    Apply {
        /// True to apply files that run code later, too.
        with_flagged: bool,
    },
    /// Undoes its apply: restores the earlier files.
    AbortApply,
    /// Deletes its artifacts.
    Discard {
        /// True to delete them; otherwise they are only listed.
        is_sure: bool,
    },
}

impl RunCommand {
    /// Returns true if it has an effect on workflows, too.
    pub(super) fn is_about_workflows(&self) -> bool {
        matches!(self, Self::Stop | Self::Resume { .. } | Self::Info { .. } | Self::Discard { .. })
    }

    /// Returns true if it shows or moves the changes of a run.
    pub(super) fn is_about_changes(&self) -> bool {
        matches!(self, Self::Undo | Self::Diff | Self::Apply { .. } | Self::AbortApply | Self::Discard { .. })
    }
}

/// Parses everything that follows `/subagents`. An empty line asks for the list.
///
/// # Errors
///
/// If a word is missing, superfluous or unknown; the report names it.
pub fn parse(line: &str) -> Result<Command, Report> {
    let mut words = Words(line.trim());
    let Some(name) = words.next() else { return Ok(Command::List { all: false }) };
    match name.as_str() {
        "list" => {
            let all = match words.next().as_deref() {
                None => false,
                Some("all") => true,
                Some(word) => {
                    let why = format!("`list` accepts only `all`, not {}", quoted(word));
                    return Err(misuse("list", why));
                }
            };
            words.end("list", Command::List { all })
        }
        "stop" => match words.whole_target("stop")? {
            Target(name) if name == "all" => Ok(Command::StopAll),
            target => Ok(Command::On(target, RunCommand::Stop)),
        },
        "background" => {
            let run = words.rest().map(|name| Target(name.trim_matches('"').to_owned()));
            Ok(Command::Background { run: run.filter(|Target(name)| name != "all") })
        }
        "run" => run(words),
        "undo" => Ok(Command::On(words.whole_target("undo")?, RunCommand::Undo)),
        "diff" => Ok(Command::On(words.whole_target("diff")?, RunCommand::Diff)),
        "apply" => apply(words),
        "discard" => {
            let is_sure = words.take_flag(YES);
            Ok(Command::On(words.whole_target("discard")?, RunCommand::Discard { is_sure }))
        }
        "info" => {
            let paths = words.take_flag(PATHS);
            Ok(Command::On(words.whole_target("info")?, RunCommand::Info { paths }))
        }
        "log" => log(words),
        "send" => {
            let target = words.target("send")?;
            let message = words.rest().ok_or_else(|| misuse("send", "the message is missing"))?;
            Ok(Command::On(target, RunCommand::Send { message }))
        }
        "resume" => {
            let target = words.target("resume")?;
            Ok(Command::On(target, RunCommand::Resume { message: words.rest() }))
        }
        // The extension opens a question before it asks here; others have none to open.
        "answer" => Err(misuse("answer", "answer the question in the terminal that shows it")),
        "agents" => {
            let name = words.next();
            words.end("agents", Command::Agents { name })
        }
        "workflow" => {
            let file = words.rest().map(|file| file.trim_matches('"').to_owned());
            let file = file.filter(|file| !file.is_empty());
            refuse_flag("workflow", file.as_deref())?;
            Ok(Command::Workflow { file })
        }
        "doctor" => words.end("doctor", Command::Doctor),
        "help" | "--help" | "-h" => Ok(Command::Help),
        other => Err(unknown_subcommand(other)),
    }
}

fn run(mut words: Words<'_>) -> Result<Command, Report> {
    let mut agent = words.next();
    let wait = agent.as_deref() == Some(WAIT);
    if wait {
        agent = words.next();
    }
    refuse_flag("run", agent.as_deref())?;
    let agent = agent.ok_or_else(|| misuse("run", "the agent is missing: `/subagents agents` lists them"))?;
    let task =
        words.rest().ok_or_else(|| misuse("run", format!("the task for {} is missing", quoted(&agent))))?;
    Ok(Command::Run { agent, task, wait })
}

fn apply(mut words: Words<'_>) -> Result<Command, Report> {
    let abort = words.take_flag(ABORT);
    let with_flagged = words.take_flag(WITH_FLAGGED);
    if abort && with_flagged {
        return Err(misuse(
            "apply",
            format!("`{ABORT}` undoes everything, so `{WITH_FLAGGED}` has no effect with it"),
        ));
    }
    if abort && words.0.trim().is_empty() {
        return Ok(Command::AbortApply);
    }
    let command = if abort { RunCommand::AbortApply } else { RunCommand::Apply { with_flagged } };
    Ok(Command::On(words.whole_target("apply")?, command))
}

fn log(mut words: Words<'_>) -> Result<Command, Report> {
    let target = words.target("log")?;
    let mut limit = None;
    let mut tools = false;
    while let Some(word) = words.next() {
        let number = word.strip_prefix('-').unwrap_or(&word);
        match word.as_str() {
            "tools" if !tools => tools = true,
            _ if limit.is_none()
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                let given = word.parse().ok().filter(|given| (1..=MAX_LOG_LINES).contains(given));
                let out_of_range = || {
                    misuse("log", format!("the limit {} is not between 1 and {MAX_LOG_LINES}", quoted(&word)))
                };
                limit = Some(given.ok_or_else(out_of_range)?);
            }
            _ => {
                let why =
                    format!("{} is neither a limit from 1 to {MAX_LOG_LINES} nor `tools`", quoted(&word));
                return Err(misuse("log", why));
            }
        }
    }
    Ok(Command::On(target, RunCommand::Log { limit: limit.unwrap_or(DEFAULT_LOG_LINES), tools }))
}

/// The remaining words of a line; a word in quotes may contain blanks.
pub(super) struct Words<'a>(pub(super) &'a str);

impl Words<'_> {
    pub(super) fn next(&mut self) -> Option<String> {
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

    /// Returns true if a flag is the first or the last word, and removes it.
    fn take_flag(&mut self, flag: &str) -> bool {
        let line = self.0.trim();
        let is_end = |rest: &&str| rest.is_empty() || rest.starts_with(char::is_whitespace);
        let is_start = |rest: &&str| rest.is_empty() || rest.ends_with(char::is_whitespace);
        let rest = line.strip_prefix(flag).filter(is_end);
        let rest = rest.or_else(|| line.strip_suffix(flag).filter(is_start));
        self.0 = rest.unwrap_or(line).trim();
        rest.is_some()
    }

    fn target(&mut self, command: &str) -> Result<Target, Report> {
        let target = self.next().filter(|target| !target.trim().is_empty());
        target.map(Target).ok_or_else(|| {
            misuse(command, "the run is missing: say which one").with(ReportLine::below(FORMS))
        })
    }

    /// The rest of the line as a target, so that a label with blanks needs no quotes.
    fn whole_target(&mut self, command: &str) -> Result<Target, Report> {
        let mut ends = self.0.split_whitespace();
        refuse_flag(command, ends.next())?;
        refuse_flag(command, ends.next_back())?;
        let Target(first) = self.target(command)?;
        Ok(Target(self.rest().map_or_else(|| first.clone(), |rest| format!("{first} {rest}"))))
    }

    /// The rest of the line, unchanged.
    pub(super) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.0).trim();
        (!rest.is_empty()).then(|| rest.to_owned())
    }

    fn end(mut self, name: &str, command: Command) -> Result<Command, Report> {
        match self.next() {
            None => Ok(command),
            Some(word) => {
                let label = match command {
                    Command::On(..) => "; put a label with spaces in quotes",
                    _ => "",
                };
                let why = format!("unexpected argument {}{label}", quoted(&word));
                Err(misuse(name, why))
            }
        }
    }
}

/// Refuses a word that looks like a flag, and names the known ones.
fn refuse_flag(command: &str, word: Option<&str>) -> Result<(), Report> {
    let Some(flag) = word.filter(|word| word.starts_with("--")) else { return Ok(()) };
    let known: Vec<String> = flags_of(command).map(|flag| format!("`{flag}`")).collect();
    let flag = quoted(flag);
    let why = match &known[..] {
        [] => format!("`{command}` has no flags; leave out {flag}"),
        known => format!("`{command}` has no flag {flag}, only {}", known.join(" and ")),
    };
    Err(misuse(command, why))
}

/// Returns the flags of a subcommand.
pub(super) fn flags_of(command: &str) -> impl Iterator<Item = &'static str> {
    let arguments =
        SUBCOMMANDS.iter().filter(move |known| known.name == command).map(|known| known.arguments);
    let words = arguments
        .flat_map(|arguments| arguments.split(|part: char| !(part == '-' || part.is_alphanumeric())));
    words.filter(|word| word.starts_with("--"))
}

/// A subcommand.
pub(super) struct Subcommand {
    pub(super) name: &'static str,
    /// The arguments after the name.
    pub(super) arguments: &'static str,
    pub(super) description: &'static str,
}

const fn subcommand(name: &'static str, arguments: &'static str, description: &'static str) -> Subcommand {
    Subcommand { name, arguments, description }
}

/// The subcommand that a key carries out, too.
const BACKGROUND: &str = "background";
/// The flag that shows the run's progress.
pub(super) const WAIT: &str = "--wait";

/// The flag that aborts an apply.
pub(super) const ABORT: &str = "--abort";
/// The flag that also applies files that run code later.
pub(super) const WITH_FLAGGED: &str = "--with-flagged";
/// The flag that confirms a command that deletes files.
pub(super) const YES: &str = "--yes";

/// All subcommands. The help has a row for each on a screen of 80 columns and 24 rows.
pub(super) const SUBCOMMANDS: [Subcommand; 16] = [
    subcommand("list", " [all]", "this session's runs; all = of every session"),
    subcommand("info", " [--paths] <id|#>", "its state, task and costs; or its paths and keys"),
    subcommand("log", " <id|#> [limit] [tools]", "the newest lines of its conversation"),
    subcommand("send", " <id|#> <message>", "messages a live run, or resumes an ended run"),
    subcommand("stop", " <id|#|all>", "ends a run and everything it started"),
    subcommand("run", " [--wait] <agent> <task>", "starts it in the background; or shows it, too"),
    subcommand("workflow", " [file]", "runs a script in the background; or lists scripts"),
    subcommand(BACKGROUND, " [id|#]", "moves a waiting call to the background"),
    subcommand("resume", " <id|#> [message]", "continues an interrupted or ended run"),
    subcommand("undo", " <id|#>", "reverts the files that a run has changed"),
    subcommand("diff", " <id|#>", "shows the files that a run has changed"),
    subcommand("apply", " [--abort] [--with-flagged] <id|#>", "applies its branch, or undoes that"),
    subcommand("discard", " [--yes] <id|#>", "deletes its branch; without --yes only asks"),
    subcommand("answer", " [#|run]", "opens a pending question, the oldest first"),
    subcommand("agents", " [name]", "the agents and their problems; or all about one"),
    subcommand("doctor", "", "checks the installation, and suggests fixes"),
];

/// Subcommands, and the words that other programs have for them.
const OTHER_WORDS: [(&str, &[&str]); 15] = [
    ("list", &["ls", "ps", "runs", "status", "jobs", "show", "sessions"]),
    ("info", &["inspect", "details", "view", "get"]),
    ("log", &["logs", "history", "transcript", "tail", "output", "cat"]),
    ("send", &["steer", "tell", "message", "msg", "say", "write"]),
    ("stop", &["kill", "cancel", "abort", "end", "terminate", "halt", "quit", "interrupt"]),
    ("run", &["spawn", "start", "new", "launch", "delegate", "exec", "create"]),
    ("workflow", &["script", "workflows", "flow"]),
    ("background", &["bg", "detach"]),
    ("resume", &["continue", "restart", "retry", "rerun", "fg", "attach"]),
    ("undo", &["revert", "rollback", "restore", "reset"]),
    ("diff", &["changes", "patch"]),
    ("apply", &["merge", "accept", "import", "pull"]),
    ("discard", &["rm", "remove", "delete", "drop", "clean", "prune"]),
    ("answer", &["ask", "reply", "question", "questions"]),
    ("doctor", &["check", "health", "diagnose"]),
];

/// The subcommand that another program calls by this word.
fn same_as(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    OTHER_WORDS.iter().find(|(_, others)| others.contains(&word.as_str())).map(|(name, _)| *name)
}

/// The forms that name a run.
const FORMS: &str = "name a run by its number in the list, the start of its id, its label (in quotes if it has spaces), its \
     session key, or `last`";

/// The same in one row, for the help.
const SHORT_FORMS: &str = "# is its number in the list; an id may be its beginning, a label, or `last`";

/// The way to the panel. It is the last row, because a low terminal shows the end.
const PANEL: &str = "`/subagents` alone opens the panel";

/// The usage. `background_key` is the key that moves waiting calls to the background, if there is one.
#[must_use]
pub fn usage_report(background_key: Option<&str>) -> Report {
    let mut report = Report::new("Sub-agents: /subagents <what>");
    for Subcommand { name, arguments, description } in &SUBCOMMANDS {
        let key = background_key.filter(|_| *name == BACKGROUND);
        let key = key.map(|key| format!(" ({key})")).unwrap_or_default();
        let line = ReportLine::new(Mark::None, format!("{name}{arguments}"), format!("{description}{key}"));
        report.lines.push(line);
    }
    report.with(ReportLine::new(Mark::Info, "", SHORT_FORMS)).with(ReportLine::new(Mark::Info, "", PANEL))
}

/// An error: something else than a subcommand was typed. Short, because of the usage a low terminal shows only the end.
fn unknown_subcommand(name: &str) -> Report {
    let names = || SUBCOMMANDS.iter().map(|known| known.name);
    let hint = suggestion(same_as(name).or_else(|| nearest(name, names())));
    let all = names().collect::<Vec<_>>().join(", ");
    Report::error(format!("there is no subcommand {}{hint}", quoted(name)))
        .with(ReportLine::below(format!("{all}; `/subagents help` describes them")))
}

/// An error: the arguments of a subcommand are missing or too many.
fn misuse(name: &str, why: impl Into<String>) -> Report {
    let arguments = SUBCOMMANDS.iter().find(|known| known.name == name).map_or("", |known| known.arguments);
    Report::error(why).with(ReportLine::below(format!("/subagents {name}{arguments}")))
}
