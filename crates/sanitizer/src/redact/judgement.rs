//! Judges a value as secret or harmless, by its name, its place and its look.

use super::shape::{Shape, has_digit, is_made_up, segments, shape_of};
use crate::redact::names::NameKind;
use crate::redact::words::LABELS;
use crate::redact::words::is_one_of;

/// The number of bytes of a value that are read to judge it.
pub(crate) const JUDGED: usize = 256;

/// The minimum length of a secret that a program chose.
const MIN_CHOSEN: usize = 4;

/// The minimum length of a compared name. A shorter name is a word that may also be a password.
const MIN_NAME: usize = 9;

/// The minimum length of a name for the following check: a value that ends with the name is the same name in a scope.
const MIN_SCOPED: usize = 16;

/// The context of a value, as far as it affects the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A value in quotes, or an XML element.
    Quoted,
    /// `NAME=value` in capitals, or `name=value` with a blank after it.
    Setting,
    /// `?name=value`, `--name=value`.
    Parameter,
    /// `name: value` with nothing after the value.
    Alone,
    /// A value without quotes in none of the other contexts, most likely code.
    Code,
    /// The second of two arguments.
    Argument,
}

/// Returns true if a whole JSON string under such a name is a secret.
pub(crate) fn is_secret_string(kind: NameKind, name: &str, value: &str) -> bool {
    is_secret(kind, name, value, Place::Quoted)
}

pub(crate) fn is_secret(kind: NameKind, name: &str, value: &str, place: Place) -> bool {
    let judged = &value[..crate::floor_char_boundary(value, JUDGED)];
    let shape_of = shape_of(judged);
    let kind = if kind == NameKind::Variable { NameKind::Possible } else { kind };
    if is_own_name(name, judged) || (kind != NameKind::Password && is_made_up(judged.as_bytes())) {
        return false;
    }
    match (kind, shape_of) {
        (NameKind::Plain | NameKind::Variable, _)
        | (
            _,
            Shape::Empty | Shape::Placeholder | Shape::Reference | Shape::Url | Shape::Path | Shape::Plain,
        ) => false,
        (NameKind::Password | NameKind::Secret, Shape::Prose | Shape::Phrase) => {
            place == Place::Quoted && (value.len() > JUDGED || shape_of == Shape::Phrase)
        }
        (NameKind::Query, _) => {
            place == Place::Parameter
                && (shape_of == Shape::Random || (shape_of == Shape::Mixed && has_digit(judged.as_bytes())))
        }
        (NameKind::Possible, _)
            if place == Place::Parameter && name.to_ascii_lowercase().ends_with("token") =>
        {
            !matches!(shape_of, Shape::Plain | Shape::Number)
        }
        (NameKind::Possible, Shape::Random) => {
            let is_value = has_digit(judged.as_bytes()) || is_letter_password(judged, kind);
            is_token_like(judged)
                && match place {
                    Place::Code | Place::Alone => is_value,
                    Place::Argument => has_digit(judged.as_bytes()) && !is_named(judged),
                    _ => !is_alphabet(judged),
                }
        }
        (NameKind::Secret | NameKind::Possible, Shape::Mixed | Shape::Short) if is_standard(judged) => false,
        (NameKind::Possible, Shape::Mixed) if is_numbered(judged) => false,
        (NameKind::Possible, Shape::Mixed) => {
            let least = if place == Place::Setting { 6 } else { 8 };
            judged.len() >= least && has_digit(judged.as_bytes()) && is_token_like(judged)
        }
        (NameKind::Possible, _) => false,
        (_, Shape::Random | Shape::Mixed) => match place {
            Place::Code | Place::Alone => {
                is_token_like(judged) && (has_digit(judged.as_bytes()) || is_letter_password(judged, kind))
            }
            Place::Argument => is_token_like(judged) && has_digit(judged.as_bytes()) && !is_named(judged),
            _ => true,
        },
        // An access key of HTML, or the index of a feature.
        (NameKind::Secret, Shape::Word | Shape::Short) if judged.len() < MIN_CHOSEN => false,
        (_, Shape::Short) => match place {
            Place::Quoted => true,
            Place::Setting | Place::Parameter | Place::Alone => {
                kind == NameKind::Password && !is_operator(judged)
            }
            Place::Code | Place::Argument => false,
        },
        (_, Shape::Number) => {
            kind == NameKind::Password
                && matches!(place, Place::Quoted | Place::Setting | Place::Parameter | Place::Alone)
                && judged.bytes().all(|byte| byte.is_ascii_digit())
                && judged.len() >= 4
        }
        (_, Shape::WordDigits) => match place {
            Place::Argument => false,
            Place::Code => kind == NameKind::Password && !is_label(judged),
            Place::Alone => kind == NameKind::Password,
            _ => true,
        },
        (_, Shape::Word) => match place {
            Place::Parameter => true,
            Place::Quoted | Place::Setting => !is_label(judged) || is_bare(kind, judged),
            Place::Alone => {
                kind == NameKind::Password
                    && judged.bytes().all(|byte| byte.is_ascii_lowercase())
                    && (!is_label(judged) || is_bare(kind, judged))
            }
            Place::Code | Place::Argument => false,
        },
        (_, Shape::Identifier) => match place {
            Place::Parameter => true,
            Place::Quoted | Place::Setting => !is_label(judged) && !judged.contains('.'),
            _ => false,
        },
    }
}

