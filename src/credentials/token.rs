//! Reads a token that a child refreshed, and checks it before it is copied into the user's credentials.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

/// The maximum length of `access` or `refresh`, in bytes. The tokens of large organisations have about 10 KiB.
const MAX_STRING: usize = 32 * 1024;
/// The maximum time until an expiry. The longest-lived refreshable tokens of a provider live a year.
const MAX_AHEAD: Duration = Duration::from_secs(400 * 24 * 60 * 60);
/// The remaining life below which pi refreshes a token.
pub(super) const PI_MARGIN: Duration = Duration::from_secs(5 * 60);
/// The largest number that is exact in JavaScript.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;
/// The key before the address of GitHub Copilot's server, which pi reads from the token.
const ENDPOINT: &str = "proxy-ep=";

/// The reason why a child's token is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableToken {
    /// A part is missing.
    #[error("its `{0}` is missing")]
    Missing(&'static str),
    /// A part has another type.
    #[error("its `{0}` has the wrong type")]
    Shape(&'static str),
    /// A string is empty.
    #[error("its `{0}` is empty")]
    Empty(&'static str),
    /// A string is longer than [`MAX_STRING`].
    #[error("its `{0}` is longer than 32 KiB")]
    TooLong(&'static str),
    /// A string has characters that no token has.
    #[error("its `{0}` has characters that no token has")]
    Text(&'static str),
    /// A string begins with `!`. pi runs such a text as a command if it reads it as a key.
    #[error("its `{0}` would be a command")]
    Command(&'static str),
    /// The user's token has no expiry to compare with.
    #[error("the user's `expires` is missing")]
    NoKnownExpiry,
    /// The expiry is not later than the expiry of the user's token.
    #[error("its `expires` is not later than the user's")]
    NoLaterExpiry,
    /// The expiry is later than [`MAX_AHEAD`].
    #[error("its `expires` is more than 400 days ahead")]
    FarExpiry,
    /// The token would send the user's requests to another server.
    #[error("its `access` names another server")]
    Endpoint,
}

/// The three values that may be copied back.
pub(super) struct Token {
    access: String,
    refresh: String,
    expires: f64,
}

impl Token {
    /// Reads the token from a child's entry and checks that it is a valid successor of the token in `known`.
    pub(super) fn following(
        known: &Map<String, Value>,
        child: &Map<String, Value>,
        now: SystemTime,
    ) -> Result<Self, UnusableToken> {
        let access = text(child, "access", known)?;
        let refresh = text(child, "refresh", known)?;
        part(child, "expires")?;
        let expires = expires_of(child).ok_or(UnusableToken::Shape("expires"))?;
        let before = expires_of(known).ok_or(UnusableToken::NoKnownExpiry)?;
        let latest = millis(now) + MAX_AHEAD.as_secs_f64() * 1000.0;
        if expires <= before {
            return Err(UnusableToken::NoLaterExpiry);
        }
        if expires > latest.min(MAX_EXACT) {
            return Err(UnusableToken::FarExpiry);
        }
        let known_access = known.get("access").and_then(Value::as_str).unwrap_or_default();
        if !endpoints(&access).eq(endpoints(known_access)) {
            return Err(UnusableToken::Endpoint);
        }
        Ok(Self { access, refresh, expires })
    }

    /// Returns true if two entries have the same token.
    pub(super) fn is_same(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
        ["access", "refresh", "expires"].iter().all(|name| one.get(*name) == other.get(*name))
    }

    /// Returns the members to write, each with its value in pi's format.
    pub(super) fn members(&self) -> [(&'static str, Value); 3] {
        // JavaScript writes a whole number without a fraction.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be exact and in range")]
        let expires =
            if self.expires.fract() == 0.0 { Value::from(self.expires as i64) } else { self.expires.into() };
        [
            ("access", self.access.as_str().into()),
            ("refresh", self.refresh.as_str().into()),
            ("expires", expires),
        ]
    }
}

/// Returns the expiry of an entry's token, in milliseconds since 1970.
pub(super) fn expires_of(entry: &Map<String, Value>) -> Option<f64> {
    entry.get("expires")?.as_f64().filter(|value| value.is_finite())
}

/// Converts a time to pi's format, milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1000.0
}

/// Returns the remaining life of an entry's token at `now`, or `None` if pi would refresh the token already.
pub(super) fn remaining_life(entry: &Map<String, Value>, now: SystemTime) -> Option<Duration> {
    let remaining_ms = expires_of(entry)? - millis(now);
    let remaining = Duration::try_from_secs_f64(remaining_ms / 1000.0).unwrap_or_default();
    (remaining > PI_MARGIN).then_some(remaining)
}

fn part<'a>(entry: &'a Map<String, Value>, name: &'static str) -> Result<&'a Value, UnusableToken> {
    entry.get(name).ok_or(UnusableToken::Missing(name))
}

/// Reads a string of visible ASCII characters, with spaces only inside. A line break could begin another HTTP header,
/// and a `!` after characters that pi trims would be a command. The string may be empty only if it was empty before.
fn text(
    entry: &Map<String, Value>,
    name: &'static str,
    known: &Map<String, Value>,
) -> Result<String, UnusableToken> {
    let text = part(entry, name)?.as_str().ok_or(UnusableToken::Shape(name))?;
    if text.is_empty() && known.get(name).and_then(Value::as_str) == Some("") {
        return Ok(String::new());
    }
    if text.is_empty() {
        return Err(UnusableToken::Empty(name));
    }
    if text.len() > MAX_STRING {
        return Err(UnusableToken::TooLong(name));
    }
    if text.trim_start_matches(|char: char| !char.is_ascii_graphic()).starts_with('!') {
        return Err(UnusableToken::Command(name));
    }
    let visible = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if !visible || text.trim() != text {
        return Err(UnusableToken::Text(name));
    }
    Ok(text.to_owned())
}

/// Returns the servers in a token.
fn endpoints(access: &str) -> impl Iterator<Item = &str> {
    access.split(ENDPOINT).skip(1).map(|rest| rest.split(';').next().unwrap_or_default())
}
