//! The protocols that pi can be driven by. A new one is a file here, and a line in [`protocol_of`] for its setting.

mod child_protocol;
mod json;
mod rpc;

pub(in crate::run) use child_protocol::{ANNOUNCE_ID, ChildProtocol, Command, PROMPT_ID};

use crate::config::Protocol;

/// The protocol that the setting `protocol` names.
pub(in crate::run) fn protocol_of(setting: Protocol) -> &'static dyn ChildProtocol {
    match setting {
        Protocol::Json => &json::Json,
        Protocol::Rpc => &rpc::Rpc,
    }
}
