//! Keys of vaults, and keys that many vendors use.

use crate::redact::tables::vendor::Alphabet::{Base64, Dotted, Token68, Upper, Url};
use crate::redact::tables::vendor::Before::{BoundaryButDash, Run};
use crate::redact::tables::vendor::Needs::{JwtParts, NoWords};
use crate::redact::tables::vendor::{Vendor, token};

pub(super) static VENDORS: &[Vendor] = &[
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
