//! Tokens that are known by their shape: a vendor's prefix and enough of the right characters.

use std::ops::Range;

use crate::text::redact::cursor::Cursor;
use crate::text::redact::scan::Found;
use crate::text::redact::value::looks::{has_digit, has_upper, is_filled};
use crate::text::sanitize::Edit;

/// The bytes a token is made of.
#[derive(Clone, Copy)]
enum Set {
    Alnum,
    /// Letters, digits, `_`.
    Word,
    /// Letters, digits, `_`, `-`.
    Url,
    /// Letters, digits, `_`, `-`, `.`.
    Dotted,
    /// Letters, digits, `_`, `-`, `/`.
    Path,
    /// Capitals and digits.
    Upper,
    Hex,
    /// Letters, digits, `+`, `/`, `=`.
    Base64,
}

impl Set {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        }
    }
}

struct Vendor {
    prefix: &'static str,
    set: Set,
    /// Least number of bytes after the prefix.
    least: usize,
    marker: &'static str,
    rule: &'static str,
}

macro_rules! vendors {
    ($($rule:literal $marker:literal: $($prefix:literal $set:ident $least:literal),+;)+) => {
        &[$($(Vendor {
            prefix: $prefix,
            set: Set::$set,
            least: $least,
            marker: concat!("[", $marker, "_REDACTED]"),
            rule: $rule,
        }),+),+]
    };
}

/// The shortest lengths are a little below what the vendors hand out, so that a token that was cut is still one.
static VENDORS: &[Vendor] = vendors! {
    "anthropic_key" "ANTHROPIC_KEY": "sk-ant-" Url 16;
    "openrouter_key" "OPENROUTER_KEY": "sk-or-" Url 16;
    "openai_key" "OPENAI_KEY": "sk-proj-" Url 16, "sk-svcacct-" Url 16, "sk-admin-" Url 16, "sk-" Url 20;
    "github_token" "GITHUB_TOKEN": "ghp_" Alnum 16, "gho_" Alnum 16, "ghu_" Alnum 16, "ghs_" Alnum 16,
        "ghr_" Alnum 16, "github_pat_" Word 20;
    "gitlab_token" "GITLAB_TOKEN": "glpat-" Dotted 16, "gldt-" Url 16, "glrt-" Dotted 16, "glcbt-" Url 16,
        "glptt-" Url 16, "glagent-" Url 16, "gloas-" Url 16, "GR1348941" Url 16;
    "npm_token" "NPM_TOKEN": "npm_" Alnum 30;
    "pypi_token" "PYPI_TOKEN": "pypi-" Url 30;
    "slack_token" "SLACK_TOKEN": "xoxb-" Url 10, "xoxp-" Url 10, "xoxa-" Url 10, "xoxr-" Url 10, "xoxs-" Url 10,
        "xoxc-" Url 10, "xoxd-" Url 10, "xoxe-" Url 10, "xoxe.xox" Dotted 10, "xapp-" Url 10;
    "slack_webhook" "SLACK_WEBHOOK": "hooks.slack.com/services/" Path 16, "hooks.slack.com/workflows/" Path 16,
        "hooks.slack.com/triggers/" Path 16;
    "discord_webhook" "DISCORD_WEBHOOK": "discord.com/api/webhooks/" Path 30, "discordapp.com/api/webhooks/" Path 30;
    "aws_access_key" "AWS_ACCESS_KEY": "AKIA" Upper 16, "ASIA" Upper 16;
    "google_api_key" "GOOGLE_API_KEY": "AIza" Url 30;
    "google_token" "GOOGLE_TOKEN": "ya29." Dotted 16, "GOCSPX-" Url 16, "1//0" Url 30;
    "stripe_key" "STRIPE_KEY": "sk_live_" Alnum 16, "sk_test_" Alnum 16, "rk_live_" Alnum 16, "rk_test_" Alnum 16,
        "sk_prod_" Alnum 16, "whsec_" Alnum 16;
    "hugging_face_token" "HUGGING_FACE_TOKEN": "hf_" Alnum 20, "api_org_" Alnum 20;
    "sendgrid_key" "SENDGRID_KEY": "SG." Dotted 30;
    "twilio_key" "TWILIO_KEY": "SK0" Hex 31, "SK1" Hex 31, "SK2" Hex 31, "SK3" Hex 31, "SK4" Hex 31, "SK5" Hex 31,
        "SK6" Hex 31, "SK7" Hex 31, "SK8" Hex 31, "SK9" Hex 31, "SKa" Hex 31, "SKb" Hex 31, "SKc" Hex 31,
        "SKd" Hex 31, "SKe" Hex 31, "SKf" Hex 31;
    "digitalocean_token" "DIGITALOCEAN_TOKEN": "dop_v1_" Hex 32, "doo_v1_" Hex 32, "dor_v1_" Hex 32;
    "jwt" "JWT": "eyJ" Dotted 24;
    "groq_key" "GROQ_KEY": "gsk_" Alnum 24;
    "xai_key" "XAI_KEY": "xai-" Alnum 24;
    "perplexity_key" "PERPLEXITY_KEY": "pplx-" Alnum 24;
    "replicate_token" "REPLICATE_TOKEN": "r8_" Alnum 24;
    "docker_token" "DOCKER_TOKEN": "dckr_pat_" Url 16, "dckr_oat_" Url 16;
    "vault_token" "VAULT_TOKEN": "hvs." Url 20, "hvb." Url 20, "hvr." Url 20;
    "databricks_token" "DATABRICKS_TOKEN": "dapi" Hex 30;
    "atlassian_token" "ATLASSIAN_TOKEN": "ATATT3" Url 30, "ATCTT3" Url 30, "ATBB" Alnum 24;
    "linear_key" "LINEAR_KEY": "lin_api_" Alnum 20, "lin_oauth_" Alnum 20;
    "notion_token" "NOTION_TOKEN": "ntn_" Alnum 30, "secret_" Alnum 40;
    "figma_token" "FIGMA_TOKEN": "figd_" Url 24;
    "shopify_token" "SHOPIFY_TOKEN": "shpat_" Hex 24, "shpss_" Hex 24, "shpca_" Hex 24, "shppa_" Hex 24;
    "square_token" "SQUARE_TOKEN": "sq0atp-" Url 18, "sq0csp-" Url 18, "EAAAE" Url 40;
    "sentry_token" "SENTRY_TOKEN": "sntrys_" Url 24, "sntryu_" Alnum 24;
    "grafana_token" "GRAFANA_TOKEN": "glsa_" Word 24, "glc_" Alnum 30;
    "pulumi_token" "PULUMI_TOKEN": "pul-" Hex 32;
    "rubygems_key" "RUBYGEMS_KEY": "rubygems_" Hex 32;
    "crates_token" "CRATES_TOKEN": "cio" Alnum 32;
    "postman_key" "POSTMAN_KEY": "PMAK-" Url 32;
    "tailscale_key" "TAILSCALE_KEY": "tskey-" Url 16;
    "mailgun_key" "MAILGUN_KEY": "key-" Hex 32;
    "age_key" "AGE_KEY": "AGE-SECRET-KEY-1" Upper 30;
    "fly_token" "FLY_TOKEN": "fm1r_" Url 24, "fm2_" Url 24, "fo1_" Url 24;
    // `-----BEGIN … PRIVATE KEY` in base64.
    "private_key" "PRIVATE_KEY": "LS0tLS1CRUdJTiBQUklWQVRF" Base64 16, "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR" Base64 16,
        "LS0tLS1CRUdJTiBFQyBQUklWQVRF" Base64 16, "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVE" Base64 16,
        "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFUR" Base64 16, "LS0tLS1CRUdJTiBQR1AgUFJJVkFUR" Base64 16,
        "LS0tLS1CRUdJTiBEU0EgUFJJVkFUR" Base64 16;
    "telegram_token" "TELEGRAM_TOKEN": ":AA" Url 30;
};

