//! The protocols that can drive pi. To add one, add a variant of [`Protocol`], a file here and a line in
//! [`protocol_of`]; the rest is in `CONTRIBUTING.md`.

mod child_protocol;
mod json;
mod rpc;

pub(in crate::run) use child_protocol::{ANNOUNCE_ID, CHECK_ID, ChildProtocol, Command, PROMPT_ID};

use agents::config::Protocol;

/// The protocol that the setting `protocol` names.
pub(in crate::run) fn protocol_of(setting: Protocol) -> &'static dyn ChildProtocol {
    match setting {
        Protocol::Json => &json::Json,
        Protocol::Rpc => &rpc::Rpc,
    }
}
