//! Collects the secrets that this process knows, and selects the values that are safe to search for.

use serde_json::Value;

use super::redact::{Shape, is_secret_variable, shape_of};

/// The minimum length of a value, in bytes. A shorter value would match innocent text too often.
const MIN_BYTES: usize = 8;

/// The length from which letters of one case no longer count as a dictionary word.
const MAX_WORD_LETTERS: usize = 16;

/// Returns true if the name of an environment variable contains key, token, secret, password or credential.
#[must_use]
pub fn names_secret(variable: &str) -> bool {
    // In shells, `PWD` is the working directory, not a password.
    is_secret_variable(variable) && !matches!(variable, "PWD" | "OLDPWD")
}

/// Returns the values of variables whose name contains key, token, secret, password or credential.
///
/// Leaves out values that are not searchable: values shorter than 8 bytes, paths, plain URLs, numbers, booleans, and
/// dictionary words (fewer than 16 letters, all in one case).
#[must_use]
pub fn secret_values<'a>(environment: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let named = environment.into_iter().filter(|(name, _)| names_secret(name));
    named.map(|(_, value)| value.trim()).filter(|value| is_searchable(value)).map(str::to_owned).collect()
}

/// Returns a provider's key if it is searchable.
#[must_use]
pub fn key_secret(key: &str) -> Option<String> {
    Some(key.trim()).filter(|key| is_searchable(key)).map(str::to_owned)
}

/// Returns the credentials in pi's `auth.json`, at any depth. Returns an empty list if the text is not JSON.
///
/// Leaves out a key that is a command (`!…`) or the name of a variable, because it is not a secret itself.
#[must_use]
pub fn auth_secrets(auth_json: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(auth_json) {
        collect(&value, &mut secrets);
    }
    secrets
}

fn collect(value: &Value, secrets: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text)
                        if is_credential(name) && !is_indirection(text) && is_searchable(text.trim()) =>
                    {
                        secrets.push(text.trim().to_owned());
                    }
                    other => collect(other, secrets),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, secrets)),
        _ => {}
    }
}

fn is_credential(name: &str) -> bool {
    matches!(name, "access" | "refresh") || is_secret_variable(name)
}

fn is_indirection(value: &str) -> bool {
    let is_variable = value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    value.starts_with(['!', '$']) || (is_variable && value.contains('_'))
}

/// Returns true if a search for this value does not match innocent text.
pub(super) fn is_searchable(value: &str) -> bool {
    if value.len() < MIN_BYTES {
        return false;
    }
    let is_word = value.len() < MAX_WORD_LETTERS
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (value.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
            || value.bytes().all(|byte| byte.is_ascii_uppercase()));
    let is_number = value.parse::<f64>().is_ok()
        || value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b','));
    let is_url =
        value.contains("://") && !value.contains('@') && !value.contains('?') && !value.contains("hooks");
    let is_marker = value.starts_with('[') && value.ends_with("REDACTED]");
    !(is_word
        || is_number
        || is_url
        || is_marker
        || shape_of(value) == Shape::Path
        || value.starts_with("./")
        || value.starts_with("~/"))
}

#[cfg(test)]
mod tests {
    use super::{auth_secrets, secret_values};

    #[test]
    fn only_searchable_values_are_secrets() {
        let environment = [
            ("DEPLOY_KEY", "k3-98xZq-11"),
            ("API_TOKEN", "short1"),
            ("SSH_KEY", "/home/x/.ssh/id_ed25519"),
            ("KEY_FILE", "C:\\keys\\server.key"),
            ("TOKEN_LIMIT", "1234567890"),
            ("USE_TOKENS", "true"),
            ("DB_PASSWORD", "development"),
            ("TOKEN_URL", "https://auth.example.com/token"),
            ("EDITOR_NAME", "k3-98xZq-12"),
        ];
        assert_eq!(secret_values(environment), ["k3-98xZq-11"]);
    }

    #[test]
    fn auth_json_gives_keys_and_oauth_tokens() {
        let auth = r#"{
            "one": {"type": "api_key", "key": "k1-98xZq-11"},
            "two": {"type": "oauth", "access": "a2-98xZq-11", "refresh": "r2-98xZq-11", "expires": 1790000000000},
            "three": {"type": "api_key", "key": "MY_API_KEY"},
            "four": {"type": "api_key", "key": "!pass show x"}
        }"#;
        assert_eq!(auth_secrets(auth), ["k1-98xZq-11", "a2-98xZq-11", "r2-98xZq-11"]);
        assert_eq!(auth_secrets("{"), Vec::<String>::new());
    }
}
