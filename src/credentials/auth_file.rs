//! Reads, parses, edits and replaces an `auth.json`, which has one entry for each provider.

use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Map, Value, json};

use super::lock::{AuthLock, LOCK_TIMEOUT};
use super::token::Token;
use files::{open, private};
use sanitizer::STRICT;

/// The maximum size of a credentials file, in bytes. Real files have a few kilobytes.
pub(super) const MAX_CREDENTIALS: u64 = 1024 * 1024;
/// The maximum number of attempts to read a text that parses. After that, the last text counts.
const READ_ATTEMPTS: usize = 3;
/// The pause between two reads, which is longer than pi takes to write the file.
const READ_INTERVAL: Duration = Duration::from_millis(20);
/// The extended attribute with the access control list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// The buffer size for the names of a file's extended attributes, in bytes. Linux allows no more.
const ATTRIBUTE_NAMES: usize = 64 * 1024;

/// The credentials of all providers. `Debug` shows only the providers.
#[derive(Clone, Default)]
pub(super) struct Credentials(Map<String, Value>);

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

impl Credentials {
    /// Parses the bytes of a file. An empty file has no credentials. Returns `None` if the bytes are not a JSON
    /// object, or are nested deeper than `serde_json` allows.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = without_byte_order_mark(std::str::from_utf8(bytes).ok()?);
        if text.is_empty() {
            return Some(Self::default());
        }
        match serde_json::from_str(text).ok()? {
            Value::Object(entries) => Some(Self(entries)),
            _ => None,
        }
    }

    /// Removes the entries that `keep` rejects, and returns the remaining entries and the removed providers.
    pub(super) fn split(self, keep: impl Fn(&Value) -> bool) -> (Self, Vec<String>) {
        let (remaining, removed): (Map<_, _>, Map<_, _>) =
            self.0.into_iter().partition(|(_, entry)| keep(entry));
        (Self(remaining), removed.into_iter().map(|(provider, _)| provider).collect())
    }

    /// Creates credentials with one key for each provider.
    pub(super) fn of_keys<'a>(keys: impl Iterator<Item = (&'a str, String)>) -> Self {
        let entry = |key: String| json!({ "type": "api_key", "key": key });
        Self(keys.map(|(provider, key)| (provider.to_owned(), entry(key))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the entries of `others`, which replace existing entries.
    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Returns the text of a file with these entries and the entries of `others`. If both have a provider, the entry
    /// of `others` wins.
    pub(super) fn with(&self, others: &Self) -> Vec<u8> {
        let mut entries = self.0.clone();
        entries.extend(others.0.clone());
        Value::Object(entries).to_string().into_bytes()
    }

    /// Returns the entry of a provider, of any type.
    pub(super) fn entry(&self, provider: &str) -> Option<&Value> {
        self.0.get(provider)
    }

    /// Returns the entry of a provider that the user has logged in to (type `oauth`).
    pub(super) fn oauth(&self, provider: &str) -> Option<&Map<String, Value>> {
        self.entry(provider).and_then(login)
    }

    /// Returns the entries of all providers that the user has logged in to.
    pub(super) fn logins(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.0.values().filter_map(login)
    }
}

fn login(entry: &Value) -> Option<&Map<String, Value>> {
    let entry = entry.as_object()?;
    (entry.get("type")?.as_str()? == "oauth").then_some(entry)
}

/// Reads a credentials file of the user. Follows links.
pub(super) fn read_credentials(auth: &Path) -> io::Result<Vec<u8>> {
    open::read(open::regular(auth)?, MAX_CREDENTIALS)
}

/// Reads credentials that are completely written. pi empties the file before it writes it, so this reads under pi's
/// lock. If the lock is not available, it repeats the read a few times until the text parses.
pub(super) fn read_settled(auth: &Path) -> io::Result<Vec<u8>> {
    let _lock = AuthLock::acquire(auth, LOCK_TIMEOUT);
    for _ in 0..READ_ATTEMPTS {
        let bytes = read_credentials(auth)?;
        if !bytes.is_empty() && Credentials::parse(&bytes).is_some() {
            return Ok(bytes);
        }
        std::thread::sleep(READ_INTERVAL);
    }
    read_credentials(auth)
}

/// Replaces the token in one entry and keeps every other byte. Returns `None` if the entry is missing, or if it occurs
/// twice, because then it is unclear which one pi reads.
pub(super) fn with_token(bytes: &[u8], provider: &str, token: &Token) -> Option<String> {
    let whole = std::str::from_utf8(bytes).ok()?;
    let text = without_byte_order_mark(whole);
    let mark = whole.len() - text.len();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).ok()?;
    let Ast::Object(entries) = parsed.value? else { return None };
    let Ast::Object(entry) = unique_member(&entries.properties, provider)? else { return None };
    let mut edits = Vec::new();
    for (name, value) in token.members() {
        let old = unique_member(&entry.properties, name)?;
        edits.push((mark + old.start()..mark + old.end(), value.to_string()));
    }
    edits.sort_unstable_by_key(|(range, _)| range.start);
    let mut text = whole.to_owned();
    for (range, value) in edits.into_iter().rev() {
        text.replace_range(range, &value);
    }
    Some(text)
}

fn unique_member<'a, 'text>(members: &'a [ObjectProp<'text>], name: &str) -> Option<&'a Ast<'text>> {
    let mut found = members.iter().filter(|member| member.name.as_str() == name);
    let first = found.next()?;
    found.next().is_none().then_some(&first.value)
}

/// Strips a byte order mark, as pi does.
fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Replaces the text of a file. The caller holds its lock. If a rename is possible, a crash leaves either the old or
/// the new text, never a part. Owner, group and mode stay. The links in `path` must be resolved.
pub(super) fn replace(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if is_plain(path, &found) {
        // The temporary file ends in `.tmp`, so no private agent directory copies or links it.
        let temporary = private::write_temporary(path, new)?;
        if copy_ownership(temporary.as_file(), &found).is_ok() {
            temporary.as_file().sync_data()?;
            temporary.persist(path)?;
            return Ok(());
        }
    }
    overwrite(path, old.len(), new)
}

/// Returns true if a new file can replace the old one without side effects: it has one name and no access control
/// list.
fn is_plain(path: &Path, found: &Metadata) -> bool {
    let mut names = vec![0; ATTRIBUTE_NAMES];
    let has_list = match rustix::fs::listxattr(path, names.as_mut_slice()) {
        Ok(length) => names[..length].split(|byte| *byte == 0).any(|name| name == ACCESS_LIST),
        // Not every file system has attributes.
        Err(_) => false,
    };
    found.nlink() == 1 && !has_list
}

/// Gives a file the owner, group and mode of another file.
fn copy_ownership(file: &File, old: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Overwrites the text in place, for a file with several names, another owner or an access control list. Pads a
/// shorter text with line ends, which pi accepts, and truncates the file only after that.
fn overwrite(path: &Path, old: usize, new: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mut padded = new.to_vec();
    padded.resize(new.len().max(old), b'\n');
    file.write_all_at(&padded, 0)?;
    file.set_len(new.len() as u64)?;
    file.sync_data()
}
