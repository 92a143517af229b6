//! Reads JSON as its bytes arrive, and defines how strictly files are read.
//!
//! `skim` visits each value of a document and passes the wanted values to a sink. `unescape` decodes the inside of one
//! string, and converts bytes to text.

use jsonc_parser::ParseOptions;

pub mod skim;
pub mod unescape;

/// The options for strict JSON. We reject the same input as pi and other programs.
pub const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
