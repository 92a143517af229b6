//! The subcommands and their usage.

use crate::present::{Mark, Report, ReportLine};
use crate::text::{nearest, quoted, suggestion};

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

/// All subcommands; `agents` and `doctor` are answered elsewhere.
pub(super) const SUBCOMMANDS: [Subcommand; 8] = [
    subcommand("list", " [all]", "this session's background runs; all = those of every session"),
    subcommand("info", " <id|#>", "everything that is known of a run"),
    subcommand(
        "log",
        " <id|#> [limit] [tools]",
        "the newest lines of its conversation, 20 unless told otherwise",
    ),
    subcommand(
        "send",
        " <id|#> <message>",
        "tells a running one something; a finished one is resumed with it",
    ),
    subcommand("stop", " <id|#|all>", "ends a run and everything it started"),
    subcommand("resume", " <id|#> [message]", "continues an interrupted or finished run"),
    subcommand("agents", "", "the agents there are, their tools, what is wrong"),
    subcommand("doctor", "", "whether sub-agents can run here, and what to do if not"),
];

/// The forms that name a run.
pub(super) const FORMS: &str = "a run is named by its number in the list, the beginning of its id, its label (in quotes when it has blanks), its \
     session key, or `last`";

/// The usage; an error if something else was typed.
#[must_use]
pub fn usage_report(unknown: Option<&str>) -> Report {
    let mut report = match unknown {
        None => Report::new("Sub-agents: /subagents <what>"),
        Some(name) => {
            let hint = suggestion(nearest(name, SUBCOMMANDS.iter().map(|known| known.name)));
            Report::error(format!("there is no subcommand {}{hint}", quoted(name)))
        }
    };
    for Subcommand { name, arguments, description } in &SUBCOMMANDS {
        report.lines.push(ReportLine::new(Mark::None, format!("{name}{arguments}"), *description));
    }
    report.with(ReportLine::new(Mark::Info, "", FORMS))
}

/// The usage line of a subcommand.
pub(super) fn form(name: &str) -> String {
    let arguments = SUBCOMMANDS.iter().find(|known| known.name == name).map_or("", |known| known.arguments);
    format!("/subagents {name}{arguments}")
}

/// An error: the arguments of a subcommand are missing or too many.
pub(super) fn misuse(name: &str, why: impl Into<String>) -> Report {
    Report::error(why).with(ReportLine::below(form(name)))
}
