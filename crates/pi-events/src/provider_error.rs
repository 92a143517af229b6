//! The message of a provider's error, without the JSON around it, and rate limits, which are recognised by its words.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex::Regex;
use serde_json::{Deserializer, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Returns the error in a form for people: `500: {"error":{"message":"Overloaded"}}` becomes `500: Overloaded`. An
/// error without JSON, or whose JSON has no message, stays unchanged.
#[must_use]
pub fn provider_message(error: &str) -> Cow<'_, str> {
    let Some(start) = error.find('{') else { return error.into() };
    let (before, json) = error.split_at(start);
    let mut values = Deserializer::from_str(json).into_iter::<Value>();
    let message = values.next().and_then(Result::ok).and_then(|value| message_of(&value).map(str::to_owned));
    let Some(message) = message else { return error.into() };
    let rest = json.get(values.byte_offset()..).unwrap_or_default().trim();
    let lead = before.trim_end_matches(|char: char| char.is_whitespace() || char == ':');
    let lead = if lead.is_empty() || message.starts_with(lead) { "" } else { &format!("{lead}: ") };
    let rest = if rest.is_empty() { "" } else { &format!(" {rest}") };
    format!("{lead}{message}{rest}").into()
}

/// Returns the message in an error object, in the shapes that providers use.
fn message_of(value: &Value) -> Option<&str> {
    let text = |value: &Value| value.as_str().map(str::trim).is_some_and(|text| !text.is_empty());
    let fields = ["message", "error", "detail", "error_description", "errors"];
    fields.iter().filter_map(|field| value.get(field)).find_map(|found| match found {
        Value::Object(_) => message_of(found),
        Value::Array(list) => {
            list.iter().find_map(|one| if text(one) { one.as_str() } else { message_of(one) })
        }
        found => found.as_str().filter(|_| text(found)).map(str::trim),
    })
}

/// The maximum waiting time. Longer times count as this time.
const MAX_DELAY: Duration = Duration::from_secs(31 * 24 * 60 * 60);
/// The time after which a run tries again if the provider names none.
const DEFAULT_DELAY: Duration = Duration::from_secs(15 * 60);
/// A bare number beyond this many seconds is a date, not a delay.
const MAX_BARE_SECONDS: f64 = 31.0 * 86_400.0;

/// A provider's refusal because of too many requests or tokens, with the time to wait. Quotas compare as greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RateLimit {
    /// True if the provider's quota is used up, or if the pause is longer than [`Self::LONGEST_PAUSE`].
    pub is_quota: bool,
    /// The time without requests, from when the event was written; at most 31 days.
    pub delay: Duration,
}

impl RateLimit {
    /// The longest pause that a child waits for. After a longer one the run gives its slot back.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(60);

    /// Returns the rate limit in an error, with the longer of the named and the `known` time. Returns `None` for other
    /// errors, and for a rate limit without a time that is not a quota.
    pub fn of(error: &str, known: Option<Duration>) -> Option<Self> {
        let names_quota = IS_QUOTA.is_match(error);
        if !names_quota && !IS_RATE_LIMIT.is_match(error) {
            return None;
        }
        let named = named_delay(error).max(time_until_reset(error, SystemTime::now()));
        let is_quota = named.map_or(names_quota, |delay| delay > Self::LONGEST_PAUSE)
            || known.is_some_and(|delay| delay > Self::LONGEST_PAUSE);
        let default = (is_quota && named.is_none()).then_some(DEFAULT_DELAY);
        let delay = named.max(known).max(default)?.min(MAX_DELAY);
        (!delay.is_zero()).then_some(Self { is_quota, delay })
    }
}

