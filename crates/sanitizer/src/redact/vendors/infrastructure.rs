//! Tokens of services for building and running software: clouds, code, data, and keys that many vendors use.

use crate::redact::vendors::vendor::Alphabet::{
    Alnum, Base64, Dotted, Hex, Tilde, Token68, Upper, Url, Uuid, Word,
};
use crate::redact::vendors::vendor::Before::{BoundaryButDash, Run};
use crate::redact::vendors::vendor::Needs::{DigitAndCapital, JwtParts, NoWords, Variety};
use crate::redact::vendors::vendor::{Vendor, token, webhook};

/// Clouds and hosting.
pub(super) static CLOUD: &[Vendor] = &[
    token("aws_access_key", &["AKIA", "ASIA"], Upper, 16, "NZDKYAYQ3S195JMS")
        .max(16)
        .documented(&["EXAMPLE"]),
    token("google_api_key", &["AIza"], Url, 30, "n9dLVIdVuddLEG62Hkd9Gf2leMeR3pzh84")
        .max(36)
        .with(Variety)
        // Keys of Google's own pages and samples.
        .documented(words!(
            "11srVL_n0nvY 5ucxaOi4FmqE Cu4MJmprNXsw CxoX-oo6YyIs GBdi_UUPwX7c ITYefhixbX4A KRhhrOq1cS7g
             Lt1sjmdnP5sQ RLJv_a_p4wtM cQ9CKctWmLd4 fd2AFnzAvvuU itrUEke8agEM kOPjjaXeDQgY myCgHIAODrlU
             nHZRR_znhrh0 vwxyz1234567"
        )),
    token("google_token", &["ya29."], Dotted, 16, "KpLMcNfAQLKHu7qnQTup"),
    token("google_token", &["GOCSPX-"], Url, 16, "qziQPtDu7W7eaDNKgeIn"),
    token("google_token", &["1//0"], Url, 30, "Gqi7w4e4pxskC1ITtNZPHaQ0Jt7Qg84iqh").with(DigitAndCapital),
    token(
        "digitalocean_token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Hex,
        32,
        "c681d06bd2aa399dac946dc59c0996daeee6",
    )
    .glued(64),
    token("tailscale_key", &["tskey-"], Url, 16, "LtO9BSqD2tmy2EgpyKwK"),
    token("fly_token", &["fm1r_", "fm2_", "fo1_"], Token68, 24, "tFhgp4IiyDxQ8VS8IALVUj4APg1F"),
    token("aws_access_key", &["A3T"], Upper, 17, "X1O7JYX5KRHMYIGQW").max(17).with(DigitAndCapital),
    token("aws_access_key", &["ABIA", "ACCA"], Upper, 16, "1O7JYX5KRHMYIGQW").max(16).with(DigitAndCapital),
    token(
        "aws_bedrock_key",
        &["ABSK"],
        Base64,
        100,
        "kZFKndi1dqzTsH1HC05QJjVMAsTF7eccegjNArw9mNmE6RJVv39C3CEiUdsNyrTZh9yN3hLIGw9i4QvRgMqzOTLQNZRRZOgrRDWTzQz6Qtk5G5",
    ),
    token("aws_bedrock_key", &["bedrock-api-key-"], Token68, 40, "ognRLk1xn9uRuJfxwwuOmcMLCdV5QZWH3SggCjKg"),
    token("aws_appsync_key", &["da2-"], Alnum, 26, "Ht656ykXd2QrmjGsvqzBWNAJVz").max(26).with(NoWords),
    token(
        "amazon_secret",
        &["amzn1.oa2-cs.v1."],
        Hex,
        60,
        "a2cdf9bfb9e6eb6e11aeeef069b2d91dc8f6821d09ebd61f7b98c562ab6319a7",
    ),
    token("amazon_secret", &["amzn.mws."], Uuid, 32, "e56231f6-3750-05f4-2044-1066c6121274"),
    token("google_api_key", &["AQ.Ab"], Url, 40, "q1zQztAIT6ESH1uXYe4JBRddqX5rj38zvUncBxZhFbh8NQls"),
    token(
        "azure_secret",
        &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        Tilde,
        31,
        "PQW8Q1kzxTj2mVb4Tn9Rw3YpZc5Hd1Fg6J",
    )
    .max(35)
    .after(Run { min: 3, max: 3 }),
    token("azure_key", &["JQQJ99"], Alnum, 24, "VW1oqwC4TzZg2lTrgwu7lB9Bz9").after(Run { min: 50, max: 54 }),
    token("azure_key", &["+ASt", "ACDb", "+AMC"], Base64, 6, "q7Zx3g==")
        .max(12)
        .after(Run { min: 70, max: 80 }),
    token("azure_key", &["AzSe", "AzFu", "AzCa"], Base64, 6, "Q7zx3gA=")
        .max(12)
        .after(Run { min: 30, max: 46 }),
    token("alibaba_key", &["LTAI"], Alnum, 16, "ApxGCTfIgUeJyu0JKd0D").max(26).with(NoWords),
    token(
        "cloudflare_token",
        &["cfut_", "cfat_", "cfk_"],
        Word,
        36,
        "IZKQUipQvNWW38YkKBvDXU4xQuMsMfZceDvqXoRX",
    ),
    token(
        "cloudflare_token",
        &["v1.0-"],
        Url,
        150,
        "4825b1bf6f8392e11f1375ba-6c0cc322231e4ae9aeb65e9574ecb3e12238a712cc3787b6da490dc9e65833035507705e7f2e7de3ec60a2631bfae7ed60fee89ed7c96029760dbdc9cf78bf3888b57d45ce978915f2",
    ),
    token("heroku_key", &["HRKU-"], Url, 36, "2NLMRXHqxLL3KGW5H7Ej6yaePuLQvBCwgLbtiBWt6NDJw0JVDTGXRRemPb"),
    token(
        "vercel_token",
        &["vcp_", "vck_", "vci_", "vca_", "vcr_", "vercel_blob_rw_"],
        Word,
        24,
        "LGIPz35mSAwxqT2g6hkAPBZhhNEMSwGR",
    )
    .with(NoWords),
    token(
        "netlify_token",
        &["nfp_", "nfc_", "nfo_", "nfb_", "nfu_"],
        Alnum,
        30,
        "uIPuJ3SnnKsBXVYSCLejoNjIo5jZ0J3wfI2p",
    ),
    token("render_key", &["rnd_"], Alnum, 26, "K4L15DUzYLHckfu6EQSDDZbiOWlP").with(NoWords),
    token("fly_token", &["fm1a_"], Token68, 24, "rabjfIQr4G1x9dS4VJteLoyC1a6I3JqtDsvrfHF5"),
    token(
        "doppler_token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        Dotted,
        36,
        "Iq7QAZOfzc9oPItnJc9fWdwkCHa0ZwXaM1M6lN6qLOv",
    ),
    token(
        "frameio_token",
        &["fio-u-"],
        Token68,
        50,
        "Z3Njj4h5XoHxGcsHEb3dPQNlav92RKM1tSaa44erv3oGDeNORvcCdbtTpHltRLyi",
    ),
];

