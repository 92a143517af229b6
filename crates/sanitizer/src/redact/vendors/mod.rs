//! Tokens with a known shape, one row for each.
//!
//! To add a vendor, add a row to the list of its kind, in `infrastructure` or `services`. A row has the name of its
//! rule, the prefixes, the characters after them, their minimum number, and the part after the prefix in a made-up
//! token. [`Vendor`] documents the optional parts of a row. A test checks every example in typical contexts, whole and
//! cut at every byte.
//!
//! These prefixes are missing on purpose, because they hit innocent text more than once in 50 MB or are not secret:
//! - `s.` of old Vault tokens, `00` of Okta, `test_` of Mollie and others
//! - `pk_` and `phc_` of publishable keys, although some of Klaviyo's secret keys begin with `pk_`
//! - `AIDA` and `AROA` of names in AWS, `age1` of public keys
//! - `pat` of Airtable, because `path` begins with it
//! - hashes of passwords such as `$2b$`
//! - shapes without a common part, such as a plain UUID or 32 hexadecimal digits

mod infrastructure;
mod services;
pub(crate) mod vendor;

use vendor::Vendor;

/// Prefixes that many words begin with. The search looks for the part after them.
pub(crate) const COMMON: &[&str] = words!(
    "acc age api asi ata atc bed clo con dis fig flw git hoo inf int lin liv mob nap ops out pol pos pul ren san
     sat sha shi sdk sup ver wan"
);

/// Returns the rows of all files.
pub(crate) fn vendors() -> impl Iterator<Item = &'static Vendor> {
    [
        infrastructure::CLOUD,
        infrastructure::CODE,
        infrastructure::DATA,
        infrastructure::KEYS,
        services::MESSAGES,
        services::MODELS,
        services::MONEY,
    ]
    .into_iter()
    .flatten()
}
