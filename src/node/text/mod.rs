//! Functions on texts without a run, as JavaScript sees them: here the sanitizer and the truncator, in `collect` the collector of
//! event streams.

mod collect;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use super::json::Json;
use super::runtime::{off_thread, promise};
use sanitizer::{
    self, Allowed, HomePaths, Sanitizer, SanitizerOptions, TruncateLimits, auth_secrets, check_allowed,
    secret_values,
};

/// The values and exceptions of a sanitizer, in addition to its rules.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct SanitizeOptions {
    /// Exact secret values.
    /// @default those in this process's environment
    pub secrets: Option<Vec<String>>,
    /// The text of a file in the format of pi's `auth.json`; its credentials are added to `secrets`.
    pub auth_json: Option<String>,
    /// The user's home directories.
    /// @default this user's
    pub homes: Option<Vec<String>>,
    /// The home directories that are shown as `~`: the user's own, but not in code; all users', in code too; none.
    /// @default "own"
    #[napi(ts_type = "\"own\" | \"all\" | \"off\"")]
    pub home_paths: Option<String>,
    /// Exact values to leave as they are, and rules to switch off, as `rule:NAME`. The call rejects if an entry names
    /// no rule.
    pub allow: Option<Vec<String>>,
}

/// The limits to which a text is cut. The limit that is reached first counts, and the marker counts within it.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct OutputLimits {
    /// Bytes of UTF-8, from 0; `Infinity` is no limit.
    /// @default 51200
    pub max_bytes: Option<f64>,
    /// From 0; `Infinity` is no limit.
    /// @default 2000
    pub max_lines: Option<f64>,
    /// The location of the whole text, which the marker names.
    pub full_text: Option<String>,
}

/// Reads a sanitizer's inputs on the JavaScript thread, the only one that may change the environment. Call the returned closure
/// on another: building the sanitizer takes a while.
pub(super) fn sanitizer_maker(
    options: Option<SanitizeOptions>,
) -> napi::Result<impl FnOnce() -> Sanitizer + Send> {
    let options = options.unwrap_or_default();
    let env = options.secrets.is_none().then(|| std::env::vars_os().collect::<Vec<_>>());
    let home = || std::env::home_dir().iter().map(|home| home.to_string_lossy().into_owned()).collect();
    let homes = options.homes.unwrap_or_else(home);
    let invalid = |reason: String| napi::Error::new(napi::Status::InvalidArg, reason);
    let home_paths = match options.home_paths {
        None => HomePaths::default(),
        Some(paths) => HomePaths::parse(&paths)
            .ok_or_else(|| invalid(format!("`homePaths` is `{paths}`; expected `own`, `all` or `off`")))?,
    };
    let allow = options.allow.unwrap_or_default();
    for entry in &allow {
        check_allowed(entry).map_err(|wrong| invalid(format!("`allow` {wrong}")))?;
    }
    Ok(move || {
        let known = env.iter().flatten().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let mut secrets = options.secrets.unwrap_or_else(|| secret_values(known));
        secrets.extend(options.auth_json.as_deref().map(auth_secrets).unwrap_or_default());
        Sanitizer::new(SanitizerOptions { secrets, homes, home_paths, allowed: Allowed::new(&allow) })
    })
}

/// Replaces secrets with placeholders, home directories with `~`, and drops control characters and terminal escapes.
/// Sanitizing twice changes nothing more.
///
/// @example
/// ```ts
/// import { sanitizeOutput } from "pi-subagent-native/extension";
///
/// console.log(await sanitizeOutput("token: correct-horse", { secrets: ["correct-horse"] }));
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn sanitize_output(
    env: Env,
    text: String,
    options: Option<SanitizeOptions>,
) -> napi::Result<PromiseRaw<'static, String>> {
    let sanitizer = sanitizer_maker(options);
    promise(env, async move {
        let sanitizer = sanitizer?;
        off_thread(move || sanitizer().sanitize(&text).into_string()).await
    })
}

