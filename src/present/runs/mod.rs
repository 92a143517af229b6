//! Background runs as the panel and the widget show them.
//!
//! Runs come as JavaScript has them, as JSON: they carry fields that only the extension knows, such as the pending
//! question. Foreign data is skipped.
//!
//! | Question | File |
//! |---|---|
//! | What is said of a run, wherever it is drawn? | `view`: `ShownRun` |
//! | What do the columns of a list show, and how are its names told apart? | `columns` |
//! | What do the panel's list and the widget show? | `list` |
//! | What are the panel's keys, and what does it say when it lists nothing? | `panel` |
//! | What is shown of one run, and of its transcript? | `run` |

mod columns;
mod list;
mod panel;
mod run;
mod view;

pub use list::{ListView, RunList, draw_widget};
pub use panel::{PanelAction, PanelKey, draw_empty_list, panel_keys};
pub use run::{RunDrawing, RunPart, draw_entry, draw_older_entries};
