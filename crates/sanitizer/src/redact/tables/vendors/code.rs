//! Tokens of services for code: hosting, packages, builds, tests.

use crate::redact::tables::vendor::Alphabet::{Alnum, Dotted, Hex, Token68, Upper, Url, Word};
use crate::redact::tables::vendor::Before::{BoundaryButDash, Run};
use crate::redact::tables::vendor::Needs::{DigitAndCapital, NoWords, Variety};
use crate::redact::tables::vendor::{Vendor, token, webhook};

pub(super) static VENDORS: &[Vendor] = &[
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
