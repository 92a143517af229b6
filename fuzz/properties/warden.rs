//! Printing and reading again gives the same value.

use std::ffi::OsString;

use pi_subagent_warden::{Abilities, Options, Order, Report};

/// Checks that no message, argument or probe causes a panic, and that valid ones survive a round trip. Arguments are
/// separated by NUL, as in the system.
pub(crate) fn warden(bytes: &[u8]) {
    if let Some(order) = Order::parse(bytes) {
        assert_eq!(order.as_str().as_bytes(), bytes);
    }
    if let Some(report) = Report::parse(bytes) {
        assert_eq!(Report::parse(report.to_string().as_bytes()), Some(report));
    }
    let text = String::from_utf8_lossy(bytes);
    // A CR before a line end belongs to the line end.
    if let Some(abilities) = Abilities::parse(&text.replace('\r', "")) {
        assert_eq!(Abilities::parse(&abilities.to_string()), Some(abilities));
    }
    if let Ok(options) = Options::from_args(text.split('\0').map(OsString::from)) {
        assert_eq!(Options::from_args(options.to_args()), Ok(options));
    }
}
