//! The depth of this process in a chain of delegations.

/// The environment variable that holds the number of delegations above a process.
pub const DEPTH: &str = "PI_SUBAGENT_DEPTH";
/// The environment variable that holds the delegation limit.
pub const MAX_DEPTH: &str = "PI_SUBAGENT_MAX_DEPTH";

/// The delegation depth of this process (0 in a session that a person started) and its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// The number of delegations above this process.
    pub current: u32,
    /// The maximum depth: the smaller of the setting and the limit inherited from the parent process.
    pub max: u32,
}

/// The reason why this process may not delegate. The calling model reads the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooDeep {
    /// The limit is reached.
    #[error(
        "delegation depth {current} has reached its limit {max} (`maxDepth` and `{MAX_DEPTH}`); do the work yourself"
    )]
    Limit {
        /// The number of delegations above this process.
        current: u32,
        /// The limit.
        max: u32,
    },
    /// One of the variables is not a number.
    #[error("delegation depth is unknown: {variable} is {}, expected a whole number; the limit is {max}", sanitizer::quoted(.value))]
    NotANumber {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// The limit from the setting.
        max: u32,
    },
}

/// Decides if this process may start a child. `depth` and `max_depth` are the values of [`DEPTH`] and [`MAX_DEPTH`],
/// if set. `configured` is the setting `maxDepth`.
///
/// # Errors
///
/// Returns an error if the limit is reached, or if one of the variables is not a number, which counts as too deep.
pub fn depth_from_env(
    depth: Option<&str>,
    max_depth: Option<&str>,
    configured: u32,
) -> Result<Depth, TooDeep> {
    let number = |variable, value: Option<&str>, unset: u32| match value {
        None => Ok(unset),
        Some(value) => value.trim().parse::<u32>().map_err(|_| TooDeep::NotANumber {
            variable,
            value: value.to_owned(),
            max: configured,
        }),
    };
    let current = number(DEPTH, depth, 0)?;
    let max = configured.min(number(MAX_DEPTH, max_depth, configured)?);
    if current >= max { Err(TooDeep::Limit { current, max }) } else { Ok(Depth { current, max }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_depth_forbids_delegation() {
        for (depth, max, configured, expected) in [
            (None, None, 1, Ok((0, 1))),
            (Some("0"), None, 1, Ok((0, 1))),
            (Some("1"), None, 2, Ok((1, 2))),
            (
                Some("1"),
                None,
                1,
                Err(
                    "delegation depth 1 has reached its limit 1 (`maxDepth` and `PI_SUBAGENT_MAX_DEPTH`); do the work yourself",
                ),
            ),
            (
                None,
                None,
                0,
                Err(
                    "delegation depth 0 has reached its limit 0 (`maxDepth` and `PI_SUBAGENT_MAX_DEPTH`); do the work yourself",
                ),
            ),
            (
                Some("1"),
                Some("1"),
                9,
                Err(
                    "delegation depth 1 has reached its limit 1 (`maxDepth` and `PI_SUBAGENT_MAX_DEPTH`); do the work yourself",
                ),
            ),
            (None, Some("9"), 1, Ok((0, 1))),
            (
                Some("x"),
                None,
                9,
                Err(
                    "delegation depth is unknown: PI_SUBAGENT_DEPTH is `x`, expected a whole number; the limit is 9",
                ),
            ),
            (
                Some("-1"),
                None,
                9,
                Err(
                    "delegation depth is unknown: PI_SUBAGENT_DEPTH is `-1`, expected a whole number; the limit is 9",
                ),
            ),
            (
                Some("99999999999"),
                None,
                9,
                Err(
                    "delegation depth is unknown: PI_SUBAGENT_DEPTH is `99999999999`, expected a whole number; the limit is 9",
                ),
            ),
            (
                Some(""),
                None,
                9,
                Err(
                    "delegation depth is unknown: PI_SUBAGENT_DEPTH is ``, expected a whole number; the limit is 9",
                ),
            ),
            (
                None,
                Some("many"),
                9,
                Err(
                    "delegation depth is unknown: PI_SUBAGENT_MAX_DEPTH is `many`, expected a whole number; the limit is 9",
                ),
            ),
        ] {
            let found = depth_from_env(depth, max, configured)
                .map(|depth| (depth.current, depth.max))
                .map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{depth:?} {max:?} {configured}");
        }
    }
}
