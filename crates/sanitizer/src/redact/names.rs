//! Classifies the names of values, with the trigger words of names and the meanings of the words in names.

use super::shape::segments;
use crate::redact::words::is_one_of;

/// The likelihood that a value with this name is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// `DB_PASSWORD`, `pwd`: chosen by people, so the value may be a plain word.
    Password,
    /// `client_secret`, `x-api-key`, `accessToken`.
    Secret,
    /// `token`, `SENTRY_KEY`, `auth`: the value must also look like a secret.
    Possible,
    /// `GITHUB_TOKEN_CI`: as `Possible`, but only where a variable is set.
    Variable,
    /// `key`, `sig`: only as a query parameter.
    Query,
    /// A harmless name.
    Plain,
}

/// The maximum number of words that are read, counted from the end of a name.
const MAX_WORDS: usize = 6;

/// Judges a name such as `DB_PASSWORD`, `my-api-key`, `clientSecret` or `spring.datasource.password`.
pub(crate) fn name_kind(name: &str) -> NameKind {
    let mut words = segments(name).take(MAX_WORDS).peekable();
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
        // The fingerprint of an assembly's key.
        let mut is_public_key =
            || is_one_of(of, &["key"]) && words.next().is_some_and(|word| is_one_of(word, &["public"]));
        return if is_one_of(of, HARMLESS_TOKENS) || is_public_key() {
            NameKind::Plain
        } else if is_one_of(of, SECRET_TOKENS) {
            NameKind::Secret
        } else if glued.is_empty() {
            NameKind::Possible
        } else {
            NameKind::Plain
        };
    }
    // "Pass" also means one round, as in "first pass".
    let is_round = before.is_empty()
        || is_one_of(before, &["by", "first", "second", "one", "render", "multi", "no", "test"]);
    let is_password = is_one_of(last, PASSWORDS)
        || ends_with(last, "password")
        || ends_with(last, "passwd")
        || (is_one_of(last, &["pass", "pw"]) && !is_round);
    if is_password {
        NameKind::Password
    } else if ends_with(last, "secret") {
        NameKind::Secret
    } else if is_one_of(last, &["credential", "credentials", "creds", "auth", "pat", "jwt", "pass"]) {
        NameKind::Possible
    } else if is_one_of(last, &["sig", "signature"]) {
        NameKind::Query
    } else if has_secret_word(name) {
        NameKind::Variable
    } else {
        NameKind::Plain
    }
}

/// Returns true if a variable in capitals contains a word for a secret within its name.
fn has_secret_word(name: &str) -> bool {
    let is_variable =
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable
        && !segments(name).take(MAX_WORDS).any(|word| is_one_of(word, METADATA_WORDS))
        && segments(name).take(MAX_WORDS).any(|word| is_one_of(word, SECRET_WORDS))
}

fn key_kind(of: &str, is_glued: bool, name: &str) -> NameKind {
    let ends_like = |word: &&str| word.len() > 2 && ends_with(of, word);
    if is_one_of(of, PUBLIC_KEYS) {
        NameKind::Plain
    } else if is_one_of(of, SECRET_KEYS) || (is_glued && SECRET_KEYS.iter().any(ends_like)) {
        NameKind::Secret
    } else if is_one_of(of, POSSIBLE_KEYS) {
        NameKind::Possible
    } else if of.is_empty() {
        NameKind::Query
    } else if is_glued || name.bytes().any(|byte| byte.is_ascii_lowercase()) {
        NameKind::Plain
    } else {
        NameKind::Possible
    }
}

/// Returns true if the name of an environment variable contains key, token, secret, password or credential.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    let mut words = segments(name).map(without_digits).filter(|word| !word.is_empty()).peekable();
    // Only as the last word: `SSH_AUTH_SOCK` is a path.
    words.peek().is_some_and(|last| is_one_of(last, &["auth"]))
        || words.any(|word| is_secret_word(word) || word.strip_suffix(['s', 'S']).is_some_and(is_secret_word))
}

fn is_secret_word(word: &str) -> bool {
    let is_secret = is_one_of(word, SECRET_VARIABLE_WORDS)
        || SECRET_VARIABLE_ENDINGS.iter().any(|end| ends_with(word, end));
    is_secret && !is_one_of(word, HARMLESS_WORDS)
}

fn without_digits(word: &str) -> &str {
    word.trim_end_matches(|character: char| character.is_ascii_digit())
}

pub(crate) fn ends_with(word: &str, ending: &str) -> bool {
    strip_suffix(word, ending).is_some()
}

fn strip_suffix<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    let at = word.len().checked_sub(ending.len())?;
    (word.is_char_boundary(at) && word[at..].eq_ignore_ascii_case(ending)).then(|| &word[..at])
}

