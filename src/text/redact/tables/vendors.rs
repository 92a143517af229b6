//! Vendors: tokens that are known by their shape, one row each.
//!
//! To add a vendor, add a row: the name of its rule, the prefixes, what stands behind them and how many bytes of it at
//! least, and what stands behind the prefix in a made-up token. What else a row can say is in [`vendor`](super::vendor).
//! A test checks every example where tokens stand, whole and cut at every byte.

use super::vendor::Alphabet::{Alnum, Base64, Dotted, Hex, Path, Upper, Url, Word};
use super::vendor::Before::{BoundaryButDash, Digits};
use super::vendor::Needs::{DigitAndCapital, DigitAndCapitalOrLength, DigitOrCapital, JwtParts};
use super::vendor::{Vendor, token, webhook};

pub(crate) static VENDORS: &[Vendor] = &[
    token("anthropic_key", &["sk-ant-"], Url, 16, "OhbVrpoiVgRV5IfLBcbf"),
    token("openrouter_key", &["sk-or-"], Url, 16, "noGMbJmTPSIAoCLrZ3aW"),
    token("openai_key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Url, 16, "ZkSBvrjn9Wvgfygw2wMq"),
    token("openai_key", &["sk-"], Url, 20, "ZcUDIh7yfJs1ON43xKmTecQoXsf2o3gyrDO1xkxw")
        .with(DigitAndCapitalOrLength)
        .after(BoundaryButDash),
    token("github_token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, 16, "nQrS7RPeMOkIUpkDyr7O"),
    token("github_token", &["github_pat_"], Word, 20, "SJoRu1XXdo0cZuzren68K4Tu"),
    token("gitlab_token", &["glpat-", "glrt-"], Dotted, 16, "nPFz46PDjqipVJIqVLB5"),
    token(
        "gitlab_token",
        &["gldt-", "glcbt-", "glptt-", "glagent-", "gloas-", "GR1348941"],
        Url,
        16,
        "LzxoiGFfWd3hjOkYRBMe",
    ),
    token("npm_token", &["npm_"], Alnum, 30, "yyMDHqJ38aRUhR4IWrXPvhsBkDa9U4UqGW").with(DigitOrCapital),
    token("pypi_token", &["pypi-"], Url, 30, "lG6g3Ot1OGMmjxWkI9X7H6aMuFbh7x41Zt").with(DigitOrCapital),
    token(
        "slack_token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xapp-"],
        Url,
        10,
        "2468013579-pdp4K8ffUF0eWIXiiQE8Jk",
    ),
    token("slack_token", &["xoxe.xox"], Dotted, 10, "b-1-qH3MB9n7IWUSmTtzQPxC5HCh"),
    webhook(
        "slack_webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        Path,
        16,
        "T0POEVB9OO/B06PR5N8I4/pYEZAmggQBwBAD3UdRPPgd",
    ),
    webhook(
        "discord_webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        Path,
        30,
        "1098765432109876543/zUvZ3gpmmICiBlrDp37eCZ32JgdPI1af7W2pkAFE",
    ),
    token("aws_access_key", &["AKIA", "ASIA"], Upper, 16, "NZDKYAYQ3S195JMS").most(16).documented("EXAMPLE"),
    token("google_api_key", &["AIza"], Url, 30, "n9dLVIdVuddLEG62Hkd9Gf2leMeR3pzh84"),
    token("google_token", &["ya29."], Dotted, 16, "KpLMcNfAQLKHu7qnQTup"),
    token("google_token", &["GOCSPX-"], Url, 16, "qziQPtDu7W7eaDNKgeIn"),
    token("google_token", &["1//0"], Url, 30, "Gqi7w4e4pxskC1ITtNZPHaQ0Jt7Qg84iqh").with(DigitAndCapital),
    token(
        "stripe_key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "whsec_"],
        Alnum,
        16,
        "4gVJjrsMnTvnRO2qGFq5",
    ),
    token("hugging_face_token", &["hf_"], Alnum, 20, "62dfOB1rcavXiOqkVCJTBJah").with(DigitOrCapital),
    token("hugging_face_token", &["api_org_"], Alnum, 20, "e84S5jIc1xLJjBictx57Y3c5").with(DigitAndCapital),
    token("sendgrid_key", &["SG."], Dotted, 30, "wnRpQgwXJ43ANVj77p3k.ZZl4AblV7vY7AZQ3VZprkYSg")
        .with(DigitAndCapital),
    token("twilio_key", &["SK"], Hex, 32, "c1f76eb97706ca828bca0385813dbad3"),
    token(
        "digitalocean_token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Hex,
        32,
        "c681d06bd2aa399dac946dc59c0996daeee6",
    ),
    token("jwt", &["eyJ"], Dotted, 24, "GEY59YVkQfsGQO.eyJNvf08WpRtoZmjbcpEN.2XeDA4OKmTSyFzpjPSa5W3")
        .with(JwtParts),
    token("groq_key", &["gsk_"], Alnum, 24, "X4gXBolZ9SHDdJp62hDiZDQHJMu8").with(DigitOrCapital),
    token("xai_key", &["xai-"], Alnum, 24, "W5CN0U5GB16JC5kV3ECqWp1OrXXH").with(DigitOrCapital),
    token("perplexity_key", &["pplx-"], Alnum, 24, "FOprCeTsprvu5IfijoySjTneAAvI"),
    token("replicate_token", &["r8_"], Alnum, 24, "DAdn1Ay5XL8Sb24WKyEa8wtWy259").with(DigitOrCapital),
    token("docker_token", &["dckr_pat_", "dckr_oat_"], Url, 16, "1AIVVIZM5oForBFbyvQR"),
    token("vault_token", &["hvs.", "hvb.", "hvr."], Url, 20, "ZzUk1D6iNIb6zLKQbfPBi3Dl"),
    token("databricks_token", &["dapi"], Hex, 30, "18ca6eaac8d82f01b7210760474f36e8b5"),
    token("atlassian_token", &["ATATT3", "ATCTT3"], Url, 30, "MM9VThX0k9tgLb7tKR69yz8TmeLS1OpgSX"),
    token("atlassian_token", &["ATBB"], Alnum, 24, "t2RMZhYKYcwIBQxeGPva2A0FgB9x").with(DigitAndCapital),
    token("linear_key", &["lin_api_", "lin_oauth_"], Alnum, 20, "O51DTjBlUH9PrNZ6IXEDB0UL"),
    token("notion_token", &["ntn_"], Alnum, 30, "ru2p17fr4CpWDKNQyvbF2ulFnwZqvr4MS4").with(DigitOrCapital),
    token("notion_token", &["secret_"], Alnum, 40, "rJaH8mfpUAFJWpSEPTFCYbfsozSptQLxEJHwBVJvwSDr")
        .with(DigitAndCapital),
    token("figma_token", &["figd_"], Url, 24, "tqohUmuhVI8WSlmnVErULWHMsg1m"),
    token(
        "shopify_token",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        Hex,
        24,
        "97b590481194f309ffea518f32cf2144",
    ),
    token("square_token", &["sq0atp-", "sq0csp-"], Url, 18, "ZK8tfphJWAMMYNoXHyC6Ct"),
    token("square_token", &["EAAAE"], Url, 40, "3LBtKNdN9Vg8WnOnqQfkplJekaACSMEscosTsS3DeRo7")
        .with(DigitAndCapital),
    token("sentry_token", &["sntrys_"], Url, 24, "qYYOLQZ7mBhIoPj6r0jedkYtMV0K"),
    token("sentry_token", &["sntryu_"], Alnum, 24, "6sChDStSz8rGIFCfMc4BVuMqbfo9"),
    token("grafana_token", &["glsa_"], Word, 24, "R13KL8bWR0rKcWWlEHPC6rlLBO0F"),
    token("grafana_token", &["glc_"], Alnum, 30, "fEwAvuQg2kvASFsQ8z0WJcDfuquhXz3G0a").with(DigitOrCapital),
    token("pulumi_token", &["pul-"], Hex, 32, "ed16bfe16849ef307590d273e34f98dff7e4"),
    token("rubygems_key", &["rubygems_"], Hex, 32, "c6428da8099f4efbacea67c7d1afcc4f14a3"),
    token("crates_token", &["cio"], Alnum, 32, "32CgH6DaUjA3PjeEYqvNSzPf2v2R2Iy9uOT4").with(DigitAndCapital),
    token("postman_key", &["PMAK-"], Url, 32, "f127972d33e5901a19bbd47d-5552c7f47e8e80e952eb"),
    token("tailscale_key", &["tskey-"], Url, 16, "LtO9BSqD2tmy2EgpyKwK"),
    token("mailgun_key", &["key-"], Hex, 32, "990c801f97b7684319e1b429ad564b858f9a"),
    token("age_key", &["AGE-SECRET-KEY-1"], Upper, 30, "H3EJOZ9XFZAQ8H3XQYXGO4B9UOE3T0HICC"),
    token("fly_token", &["fm1r_", "fm2_", "fo1_"], Url, 24, "tFhgp4IiyDxQ8VS8IALVUj4APg1F"),
    // `-----BEGIN … PRIVATE KEY` in base64.
    token(
        "private_key",
        &[
            "LS0tLS1CRUdJTiBQUklWQVRF",
            "LS0tLS1CRUdJTiBSU0EgUFJJVkFUR",
            "LS0tLS1CRUdJTiBFQyBQUklWQVRF",
            "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVE",
            "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFUR",
            "LS0tLS1CRUdJTiBQR1AgUFJJVkFUR",
            "LS0tLS1CRUdJTiBEU0EgUFJJVkFUR",
        ],
        Base64,
        16,
        "NA88rcSxnCC8p2xgRxI5Pwdzrm9h820DfQnP",
    ),
    token("telegram_token", &[":AA"], Url, 30, "OMbdYvpiYKne1WJnLn03ovXjY5Mar2jiIq").after(Digits),
];
