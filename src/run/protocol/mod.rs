//! The encoding of commands to a child, by the protocol that drives its pi, and the key of the child's questions. To add
//! a protocol, add a variant of [`Protocol`], an implementation in `child_protocol` and a line in [`protocol_of`]; the
//! rest is in `CONTRIBUTING.md`.

mod ask_key;
mod child_protocol;

pub(crate) use ask_key::{AskKey, Asker, PREFIX as ASK_KEY_PREFIX};
pub(crate) use child_protocol::{ANNOUNCE_ID, CHECK_ID, ChildProtocol, Command, PROMPT_ID};

use agents::config::Protocol;

/// The protocol that the setting `protocol` names.
pub(crate) fn protocol_of(setting: Protocol) -> &'static dyn ChildProtocol {
    match setting {
        Protocol::Json => &child_protocol::Json,
        Protocol::Rpc => &child_protocol::Rpc,
    }
}
