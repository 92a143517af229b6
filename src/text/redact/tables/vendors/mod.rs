//! Vendors: tokens that are known by their shape, one row each.
//!
//! To add a vendor, add a row to the file of its kind: the name of its rule, the prefixes, what stands behind them and
//! how many bytes of it at least, and what stands behind the prefix in a made-up token. What else a row can say is in
//! [`vendor`](super::vendor). A test checks every example where tokens stand, whole and cut at every byte.
//!
//! | File | Vendors of |
//! |---|---|
//! | `cloud` | clouds and hosting |
//! | `code` | code, packages, builds, tests |
//! | `data` | databases, metrics, errors, feature flags |
//! | `keys` | vaults, and keys that are no single vendor's |
//! | `messages` | messages, mail, documents, people |
//! | `models` | language models and what they search with |
//! | `money` | payments, shops, travel |
//!
//! Not here, because the prefix hits innocent text more than once in 50 MB or is not secret: `s.` of old Vault tokens,
//! `00` of Okta, `test_` of Mollie and others, `pk_` and `phc_` of publishable keys (some of Klaviyo's secret ones begin
//! like them), `AIDA` and `AROA` of names in AWS, `age1` of public keys, `pat` of Airtable, with which `path` begins, hashes
//! of passwords such as `$2b$`; and shapes without a part that all tokens share, such as a plain UUID or 32 hexadecimal digits.

mod cloud;
mod code;
mod data;
mod keys;
mod messages;
mod models;
mod money;

use super::vendor::Vendor;

/// What many words begin with, and a prefix too. It is searched for by what stands behind.
pub(crate) const COMMON: &[&str] = words!(
    "acc age api asi ata atc bed clo con dis fig flw git hoo inf int lin liv mob nap ops out pos pul ren san sat
     sha shi sdk sup ver wan"
);

/// The rows of all files.
pub(crate) fn vendors() -> impl Iterator<Item = &'static Vendor> {
    [
        cloud::VENDORS,
        code::VENDORS,
        data::VENDORS,
        keys::VENDORS,
        messages::VENDORS,
        models::VENDORS,
        money::VENDORS,
    ]
    .into_iter()
    .flatten()
}