/// Returns true if a value is only a name: a constant or variable (`AWS_SECRET_KEY`), or its own name
/// (`exports.getToken=getToken`, `apiKey=options.apiKey`).
fn is_own_name(name: &str, value: &str) -> bool {
    let is_constant = value.contains('_')
        && value.starts_with(|first: char| first.is_ascii_uppercase())
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && has_word(value);
    let last = |text: &'_ str| text.rsplit(['.', '-']).next().map(str::to_owned);
    let is_long = value.len() >= MIN_NAME;
    let is_camel =
        value.bytes().any(|byte| byte.is_ascii_uppercase()) && shape_of(value) == Shape::Identifier;
    let is_same = (is_long || is_camel) && last(name) == last(value);
    // A macro that stands for a function: `aes_set_encrypt_key nettle_aes_set_encrypt_key`.
    let is_scoped = name.len() >= MIN_SCOPED
        && value.strip_suffix(name).is_some_and(|scope| scope.ends_with(['_', '.', '-', ':']));
    // `f.token=f.token[0]`, and `client-secret=SECRET`.
    let is_part = value.strip_prefix(name).is_some_and(|rest| rest.starts_with(['[', '.', '(']));
    let is_form = value.len() >= MIN_CHOSEN
        && value.bytes().all(|byte| byte.is_ascii_uppercase())
        && segments(name).next().is_some_and(|word| word.eq_ignore_ascii_case(value) && word != value);
    is_constant
        || is_same
        || is_scoped
        || is_part
        || is_form
        || repeats_name(name, value)
        || (is_long && is_spelled_alike(name, value))
}

/// Returns true if a value begins with two words of its name, as constants of one kind do:
/// `x86_cpu_PAT = x86_cpu_index_1_edx`.
fn repeats_name(name: &str, value: &str) -> bool {
    let same = name.bytes().zip(value.bytes()).take_while(|(own, other)| own == other);
    same.filter(|(own, _)| *own == b'_').count() >= 2
}

/// Returns true if a value has the letters of its name, with other signs and capitals, and possibly more letters
/// before them, as in `CHALLENGE_PASSWORD: "challengePassword"` and `private_key: "RSAPrivateKey"`.
fn is_spelled_alike(name: &str, value: &str) -> bool {
    /// The maximum number of bytes before these letters.
    const MAX_BEFORE: usize = 64;
    if value.len() > name.len() + MAX_BEFORE {
        return false;
    }
    let letters = |text: &str| -> Vec<u8> {
        let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
        letters.map(|byte| byte.to_ascii_lowercase()).collect()
    };
    let own = letters(name.rsplit(['.', ':']).next().unwrap_or(name));
    let all = letters(value);
    // A type is named after its field. A password that ends like its name may be real.
    let is_type =
        own.ends_with(b"key") && value.starts_with(|first: char| first == '_' || first.is_ascii_uppercase());
    own == all || (own.len() >= MIN_NAME && is_type && all.ends_with(&own) && !has_digit(value.as_bytes()))
}

