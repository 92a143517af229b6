//! The sanitizer and the truncator, as JavaScript sees them.

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use super::result::number;
use super::runtime::off_thread;
use crate::text::{self, Sanitizer, SanitizerOptions, TruncateLimits, auth_secrets, secret_values};

/// What a sanitizer knows beside its rules.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct SanitizeOptions {
    /// Exact secret values. Default: those of this process's environment.
    pub secrets: Option<Vec<String>>,
    /// A file in the format of pi's `auth.json`, as text; its credentials are added to the secrets.
    pub auth_json: Option<String>,
    /// Home directories to show as `~`. Default: this user's.
    pub homes: Option<Vec<String>>,
}

/// One rule that fired. Never the value it fired on.
#[napi(object, object_from_js = false)]
pub struct Redaction {
    /// The rule's name.
    pub rule: String,
    /// How often it fired.
    pub count: u32,
    /// Where, as byte ranges of the input in UTF-8, the end excluded.
    pub ranges: Vec<ByteRange>,
}

/// A range of bytes, the end excluded.
#[napi(object, object_from_js = false)]
pub struct ByteRange {
    /// The first byte.
    pub start: f64,
    /// The byte after the last.
    pub end: f64,
}

/// How much of a text is kept. What comes first counts; the marker that says what was left out counts within it.
#[napi(object, object_to_js = false)]
pub struct OutputLimits {
    /// In UTF-8. Default 51200.
    pub max_bytes: Option<f64>,
    /// Default 2000.
    pub max_lines: Option<f64>,
    /// Where the whole text lies, for the marker.
    pub full_text: Option<String>,
}

/// A text within its limits.
#[napi(object, object_from_js = false)]
pub struct TruncatedOutput {
    /// The text, with a marker where something was left out.
    pub text: String,
    /// Whether something was left out.
    pub truncated: bool,
    /// Lines kept, the marker's not counted.
    pub kept_lines: f64,
    /// Lines of the input.
    pub total_lines: f64,
    /// Bytes kept, the marker's not counted.
    pub kept_bytes: f64,
    /// Bytes of the input.
    pub total_bytes: f64,
}

/// What a sanitizer is made of, read on the JavaScript thread, the one that may change the environment. Making one takes
/// a while and belongs elsewhere.
pub(super) fn sanitizer_maker(options: Option<SanitizeOptions>) -> impl FnOnce() -> Sanitizer + Send {
    let options = options.unwrap_or_default();
    let env = options.secrets.is_none().then(|| std::env::vars_os().collect::<Vec<_>>());
    let home = || std::env::home_dir().iter().map(|home| home.to_string_lossy().into_owned()).collect();
    let homes = options.homes.unwrap_or_else(home);
    move || {
        let known = env.iter().flatten().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let mut secrets = options.secrets.unwrap_or_else(|| secret_values(known));
        secrets.extend(options.auth_json.as_deref().map(auth_secrets).unwrap_or_default());
        Sanitizer::new(SanitizerOptions { secrets, homes })
    }
}

/// Removes secrets, the home directory, control sequences and the middle of long stack traces. Idempotent; linear in
/// the length of the text; ordinary prose and code come out unchanged.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn sanitize_output(
    env: &Env,
    text: String,
    options: Option<SanitizeOptions>,
) -> napi::Result<PromiseRaw<'_, String>> {
    let sanitizer = sanitizer_maker(options);
    env.spawn_future(off_thread(move || sanitizer().sanitize(&text).into_string()))
}

/// Says which rules would fire on a text, how often and where.
#[napi(catch_unwind, ts_return_type = "Promise<Redaction[]>")]
pub fn inspect_output(
    env: &Env,
    text: String,
    options: Option<SanitizeOptions>,
) -> napi::Result<PromiseRaw<'_, Vec<Redaction>>> {
    let sanitizer = sanitizer_maker(options);
    env.spawn_future(off_thread(move || sanitizer().inspect(&text).into_iter().map(Into::into).collect()))
}

/// Keeps the head and the tail of a text: conclusions stand at the end.
#[napi]
pub async fn truncate_output(text: String, limits: Option<OutputLimits>) -> napi::Result<TruncatedOutput> {
    truncated(text, limits, text::truncate).await
}

/// Keeps the head of a text.
#[napi]
pub async fn truncate_head(text: String, limits: Option<OutputLimits>) -> napi::Result<TruncatedOutput> {
    truncated(text, limits, text::truncate_head).await
}

/// Keeps the tail of a text.
#[napi]
pub async fn truncate_tail(text: String, limits: Option<OutputLimits>) -> napi::Result<TruncatedOutput> {
    truncated(text, limits, text::truncate_tail).await
}

async fn truncated(
    text: String,
    limits: Option<OutputLimits>,
    truncate: fn(&str, TruncateLimits, Option<&str>) -> text::Truncated,
) -> napi::Result<TruncatedOutput> {
    off_thread(move || {
        let defaults = TruncateLimits::default();
        let (bytes, lines, full_text) = limits
            .map_or((None, None, None), |limits| (limits.max_bytes, limits.max_lines, limits.full_text));
        let limits = TruncateLimits {
            max_bytes: bytes.map_or(Ok(defaults.max_bytes), |bytes| limit("maxBytes", bytes))?,
            max_lines: lines.map_or(Ok(defaults.max_lines), |lines| limit("maxLines", lines))?,
        };
        Ok(truncate(&text, limits, full_text.as_deref()).into())
    })
    .await?
}

/// A limit as a caller may give it: `Infinity` is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked, and the cast saturates"
)]
fn limit(name: &str, value: f64) -> napi::Result<usize> {
    if value >= 0.0 {
        return Ok(value as usize);
    }
    let reason = format!("`{name}` is {value}; it must be a number from 0 on");
    Err(napi::Error::new(napi::Status::InvalidArg, reason))
}

fn count(value: usize) -> f64 {
    number(value as u64)
}

impl From<text::Redaction> for Redaction {
    fn from(redaction: text::Redaction) -> Self {
        let range =
            |range: std::ops::Range<usize>| ByteRange { start: count(range.start), end: count(range.end) };
        Self {
            rule: redaction.rule.to_owned(),
            count: u32::try_from(redaction.count).unwrap_or(u32::MAX),
            ranges: redaction.ranges.into_iter().map(range).collect(),
        }
    }
}

impl From<text::Truncated> for TruncatedOutput {
    fn from(truncated: text::Truncated) -> Self {
        Self {
            text: truncated.text,
            truncated: truncated.truncated,
            kept_lines: count(truncated.kept_lines),
            total_lines: count(truncated.total_lines),
            kept_bytes: count(truncated.kept_bytes),
            total_bytes: count(truncated.total_bytes),
        }
    }
}
