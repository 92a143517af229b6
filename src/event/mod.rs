//! The event stream of a child, folded into a small state as its bytes arrive.
//!
//! ```text
//! bytes ─ text::lines ─ wire::fast ───────────────────────┐
//!            └─── text::json::skim ─ wire::record ─ fold ─┴─ Live (under way) ─ Collected (at the end)
//! ```
//!
//! [`Collector`] drives this. It knows nothing of processes, and nothing in its results is sanitized.
//!
//! | Question | File |
//! |---|---|
//! | How do bytes get to the state, and what can be seen of it? | `collector` |
//! | What does an event change? | `fold` |
//! | What is left at the end of the stream? | `collected` |
//! | Which fields of a record are wanted? | `wire/` |
//! | What text is shown while a message streams? | `live` |
//! | Which texts and tool calls are shown, and as which line? | `display`, `short_form` |
//! | What waits to be taken, and what do questions and responses hold? | `pending`, `question`, `response` |
//! | What was used, why did a message end, how long must a provider be left alone? | `usage`, `stop_reason`, `rate_limit` |

mod collected;
mod collector;
mod display;
mod fold;
mod live;
mod pending;
mod question;
mod rate_limit;
mod response;
mod short_form;
mod stop_reason;
mod usage;
mod wire;

pub use collected::{Collected, Counts, Retry};
pub use collector::{Collector, Live, Progress};
pub use display::DisplayItem;
pub use question::{Question, QuestionMethod};
pub use rate_limit::RateLimit;
pub use response::Response;
pub use short_form::short_form;
pub use stop_reason::StopReason;
pub use usage::{Cost, Usage};
pub(crate) use wire::arguments::Arguments;
