//! An answer as plain data.

use crate::run::AllowedScript;
use sanitizer::{Sanitizer, redacted_message, text_enum};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_with_macros::skip_serializing_none;

/// Longer names do not widen the column of names.
const MAX_COLUMN: usize = 28;

text_enum! {
    /// The mark before a line.
    #[derive(Default)]
    pub enum Mark {
        /// No mark.
        #[default]
        None = "none",
        /// All is well.
        Ok = "ok",
        /// Worth knowing.
        Info = "info",
        /// A result that the person may not have wanted.
        Warning = "warning",
        /// It failed.
        Error = "error",
        /// It is running.
        Running = "running",
        /// It waits for an answer.
        Asking = "asking",
        /// It waits.
        Queued = "queued",
        /// Its child is about to work.
        Starting = "starting",
        /// It was started and works elsewhere, without its call.
        Started = "started",
        /// Something is about to be tried again.
        Retrying = "retrying",
        /// It was never started.
        Skipped = "skipped",
        /// A line that was added.
        Added = "added",
        /// A line that was removed.
        Removed = "removed",
        /// The position of the following lines in a file.
        Hunk = "hunk",
    }
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 15] = [
        Self::None,
        Self::Ok,
        Self::Info,
        Self::Warning,
        Self::Error,
        Self::Running,
        Self::Asking,
        Self::Queued,
        Self::Starting,
        Self::Started,
        Self::Retrying,
        Self::Skipped,
        Self::Added,
        Self::Removed,
        Self::Hunk,
    ];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The sign that is shown, one column wide. It has to do where there is no colour.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            // The lines of a difference have their own.
            Self::None | Self::Added | Self::Removed | Self::Hunk => "",
            Self::Ok => "✓",
            Self::Info => "·",
            Self::Warning => "⚠",
            Self::Error => "✗",
            Self::Running => "●",
            Self::Asking => "?",
            Self::Queued => "○",
            Self::Starting => "◐",
            Self::Started => "→",
            Self::Retrying => "↻",
            Self::Skipped => "–",
        }
    }

    /// The name of the theme's colour for it.
    #[must_use]
    pub const fn color(self) -> &'static str {
        match self {
            Self::Ok => "success",
            Self::Error => "error",
            Self::Warning | Self::Asking | Self::Retrying => "warning",
            Self::Running | Self::Starting | Self::Started | Self::Hunk => "accent",
            Self::Added => "toolDiffAdded",
            Self::Removed => "toolDiffRemoved",
            Self::None | Self::Info | Self::Queued | Self::Skipped => "muted",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(indent: &u8) -> bool {
    *indent == 0
}

fn known_mark<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mark, D::Error> {
    Ok(Mark::parse(&String::deserialize(deserializer)?).unwrap_or_default())
}

/// One line of a report: a name and a text, without line breaks or control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportLine {
    /// The mark before it. A mark that only a later release knows is none.
    #[serde(default, deserialize_with = "known_mark", skip_serializing_if = "Mark::is_none")]
    pub mark: Mark,
    /// Its subject; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The text of the line.
    pub text: String,
    /// Nesting depth below the lines before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub indent: u8,
}

impl ReportLine {
    pub(crate) fn new(mark: Mark, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { mark, name: name.into(), text: text.into(), indent: 0 }
    }

    fn is_sentence(&self) -> bool {
        self.mark != Mark::None && self.name.is_empty()
    }

    pub(crate) fn below(text: impl Into<String>) -> Self {
        Self { indent: 1, ..Self::new(Mark::None, "", text) }
    }
}

