//! Tokens of services for people and businesses: messages, language models, payments.

use crate::redact::vendors::vendor::Alphabet::{
    Alnum, Base64, Dotted, Hex, Path, Route, Token68, Url, Uuid, Word,
};
use crate::redact::vendors::vendor::Before::{BoundaryButDash, Digits, Run};
use crate::redact::vendors::vendor::Needs::{DigitAndCapital, DigitAndCapitalOrLength, NoWords};
use crate::redact::vendors::vendor::{Vendor, token, webhook};

/// Messages, mail, documents and people.
pub(super) static MESSAGES: &[Vendor] = &[
    token(
        "slack_token",
        &["xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xapp-"],
        Url,
        10,
        "2468013579-pdp4K8ffUF0eWIXiiQE8Jk",
    )
    .with(NoWords),
    // Begins with a workspace number of ten digits.
    token("slack_token", &["xoxb-", "xoxp-"], Url, 16, "2468013579-pdp4K8ffUF0eWIXiiQE8Jk").with(NoWords),
    token("slack_token", &["xoxe.xox"], Dotted, 24, "b-1-qH3MB9n7IWUSmTtzQPxC5HCh").with(NoWords),
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
    token("sendgrid_key", &["SG."], Token68, 30, "wnRpQgwXJ43ANVj77p3k.ZZl4AblV7vY7AZQ3VZprkYSg")
        .with(NoWords),
    token("twilio_key", &["SK"], Hex, 32, "c1f76eb97706ca828bca0385813dbad3"),
    token("notion_token", &["ntn_"], Alnum, 30, "ru2p17fr4CpWDKNQyvbF2ulFnwZqvr4MS4").with(NoWords),
    token("notion_token", &["secret_"], Alnum, 40, "rJaH8mfpUAFJWpSEPTFCYbfsozSptQLxEJHwBVJvwSDr")
        .with(DigitAndCapital),
    token("figma_token", &["figd_"], Url, 24, "tqohUmuhVI8WSlmnVErULWHMsg1m"),
    token("mailgun_key", &["key-"], Alnum, 32, "990c801f97b7684319e1b429ad564b858f9a")
        .max(36)
        .with(NoWords)
        .after(BoundaryButDash),
    token("telegram_token", &[":AA"], Url, 30, "OMbdYvpiYKne1WJnLn03ovXjY5Mar2jiIq").after(Digits),
    token("slack_token", &["xwfp-", "xoxo-"], Url, 16, "ML6RhoBl6bcFEeOjTpWntRVl9qDTj15J6S9FrA2a")
        .with(NoWords),
    webhook(
        "teams_webhook",
        &[".webhook.office.com/webhookb2/", "outlook.office.com/webhook/"],
        Route,
        40,
        "ZFhujljueuwAB2i8hnRS8ZiL5Gn26iyPrBfHpQOT46YIIRfkOeYcRBNIzSd3",
    ),
    token(
        "discord_token",
        &["mfa."],
        Url,
        60,
        "soQy4K29C1mbR9eecUdueJ5sRLc7Von3A4tqxlTO7xDz7cpBzSCllpV2HAvpjR2SAvvb3dKq52U9iVNdCIGS",
    )
    .with(NoWords),
    token("resend_key", &["re_"], Word, 28, "SmrdnUZpF2pT5Z9kl8mn5Mua0QhY6jDZi")
        .with(NoWords)
        .after(BoundaryButDash),
    token(
        "brevo_key",
        &["xkeysib-", "xsmtpsib-"],
        Url,
        60,
        "T8MgNCgWH9Ou3NLl26jpUmYXJ6ylRUgN1XlYQrt2fgCcJkXJDy6lGKzJqzN7pZEAtbCYLgA4HNAimjp4a",
    ),
    token(
        "mailersend_key",
        &["mlsn."],
        Hex,
        60,
        "42ebfbb9a8459132762b5ca44d19af9554343a6278093ecc84eeba98170f3a16",
    ),
    token("mailchimp_key", &["-us"], Hex, 1, "12").max(2).after(Run { min: 32, max: 32 }),
    token("typeform_token", &["tfp_"], Url, 40, "2SmGnO3x1F8ns7DzbYtmspDu4l3LgkySDKwyWX9784Ct"),
    token("contentful_token", &["CFPAT-"], Url, 40, "fJ6NVAYgpjUom2zyftUu3GaDAIke7MklJwbNzci1sIH"),
    token(
        "mapbox_token",
        &["sk.eyJ", "tk.eyJ"],
        Dotted,
        60,
        "PjKSgKMAQqLwsDCs94IU99O8K1LOLE7YRGf7ShOaadPCMztuxF2SI2t8q5qrmaw9PZGbQGr3baK421SU",
    ),
    token(
        "dropbox_token",
        &["sl.", "sl.u."],
        Url,
        120,
        "fjzkhJkdLTfzeULL06p92VLfQxEhUW49w2Ua3Q6dEKEe8qxX9SMazeyFhAthCDNQkQ3IKgLOvAV50P1BOXaFZKoPLrYA8uSKz06le5qC0Hoq2NbfYHh30QVpipbtBTqaKi",
    ),
    token(
        "hubspot_token",
        &["pat-na1-", "pat-na2-", "pat-eu1-"],
        Url,
        34,
        "a24e034b-46f5-b1cf-ce4d-d4c00554c71d",
    ),
    token(
        "intercom_token",
        &["dG9rO"],
        Base64,
        50,
        "VZXISb0rZS82GfbqzZhxazABhksvc2X9g59yHJTMr9Wwbf8NnLGkxwK6",
    ),
    token(
        "zoho_token",
        &["1000."],
        Dotted,
        65,
        "54231dc4489a542f5a82d0f1869d367d.2a1173513990c6f4692f77c6beea027f",
    )
    .with(NoWords),
    token(
        "teamwork_token",
        &["tkn.v1_"],
        Token68,
        60,
        "D0UwQS2ntnzcM7YlCdHc25PAOHyMeLQCqlGgRlQNbxu9CyPqNUBJiw0ZmZnYZ8VVsiCribU4IZOtRKeTGvu7bzOCYo",
    ),
    token(
        "facebook_token",
        &["EAAM", "EAAC", "EAAB", "EAAG"],
        Alnum,
        80,
        "HXaIUmfwHfcVlJN9SCvhzoVGvbXQhUWb16HghadATMRDDr377c20LjGetuKZlPBnzCpfg1aCEm9SwNb37SrowdqoCjCJgBj4qMwohgx4oM4yx7E5ZbelqszH",
    ),
    token("ubidots_token", &["BBFF-"], Alnum, 30, "dBkG94AoVQDSZf1ta5fK8No7R4GAgJZ5"),
    token("blynk_secret", &["oa2-client-secret_"], Url, 30, "hSUjPnvz8lfnLHqY2D9cg3wYpTAiaFCb"),
];

