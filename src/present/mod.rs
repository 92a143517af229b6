//! What a person reads about runs: names, states, figures, times, and the answers to `/subagents …`.
//!
//! A [`Report`] is plain data: a terminal draws it, and [`Report::plain`] writes it as text. Nothing here acts on a run,
//! reads a file or asks the store.
//!
//! | Question | File |
//! |---|---|
//! | What is an answer made of? | `report`: [`Report`], [`ReportLine`], [`Mark`] |
//! | Which mark and words has a state, and what was used? | `state_words`, `usage_words` |
//! | How is a run named and summed up in a few words? | `run_words` |
//! | How are durations, tokens, money and sizes written? | `crate::text::figures` |
//! | What is a drawing, and how does it fit a screen? | `drawing/`: [`Drawing`], [`Row`], [`Fit`] |
//! | What do the cards in a conversation show? | `cards/` |
//! | What do the panel and the widget show of runs in the background? | `runs/` |
//! | How are points in time written, and in which zone? | `clock`: [`Clock`] |
//! | What do `list`, `info`, `log`, `agents` and `doctor` show? | the file of that name |
//! | What do `stop`, `send` and `resume` answer? | `action` |
//! | What stands around a question, and how can it be answered? | `question_words`: [`QuestionWords`] |
//! | What does the model read when a run has ended, or asks it? | `announcement`: `DeliveryBody`; `run_question`: [`RunQuestion`] |

mod action;
mod agents;
mod announcement;
pub mod cards;
mod changes;
mod clock;
mod counts;
mod doctor;
pub(crate) mod drawing;
mod info;
mod list;
mod log;
mod question_words;
mod report;
mod run_question;
mod run_words;
pub mod runs;
mod state_words;
mod usage_words;

pub(crate) use action::{RESULT_ARRIVES, ended_with_host, handed_over_text};
pub use action::{
    action_report, already_finished, handed_over_report, refused_report, started_report, stopped_report,
    undone_report,
};
pub use agents::agents_report;
pub use announcement::ANNOUNCEMENT;
pub(crate) use announcement::{DeliveryBody, PARTIAL, announcement_details, message};
pub use changes::{applied_report, difference_report, discarded_report, taken_back_report};
pub use clock::Clock;
pub use doctor::doctor_report;
pub use drawing::{Apart, Cell, Color, Drawing, Fit, Part, Row, Span};
pub use info::info_report;
pub use list::list_report;
pub use log::{DEFAULT_LOG_LINES, MAX_LOG_LINES, log_report};
pub use question_words::{
    AnswerKind, Choice, ChosenAnswer, QuestionWords, consent_words, conversation_question_words,
    question_words,
};
pub use report::{Mark, Report, ReportLine};
pub use run_question::RunQuestion;
pub(crate) use run_question::{questions_details, questions_text};
pub(crate) use run_words::{mark, state, who};
pub use state_words::{Standing, StateWords, now_ms, state_words};
pub use usage_words::{UsageWords, usage_words};
