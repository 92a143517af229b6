//! The filter of the log, in the usual syntax: `debug`, or `info,queue=debug,warden=off`.

use tracing_subscriber::filter::{LevelFilter, Targets};

use sanitizer::{nearest, quoted, suggestion};

/// The environment variable that turns the log on. Its value is the filter.
pub const VARIABLE: &str = "PI_SUBAGENT_LOG";

/// The parts of this package that log: the targets of its events.
///
/// No name is the beginning of another one, because a filter compares beginnings.
pub const PARTS: [&str; 12] = [
    "config", "agent", "run", "sandbox", "queue", "child", "warden", "early", "budget", "question", "tree",
    "delivery",
];

/// The levels, from the fewest lines to the most.
const LEVELS: [(&str, LevelFilter); 6] = [
    ("off", LevelFilter::OFF),
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
    ("trace", LevelFilter::TRACE),
];

/// A part of a filter that is not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterError {
    #[error("{}", unknown(_0, "component that logs", "components", &PARTS))]
    Part(String),
    #[error("{}", unknown(_0, "level", "levels", &LEVELS.map(|(level, _)| level)))]
    Level(String),
}

/// Reads a filter. `None` if it turns everything off.
///
/// # Errors
///
/// If a directive is wrong; the error names it and lists the valid names.
pub(super) fn parse(filter: &str) -> Result<Option<Targets>, FilterError> {
    let mut targets = Targets::new();
    let mut max_level = LevelFilter::OFF;
    for directive in filter.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let (part, level) = match directive.split_once('=') {
            Some((part, level)) => (Some(known_part(part.trim())?), known_level(level.trim())?),
            // A part without a level logs everything.
            None => match known_level(directive) {
                Ok(level) => (None, level),
                Err(wrong) if nearest(directive, PARTS).is_none() => return Err(wrong),
                Err(_) => (Some(known_part(directive)?), LevelFilter::TRACE),
            },
        };
        max_level = max_level.max(level);
        targets = match part {
            Some(part) => targets.with_target(part, level),
            None => targets.with_default(level),
        };
    }
    Ok((max_level > LevelFilter::OFF).then_some(targets))
}

fn known_part(name: &str) -> Result<&str, FilterError> {
    if PARTS.contains(&name) { Ok(name) } else { Err(FilterError::Part(name.to_owned())) }
}

fn known_level(name: &str) -> Result<LevelFilter, FilterError> {
    let known = LEVELS.iter().find(|(level, _)| level.eq_ignore_ascii_case(name));
    known.map(|(_, level)| *level).ok_or_else(|| FilterError::Level(name.to_owned()))
}

fn unknown(name: &str, kind: &str, plural: &str, known: &[&str]) -> String {
    let meant = suggestion(nearest(name, known.iter().copied()));
    let end = if meant.is_empty() { "." } else { "" };
    format!("{} is not a {kind}{meant}{end} The {plural} are {}", quoted(name), known.join(", "))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_filter_has_the_usual_syntax() {
        // `queue` and `run` log at `info`, and `queue` at `debug`.
        for (filter, expected) in [
            ("debug", Some([true, true, true])),
            ("INFO", Some([true, true, false])),
            ("warn", Some([false, false, false])),
            ("info,queue=debug", Some([true, true, true])),
            (" queue = info ", Some([true, false, false])),
            ("debug,queue=off", Some([false, true, false])),
            ("queue", Some([true, false, true])),
            ("off", None),
            ("queue=off", None),
            ("", None),
        ] {
            let targets = parse(filter).expect("the filter is valid");
            let logs = |targets: &Targets, part, level| targets.would_enable(part, &level);
            let found = targets.map(|targets| {
                [
                    logs(&targets, "queue", Level::INFO),
                    logs(&targets, "run", Level::INFO),
                    logs(&targets, "queue", Level::DEBUG),
                ]
            });
            assert_eq!(found, expected, "{filter}");
        }
    }

    #[test]
    fn an_invalid_filter_is_refused_and_its_wrong_part_is_reported() {
        for (filter, expected) in [
            (
                "debgu",
                "`debgu` is not a level; did you mean `debug`? The levels are off, error, warn, info, debug, trace",
            ),
            ("1", "`1` is not a level. The levels are off, error, warn, info, debug, trace"),
            ("info,queue=loud", "`loud` is not a level. The levels are off, error, warn, info, debug, trace"),
            (
                "quue=debug",
                "`quue` is not a component that logs; did you mean `queue`? The components are config, agent, run, \
                 sandbox, queue, \
                 child, warden, early, budget, question, tree, delivery",
            ),
        ] {
            let error = parse(filter).expect_err("the filter is invalid");
            assert_eq!(error.to_string(), expected, "{filter}");
        }
    }

    #[test]
    fn no_part_is_the_beginning_of_another_one() {
        for part in PARTS {
            assert_eq!(PARTS.iter().filter(|other| other.starts_with(part)).count(), 1, "{part}");
        }
    }
}