/// Words for a used-up quota or an empty account. Some providers use them for a short pause as well, but then name its
/// length.
static IS_QUOTA: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)insufficient[ _-]?(?:quota|credits?|balance|funds)|\b402\b|payment[ _-]?required|out of credits",
        r"|credit balance|billing[ _-](?:hard[ _-])?limit|quota[ _-]?(?:is |has been |was )?(?:exceeded|exhausted|reached|used up)",
        r"|exceed(?:ed|s)? (?:your|the|its) (?:\w+ ){0,2}quota|(?:usage|spend(?:ing)?|credit|hourly|5-hour|daily|weekly|monthly)",
        r"[ _-]?(?:usage[ _-]?)?limit[ _-]?(?:is |has been |was )?(?:exceeded|exhausted|reached)|\busage[ _-]?limit"
    ))
    .expect("the pattern is constant")
});

/// A point in time at which a limit is lifted: seconds or milliseconds since 1970, or RFC 3339.
static RESET_TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)(?:resets?(?:[ _-]?(?:at|time|on))?|limit reached|try again at|available(?: again)? at)",
        r#"["'\s:=|(]*(?:(?P<epoch>1[0-9]{9})(?:[0-9]{3})?\b|(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9]{2}:[0-9]{2})))"#
    ))
    .expect("the pattern is constant")
});

/// Returns the time until the latest reset that an error names, if one is in the future.
fn time_until_reset(error: &str, now: SystemTime) -> Option<Duration> {
    let resets = RESET_TIME.captures_iter(error).filter_map(|found| {
        let time = match (found.name("epoch"), found.name("date")) {
            (Some(seconds), _) => {
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.as_str().parse().ok()?))?
            }
            (None, date) => OffsetDateTime::parse(date?.as_str(), &Rfc3339).ok()?.into(),
        };
        time.duration_since(now).ok()
    });
    resets.max()
}

static IS_RATE_LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)\b429\b|rate[ _-]?limit|too[ _-]?many[ _-]?(?:requests|tokens)|throttl|usage[ _-]?limit",
        r"|\bquota|resource[ _-]?(?:has been )?exhausted"
    ))
    .expect("the pattern is constant")
});

/// The words before a time to wait, up to its first digit. A key may name the unit. A number without a unit counts only
/// after words that certainly mean a delay.
static BEFORE_DELAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u)(?:(?P<sure>(?:re)?try(?:ing)?(?: (?:your|the|this) request)?(?: again)?[ _-]?(?:in|after|delay)",
        r"|resets?[ _-]?(?:in|after)|reset[ _-]?delay)",
        r"|available(?: again)? (?:in|after)|wait(?:ing)?(?: for)?|requested(?: a)?)",
        r#"(?:[ _-]?(?P<unit>ms|milliseconds|seconds|secs|s|minutes))?["'\s:=~]*"#,
        r"(?:(?:about|approximately|at least|another)\s+~?)?[0-9]"
    ))
    .expect("the pattern is constant")
});

/// Returns the longest waiting time that an error names.
fn named_delay(error: &str) -> Option<Duration> {
    let delays = BEFORE_DELAY.captures_iter(error).filter_map(|found| {
        let whole = found.get(0)?;
        let bare = match found.name("unit") {
            Some(unit) => seconds_of(unit.as_str()),
            None => found.name("sure").map(|_| 1.0),
        };
        seconds(&error[whole.end() - 1..], bare)
    });
    // A value beyond the range of `Duration` exceeds the maximum as well.
    delays.max_by(f64::total_cmp).map(|longest| Duration::try_from_secs_f64(longest).unwrap_or(MAX_DELAY))
}

/// Returns the seconds of the time at the start of a text, such as `7h12m0.5s` or `1 minute and 5 seconds`. A number
/// without a unit counts `bare` seconds each, or is not a time if `bare` is `None`.
fn seconds(mut text: &str, bare: Option<f64>) -> Option<f64> {
    let mut sum = None;
    loop {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Ok(number) = text[..digits].trim_end_matches('.').parse::<f64>() else { return sum };
        let rest = text[digits..].trim_start_matches([' ', '-']);
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let Some(unit) = seconds_of(&rest[..letters]) else {
            let is_delay = sum.is_none() && number <= MAX_BARE_SECONDS;
            return if is_delay { bare.map(|unit| number * unit) } else { sum };
        };
        sum = Some(sum.unwrap_or(0.0) + number * unit);
        text = rest[letters..].trim_start_matches([' ', ',']);
        text = text.strip_prefix("and ").unwrap_or(text);
    }
}

