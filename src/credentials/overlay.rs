//! Merges an agent's own credentials over the user's in a private agent directory.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::Value;

use super::auth_file::{Credentials, read_settled};
use super::build::AUTH;
use super::build::{Overlay, PrivateAgentDir};
use files::FileError;
use files::private::write_new;

/// The permission bits that a credentials file must not have: any access for group and others.
const OTHERS_ACCESS: u32 = 0o077;

impl PrivateAgentDir {
    /// Puts keys over the copied credentials, one for each provider, as pi's `--api-key` does in memory. Call it
    /// before [`Self::merge_credentials`], whose entries win over these keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the copy cannot be written.
    pub fn add_keys<'a>(&mut self, keys: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), FileError> {
        let keys = Credentials::of_keys(keys.map(|(provider, key)| (provider, literal(key))));
        if !keys.is_empty() {
            self.write(&keys)?;
            // No token of these providers is copied back.
            self.copied.extend(keys);
        }
        Ok(())
    }

    fn write(&self, entries: &Credentials) -> Result<(), FileError> {
        let own = self.path().join(AUTH);
        let failed = FileError::at(&own);
        match fs::remove_file(&own) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => write_new(&own, &self.copied.with(entries)).map_err(failed),
        }
    }

    /// Merges a file in pi's format over the copied credentials. Its entry for a provider wins; for other providers
    /// the user's own entries stay. Call it before the child starts. Blocks like [`Self::create`].
    ///
    /// Leaves out a file that other users can access or that cannot be parsed. Also leaves out every entry that pi
    /// would not accept, because one invalid entry makes pi reject the whole file. [`Self::skipped_files`] lists them.
    ///
    /// # Errors
    ///
    /// Returns an error if the copy cannot be written.
    pub fn merge_credentials(&mut self, path: &Path) -> Result<(), FileError> {
        let credentials = match read(path) {
            Ok(credentials) => credentials,
            Err(error) => {
                self.skip(path, error.to_string());
                return Ok(());
            }
        };
        let (credentials, refused) = credentials.split(is_credential);
        for provider in refused {
            self.skip(path, format!("its entry for `{provider}` is not a credential that pi accepts"));
        }
        self.write(&credentials)?;
        self.overlay = Some(Overlay { path: path.to_owned(), credentials });
        Ok(())
    }

    fn skip(&mut self, path: &Path, reason: String) {
        self.skipped_files.push((path.to_owned(), reason));
    }

    /// Returns all copied credentials.
    pub(super) fn credentials(&self) -> impl Iterator<Item = &Credentials> {
        [&self.copied].into_iter().chain(self.overlay.iter().map(|overlay| &overlay.credentials))
    }

    /// Returns the original file of a provider's credentials, and its content at the time of the copy.
    pub(super) fn origin(&self, provider: &str) -> (&Path, &Credentials) {
        match &self.overlay {
            Some(Overlay { path, credentials }) if credentials.entry(provider).is_some() => {
                (path, credentials)
            }
            _ => (&self.auth, &self.copied),
        }
    }
}

/// Escapes a key for pi's files, where `$NAME` is a variable and `!` begins a command.
fn literal(key: &str) -> String {
    let escaped = key.replace('$', "$$");
    if key.starts_with('!') { format!("${escaped}") } else { escaped }
}

/// Returns true if a credentials file has a valid entry for a provider, which then wins over the user's own. Blocks.
#[must_use]
pub fn has_entry(path: &Path, provider: &str) -> bool {
    read(path).is_ok_and(|credentials| credentials.entry(provider).is_some_and(is_credential))
}

fn read(path: &Path) -> io::Result<Credentials> {
    let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(invalid("it is not a regular file".to_owned()));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(invalid("it belongs to another user".to_owned()));
    }
    let mode = found.mode() & 0o777;
    if mode & OTHERS_ACCESS != 0 {
        return Err(invalid(format!(
            "its mode is {mode:o}; expected 600, so that no other user can access it"
        )));
    }
    Credentials::parse(&read_settled(path)?).ok_or_else(|| invalid("it is not a JSON object".to_owned()))
}

/// Returns true if pi accepts the entry. One invalid entry makes pi reject the whole file.
fn is_credential(entry: &Value) -> bool {
    let is_string = |name: &str| entry[name].is_string();
    match entry["type"].as_str() {
        Some("api_key") => {
            entry.get("key").is_none_or(Value::is_string) && has_only_strings(entry.get("env"))
        }
        Some("oauth") => is_string("access") && is_string("refresh") && entry["expires"].is_number(),
        _ => false,
    }
}

fn has_only_strings(env: Option<&Value>) -> bool {
    match env {
        None => true,
        Some(Value::Object(values)) => values.values().all(Value::is_string),
        Some(_) => false,
    }
}
