//! Tokens of services for payments, shops and travel.

use crate::redact::tables::vendor::Alphabet::{Alnum, Hex, Token68, Url, Uuid};
use crate::redact::tables::vendor::Before::BoundaryButDash;
use crate::redact::tables::vendor::Needs::{DigitAndCapital, NoWords};
use crate::redact::tables::vendor::{Vendor, token};

pub(super) static VENDORS: &[Vendor] = &[
    token(
        "stripe_key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        Alnum,
        10,
        "4gVJjrsMnTvnRO2qGFq5",
    ),
    token(
        "shopify_token",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        Hex,
        24,
        "97b590481194f309ffea518f32cf2144",
    ),
    token("square_token", &["sq0atp-", "sq0csp-"], Url, 18, "ZK8tfphJWAMMYNoXHyC6Ct"),
    token("square_token", &["EAAA"], Url, 22, "E3LBtKNdN9Vg8WnOnqQfkplJekaACSMEscosTsS3DeRo7")
        .with(DigitAndCapital),
    token("paystack_key", &["live_"], Url, 26, "yb5QprT0gTl9NeoWirRsDfWOdRh4iqJz")
        .with(NoWords)
        .after(BoundaryButDash),
    token(
        "duffel_token",
        &["duffel_live_", "duffel_test_"],
        Token68,
        36,
        "Uy5rxOjI5i59ghfhvwWVETabLSTDjOKW1YckQgXpr5Q",
    ),
    token(
        "easypost_key",
        &["EZAK", "EZTK"],
        Alnum,
        50,
        "VJYD8acKABpxi2DGiKA92JsnaWAD3UKh1u6ocq1AWzyUvhPVGfIXZX",
    )
    .with(NoWords),
    token("flutterwave_key", &["FLWSECK_TEST-", "FLWSECK-"], Url, 12, "Pj1zvZ8GqcqaSE3EGTUKET4JCXutvQlH"),
    token(
        "shippo_token",
        &["shippo_live_", "shippo_test_"],
        Hex,
        36,
        "74b30687b8096b2e008354c02aef4481d7c8147d",
    ),
    token(
        "plaid_token",
        &["access-sandbox-", "access-development-", "access-production-"],
        Uuid,
        32,
        "0d4fc8d8-8a0c-76a0-5310-0b0fb5862c8a",
    ),
    token("flexport_token", &["shltm_"], Url, 36, "I1Z5bLKO5QDs6uN0sEvKLXh2NW9LrTeHi8VglRY7"),
];