/// The prefixes, in the order of the rows.
pub(in crate::text) fn prefixes() -> impl Iterator<Item = &'static str> {
    VENDORS.iter().map(|vendor| vendor.prefix)
}

/// Judges the token whose prefix was found at `prefix`.
pub(in crate::text) fn token(cursor: &Cursor<'_>, row: usize, prefix: Range<usize>) -> Found {
    let vendor = &VENDORS[row];
    let nothing = Found::nothing(prefix.start + 1);
    let mut start = prefix.start;
    match vendor.rule {
        "slack_webhook" | "discord_webhook" => start = prefix.end,
        "telegram_token" => {
            let digits =
                cursor.bytes[..prefix.start].iter().rev().take(13).take_while(|byte| byte.is_ascii_digit());
            start -= digits.count();
            if !(8..=12).contains(&(prefix.start - start)) || start < cursor.floor {
                return nothing;
            }
        }
        // `task-`, `disk-` and class names such as `x-sk-…` are words with a tail.
        _ if !cursor.is_token_start(start)
            || (vendor.prefix == "sk-" && cursor.before(start) == Some(b'-')) =>
        {
            return nothing;
        }
        _ => {}
    }
    let body = &cursor.bytes[prefix.end..];
    if body.len() < vendor.least || !body[..vendor.least].iter().all(|&byte| vendor.set.has(byte)) {
        return nothing;
    }
    let length = body.iter().position(|&byte| !vendor.set.has(byte)).unwrap_or(body.len());
    let mut end = prefix.end + length;
    while end > prefix.end && cursor.bytes[end - 1] == b'.' {
        end -= 1;
    }
    if !is_plausible(vendor, &cursor.bytes[prefix.end..end]) {
        return Found::nothing(end);
    }
    Found::edit(Edit::new(start..end, vendor.marker, vendor.rule), end)
}

/// What a shape alone cannot tell apart from names and prose.
fn is_plausible(vendor: &Vendor, body: &[u8]) -> bool {
    if is_filled(body) {
        return false;
    }
    match vendor.prefix {
        // As in the documentation of AWS.
        "AKIA" | "ASIA" if body.ends_with(b"EXAMPLE") => false,
        "sk-" => has_digit(body) && (has_upper(body) || body.len() >= 32),
        "AKIA" | "ASIA" => body.len() == 16,
        "eyJ" => is_jwt(body),
        "SG." | "cio" | "secret_" | "EAAAE" | "1//0" | "api_org_" | "ATBB" => {
            has_digit(body) && has_upper(body)
        }
        "glc_" | "npm_" | "hf_" | "gsk_" | "r8_" | "ntn_" | "xai-" | "pypi-" => {
            has_digit(body) || has_upper(body)
        }
        _ => true,
    }
}

/// Header, payload and signature, the last of which may be missing or cut.
fn is_jwt(body: &[u8]) -> bool {
    let mut parts = body.split(|&byte| byte == b'.');
    let header = parts.next().is_some_and(|part| part.len() >= 8);
    let payload = parts.next().is_some_and(|part| part.len() >= 8);
    header && payload && parts.count() <= 3
}
