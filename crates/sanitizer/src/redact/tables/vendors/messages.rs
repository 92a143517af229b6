//! Tokens of services for messages, mail, documents and people.

use crate::redact::tables::vendor::Alphabet::{Alnum, Base64, Dotted, Hex, Path, Route, Token68, Url, Word};
use crate::redact::tables::vendor::Before::{BoundaryButDash, Digits, Run};
use crate::redact::tables::vendor::Needs::{DigitAndCapital, NoWords};
use crate::redact::tables::vendor::{Vendor, token, webhook};

pub(super) static VENDORS: &[Vendor] = &[
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
