//! The event stream of a child, folded into a small state as its bytes arrive.
//!
//! Bytes are framed and skimmed by [`crate::text`]; here is what the records mean. This layer knows nothing of
//! processes, and nothing in its results is sanitized.

mod arguments;
mod collected;
mod collector;
mod control;
mod display;
mod fast;
mod fold;
mod live;
mod message;
mod pending;
mod pick;
mod question;
mod rate_limit;
mod record;
mod response;
mod short_form;
mod stop_reason;
mod usage;
mod wire;

pub(crate) use arguments::Arguments;
pub use collected::{Collected, Counts, Retry};
pub use collector::{Collector, Live, Progress};
pub use display::DisplayItem;
pub use question::{Question, QuestionMethod};
pub use rate_limit::RateLimit;
pub use response::Response;
pub use short_form::short_form;
pub use stop_reason::StopReason;
pub use usage::{Cost, Usage};
