//! Tokens of clouds and hosting.

use crate::redact::tables::vendor::Alphabet::{
    Alnum, Base64, Dotted, Hex, Tilde, Token68, Upper, Url, Uuid, Word,
};
use crate::redact::tables::vendor::Before::Run;
use crate::redact::tables::vendor::Needs::{DigitAndCapital, NoWords, Variety};
use crate::redact::tables::vendor::{Vendor, token};

pub(super) static VENDORS: &[Vendor] = &[
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
