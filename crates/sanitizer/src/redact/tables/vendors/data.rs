//! Tokens of services for databases, metrics, errors and feature flags.

use crate::redact::tables::vendor::Alphabet::{Alnum, Base64, Dotted, Hex, Token68, Url, Uuid, Word};
use crate::redact::tables::vendor::Before::Run;
use crate::redact::tables::vendor::Needs::{DigitAndCapital, NoWords};
use crate::redact::tables::vendor::{Vendor, token};

pub(super) static VENDORS: &[Vendor] = &[
    token("databricks_token", &["dapi"], Hex, 30, "18ca6eaac8d82f01b7210760474f36e8b5"),
    token("sentry_token", &["sntrys_"], Token68, 24, "qYYOLQZ7mBhIoPj6r0jedkYtMV0K"),
    token("sentry_token", &["sntryu_"], Alnum, 24, "6sChDStSz8rGIFCfMc4BVuMqbfo9"),
    token("grafana_token", &["glsa_"], Word, 24, "R13KL8bWR0rKcWWlEHPC6rlLBO0F"),
    token("grafana_token", &["glc_"], Token68, 30, "fEwAvuQg2kvASFsQ8z0WJcDfuquhXz3G0a")
        .with(DigitAndCapital),
    token(
        "grafana_token",
        &["eyJrIjoi"],
        Base64,
        60,
        "HWaG0cnf0CHkgu2QGVvaJrHqqPBkyClYBoNY6zGVLCupILnpMjWRXDV5ERQXZgGMnSsCw8bf6DAqtieWtqVbh2P7DO",
    ),
    token(
        "new_relic_key",
        &["NRAK-", "NRII-", "NRAA-", "NRRA-", "NRIQ-"],
        Url,
        24,
        "6pYSEFInux9tblvrbm9oHK0s3u4",
    ),
    token("posthog_key", &["phx_", "phs_"], Word, 36, "RR6hds8dZQ6kfNS1Q5nXzKjDIkSj4xZIDyRLnME0Uv0"),
    token(
        "honeycomb_key",
        &["hcaik_", "hcxik_", "hcamk_"],
        Word,
        50,
        "QwJyTndQF4DbLXWYl8a6q6KZF4V6LROiEePNUSIhMheJUE2XvCrgiJhoXY",
    ),
    token("pixie_key", &["px-api-", "px-dep-"], Uuid, 34, "5c92675e-4e99-42b6-93b0-1bc2ba7ce74d"),
    token("axiom_token", &["xaat-", "xapt-"], Uuid, 34, "b92675ef-4e99-b2b6-93b0-1bc2ba7ce74d"),
    token(
        "logfire_token",
        &["pylf_v1_us_", "pylf_v1_eu_"],
        Word,
        36,
        "3tWnBgypyAdPUgCZInHkdJy35mgIRf5PyEYggrLtao3",
    ),
    token(
        "dynatrace_token",
        &["dt0c01.", "dt0s01.", "dt0s02.", "dt0s16."],
        Dotted,
        60,
        "ZTPI8I90YZ8RWYF25XSWIKR0.VX4QXUC5Y6Y13PA1NVTNI99D5CYXAQ03PDXF82XWEAGAROJEMMZK2Q5YVTR3Z0P8",
    ),
    token("supabase_key", &["sb_secret_"], Url, 24, "U8YSH3K9etjluyb0ElOUDewIa9yZkSOM"),
    token("supabase_key", &["sbp_"], Word, 36, "1eCxSOoKaXMeLJJFtskS1a6CItVfqvGgknxdmbNW").with(NoWords),
    token(
        "neon_key",
        &["napi_"],
        Alnum,
        50,
        "VINwY58zboDx5I3gKWMeDt37oR5saRAT2tzwgCK1YvufedlMsaWp4YkFtX4XYsI7",
    )
    .with(NoWords),
    token(
        "planetscale_token",
        &["pscale_tkn_", "pscale_oauth_", "pscale_pw_"],
        Token68,
        30,
        "qVmq4nE8LED0GjVe7Rn2rosj1BEPQHsdVFn36hU1q6r",
    ),
    token("clickhouse_key", &["4b1d"], Alnum, 38, "ZoNJoXzZloJDXvmmG4zGaxpkx6AmjQQFfsIYlY")
        .max(38)
        .with(DigitAndCapital),
    token("mongodb_secret", &["mdb_sa_sk_"], Url, 36, "pIWXc48wvrK8lkvUvHFz5bgwmjSIcbnOIlvqogzn"),
    token("xata_key", &["xau_"], Alnum, 36, "tuVndee3RQL4JZUxCne0z3hbvklFLm7m1hAcqaph"),
    token("launchdarkly_key", &["sdk-", "mob-"], Uuid, 36, "df96d97f-1085-f598-5f12-38588d1b4d66").max(36),
    token("adafruit_key", &["aio_"], Alnum, 26, "maVn2MTeLyWNvpDwC5jcT32TKyeC").with(NoWords),
    token("statsig_key", &["secret-"], Alnum, 40, "ZcfLE4LN2e3WcjhJ1JYUcvE8gG0soR7bkcorI6B04cP")
        .with(NoWords),
    token("maxmind_key", &["_mmk"], Word, 0, "").max(0).after(Run { min: 36, max: 36 }),
];
