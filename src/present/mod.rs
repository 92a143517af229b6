//! The texts for people about runs: names, states, figures, times, and the answers to `/subagents …`.
//!
//! A [`Report`] is plain data: a terminal draws it, and [`Report::plain`] writes it as text. Nothing here acts on a run,
//! reads a file or asks the store.
//!
//! | Question | File |
//! |---|---|
//! | What is an answer made of? | `report`: [`Report`], [`ReportLine`], [`Mark`] |
//! | Which mark and words has a state, and what was used? | `state_label`, `usage_text` |
//! | How many of several runs are in which state? | `counts` |
//! | What is shown of a workflow? | `shown_workflow`: [`ShownWorkflow`] |
//! | How is a run named and summed up in a few words? | `run_label` |
//! | How are durations, tokens, money and sizes written? | `sanitizer::figures` |
//! | How is anything drawn in a width? | `paint/`: [`Page`](paint::Page), [`Palette`](paint::Palette) |
//! | What do the cards in a conversation show? | `cards/` |
//! | What do the panel and the widget show of runs in the background? | `runs/`; the panel's keys and views: `panel/` |
//! | How are points in time written, and in which zone? | `clock`: [`Clock`] |
//! | What do the commands answer? | `reports/` |
//! | What does a session keep of the tools for work in the background? | `tool_details`: [`Receipt`], [`SpawnableAgents`], [`SessionDetails`] |
//! | What stands around a question, and how can it be answered? | `question_text`: [`QuestionText`] |
//! | How does a question look over the screen, and when may it be approved? | `question_screen`; in rows: `question_rows` |
//! | What does the model read when a run has ended, or asks it? | `announcement`: `DeliveryBody`; `run_question`: [`RunQuestion`] |

mod announcement;
pub mod cards;
mod clock;
mod counts;
pub mod paint;
pub mod panel;
mod question_rows;
mod question_screen;
mod question_text;
mod report;
mod reports;
mod run_label;
mod run_question;
pub mod runs;
mod shown_workflow;
mod state_label;
mod tool_details;
mod usage_text;

pub use announcement::ANNOUNCEMENT;
pub(crate) use announcement::{DeliveryBody, PARTIAL, announcement_details, message};
pub use clock::Clock;
pub use question_rows::draw_question_line;
pub use question_screen::{QuestionKey, QuestionKeyNames, QuestionScreen};
pub use question_text::{
    AnswerKind, Choice, ChosenAnswer, QuestionText, consent_text, conversation_question_text, question_text,
};
pub use report::{Mark, Report, ReportLine};
pub use reports::{
    DEFAULT_LOG_LINES, MAX_LOG_LINES, WorkflowEnd, action_report, agent_report, agents_report,
    already_finished, ambiguous_report, applied_report, apply_undone_report, difference_report,
    discarded_report, doctor_report, info_paths_report, info_report, list_report, log_report,
    moved_to_background_report, refused_report, started_report, stopped_report, undone_report,
    unknown_workflow, with_workflows, workflow_continues_text, workflow_discarded_report,
    workflow_ended_report, workflow_not_stopped, workflow_report, workflow_runs_again, workflow_runs_already,
    workflow_started_report, workflow_stopped_report, workflow_stops_report, workflow_unchanged,
    workflows_report,
};
pub(crate) use reports::{PATHS, RESULT_ARRIVES, exit_message, moved_to_background_text};
pub(crate) use run_label::{agent_and_label, mark, state};
pub use run_question::RunQuestion;
pub(crate) use run_question::{questions_details, questions_text};
pub use shown_workflow::ShownWorkflow;
pub(crate) use shown_workflow::{WORKFLOW_WORD, can_type_name, can_type_path, exact_word, quoted_word};
pub use state_label::{RunStatus, StateLabel, now_ms, state_label};
pub use tool_details::{Receipt, SessionDetails, SpawnableAgent, SpawnableAgents, ToolDetails};
pub use usage_text::{UsageText, usage_text};