/// Language models and search services for them.
pub(super) static MODELS: &[Vendor] = &[
    token("anthropic_key", &["sk-ant-"], Url, 16, "OhbVrpoiVgRV5IfLBcbf"),
    token(
        "anthropic_key",
        &["sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-"],
        Url,
        16,
        "OhbVrpoiVgRV5IfLBcbf",
    )
    .glued(95),
    token("openrouter_key", &["sk-or-"], Url, 16, "noGMbJmTPSIAoCLrZ3aW"),
    token("openai_key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Url, 16, "ZkSBvrjn9Wvgfygw2wMq"),
    token("openai_key", &["sk-"], Url, 20, "ZcUDIh7yfJs1ON43xKmTecQoXsf2o3gyrDO1xkxw")
        .with(DigitAndCapitalOrLength)
        .after(BoundaryButDash),
    token("hugging_face_token", &["hf_"], Alnum, 20, "62dfOB1rcavXiOqkVCJTBJah").with(NoWords),
    token("hugging_face_token", &["api_org_"], Alnum, 20, "e84S5jIc1xLJjBictx57Y3c5").with(NoWords),
    token("groq_key", &["gsk_"], Alnum, 24, "X4gXBolZ9SHDdJp62hDiZDQHJMu8").with(NoWords),
    token("xai_key", &["xai-"], Word, 24, "W5CN0U5GB16JC5kV3ECqWp1OrXXH").with(NoWords),
    token("perplexity_key", &["pplx-"], Alnum, 24, "FOprCeTsprvu5IfijoySjTneAAvI"),
    token("replicate_token", &["r8_"], Word, 24, "DAdn1Ay5XL8Sb24WKyEa8wtWy259").with(NoWords),
    token("nvidia_key", &["nvapi-"], Url, 40, "Gnswph8PRvQSuEqcTdr3ZZx6HQO35UWzQXzoohJK"),
    token("tavily_key", &["tvly-"], Url, 24, "jqqRKApEHmVBFRN2YZl7c5mG").with(NoWords),
    token("firecrawl_key", &["fc-"], Hex, 32, "3b53f68e6f9833288305d32df5ce9fed"),
    token("jina_key", &["jina_"], Alnum, 40, "am0GQeZPc3n8fEkJftRkcB0tZ8bBWtkX8eQWThMC"),
    token("cerebras_key", &["csk-"], Alnum, 40, "ojezQGYGCMTBAlgSh7zWQHC9JxMAOQ3gQLPNmr6V").with(NoWords),
    token("fireworks_key", &["fw_"], Alnum, 22, "Suw5XCj6mv8ywKgp1MXfYP9Y")
        .with(NoWords)
        .after(BoundaryButDash),
    token("langsmith_key", &["lsv2_pt_", "lsv2_sk_"], Word, 32, "ijx6Uf68nCPp7bexVFQzGIMDs7JNQfcI"),
    token("langfuse_key", &["sk-lf-"], Uuid, 30, "c138bdd4-e724-5407-b1de-8fa2b132d315"),
    token("pinecone_key", &["pcsk_"], Word, 40, "EAyrTCIY4lJA4cdy3fthBSFRPSrlpgAjyPuA7W5H"),
    token("together_key", &["tgp_v1_"], Url, 36, "2HZYcSWu7VBQIS9kzxtT9Nhl15cB5pEcVkYy"),
    token("weights_and_biases_key", &["wandb_v1_"], Word, 36, "mbQrw9aMyBY3tePY0hHwO0PMQ23EPyFd3qjD"),
    token("e2b_key", &["e2b_"], Hex, 36, "069de7225be6c3bf6baf915e48f914109fb9b540"),
    token("runpod_key", &["rpa_"], Alnum, 36, "NgxEI4lO53T2Zle0mzWLWP23joWV0hbHACT3").with(NoWords),
    token("voyage_key", &["pa-"], Url, 40, "5RKTMzyMHg2vO7YSmcHYxHcxmwzEt0i07PDliNii")
        .with(NoWords)
        .after(BoundaryButDash),
    token("context7_key", &["ctx7sk-"], Url, 30, "wlYMiFIX3oe1HFxv8F3jlOO58GIeje"),
    token("apify_token", &["apify_api_"], Alnum, 30, "UYgEpq44XH5gV2RKdetxGoWCicUAwD"),
    token("voiceflow_key", &["VF.DM.", "VF.WS."], Dotted, 30, "efa1a27cc606850dc2da5f3b.DWp3GOKUbqJ1ZSp9"),
    token("elevenlabs_key", &["sk_"], Alnum, 24, "iYMPiGWgsy77K6RbDLw9EboVe0Mj484s48bJw8jiwsaTtPzS")
        .with(NoWords)
        .after(BoundaryButDash),
];

/// Payments, shops and travel.
pub(super) static MONEY: &[Vendor] = &[
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
    token(
        "polar_token",
        &["polar_oat_", "polar_pat_", "polar_at_u_", "polar_at_o_", "polar_rt_u_", "polar_rt_o_"],
        Url,
        36,
        "kT4rWq9ZbN2xLmP7vHc5YdS8gJf3RaE6uXo1QiB0tKw",
    ),
    token("flexport_token", &["shltm_"], Url, 36, "I1Z5bLKO5QDs6uN0sEvKLXh2NW9LrTeHi8VglRY7"),
];
