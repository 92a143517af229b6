//! Points in time, as a clock on the wall shows them.

use std::time::SystemTime;

use time::{OffsetDateTime, UtcOffset};
use tz::TimeZone;

use sanitizer::figures::{self, epoch_ms};

/// The current time and the time zone.
#[derive(Clone, Debug)]
pub struct Clock {
    now_ms: i64,
    zone: TimeZone,
}

impl Clock {
    /// This machine's time, in the zone that the environment variable `TZ` names, or else in the machine's own. UTC if
    /// neither can be read, as on Windows. Every time shows its offset from UTC. Reads a file.
    #[must_use]
    pub fn system() -> Self {
        let named = std::env::var("TZ").ok().filter(|name| !name.is_empty());
        let zone = named.map_or_else(TimeZone::local, |name| TimeZone::from_posix_tz(&name));
        Self { now_ms: epoch_ms(SystemTime::now()), zone: zone.unwrap_or_else(|_| TimeZone::utc()) }
    }

    /// A fixed time in milliseconds since 1970 in UTC, shown at an offset from UTC in hours.
    #[must_use]
    pub fn fixed(now_ms: i64, hours: i8) -> Self {
        let zone = TimeZone::fixed(i32::from(hours) * 3_600).unwrap_or_else(|_| TimeZone::utc());
        Self { now_ms, zone }
    }

    /// Now, in milliseconds since 1970 in UTC.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// `2026-07-03 14:05:09 +02:00 (5m12s ago)`.
    pub(super) fn at(&self, ms: i64) -> String {
        match self.shown(ms.div_euclid(1_000)) {
            Some(shown) => format!("{shown} ({})", self.distance(ms)),
            None => self.distance(ms),
        }
    }

    fn shown(&self, seconds: i64) -> Option<String> {
        let offset = self.zone.find_local_time_type(seconds).map_or(0, tz::LocalTimeType::ut_offset);
        let offset = UtcOffset::from_whole_seconds(offset).unwrap_or(UtcOffset::UTC);
        let local = OffsetDateTime::from_unix_timestamp(seconds).ok()?.checked_to_offset(offset)?;
        let (date, (hour, minute, second)) = (local.date(), local.to_hms());
        let (sign, (hours, minutes, _)) = (if offset.is_negative() { '-' } else { '+' }, offset.as_hms());
        let hours = hours.unsigned_abs();
        let minutes = minutes.unsigned_abs();
        Some(format!("{date} {hour:02}:{minute:02}:{second:02} {sign}{hours:02}:{minutes:02}"))
    }

    /// `5m12s ago`, `in 5m12s`, `now`.
    pub(super) fn distance(&self, ms: i64) -> String {
        match ms.saturating_sub(self.now_ms) {
            -999..=999 => "now".to_owned(),
            1_000.. => format!("in {}", figures::between(self.now_ms, ms)),
            _ => format!("{} ago", figures::between(ms, self.now_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_local_with_its_offset() {
        let summer = 1_783_080_000_000;
        let winter = 1_767_225_600_000;
        let new_york = TimeZone::from_posix_tz("EST5EDT,M3.2.0,M11.1.0").expect("the time zone is valid");
        let clock = Clock { now_ms: summer, zone: new_york };
        for (clock, ms, expected) in [
            (&clock, summer, "2026-07-03 08:00:00 -04:00 (now)"),
            (&clock, winter, "2025-12-31 19:00:00 -05:00 (183d12h ago)"),
            (&Clock::fixed(summer, 9), summer + 60_000, "2026-07-03 21:01:00 +09:00 (in 1m00s)"),
            (&Clock::fixed(summer, 0), i64::MAX, "in 106751970529d19h"),
        ] {
            assert_eq!(clock.at(ms), expected, "{ms}");
        }
        let system = Clock::system();
        assert!(system.at(system.now_ms()).ends_with(" (now)"));
    }
}