/// Reports what would be redacted in a text: for each rule its name, the kind of values it finds, their number and
/// their positions.
///
/// @example
/// ```ts
/// import { inspectOutput } from "pi-subagent-native/extension";
///
/// const found = await inspectOutput("token: correct-horse", { secrets: ["correct-horse"] });
/// for (const { rule, what, ranges } of found) console.log(rule, what, ranges[0]?.start);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<Redaction[]>")]
pub fn inspect_output(
    env: Env,
    text: String,
    options: Option<SanitizeOptions>,
) -> napi::Result<PromiseRaw<'static, Json>> {
    let sanitizer = sanitizer_maker(options);
    promise(env, async move {
        let sanitizer = sanitizer?;
        off_thread(move || Json::new(&sanitizer().inspect(&text))).await?
    })
}

/// Keeps the head and the tail of a text, because the conclusions are there. Rejects if a limit is negative or NaN.
///
/// @example
/// ```ts
/// import { truncateOutput } from "pi-subagent-native/extension";
///
/// const limits = { maxBytes: 1024, fullText: "words.txt" };
/// const { text, truncated } = await truncateOutput("word ".repeat(5000), limits);
/// console.log(truncated, text);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<TruncatedOutput>")]
pub fn truncate_output(
    env: Env,
    text: String,
    limits: Option<OutputLimits>,
) -> napi::Result<PromiseRaw<'static, Json>> {
    truncated(env, text, limits, sanitizer::truncate)
}

/// Keeps the head of a text. Rejects for a limit that is negative or NaN.
///
/// @example
/// ```ts
/// import { truncateHead } from "pi-subagent-native/extension";
///
/// const versions = JSON.stringify(process.versions, null, 1);
/// const { text, keptLines, totalLines } = await truncateHead(versions, { maxLines: 9 });
/// console.log(text, keptLines, totalLines);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<TruncatedOutput>")]
pub fn truncate_head(
    env: Env,
    text: String,
    limits: Option<OutputLimits>,
) -> napi::Result<PromiseRaw<'static, Json>> {
    truncated(env, text, limits, sanitizer::truncate_head)
}

/// Keeps the tail of a text. Rejects for a limit that is negative or NaN.
///
/// @example
/// ```ts
/// import { truncateTail } from "pi-subagent-native/extension";
///
/// const { text, keptBytes, totalBytes } = await truncateTail("word ".repeat(5000), { maxBytes: 1024 });
/// console.log(text, keptBytes, totalBytes);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<TruncatedOutput>")]
pub fn truncate_tail(
    env: Env,
    text: String,
    limits: Option<OutputLimits>,
) -> napi::Result<PromiseRaw<'static, Json>> {
    truncated(env, text, limits, sanitizer::truncate_tail)
}

fn truncated(
    env: Env,
    text: String,
    limits: Option<OutputLimits>,
    truncate: fn(&str, TruncateLimits, Option<&str>) -> sanitizer::Truncated,
) -> napi::Result<PromiseRaw<'static, Json>> {
    promise(env, async move {
        let limits = limits.unwrap_or_default();
        let defaults = TruncateLimits::default();
        let bounds = TruncateLimits {
            max_bytes: limit("maxBytes", limits.max_bytes, defaults.max_bytes)?,
            max_lines: limit("maxLines", limits.max_lines, defaults.max_lines)?,
        };
        off_thread(move || Json::new(&truncate(&text, bounds, limits.full_text.as_deref()))).await?
    })
}

/// A limit as a caller gives it; `Infinity` is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked, and the cast saturates"
)]
fn limit(name: &str, value: Option<f64>, default: usize) -> napi::Result<usize> {
    match value {
        None => Ok(default),
        Some(value) if value >= 0.0 => Ok(value as usize),
        Some(value) => {
            let reason = format!("`{name}` is {value}; it must be 0 or more");
            Err(napi::Error::new(napi::Status::InvalidArg, reason))
        }
    }
}
