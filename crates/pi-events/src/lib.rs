//! The event stream of a child, folded into a small state as its bytes arrive.
//!
//! ```text
//! bytes ─ lines ─ wire::fast ─────────────────────────────┐
//!           └─ json::skim ─ wire::record ─ fold ──────────┴─ Live (under way) ─ Collected (at the end)
//! ```
//!
//! [`Collector`] drives this crate. It knows nothing about processes, and its results are not sanitized.
//!
//! | Question | File |
//! |---|---|
//! | How do bytes get to the state? | `collector` |
//! | What does an event change? | `fold` |
//! | Which tool calls repeat? | `loops` |
//! | What is the result of the whole stream? | `collected` |
//! | Which fields of a record are wanted? | `wire/` |
//! | What is visible while a run is under way? | `live` |
//! | Which texts and tool calls are shown, and as which line? | `display` |
//! | Which of many items are stored? | `newest` |
//! | What do questions and responses contain, and which messages need an answer? | `question` |
//! | What is stored of lines that are not events? | `noise` |
//! | What does a provider say in an error, how long must it be left alone? | `provider_error` |
//! | What was used, why did a message end? | `usage`, `stop_reason` |
#![forbid(unsafe_code)]

mod collected;
mod collector;
mod display;
mod fold;
mod live;
mod loops;
mod newest;
mod noise;
mod provider_error;
mod question;
mod stop_reason;
mod usage;
mod wire;

pub use collected::{Collected, Counts, Refusal, RefusedResults, Retry};
pub use collector::{Collector, Progress};
pub use display::{DisplayItem, current_text, short_form};
pub use live::{Live, PendingRetry};
pub use loops::Repeats;
pub use provider_error::RateLimit;
pub use provider_error::provider_message;
pub use question::SentMessages;
pub use question::{Question, QuestionMethod, Response};
pub use stop_reason::StopReason;
pub use usage::{ContextUse, Cost, Usage, rounded_amount, run_usage};
pub use wire::arguments::Arguments;
pub use wire::arguments::{MAX_SUBMITTED, Submitted};
