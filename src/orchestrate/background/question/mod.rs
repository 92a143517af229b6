//! Questions of agents with `ask: parent`: a background run asks the conversation that started it.
//!
//! The question is a delivery like the end of a run, stored, claimed and delivered in the same way, so it reaches the
//! conversation once. It is withdrawn when it is answered or time is up. The user can answer it as any other question;
//! the first answer counts. Questions of extensions never come this way: those are for a person alone.

mod ask;
pub(super) mod open;

pub(super) use ask::{ConversationCallbacks, is_stale};
pub(super) use open::{is_question, is_question_id};
