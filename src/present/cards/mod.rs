//! What stands in a conversation: the cards of calls, and the messages that announce.
//!
//! Each function takes what pi hands over, as JSON, and returns a [`Drawing`]. What is not ours gives `None`: the text that
//! stands beside it is shown instead.
//!
//! | Question | File |
//! |---|---|
//! | What does the card of a call remember, and when is it live? | `state`: [`Call`] |
//! | What does that card show? | `call`; of one task `work`, of several `task_rows`, over `tasks` |
//! | What does the message show that announces runs? | `announced` |
//! | How is what a session keeps read back, and what is not ours? | `stored` |
//! | What do the cards of the tools for background work show? | `session_tools` |
//! | How does a report look? | `report` |

mod announced;
mod call;
mod report;
mod session_tools;
mod state;
mod stored;
mod task_rows;
mod tasks;
mod work;

use super::drawing::{Drawing, INDENT, Part, Span, folded, hint, indented};
use super::{Mark, Row};

pub use announced::announcement_drawing;
pub(super) use stored::{Retry, Spent};

pub use report::{entry_drawing, report_drawing};
pub use session_tools::{ToolCard, tool_card};
pub use state::{Call, Extent};

/// Lines of a text that is not ours, collapsed.
const FOREIGN_LINES: u32 = 10;

/// A card is drawn as two components, one above the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardDrawing {
    /// Who works on what.
    pub head: Drawing,
    /// How it goes, or what came of it.
    pub body: Drawing,
}

/// A mark, what pi calls the tool, and the name that the call is about.
fn title(mark: Mark, tool: &str, name: &str) -> Part {
    let mut spans =
        vec![Span::new(mark.color(), mark.sign()), Span::new("toolTitle", format!(" {tool}")).bold()];
    let name = folded(name);
    if !name.is_empty() {
        spans.push(Span::new("accent", format!(" {name}")));
    }
    Part::new(spans)
}

/// What pi itself, another extension or another release has left: as it reads.
fn foreign(text: &str, is_error: bool, is_expanded: bool) -> Drawing {
    let row = Row::text(if is_error { "error" } else { "toolOutput" }, text);
    let row = if is_expanded { row } else { row.limited(FOREIGN_LINES, hint("{rest} more lines")) };
    indented(vec![row], INDENT)
}
