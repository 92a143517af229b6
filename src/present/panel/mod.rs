//! The panel of background runs: a full screen with a stack of views.
//!
//! Its host passes keys, events and answers in, carries out the [`PanelStep`]s that the panel requests, and shows the lines that
//! it draws. Nothing here waits, reads a file or knows a terminal.
//!
//! | Question | File |
//! |---|---|
//! | What does a key do, and what does the panel request? | `screen`: [`Panel`] |
//! | Which keys are there? | `keys`; on a run: `actions` |
//! | Which runs are listed? | `runs` |
//! | What do the views show? | `list`, `transcript`, `report`; the last line: `foot` |
//! | Which part of a transcript is loaded and visible? | `window` |

mod actions;
mod foot;
mod keys;
mod list;
mod report;
mod runs;
mod screen;
mod transcript;
mod window;

pub use keys::{KeyNames, PanelAction, PanelKey, panel_keys};
pub use screen::{Panel, PanelStep, PanelStepName, PanelView};
