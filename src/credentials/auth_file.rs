//! An `auth.json`, which has one entry per provider: how it is read, parsed, edited and replaced.

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

use super::lock::{AuthLock, PATIENCE};
use super::token::Token;
use crate::files::{open, private};
use crate::text::STRICT;

/// The largest credentials file that is read, in bytes; real ones have a few kilobytes.
pub(super) const MAX_CREDENTIALS: u64 = 1024 * 1024;
/// How often to try for a text that parses. After that, the text counts as it is.
const READS: usize = 3;
/// The pause between two reads: longer than pi takes to write the file.
const BETWEEN_READS: Duration = Duration::from_millis(20);
/// The extended attribute with the access control list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// Bytes for the names of a file's extended attributes; Linux allows no more.
const ATTRIBUTE_NAMES: usize = 64 * 1024;

/// The credentials of all providers. `Debug` shows the providers only.
#[derive(Clone, Default)]
pub(super) struct Credentials(Map<String, Value>);

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

impl Credentials {
    /// Parses the bytes of a file. An empty file has no credentials. `None` when the bytes are not a JSON object, or
    /// are nested deeper than `serde_json` allows.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = without_mark(std::str::from_utf8(bytes).ok()?);
        if text.is_empty() {
            return Some(Self::default());
        }
        match serde_json::from_str(text).ok()? {
            Value::Object(entries) => Some(Self(entries)),
            _ => None,
        }
    }

    /// Splits off the entries that `is_taken` rejects, and returns their providers beside what is left.
    pub(super) fn split(self, is_taken: impl Fn(&Value) -> bool) -> (Self, Vec<String>) {
        let (taken, others): (Map<_, _>, Map<_, _>) =
            self.0.into_iter().partition(|(_, entry)| is_taken(entry));
        (Self(taken), others.into_iter().map(|(provider, _)| provider).collect())
    }

    /// One key for each provider.
    pub(super) fn of_keys<'a>(keys: impl Iterator<Item = (&'a str, String)>) -> Self {
        let entry = |key: String| json!({ "type": "api_key", "key": key });
        Self(keys.map(|(provider, key)| (provider.to_owned(), entry(key))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the entries of `others`, which win.
    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The text of a file with these entries and those of `others`, which win where both have a provider.
    pub(super) fn with(&self, others: &Self) -> Vec<u8> {
        let mut entries = self.0.clone();
        entries.extend(others.0.clone());
        Value::Object(entries).to_string().into_bytes()
    }

    /// The entry of a provider, of any type.
    pub(super) fn entry(&self, provider: &str) -> Option<&Value> {
        self.0.get(provider)
    }

    /// The entry of a provider that the user has logged in to (type `oauth`).
    pub(super) fn oauth(&self, provider: &str) -> Option<&Map<String, Value>> {
        let entry = self.entry(provider)?.as_object()?;
        (entry.get("type")?.as_str()? == "oauth").then_some(entry)
    }
}

/// Reads a credentials file of the user and follows links.
pub(super) fn read_credentials(auth: &Path) -> io::Result<Vec<u8>> {
    open::read(open::regular(auth)?, MAX_CREDENTIALS)
}

/// Reads credentials that are not half written. pi empties the file before it writes it, so this reads under pi's lock.
/// In case the lock is not available, it also repeats the read a few times until the text parses.
pub(super) fn read_settled(auth: &Path) -> io::Result<Vec<u8>> {
    let _lock = AuthLock::acquire(auth, PATIENCE);
    for _ in 0..READS {
        let bytes = read_credentials(auth)?;
        if !bytes.is_empty() && Credentials::parse(&bytes).is_some() {
            return Ok(bytes);
        }
        std::thread::sleep(BETWEEN_READS);
    }
    read_credentials(auth)
}

/// Replaces the token in one entry and keeps every other byte. `None` when the entry is missing, or is there twice:
/// then it is unclear which one pi reads.
pub(super) fn with_token(bytes: &[u8], provider: &str, token: &Token) -> Option<String> {
    let whole = std::str::from_utf8(bytes).ok()?;
    let text = without_mark(whole);
    let mark = whole.len() - text.len();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).ok()?;
    let Ast::Object(entries) = parsed.value? else { return None };
    let Ast::Object(entry) = only(&entries.properties, provider)? else { return None };
    let mut edits = Vec::new();
    for (name, value) in token.members() {
        let old = only(&entry.properties, name)?;
        edits.push((mark + old.start()..mark + old.end(), value.to_string()));
    }
    edits.sort_unstable_by_key(|(range, _)| range.start);
    let mut text = whole.to_owned();
    for (range, value) in edits.into_iter().rev() {
        text.replace_range(range, &value);
    }
    Some(text)
}

fn only<'a, 'text>(members: &'a [ObjectProp<'text>], name: &str) -> Option<&'a Ast<'text>> {
    let mut found = members.iter().filter(|member| member.name.as_str() == name);
    let first = found.next()?;
    found.next().is_none().then_some(&first.value)
}

/// Strips a byte order mark, as pi does.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Replaces the text of a file while the caller holds its lock. Where a rename can do it, a crash leaves the old text or
/// the new one, never a part. Owner, group and mode stay. `path` must have its links resolved.
pub(super) fn replace(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if is_plain(path, &found) {
        // The temporary file ends in `.tmp`, so no private agent directory copies or links it.
        let beside = private::beside(path, new)?;
        if resemble(beside.as_file(), &found).is_ok() {
            beside.as_file().sync_data()?;
            beside.persist(path)?;
            return Ok(());
        }
    }
    overwrite(path, old.len(), new)
}

/// Whether a new file can take the place of the old one without anybody noticing: one name, no access control list.
fn is_plain(path: &Path, found: &Metadata) -> bool {
    let mut names = vec![0; ATTRIBUTE_NAMES];
    let has_list = match rustix::fs::listxattr(path, names.as_mut_slice()) {
        Ok(length) => names[..length].split(|byte| *byte == 0).any(|name| name == ACCESS_LIST),
        // Not every file system has attributes.
        Err(_) => false,
    };
    found.nlink() == 1 && !has_list
}

/// Gives a file the owner, group and mode of another.
fn resemble(file: &File, old: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Overwrites the text in place, for a file with several names, a foreign owner or an access control list. Pads a
/// shorter text with line ends, which pi accepts, and cuts the file only after that.
fn overwrite(path: &Path, old: usize, new: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mut padded = new.to_vec();
    padded.resize(new.len().max(old), b'\n');
    file.write_all_at(&padded, 0)?;
    file.set_len(new.len() as u64)?;
    file.sync_data()
}