/// Returns true if a value is a name with a number or a hash after it: `db-credentials-7f9c6d`.
fn is_named(value: &str) -> bool {
    let is_word = |part: &str| {
        part.len() >= 5 && part.bytes().all(|byte| byte.is_ascii_lowercase()) && shape_of(part) == Shape::Word
    };
    value.contains('-') && value.split(['-', '/', '.']).any(is_word)
}

/// Returns true if a value is a word and a number, as ids are: `node-1234567890`.
fn is_numbered(value: &str) -> bool {
    value.split_once(['-', '_']).is_some_and(|(word, number)| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns true if a value is the name of a standard: `PKCS#8`, `AES-256`.
fn is_standard(value: &str) -> bool {
    let letters = value.bytes().take_while(u8::is_ascii_uppercase).count();
    let number = value[letters..].strip_prefix(['-', '#']).unwrap_or_default();
    letters >= 3 && (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true if a value lists the letters of the alphabet, as the pattern of a parser does.
fn is_alphabet(value: &str) -> bool {
    value.contains("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        || value.contains("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

/// Returns true if a segment of a name is a word of four letters or more.
fn has_word(value: &str) -> bool {
    segments(value).any(|word| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Returns true for `password: "secret"`. This word is a label under other names, but a value here.
fn is_bare(kind: NameKind, value: &str) -> bool {
    kind == NameKind::Password && value == "secret"
}

/// Returns true if a value only describes the expected value: `"api_key"`, `"new-password"`, `"userToken"`.
fn is_label(value: &str) -> bool {
    let is_digit = |character: char| character.is_ascii_digit();
    segments(value)
        .map(|word| word.trim_end_matches(is_digit))
        .all(|word| word.is_empty() || is_one_of(word, LABELS))
}

/// Returns true if a value has no signs of code: operators, types with parameters, the beginning of an expression.
fn is_token_like(value: &str) -> bool {
    let begins_like_code =
        value.starts_with(['[', '{', '(', '&', '*', '<', '>', '|', '!', '?', '=', '-', '.', ',']);
    let has_code = value.contains("&&")
        || value.contains("||")
        || value.contains("->")
        || value.contains("::")
        || value.contains("=>");
    // A type with parameters: `Vec<u8>`, `Array<T>`.
    let is_generic = value.ends_with('>') && value.contains('<');
    !begins_like_code && !has_code && !is_generic
}

/// Returns true for a password without digits: letters of both cases and a sign that names do not have.
fn is_letter_password(value: &str, kind: NameKind) -> bool {
    let bytes = value.as_bytes();
    let signs = bytes.iter().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'~'));
    let letters = bytes.iter().all(u8::is_ascii_alphabetic);
    let both = bytes.iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    (kind == NameKind::Password && both && signs) || (letters && value.len() >= 16)
}

/// Returns true if a value without quotes is an expression: parts of code between operators, as in `a.password??""`.
/// `next` is the byte after it.
pub(crate) fn is_expression(value: &str, next: Option<u8>) -> bool {
    let is_sign = |character: char| "[({+?:&|,!.=<>".contains(character);
    let continues =
        matches!(next, Some(b'"' | b'\'' | b'`')) && value.ends_with(|last| last != '=' && is_sign(last));
    let has_operator = ["===", "!==", "?.", "??", "||", "&&"].iter().any(|sign| value.contains(sign));
    (continues || has_operator)
        && value.split(is_sign).all(|part| {
            matches!(
                shape_of(part),
                Shape::Empty | Shape::Word | Shape::Plain | Shape::Identifier | Shape::WordDigits
            )
        })
}

fn is_operator(value: &str) -> bool {
    !value.bytes().any(|byte| byte.is_ascii_alphanumeric()) || !is_token_like(value)
}