/// The answer to a command. Its JSON also has its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Report {
    /// True if nothing was done. The first line then gives the reason. A session does not keep it.
    #[serde(default)]
    pub is_error: bool,
    /// The subject of the report.
    pub title: String,
    /// The lines below the title, as they may be stored.
    pub lines: Vec<ReportLine>,
    /// The lines for the screen of the person who asked, if those may not be stored. It is not stored itself.
    #[serde(skip)]
    pub exact: Option<Vec<ReportLine>>,
    /// The key of a run that the person who asked wants to see at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<Box<str>>,
    /// The script that the host starts now, in a process of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<Box<AllowedScript>>,
    /// The ids of the processes of scripts that the host ends now.
    #[serde(default, skip_serializing_if = "<[u32]>::is_empty")]
    pub stops: Box<[u32]>,
    /// True if the card of a call, the message about a background run or the end of a script says it on the same screen, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_on_card: bool,
}

#[skip_serializing_none]
#[derive(Serialize)]
struct WithText<'a> {
    #[serde(flatten, serialize_with = "Report::serialize")]
    report: &'a Report,
    text: String,
    exact: Option<ExactReport<'a>>,
}

#[derive(Serialize)]
struct ExactReport<'a> {
    lines: &'a [ReportLine],
    text: String,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let exact = self.exact.as_deref().map(|lines| ExactReport { lines, text: self.plain_with(lines) });
        WithText { report: self, text: self.plain(), exact }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Report {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl Report {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// An error that says why nothing was done.
    pub(crate) fn error(reason: impl Into<String>) -> Self {
        let mut report = Self { is_error: true, ..Self::new(TITLE) };
        report.lines.push(ReportLine::new(Mark::Error, "", reason));
        report
    }

    /// A report of one sentence.
    pub(crate) fn sentence(mark: Mark, text: impl Into<String>) -> Self {
        Self::new(TITLE).with(ReportLine::new(mark, "", text))
    }

    /// The report without secrets; a home directory is written as `~`.
    pub(crate) fn sanitized(mut self, sanitizer: &Sanitizer) -> Self {
        for line in &mut self.lines {
            for text in [&mut line.name, &mut line.text] {
                *text = sanitizer.sanitize(text).into_string();
            }
        }
        self
    }

    /// The report with its lines sanitized, and with the exact ones for the screen of a person who decides on them. `again`
    /// is the command that shows those once more.
    pub(crate) fn sanitized_for_storing(self, sanitizer: &Sanitizer, again: &str) -> Self {
        let exact = self.lines.clone();
        let counting = sanitizer.with_new_counts();
        let mut report = self.sanitized(&counting);
        if report.lines == exact {
            return report;
        }
        if let Some(redacted) = redacted_message(&counting.redacted()) {
            let text = format!("{redacted}. `/subagents {again}` shows the text as it is");
            report.lines.push(ReportLine::new(Mark::Warning, "", text));
        }
        Self { exact: Some(exact), ..report }
    }

    pub(crate) fn with(mut self, line: ReportLine) -> Self {
        self.lines.push(line);
        self
    }

    /// The report as plain text: the title, then one line each. Texts are aligned behind the longest name; a line with
    /// a mark but no name is a sentence of its own and begins where names do.
    #[must_use]
    pub fn plain(&self) -> String {
        self.plain_with(&self.lines)
    }

    /// The same with the exact lines, if there are any.
    #[must_use]
    pub fn plain_exact(&self) -> Option<String> {
        self.exact.as_deref().map(|lines| self.plain_with(lines))
    }

    fn plain_with(&self, lines: &[ReportLine]) -> String {
        let width = |line: &ReportLine| line.name.chars().count();
        let column = lines.iter().map(width).filter(|width| *width <= MAX_COLUMN).max().unwrap_or(0);
        let has_marks = lines.iter().any(|line| line.mark != Mark::None);
        let mut text = format!("{}\n", self.title);
        for line in lines {
            let mark = if has_marks { format!("{:1} ", line.mark.sign()) } else { String::new() };
            let indent = "  ".repeat(usize::from(line.indent));
            let name = if column == 0 || line.is_sentence() {
                String::new()
            } else {
                format!("{:column$}  ", line.name)
            };
            text.push('\n');
            text.push_str(format!("{indent}{mark}{name}{}", line.text).trim_end());
        }
        text
    }
}

/// The default title.
pub(super) const TITLE: &str = "Sub-agents";
