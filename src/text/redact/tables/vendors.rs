//! Vendors: tokens that are known by their shape, one row each.
//!
//! To add a vendor, add a row: the name of its rule, the prefixes, what stands behind them and how many bytes of it at
//! least, and a made-up token, split so that no scanner of this repository takes it for a real one. What else a row can
//! say is in [`vendor`](super::vendor). A test checks every example where tokens stand, whole and cut at every byte.

use super::vendor::Alphabet::{Alnum, Base64, Dotted, Hex, Path, Upper, Url, Word};
use super::vendor::Before::{BoundaryButDash, Digits};
use super::vendor::Needs::{DigitAndCapital, DigitAndCapitalOrLength, DigitOrCapital, JwtParts};
use super::vendor::{Vendor, token, webhook};

pub(in crate::text) static VENDORS: &[Vendor] = &[
    token("anthropic_key", &["sk-ant-"], Url, 16, concat!("sk-", "ant-OhbVrpoiVgRV5IfLBcbf")),
    token("openrouter_key", &["sk-or-"], Url, 16, concat!("sk-", "or-noGMbJmTPSIAoCLrZ3aW")),
    token(
        "openai_key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        Url,
        16,
        concat!("sk-p", "roj-ZkSBvrjn9Wvgfygw2wMq"),
    ),
    token("openai_key", &["sk-"], Url, 20, concat!("s", "k-ZcUDIh7yfJs1ON43xKmTecQoXsf2o3gyrDO1xkxw"))
        .with(DigitAndCapitalOrLength)
        .after(BoundaryButDash),
    token(
        "github_token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Alnum,
        16,
        concat!("gh", "p_nQrS7RPeMOkIUpkDyr7O"),
    ),
    token("github_token", &["github_pat_"], Word, 20, concat!("githu", "b_pat_SJoRu1XXdo0cZuzren68K4Tu")),
    token("gitlab_token", &["glpat-", "glrt-"], Dotted, 16, concat!("glp", "at-nPFz46PDjqipVJIqVLB5")),
    token(
        "gitlab_token",
        &["gldt-", "glcbt-", "glptt-", "glagent-", "gloas-", "GR1348941"],
        Url,
        16,
        concat!("gl", "dt-LzxoiGFfWd3hjOkYRBMe"),
    ),
    token("npm_token", &["npm_"], Alnum, 30, concat!("np", "m_yyMDHqJ38aRUhR4IWrXPvhsBkDa9U4UqGW"))
        .with(DigitOrCapital),
    token("pypi_token", &["pypi-"], Url, 30, concat!("py", "pi-lG6g3Ot1OGMmjxWkI9X7H6aMuFbh7x41Zt"))
        .with(DigitOrCapital),
    token(
        "slack_token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xapp-"],
        Url,
        10,
        concat!("xo", "xb-2468013579-pdp4K8ffUF0eWIXiiQE8Jk"),
    ),
    token("slack_token", &["xoxe.xox"], Dotted, 10, concat!("xoxe", ".xoxb-1-qH3MB9n7IWUSmTtzQPxC5HCh")),
    webhook(
        "slack_webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        Path,
        16,
        concat!("hooks.slack", ".com/services/T0POEVB9OO/B06PR5N8I4/pYEZAmggQBwBAD3UdRPPgd"),
    ),
    webhook(
        "discord_webhook",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        Path,
        30,
        concat!("discord", ".com/api/webhooks/1098765432109876543/zUvZ3gpmmICiBlrDp37eCZ32JgdPI1af7W2pkAFE"),
    ),
    token("aws_access_key", &["AKIA", "ASIA"], Upper, 16, concat!("AK", "IANZDKYAYQ3S195JMS"))
        .most(16)
        .documented("EXAMPLE"),
    token("google_api_key", &["AIza"], Url, 30, concat!("AI", "zan9dLVIdVuddLEG62Hkd9Gf2leMeR3pzh84")),
    token("google_token", &["ya29."], Dotted, 16, concat!("ya", "29.KpLMcNfAQLKHu7qnQTup")),
    token("google_token", &["GOCSPX-"], Url, 16, concat!("GOC", "SPX-qziQPtDu7W7eaDNKgeIn")),
    token("google_token", &["1//0"], Url, 30, concat!("1/", "/0Gqi7w4e4pxskC1ITtNZPHaQ0Jt7Qg84iqh"))
        .with(DigitAndCapital),
    token(
        "stripe_key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "whsec_"],
        Alnum,
        16,
        concat!("sk_l", "ive_4gVJjrsMnTvnRO2qGFq5"),
    ),
    token("hugging_face_token", &["hf_"], Alnum, 20, concat!("h", "f_62dfOB1rcavXiOqkVCJTBJah"))
        .with(DigitOrCapital),
    token("hugging_face_token", &["api_org_"], Alnum, 20, concat!("api_", "org_e84S5jIc1xLJjBictx57Y3c5"))
        .with(DigitAndCapital),
    token(
        "sendgrid_key",
        &["SG."],
        Dotted,
        30,
        concat!("S", "G.wnRpQgwXJ43ANVj77p3k.ZZl4AblV7vY7AZQ3VZprkYSg"),
    )
    .with(DigitAndCapital),
    token("twilio_key", &["SK"], Hex, 32, concat!("S", "Kc1f76eb97706ca828bca0385813dbad3")),
    token(
        "digitalocean_token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Hex,
        32,
        concat!("dop", "_v1_c681d06bd2aa399dac946dc59c0996daeee6"),
    ),
    token(
        "jwt",
        &["eyJ"],
        Dotted,
        24,
        concat!("e", "yJGEY59YVkQfsGQO.eyJNvf08WpRtoZmjbcpEN.2XeDA4OKmTSyFzpjPSa5W3"),
    )
    .with(JwtParts),
    token("groq_key", &["gsk_"], Alnum, 24, concat!("gs", "k_X4gXBolZ9SHDdJp62hDiZDQHJMu8"))
        .with(DigitOrCapital),
    token("xai_key", &["xai-"], Alnum, 24, concat!("xa", "i-W5CN0U5GB16JC5kV3ECqWp1OrXXH"))
        .with(DigitOrCapital),
    token("perplexity_key", &["pplx-"], Alnum, 24, concat!("pp", "lx-FOprCeTsprvu5IfijoySjTneAAvI")),
    token("replicate_token", &["r8_"], Alnum, 24, concat!("r", "8_DAdn1Ay5XL8Sb24WKyEa8wtWy259"))
        .with(DigitOrCapital),
    token("docker_token", &["dckr_pat_", "dckr_oat_"], Url, 16, concat!("dckr", "_pat_1AIVVIZM5oForBFbyvQR")),
    token("vault_token", &["hvs.", "hvb.", "hvr."], Url, 20, concat!("hv", "s.ZzUk1D6iNIb6zLKQbfPBi3Dl")),
    token("databricks_token", &["dapi"], Hex, 30, concat!("da", "pi18ca6eaac8d82f01b7210760474f36e8b5")),
    token(
        "atlassian_token",
        &["ATATT3", "ATCTT3"],
        Url,
        30,
        concat!("ATA", "TT3MM9VThX0k9tgLb7tKR69yz8TmeLS1OpgSX"),
    ),
    token("atlassian_token", &["ATBB"], Alnum, 24, concat!("AT", "BBt2RMZhYKYcwIBQxeGPva2A0FgB9x"))
        .with(DigitAndCapital),
    token(
        "linear_key",
        &["lin_api_", "lin_oauth_"],
        Alnum,
        20,
        concat!("lin_", "api_O51DTjBlUH9PrNZ6IXEDB0UL"),
    ),
    token("notion_token", &["ntn_"], Alnum, 30, concat!("nt", "n_ru2p17fr4CpWDKNQyvbF2ulFnwZqvr4MS4"))
        .with(DigitOrCapital),
    token(
        "notion_token",
        &["secret_"],
        Alnum,
        40,
        concat!("sec", "ret_rJaH8mfpUAFJWpSEPTFCYbfsozSptQLxEJHwBVJvwSDr"),
    )
    .with(DigitAndCapital),
    token("figma_token", &["figd_"], Url, 24, concat!("fi", "gd_tqohUmuhVI8WSlmnVErULWHMsg1m")),
    token(
        "shopify_token",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        Hex,
        24,
        concat!("shp", "at_97b590481194f309ffea518f32cf2144"),
    ),
    token("square_token", &["sq0atp-", "sq0csp-"], Url, 18, concat!("sq0", "atp-ZK8tfphJWAMMYNoXHyC6Ct")),
    token(
        "square_token",
        &["EAAAE"],
        Url,
        40,
        concat!("EA", "AAE3LBtKNdN9Vg8WnOnqQfkplJekaACSMEscosTsS3DeRo7"),
    )
    .with(DigitAndCapital),
    token("sentry_token", &["sntrys_"], Url, 24, concat!("snt", "rys_qYYOLQZ7mBhIoPj6r0jedkYtMV0K")),
    token("sentry_token", &["sntryu_"], Alnum, 24, concat!("snt", "ryu_6sChDStSz8rGIFCfMc4BVuMqbfo9")),
    token("grafana_token", &["glsa_"], Word, 24, concat!("gl", "sa_R13KL8bWR0rKcWWlEHPC6rlLBO0F")),
    token("grafana_token", &["glc_"], Alnum, 30, concat!("gl", "c_fEwAvuQg2kvASFsQ8z0WJcDfuquhXz3G0a"))
        .with(DigitOrCapital),
    token("pulumi_token", &["pul-"], Hex, 32, concat!("pu", "l-ed16bfe16849ef307590d273e34f98dff7e4")),
    token(
        "rubygems_key",
        &["rubygems_"],
        Hex,
        32,
        concat!("ruby", "gems_c6428da8099f4efbacea67c7d1afcc4f14a3"),
    ),
    token("crates_token", &["cio"], Alnum, 32, concat!("c", "io32CgH6DaUjA3PjeEYqvNSzPf2v2R2Iy9uOT4"))
        .with(DigitAndCapital),
    token(
        "postman_key",
        &["PMAK-"],
        Url,
        32,
        concat!("PM", "AK-f127972d33e5901a19bbd47d-5552c7f47e8e80e952eb"),
    ),
    token("tailscale_key", &["tskey-"], Url, 16, concat!("tsk", "ey-LtO9BSqD2tmy2EgpyKwK")),
    token("mailgun_key", &["key-"], Hex, 32, concat!("ke", "y-990c801f97b7684319e1b429ad564b858f9a")),
    token(
        "age_key",
        &["AGE-SECRET-KEY-1"],
        Upper,
        30,
        concat!("AGE-SECR", "ET-KEY-1H3EJOZ9XFZAQ8H3XQYXGO4B9UOE3T0HICC"),
    ),
    token("fly_token", &["fm1r_", "fm2_", "fo1_"], Url, 24, concat!("fm", "1r_tFhgp4IiyDxQ8VS8IALVUj4APg1F")),
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
        concat!("LS0tLS1C", "RUdJTiBQUklWQVRFNA88rcSxnCC8p2xgRxI5Pwdzrm9h820DfQnP"),
    ),
    token("telegram_token", &[":AA"], Url, 30, concat!("123456789:", "AAOMbdYvpiYKne1WJnLn03ovXjY5Mar2jiIq"))
        .after(Digits),
];