/// Hosting of code, packages, builds, tests.
pub(super) static CODE: &[Vendor] = &[
    token("github_token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Alnum, 16, "nQrS7RPeMOkIUpkDyr7O")
        .glued(36)
        .documented(&["00000000"]),
    token("github_token", &["github_pat_"], Word, 20, "SJoRu1XXdo0cZuzren68K4Tu").glued(60),
    token("gitlab_token", &["glpat-", "glrt-"], Dotted, 16, "nPFz46PDjqipVJIqVLB5").glued(20),
    token(
        "gitlab_token",
        &["gldt-", "glcbt-", "glptt-", "glagent-", "gloas-"],
        Url,
        16,
        "LzxoiGFfWd3hjOkYRBMe",
    ),
    token("gitlab_token", &["GR1348941"], Url, 16, "LzxoiGFfWd3hjOkYRBMe").with(NoWords),
    token("npm_token", &["npm_"], Alnum, 30, "yyMDHqJ38aRUhR4IWrXPvhsBkDa9U4UqGW").glued(36).with(NoWords),
    token("pypi_token", &["pypi-"], Url, 30, "lG6g3Ot1OGMmjxWkI9X7H6aMuFbh7x41Zt").with(NoWords),
    token("docker_token", &["dckr_pat_", "dckr_oat_"], Url, 16, "1AIVVIZM5oForBFbyvQR"),
    token("atlassian_token", &["ATATT3", "ATCTT3"], Token68, 30, "MM9VThX0k9tgLb7tKR69yz8TmeLS1OpgSX"),
    token("atlassian_token", &["ATBB"], Alnum, 24, "t2RMZhYKYcwIBQxeGPva2A0FgB9x").with(DigitAndCapital),
    token("linear_key", &["lin_api_", "lin_oauth_"], Alnum, 20, "O51DTjBlUH9PrNZ6IXEDB0UL"),
    token("pulumi_token", &["pul-"], Alnum, 32, "ed16bfe16849ef307590d273e34f98dff7e4")
        .with(NoWords)
        .after(BoundaryButDash),
    token("rubygems_key", &["rubygems_"], Alnum, 32, "c6428da8099f4efbacea67c7d1afcc4f14a3").with(NoWords),
    token("crates_token", &["cio"], Alnum, 32, "32CgH6DaUjA3PjeEYqvNSzPf2v2R2Iy9uOT4").with(DigitAndCapital),
    token("postman_key", &["PMAK-"], Url, 32, "f127972d33e5901a19bbd47d-5552c7f47e8e80e952eb"),
    token(
        "gitlab_token",
        &["glffct-", "glft-", "glimt-", "glsoat-", "glwt-"],
        Url,
        16,
        "NKs9pHQPgoDNJNZQHOOA",
    ),
    webhook("gitlab_session", &["_gitlab_session="], Alnum, 30, "MvrqxTC5RjPOV9IODzR0LAj20aogR8fc"),
    token(
        "artifactory_token",
        &["AKCp", "AKCg"],
        Alnum,
        60,
        "xPvDf4JdNtupQ977Mgl6pT7HfoZBeiUbUSiU1iEzpAVEPK9McQcf7tYwYAZkP2tESFgmk",
    )
    .with(NoWords),
    token(
        "artifactory_token",
        &["cmVmd"],
        Alnum,
        55,
        "Nxqvhe88z848atzdVXY3ketvQYRXLBIuSHf0u71p8fqDOe7BDIap7w2LmM3",
    )
    .with(NoWords),
    token("nuget_key", &["oy2"], Alnum, 43, "a7qk2mzx4vb8tn3rw9ypc5hd1fg6js0euml4k2vqx8t")
        .max(43)
        .with(NoWords)
        .after(BoundaryButDash),
    token(
        "clojars_token",
        &["CLOJARS_"],
        Alnum,
        50,
        "sLYCNSI71CUUEg9N73BGuFjxAwOjaJ4DVVkmzana1nBoieB52DB9GtbMnmAz",
    ),
    token("circleci_token", &["CCIPAT_", "CCIPRJ_"], Word, 40, "oIGTUBCiuM1dxqULPS9R089eaM4frvyNgLynfORe"),
    token(
        "buildkite_token",
        &["bkua_", "bkat_", "bkct_"],
        Alnum,
        30,
        "KCFrYVfLLylhbUp758SbxiVADWCigyPBjB6DVEhw",
    ),
    token("sonar_token", &["sqp_", "squ_", "sqa_"], Hex, 36, "5afcc4ac634cc693b2989e71e3c3cca3a297963a"),
    token("snyk_token", &["snyk_uat.", "snyk_sat."], Dotted, 30, "ftd6wDRjSjS8j6IVj907sTQreFGce9"),
    token("deno_token", &["ddp_", "ddw_"], Alnum, 30, "wRATp86YR3UtrJJFRmn4h3K7Mwfm38MtrziZ").with(NoWords),
    token("sourcegraph_token", &["sgp_", "sgp_local_"], Hex, 36, "5ce0b8d1f7a94e263b8d07c15f92ae64d3b1c780")
        .max(40)
        .with(Variety),
    // The id of an instance, and the token.
    token(
        "sourcegraph_token",
        &["sgp_"],
        Word,
        57,
        "f7a94e263b8d07c1_5ce0b8d1f7a94e263b8d07c15f92ae64d3b1c780",
    )
    .max(57)
    .with(NoWords),
    token("sourcegraph_token", &["slk_"], Word, 36, "RYaU0GG7jgeUHOaK5ZcB7kuzu3q7wQ2zwWmtTebv").with(NoWords),
    token(
        "segment_token",
        &["sgp_"],
        Alnum,
        64,
        "RYaU0GG7jgeUHOaK5ZcB7kuzu3q7wQ2zwWmtTebvM2v9Lq4Xs8Tn1Rw6Yp3Zc5Hd",
    )
    .max(64),
    token("octopus_key", &["API-"], Upper, 26, "ZRQ3ZLSN30Y92RLC4SIG6OCBKH").max(26).with(DigitAndCapital),
    token("openshift_token", &["sha256~"], Url, 40, "l7J0HjPfsNkKs3NCe3UI9BkzsackHKGfOKvmMUewVKI")
        .with(NoWords),
    token(
        "harness_token",
        &["pat.", "sat."],
        Dotted,
        60,
        "vmOvsqjFbtiJS8K9otcgi2.a07c5e6d8e2b4d0f2e91ab3c.U5RS9HaIgvctyDVPJ7tB",
    )
    .with(NoWords),
    token(
        "terraform_token",
        &[".atlasv1."],
        Url,
        58,
        "5XQfQ6gxOb2SwPQWhhqgECMcZ2kSEmBtjBq06qzdfpe28uOMEXa5h7qAIUtZSl8S",
    )
    .after(Run { min: 14, max: 14 }),
    token("scalingo_token", &["tk-us-"], Url, 40, "zbx3CADYCDcPCjJDkRdJQHJqRjGUyP7S06EKma2xZixdASh4"),
    token("prefect_token", &["pnu_", "pnb_"], Alnum, 32, "vkbqGkjz4SEuBKynVtumDcG0va0EiJlJ5xaE"),
    token("infracost_key", &["ico-"], Alnum, 32, "l91kqEC85qOXjPO7IoE54POtNkLVSl8e")
        .max(32)
        .with(NoWords)
        .after(BoundaryButDash),
    token(
        "readme_key",
        &["rdme_"],
        Alnum,
        60,
        "NkLDDtYGZ0684RudHzZfcUB6WwPh10Cu0IWUBaNhZBg8xRICDNPGG8wgOMxUHQocOUnovN",
    ),
    token("dependency_track_key", &["odt_"], Word, 32, "srl66wcFdep0HEu8VHAGjAA2sBDeYlLe").with(NoWords),
    token("stackhawk_key", &["hawk."], Dotted, 38, "ylFgGG4ZZK6INdD7Sg8L.UrVO4w3At4hP7YNuESDD").with(NoWords),
    token(
        "intra42_secret",
        &["s-s4t2ud-", "s-s4t2af-"],
        Hex,
        60,
        "0c5c785edb83f3a16dbac6ae0913bc32592f207a5ebf6e1c4459f4d725ffc86f",
    ),
    token("settlemint_token", &["sm_aat_", "sm_pat_", "sm_sat_"], Alnum, 16, "4Nuz0xujYwlydL1H"),
    token("adobe_secret", &["p8e-"], Url, 30, "K8IETvkn8O4rwXpuwaT7CulsNKdxx73I").with(NoWords),
];

/// Databases, metrics, errors and feature flags.
pub(super) static DATA: &[Vendor] = &[
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

/// Vaults, and keys that many vendors use.
pub(super) static KEYS: &[Vendor] = &[
    token("jwt", &["eyJ"], Dotted, 24, "GEY59YVkQfsGQO.eyJNvf08WpRtoZmjbcpEN.2XeDA4OKmTSyFzpjPSa5W3")
        .with(JwtParts),
    token("vault_token", &["hvs.", "hvb.", "hvr."], Url, 20, "ZzUk1D6iNIb6zLKQbfPBi3Dl"),
    token("age_key", &["AGE-SECRET-KEY-1"], Upper, 30, "H3EJOZ9XFZAQ8H3XQYXGO4B9UOE3T0HICC"),
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
    token(
        "onepassword_token",
        &["ops_eyJ"],
        Token68,
        100,
        "y0xzB1XxUp2N9QuGUD8aGxbjkiWXcOvNSeQeW8fIlraK9UdqijDDq2QXV13BNCWBU2BtyPM6YLspRSq65aFO7SIrENqWtXTGglsG3CgixnVV4gBsPWr4qp0lPweyu0EEWpyBv44u3qqPaJkGgaXTM4Jw6PNY71fnEBWSHdjXMWQ7djJTnBuBEKBq17kxEv46CfIXeZxO3yRjeDaFH2iB83KzdE33RLsPiSrjwO6vjr9EDMIOgNbt768osE",
    ),
    token("onepassword_key", &["A3-"], Url, 30, "HBXUF9-GG1OPIVY921-VLTW9-XEH6C-6UD0K")
        .max(40)
        .with(NoWords)
        .after(BoundaryButDash),
    token(
        "authress_key",
        &[".acc_", ".acc-"],
        Token68,
        40,
        "jU8TId7w8jyJTbsuE2PuB1xIj2hWUPyoosz1Tje90tsUyJyPkqJCErBF0F3Q",
    )
    .after(Run { min: 10, max: 44 }),
    token(
        "stytch_secret",
        &["secret-live-", "secret-test-"],
        Token68,
        36,
        "YrOSZO5JWpxlgsfxsEjy4mqE1Xj3sl1gj3TEkSYK",
    ),
];