/// Returns the seconds of a unit of time.
fn seconds_of(unit: &str) -> Option<f64> {
    let seconds = match unit.to_ascii_lowercase().as_str() {
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_provider_is_read_without_its_json() {
        for (error, expected) in [
            (
                r#"500: {"message":"fake internal error","type":"fake_error","code":500}"#,
                "500: fake internal error",
            ),
            (
                r#"429 {"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}"#,
                "429: Slow down.",
            ),
            (r#"{"error":{"message":"Overloaded"}} (request 12)"#, "Overloaded (request 12)"),
            (r#"400: {"error":"bad model"}"#, "400: bad model"),
            (r#"422 {"detail":[{"msg":"x"},{"message":"field required"}]}"#, "422: field required"),
            (r#"{"errors":["first","second"]}"#, "first"),
            (r#"500: {"message":"500: twice"}"#, "500: twice"),
        ] {
            assert_eq!(provider_message(error), expected);
        }
        for unchanged in [
            "terminated",
            "",
            r#"500: {"message":"cut in the mid"#,
            r#"500: {"code":7}"#,
            r#"500: {"message":"  "}"#,
            "use { braces }",
        ] {
            assert_eq!(provider_message(unchanged), unchanged);
        }
    }

    fn millis(error: &str) -> Option<u128> {
        RateLimit::of(error, None).map(|limit| limit.delay.as_millis())
    }

    #[test]
    fn the_time_a_provider_names_is_found() {
        let cases: &[(&str, Option<u128>)] = &[
            // OpenAI and compatible providers.
            (
                "429: {\"message\":\"Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 6.5s. Visit https://example.com/429 to learn more.\",\"type\":\"tokens\"}",
                Some(6500),
            ),
            ("Rate limit reached. Please try again in 7h12m0.5s.", Some(25_920_500)),
            ("Rate limit reached. Please try again in 1m30.5s.", Some(90_500)),
            ("Rate limit reached. Please try again in 20ms.", Some(20)),
            // Azure.
            (
                "429 Requests have exceeded call rate limit of your tier. Please retry after 26 seconds.",
                Some(26_000),
            ),
            // Google.
            (
                "429: {\"error\":{\"code\":429,\"message\":\"You exceeded your current quota. Please retry in 34.074824224s.\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"34s\"}]}}",
                Some(34_074),
            ),
            ("RESOURCE_EXHAUSTED: {\"quotaResetDelay\":\"1m2.5s\"}", Some(62_500)),
            // Anthropic gives the time only in a header. pi converts it to words if the time is too long to wait.
            (
                "Server requested 120s retry delay (max: 60s). 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}",
                Some(120_000),
            ),
            (
                "429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This request would exceed your rate limit of 40000 input tokens per minute\"}}",
                None,
            ),
            // ChatGPT.
            ("You have hit your ChatGPT usage limit (plus plan). Try again in ~12 min.", Some(720_000)),
            ("usage_limit_reached {\"resets_in_seconds\": 90, \"resets_at\": 1760000000}", Some(90_000)),
            // Gateways.
            ("Too Many Requests, retry-after: 30", Some(30_000)),
            ("429 {\"retry_after_ms\":1500}", Some(1500)),
            ("429 {\"retry_after\":12.5,\"global\":false}", Some(12_500)),
            ("429 {\"retryAfter\": \"3\"}", Some(3000)),
            ("ThrottlingException: wait for 1 minute and 5 seconds", Some(65_000)),
            ("rate-limited; available again in 2 hours", Some(7_200_000)),
            ("429: retry in 5 s, or retry after 9 s", Some(9000)),
            // No time, or an invalid one.
            ("429: slow down", None),
            ("Too many requests, please wait before trying again.", None),
            ("429 Retry-After: Wed, 21 Oct 2026 07:28:00 GMT", None),
            ("429 reset after 1760000000", None),
            ("429: please wait 3 more requests", None),
            ("429: try again in 0 s", None),
            ("429: try again in 99999999999999999999999999999999999 days", Some(2_678_400_000)),
            ("429: try again in 1.2.3 s", None),
            // Other errors, whatever their text.
            ("503: overloaded, try again in 20s", None),
            ("request 14290 failed, retry in 3s", None),
            ("", None),
        ];
        for (error, expected) in cases {
            assert_eq!(millis(error), *expected, "{error}");
        }
    }

    #[test]
    fn the_longer_of_two_times_counts() {
        let of = |error, known| {
            RateLimit::of(error, Some(Duration::from_secs(known))).map(|limit| limit.delay.as_secs())
        };
        assert_eq!(of("429: try again in 20s", 2), Some(20));
        assert_eq!(of("429: try again in 2s", 20), Some(20));
        assert_eq!(of("429: slow down", 20), Some(20));
        assert_eq!(of("429: slow down", 100_000), Some(100_000));
        assert_eq!(of("429: slow down", 0), None);
        assert_eq!(of("500: slow down", 20), None);
    }

    #[test]
    fn a_used_up_quota_is_distinguished_from_a_short_pause() {
        let reset = |delay: u64| {
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the time is valid").as_secs()
                + delay
        };
        let of = |error: &str| {
            RateLimit::of(error, None).map(|limit| (limit.is_quota, limit.delay.as_secs().div_ceil(60)))
        };
        let date =
            OffsetDateTime::from_unix_timestamp(reset(7_200).cast_signed()).expect("the time is valid");
        let date = date.format(&Rfc3339).expect("the date is formatted");
        let cases = [
            // OpenAI, DeepSeek, OpenRouter and Anthropic with an empty account.
            ("429 {\"error\":{\"code\":\"insufficient_quota\",\"message\":\"You exceeded your current quota, please check your plan and billing details.\"}}".to_owned(), Some((true, 15))),
            ("402 Insufficient Balance".to_owned(), Some((true, 15))),
            ("402: {\"error\":{\"message\":\"Insufficient credits\"}}".to_owned(), Some((true, 15))),
            ("400 Your credit balance is too low to access the Anthropic API.".to_owned(), Some((true, 15))),
            // Subscriptions.
            (format!("Claude AI usage limit reached|{}", reset(3_600)), Some((true, 60))),
            ("5-hour limit reached".to_owned(), Some((true, 15))),
            ("You have hit your ChatGPT usage limit (plus plan). Try again in ~12 min.".to_owned(), Some((true, 12))),
            (format!("usage_limit_reached {{\"resets_at\": {}}}", reset(1_800)), Some((true, 30))),
            (format!("429: weekly limit reached, resets at {date}"), Some((true, 120))),
            ("RESOURCE_EXHAUSTED: Quota exceeded for quota metric 'requests per day'".to_owned(), Some((true, 15))),
            // A long pause is the same for a run.
            ("Rate limit reached for gpt-x on requests per day (RPD). Please try again in 2h.".to_owned(), Some((true, 120))),
            // A short pause in the words of a quota, and an ordinary one.
            ("429: You exceeded your current quota. Please retry in 34.07s.".to_owned(), Some((false, 1))),
            ("429: try again in 60s".to_owned(), Some((false, 1))),
            // Without a time there is nothing to wait for.
            ("429: slow down".to_owned(), None),
            ("disk quota of the build directory".to_owned(), None),
            ("500: internal error".to_owned(), None),
        ];
        for (error, expected) in cases {
            assert_eq!(of(&error), expected, "{error}");
        }
        let quota = RateLimit { is_quota: true, delay: Duration::from_secs(1) };
        assert!(quota > RateLimit { is_quota: false, delay: Duration::from_secs(59) });
    }
}