/// Parts of names whose value may be a secret, with any text around them. The sign of `sig=` is part of its word
/// because many other words begin with `sig`.
pub(crate) const TRIGGERS: &[&str] =
    words!("key token secret pass pwd credential creds auth cookie sig= signature _pat jwt");

/// Words that may follow the decisive word: `password2`, `API_KEY_PROD`, `secret_value`.
const SUFFIXES: &[&str] = words!(
    "prod production dev development staging stage test testing live sandbox local main backup old new
     current value val raw plain plaintext str string base64 b64 encoded hex v1 v2 v3 confirmation confirm
     again repeat base a b primary secondary"
);

const PASSWORDS: &[&str] = words!("password passwd passphrase passcode pwd passwrd");

/// Words that mark a variable in capitals as a secret even if other words follow: `GITHUB_TOKEN_CI`,
/// `DB_PASSWORD_MASTER`.
const SECRET_WORDS: &[&str] = words!("password passwd token secret apikey");

/// Words that follow if the variable is about a secret but does not contain one.
const METADATA_WORDS: &[&str] = words!(
    "url uri file path dir name id ids length len count size limit max min type kind expiry expires expiration ttl
     timeout hash policy enabled disabled required header prefix suffix field key keys regex pattern format env var
     endpoint issuer audience error invalid missing class version scope scopes index offset default
     lifespan lifetime seconds query param params test text label message prompt"
);

/// Words before `key` that make it secret.
const SECRET_KEYS: &[&str] = words!(
    "api access secret private auth encryption encrypt decryption signing master account admin root aes hmac
     jwt webhook subscription consumer deploy license preshared psk unseal recovery shared integration ingest
     wireguard openai anthropic stripe sendgrid mailgun azure gemini mistral cohere deepseek groq openrouter
     datadog algolia twilio"
);

/// Words before `key` that make it either a secret or the name of a storage location.
const POSSIBLE_KEYS: &[&str] = words!(
    "session app application client host function functions write server cookie token service google user
     storage crypto cipher hash project team bot license"
);

/// Words before `key` that make it public or an index.
const PUBLIC_KEYS: &[&str] = words!(
    "public primary foreign partition sort cache row group unique index lookup hash object query state event
     hot short map dict sub arrow publishable pub i18n react translation shortcut return enter tab escape
     delete space home any registry dedupe idempotency routing composite natural range search site s3 widget
     list item data"
);

/// Words before `token` that make it a credential.
const SECRET_TOKENS: &[&str] = words!(
    "access auth refresh id bearer api session secret personal bot github gitlab gh gl npm slack discord
     telegram oauth jwt login user admin deploy service vault webhook pypi hf huggingface cloudflare
     digitalocean heroku vercel netlify sentry account app private job ci codecov sonar security
     registration verification reset device do fly railway influx influxdb mapbox notion linear jira circleci
     travis twilio replicate databricks doppler consul nomad terraform snyk rubygems cargo docker registry"
);

/// Words before `token` that make it harmless: tokens of lexers and models, and the form token that a page gives to
/// each visitor. A form token is useless without its cookie, and if a marker replaced it, the form could not be sent.
const HARMLESS_TOKENS: &[&str] = words!(
    "next prev previous page continuation cancel cancellation abort start end eos bos pad unk sep cls mask
     stop current peek lookahead design color syntax max min per first last eof open close operator input
     output prompt completion special sync change public lock csrf xsrf authenticity antiforgery"
);

/// Words of an environment variable that contains a secret, in the singular.
const SECRET_VARIABLE_WORDS: &[&str] =
    words!("key token secret password passwd pass pwd passphrase credential creds pat jwt");

/// Endings of such words.
const SECRET_VARIABLE_ENDINGS: &[&str] = words!("key token secret password credential");

/// Words that have such an ending but are harmless.
const HARMLESS_WORDS: &[&str] = words!("monkey donkey turkey hockey whiskey jockey");

/// Words for a password in other languages. Each word has the ending that a search looks for, because many words of
/// code begin like these words.
pub(crate) const FOREIGN: [(&str, &str); 11] = [
    ("nnwort", "kennwort"),
    ("seña", "contraseña"),
    ("enha", "senha"),
    ("chtwoord", "wachtwoord"),
    ("asło", "hasło"),
    ("пароль", "пароль"),
    ("密码", "密码"),
    ("密碼", "密碼"),
    ("パスワード", "パスワード"),
    ("비밀번호", "비밀번호"),
    ("passwort", "passwort"),
];

#[cfg(test)]
mod tests {
    use super::{NameKind, is_secret_variable, name_kind};

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
            (NameKind::Possible, &["token", "SENTRY_KEY", "auth", "GITHUB_PAT", "credentials"]),
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
    fn secret_variables_are_recognized_by_name() {
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
            assert!(is_secret_variable(name), "{name}");
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
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
