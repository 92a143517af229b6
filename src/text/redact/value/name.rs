//! What the name of a value says about it.

use super::looks::segments;
use crate::text::redact::tables::is_one_of;
use crate::text::redact::tables::names::{
    ABOUT, KEY_NOT, KEY_OF, KEY_PERHAPS, PASSWORDS, SAYS, SAYS_AT_END, SAYS_NOT, SUFFIXES, TELLING,
    TOKEN_NOT, TOKEN_OF,
};

/// How likely a value with this name is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// `DB_PASSWORD`, `pwd`: chosen by people, so the value may be a plain word.
    Password,
    /// `client_secret`, `x-api-key`, `accessToken`.
    Secret,
    /// `token`, `SENTRY_KEY`, `auth`: the value must look like a secret, too.
    Perhaps,
    /// `GITHUB_TOKEN_CI`: as `Perhaps`, where a variable is set.
    Told,
    /// `key`, `sig`: only as a query parameter.
    Query,
    /// Nothing secret.
    Plain,
}

/// Words of a name that are read, counted from its end.
const WORDS: usize = 6;

/// Judges a name such as `DB_PASSWORD`, `my-api-key`, `clientSecret` or `spring.datasource.password`.
pub(crate) fn name_kind(name: &str) -> NameKind {
    let mut words = segments(name).take(WORDS).peekable();
    let Some(mut last) = words.next() else { return NameKind::Plain };
    let is_suffix = |word: &str| is_one_of(word, SUFFIXES) || word.bytes().all(|byte| byte.is_ascii_digit());
    while let Some(before) = words.next_if(|_| is_suffix(last)) {
        last = before;
    }
    let last = without_digits(last);
    let before = words.next().unwrap_or_default();
    if let Some(glued) = strip_suffix(last, "key") {
        return key_kind(if glued.is_empty() { before } else { glued }, !glued.is_empty(), name);
    }
    if let Some(glued) = strip_suffix(last, "token") {
        let of = if glued.is_empty() { before } else { glued };
        return match () {
            () if is_one_of(of, TOKEN_NOT) => NameKind::Plain,
            // The fingerprint of an assembly's key.
            () if is_one_of(of, &["key"])
                && words.next().is_some_and(|word| is_one_of(word, &["public"])) =>
            {
                NameKind::Plain
            }
            () if is_one_of(of, TOKEN_OF) => NameKind::Secret,
            () if glued.is_empty() => NameKind::Perhaps,
            () => NameKind::Plain,
        };
    }
    // As in a first pass.
    let is_turn = before.is_empty()
        || is_one_of(before, &["by", "first", "second", "one", "render", "multi", "no", "test"]);
    match () {
        () if is_one_of(last, PASSWORDS) => NameKind::Password,
        () if ends_with(last, "password") || ends_with(last, "passwd") => NameKind::Password,
        () if is_one_of(last, &["pass", "pw"]) && !is_turn => NameKind::Password,
        () if ends_with(last, "secret") => NameKind::Secret,
        () if is_one_of(last, &["credential", "credentials", "creds", "auth", "pat", "jwt", "pass"]) => {
            NameKind::Perhaps
        }
        () if is_one_of(last, &["sig", "signature"]) => NameKind::Query,
        () if is_told(name) => NameKind::Told,
        () => NameKind::Plain,
    }
}

/// Whether a variable in capitals says within its name that it has a secret.
fn is_told(name: &str) -> bool {
    let is_variable =
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable
        && !segments(name).take(WORDS).any(|word| is_one_of(word, ABOUT))
        && segments(name).take(WORDS).any(|word| is_one_of(word, TELLING))
}

fn key_kind(of: &str, is_glued: bool, name: &str) -> NameKind {
    let ends_like = |word: &&str| word.len() > 2 && ends_with(of, word);
    match () {
        () if is_one_of(of, KEY_NOT) => NameKind::Plain,
        () if is_one_of(of, KEY_OF) || (is_glued && KEY_OF.iter().any(ends_like)) => NameKind::Secret,
        () if is_one_of(of, KEY_PERHAPS) => NameKind::Perhaps,
        () if of.is_empty() => NameKind::Query,
        () if is_glued || name.bytes().any(|byte| byte.is_ascii_lowercase()) => NameKind::Plain,
        () => NameKind::Perhaps,
    }
}

/// Whether the name of an environment variable says key, token, secret, password or credential.
pub(crate) fn says_secret(name: &str) -> bool {
    let mut words = segments(name).map(without_digits).filter(|word| !word.is_empty()).peekable();
    // Only as the last one: `SSH_AUTH_SOCK` is a path.
    words.peek().is_some_and(|last| is_one_of(last, &["auth"]))
        || words.any(|word| says(word) || word.strip_suffix(['s', 'S']).is_some_and(says))
}

fn says(word: &str) -> bool {
    let is_said = is_one_of(word, SAYS) || SAYS_AT_END.iter().any(|end| ends_with(word, end));
    is_said && !is_one_of(word, SAYS_NOT)
}

fn without_digits(word: &str) -> &str {
    word.trim_end_matches(|character: char| character.is_ascii_digit())
}

pub(super) fn ends_with(word: &str, ending: &str) -> bool {
    strip_suffix(word, ending).is_some()
}

fn strip_suffix<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    let at = word.len().checked_sub(ending.len())?;
    (word.is_char_boundary(at) && word[at..].eq_ignore_ascii_case(ending)).then(|| &word[..at])
}

#[cfg(test)]
mod tests {
    use super::{NameKind, name_kind, says_secret};

    #[test]
    fn the_last_word_of_a_name_decides() {
        for (kind, names) in [
            (
                NameKind::Password,
                &[
                    "DB_PASSWORD",
                    "pwd",
                    "dbPass",
                    "password2",
                    "userpassword",
                    "passwordConfirmation",
                    "spring.datasource.password",
                ][..],
            ),
            (
                NameKind::Secret,
                &[
                    "my-api-key",
                    "clientSecret",
                    "x-api-key",
                    "apikey",
                    "OPENAI_API_KEY",
                    "accessToken",
                    "SECRET_KEY_BASE",
                    "API_KEY_PROD",
                    "DBSecret",
                    "SharedAccessKey",
                    "authtoken",
                ],
            ),
            (NameKind::Perhaps, &["token", "SENTRY_KEY", "auth", "GITHUB_PAT", "credentials"]),
            (NameKind::Query, &["key", "sig"]),
            (
                NameKind::Plain,
                &[
                    "max_tokens",
                    "nextToken",
                    "keyboard",
                    "publicKey",
                    "publicKeyToken",
                    "primary_key",
                    "tokenCount",
                    "token_url",
                    "monkey",
                    "secretary",
                    "passwordLength",
                    "password_hash",
                    "keyCode",
                    "bypass",
                ],
            ),
        ] {
            for name in names {
                assert_eq!(name_kind(name), kind, "{name}");
            }
        }
    }

    #[test]
    fn variables_say_what_they_hold() {
        for name in [
            "API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "dbPassword",
            "OPENAIKEY",
            "APP_CREDENTIALS",
            "TOKEN2",
            "DB_PASSWORDS",
            "MY_PASSPHRASES",
            "APIKEYS",
            "GITHUB_PAT",
            "SESSION_JWT",
            "dbCreds",
            "NPM_AUTH_2",
        ] {
            assert!(says_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "HOME",
            "KEYBOARD_LAYOUT",
            "MONKEYS",
            "PASSAGE",
            "LANG",
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "GIT_AUTHOR_NAME",
            "NO_ACCESS",
        ] {
            assert!(!says_secret(name), "{name}");
        }
    }
}
