//! Formats durations, times, sizes and money, as numbers and as text for cards and reports.

use std::time::{Duration, SystemTime};

/// Converts a duration to whole milliseconds.
#[must_use]
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Converts a time to milliseconds since 1970 in UTC. Earlier times become 0.
#[must_use]
pub fn epoch_ms(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Formats a duration with at most two units: `0.4s`, `3.2s`, `47s`, `5m12s`, `1h02m`, `3d04h`. The smaller unit has
/// two digits.
#[must_use]
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{seconds}.{}s", time.subsec_millis() / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Formats a duration for a ticking clock, without tenths of a second: `3s`.
#[must_use]
pub fn elapsed(time: Duration) -> String {
    if time.as_secs() < 10 { format!("{}s", time.as_secs()) } else { duration(time) }
}

/// Formats the time between two moments, both in milliseconds since the epoch. If the clock was set back, this is
/// `0.0s`.
#[must_use]
pub fn between(from_ms: i64, to_ms: i64) -> String {
    duration(Duration::from_millis(u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or(0)))
}

/// Formats a number of tokens with at most one decimal: `950`, `1.2k`, `12.3k`, `340k`, `5.6M`, `34M`.
#[must_use]
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..99_950 => tenths(count, 1_000, "k"),
        99_950..999_500 => format!("{}k", rounded(count, 1_000)),
        999_500..9_950_000 => tenths(count, 1_000_000, "M"),
        _ => format!("{}M", rounded(count, 1_000_000)),
    }
}

/// Formats dollars: `$0.04`, `$12.30`, and `$0.0004` below a cent.
#[must_use]
pub fn money(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("${amount:.4}") } else { format!("${:.2}", amount.max(0.0)) }
}

/// Formats a number of bytes with one decimal below 10: `950 B`, `3.2 KiB`, `47 MiB`, `1.5 GiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB")];
    if count < 1_024 {
        return format!("{count} B");
    }
    // A number that would round to 1024 needs the next unit.
    let fitting = UNITS.into_iter().find(|(unit, _)| rounded(count, *unit) < 1_024);
    let (unit, name) = fitting.unwrap_or(UNITS[3]);
    if rounded(count, unit / 10) < 100 {
        return format!("{} {name}", tenths(count, unit, ""));
    }
    format!("{} {name}", rounded(count, unit))
}

/// Formats a count with its noun: `1 line`, `2 lines`, `2 entries`.
#[must_use]
pub fn counted(count: usize, one: &str) -> String {
    match one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        _ if count == 1 => format!("1 {one}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {one}s"),
    }
}

fn tenths(count: u64, unit: u64, name: &str) -> String {
    let tenths = rounded(count.saturating_mul(10), unit);
    format!("{}.{}{name}", tenths / 10, tenths % 10)
}

fn rounded(count: u64, unit: u64) -> u64 {
    count / unit + u64::from(count % unit >= unit.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_at_most_two_units() {
        for (ms, expected) in [
            (0, "0.0s"),
            (449, "0.4s"),
            (9_999, "9.9s"),
            (10_000, "10s"),
            (59_999, "59s"),
            (60_000, "1m00s"),
            (312_000, "5m12s"),
            (3_599_999, "59m59s"),
            (3_720_000, "1h02m"),
            (86_399_000, "23h59m"),
            (273_600_000, "3d04h"),
        ] {
            assert_eq!(duration(Duration::from_millis(ms)), expected, "{ms}");
        }
        assert_eq!(elapsed(Duration::from_millis(9_999)), "9s");
        assert_eq!(elapsed(Duration::from_secs(312)), "5m12s");
        assert_eq!(between(1_000, 6_000), "5.0s");
        assert_eq!(between(6_000, 1_000), "0.0s", "a clock that was set back gives no duration");
        assert_eq!(between(i64::MIN, i64::MAX), "106751991167d07h", "the difference does not overflow");
    }

    #[test]
    fn tokens_money_and_bytes_are_rounded() {
        for (count, expected) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (12_340, "12.3k"),
            (99_949, "99.9k"),
            (99_950, "100k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (9_949_999, "9.9M"),
            (9_950_000, "10M"),
            (u64::MAX, "18446744073710M"),
        ] {
            assert_eq!(tokens(count), expected, "{count}");
        }
        for (amount, expected) in [
            (0.0, "$0.00"),
            (0.0004, "$0.0004"),
            (0.01, "$0.01"),
            (0.0449, "$0.04"),
            (12.3, "$12.30"),
            (-1.0, "$0.00"),
        ] {
            assert_eq!(money(amount), expected, "{amount}");
        }
        for (count, expected) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (10_239, "10 KiB"),
            (1_048_575, "1.0 MiB"),
            (47 << 20, "47 MiB"),
            (3 << 29, "1.5 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(bytes(count), expected, "{count}");
        }
        for (count, one, expected) in [
            (1, "line", "1 line"),
            (0, "line", "0 lines"),
            (1, "entry", "1 entry"),
            (2, "entry", "2 entries"),
            (2, "day", "2 days"),
        ] {
            assert_eq!(counted(count, one), expected);
        }
    }
}
