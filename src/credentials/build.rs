//! Creates a private agent directory and removes it again. Each entry of the user's agent directory is copied, linked
//! or left out.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use files::FileError;
use files::layout::is_unread;
use files::open::{self, directory_no_follow_at};
use files::private::{create_dir, write_new};
use pi_subagent_warden::remove_tree;
use rustix::fs::CWD;
use serde_json::{Map, Value};

use super::auth_file::{Credentials, read_settled};

/// The maximum number of entries of the user's agent directory that are read. Real directories have far fewer.
const MAX_ENTRIES: usize = 4096;
/// The maximum size of a copied file, in bytes. The cached model lists of many providers have a few megabytes.
const MAX_COPIED: u64 = 16 * 1024 * 1024;
/// The lists in pi's settings that may contain paths.
const PATH_LISTS: [&str; 5] = ["packages", "extensions", "skills", "prompts", "themes"];
/// The key of the token that refreshes an MCP server's access token.
const MCP_REFRESH: &str = "refresh_token";

/// A private copy of the user's agent directory, for one child. Dropping it removes the directory and everything in
/// it. It removes links without following them.
#[derive(Debug)]
pub struct PrivateAgentDir {
    path: PathBuf,
    /// The open directory. It stays the same even if another directory gets its path.
    pub(super) directory: OwnedFd,
    /// The path of the user's `auth.json`.
    pub(super) auth: PathBuf,
    /// The time of the copy.
    pub(super) since: SystemTime,
    /// The user's credentials at the time of the copy.
    pub(super) copied: Credentials,
    /// The agent's own credentials, if any. They win over the user's.
    pub(super) overlay: Option<Overlay>,
    pub(super) skipped_files: Vec<(PathBuf, String)>,
    /// The shell in the settings.
    pub(super) shell: Option<String>,
}

/// A second credentials file and its copied content.
#[derive(Debug)]
pub(super) struct Overlay {
    /// The path of that file.
    pub(super) path: PathBuf,
    /// The entries that were copied from it.
    pub(super) credentials: Credentials,
}

impl PrivateAgentDir {
    /// Creates the directory `at` from the user's directory `real`. `at` must not exist yet, but its parent must.
    /// `real` may be missing. Blocks for up to 35 s while another process refreshes a token, because the provider may
    /// already have revoked the old one.
    ///
    /// Leaves out files that cannot be copied and lists them in [`Self::skipped_files`]. pi, too, runs without files that
    /// it cannot read.
    ///
    /// # Errors
    ///
    /// Returns an error if the user's directory cannot be listed or `at` cannot be written. Then the partial copy is
    /// removed.
    pub fn create(real: &Path, at: &Path) -> Result<Self, FileError> {
        let unreadable = FileError::at(real);
        let real = std::path::absolute(real).map_err(&unreadable)?;
        let names = names_in(&real).map_err(unreadable)?;
        let unwritable = FileError::at(at);
        create_dir(at).map_err(&unwritable)?;
        let directory = directory_no_follow_at(CWD, at).map_err(|error| {
            let _ = fs::remove_dir(at);
            unwritable(error.into())
        })?;
        // From here on, dropping `private` removes the directory.
        let mut private = Self {
            path: at.to_owned(),
            directory,
            auth: real.join(AUTH),
            since: SystemTime::now(),
            copied: Credentials::default(),
            overlay: None,
            skipped_files: Vec::new(),
            shell: None,
        };
        for name in names {
            private.add(&real, &name)?;
        }
        Ok(private)
    }

    /// Returns the path of the directory, the child's `PI_CODING_AGENT_DIR`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files that the child lacks, or of which it lacks an entry, because they could not be copied, each
    /// with the reason.
    #[must_use]
    pub fn skipped_files(&self) -> &[(PathBuf, String)] {
        &self.skipped_files
    }

    /// Returns the entries that pi reads again while the child runs, that may name a program to start, and that pi does
    /// not write in this run. They can be made read-only for the child. Creates missing ones without content, so that the
    /// child cannot create them. `renews` is true if pi may have to write a token, and `downloads` if it may have to
    /// download a program. Call it before the child starts.
    ///
    /// # Errors
    ///
    /// Returns an error if an entry cannot be created.
    pub fn fixed(&self, renews: bool, downloads: bool) -> Result<Vec<PathBuf>, FileError> {
        let files = [
            (SETTINGS, Some("{}"), true),
            (MODELS, Some(r#"{"providers":{}}"#), true),
            (AUTH, Some("{}"), !renews),
            (PROGRAMS, None, !downloads),
        ];
        let mut fixed = Vec::new();
        for (name, content, is_fixed) in files {
            let path = self.path.join(name);
            match fs::symlink_metadata(&path) {
                // A link leads to an entry that the child cannot write.
                Ok(found) if found.is_symlink() => continue,
                Err(_) if is_fixed => match content {
                    Some(content) => write_new(&path, content.as_bytes()),
                    None => create_dir(&path),
                }
                .map_err(FileError::at(&path))?,
                _ => {}
            }
            fixed.extend(is_fixed.then_some(path));
        }
        Ok(fixed)
    }

    fn add(&mut self, real: &Path, name: &Path) -> Result<(), FileError> {
        let original = real.join(name);
        let own = self.path.join(name);
        let content = match treatment(name.as_os_str()) {
            Treatment::Omit => return Ok(()),
            Treatment::Link => return symlink(&original, &own).map_err(FileError::at(&own)),
            Treatment::Copy(content) => content,
        };
        match self.copy_of(&original, content, real) {
            Ok(bytes) => write_new(&own, &bytes).map_err(FileError::at(&own)),
            // The file was removed in the meantime, or is a dangling link. pi would not see it either.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                self.skipped_files.push((original, error.to_string()));
                Ok(())
            }
        }
    }

    fn copy_of(&mut self, original: &Path, content: Content, real: &Path) -> io::Result<Vec<u8>> {
        if content == Content::Credentials {
            let bytes = read_settled(original)?;
            self.copied = Credentials::parse(&bytes).unwrap_or_default();
            return Ok(bytes);
        }
        let bytes = open::read(open::regular(original)?, MAX_COPIED)?;
        match content {
            Content::Settings => {
                self.shell = shell_in(&bytes);
                Ok(anchored(&bytes, real).unwrap_or(bytes))
            }
            Content::McpTokens => without_refresh(&bytes),
            Content::Credentials | Content::Plain => Ok(bytes),
        }
    }
}

impl Drop for PrivateAgentDir {
    fn drop(&mut self) {
        // If this fails, the remains stay in the run's directory and are removed with it.
        let _ = remove_tree(&self.path);
    }
}

/// Returns the names in a directory, or none if the directory does not exist, as before pi's first start.
fn names_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.take(MAX_ENTRIES).map(|entry| Ok(entry?.file_name().into())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Rewrites paths that lead out of the agent directory (`../x`) so that they lead to the same file from the copy.
/// Returns `None` if no path changes.
fn anchored(settings: &[u8], real: &Path) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(settings).ok()?;
    let mut parsed: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    let mut changed = false;
    for list in PATH_LISTS {
        for item in parsed.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            // A package may be an object whose `source` is the path.
            let path = if item.is_object() { item.get_mut("source") } else { Some(item) };
            let Some(Value::String(path)) = path else { continue };
            if path.trim_start().starts_with("..") {
                *path = format!("{}/{}", real.to_str()?, path.trim());
                changed = true;
            }
        }
    }
    changed.then(|| serde_json::to_vec_pretty(&parsed).ok()).flatten()
}

/// Removes the refresh tokens of MCP servers. Access tokens stay usable until they expire. If the child refreshed a
/// token, the new one would not be copied back, but the user's token would be revoked.
fn without_refresh(tokens: &[u8]) -> io::Result<Vec<u8>> {
    let mut parsed: Value = serde_json::from_slice(tokens)?;
    strip(&mut parsed);
    Ok(serde_json::to_vec_pretty(&parsed)?)
}

/// Recursion is safe, because the parser limits the nesting.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove(MCP_REFRESH);
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => (),
    }
}

/// The form of an entry in a private agent directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// A copy, because pi writes the entry or creates a lock next to it.
    Copy(Content),
    /// A link to the original, because pi only reads it.
    Link,
    /// No entry.
    Omit,
}

/// The kind of a copied file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A file that is copied unchanged.
    Plain,
    /// The credentials. They are read under pi's lock, and kept for the comparison at the end.
    Credentials,
    /// The settings. Their paths are relative to the directory of the file.
    Settings,
    /// The tokens of MCP servers. They are never copied back, so a child must not get refresh tokens, which work only
    /// once.
    McpTokens,
}

/// pi's credentials file.
pub(super) const AUTH: &str = "auth.json";
/// pi's file of models, whose values may name commands.
const MODELS: &str = "models.json";
/// The directory of the programs that pi has downloaded. pi starts them in preference to those of `PATH`.
const PROGRAMS: &str = "bin";
/// The tokens of MCP servers.
const MCP_AUTH: &str = "mcp-auth.json";
/// pi's settings.
pub(super) const SETTINGS: &str = "settings.json";
/// The setting for the shell.
pub(super) const SHELL_PATH: &str = "shellPath";

/// Old names that pi migrates or warns about when it starts. The user's own pi does this; a child cannot.
const MIGRATED: [&str; 4] = ["commands", "hooks", "oauth.json", "tools"];

/// Decides how to treat one entry. Unknown entries are linked, because settings may name any file in the directory.
fn treatment(name: &OsStr) -> Treatment {
    let Some(name) = name.to_str() else { return Treatment::Link };
    match name {
        AUTH => Treatment::Copy(Content::Credentials),
        SETTINGS => Treatment::Copy(Content::Settings),
        MCP_AUTH => Treatment::Copy(Content::McpTokens),
        MODELS | "keybindings.json" | "models-store.json" | "trust.json" => Treatment::Copy(Content::Plain),
        _ if MIGRATED.contains(&name) || is_unread(name) => Treatment::Omit,
        _ => Treatment::Link,
    }
}

/// Returns the shell in these settings, if any.
fn shell_in(settings: &[u8]) -> Option<String> {
    let shell = members(settings)?.remove(SHELL_PATH)?;
    shell.as_str().filter(|shell| !shell.is_empty()).map(str::to_owned)
}

/// Returns the members of pi's settings, or `None` if pi cannot read the settings.
pub(super) fn members(settings: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(settings.strip_prefix(b"\xef\xbb\xbf").unwrap_or(settings)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(settings: &str) -> Option<Value> {
        let bytes = anchored(settings.as_bytes(), Path::new("/home/me/.pi/agent"))?;
        serde_json::from_slice(&bytes).ok()
    }

    #[test]
    fn only_paths_that_leave_the_directory_are_anchored() {
        let unchanged =
            r#"{"extensions":["./own.ts","-../x","~/x.ts"],"packages":["npm:a",{"source":"git:b"}]}"#;
        assert_eq!(anchor(unchanged), None);
        let moved = anchor(r#"{"theme":"dark","packages":["../../code/a",{"source":"../b","skills":[]}]}"#);
        let expected = serde_json::json!({
            "theme": "dark",
            "packages": ["/home/me/.pi/agent/../../code/a", {"source": "/home/me/.pi/agent/../b", "skills": []}],
        });
        assert_eq!(moved, Some(expected));
        assert_eq!(anchor("{ broken"), None);
    }

    #[test]
    fn refresh_tokens_of_mcp_servers_are_removed() {
        let tokens =
            br#"{"s|https://x/":{"tokens":{"access_token":"a","refresh_token":"r"},"tokensExpireAt":1}}"#;
        let text = String::from_utf8(without_refresh(tokens).expect("the tokens are valid JSON"))
            .expect("the tokens are UTF-8");
        assert!(text.contains("access_token") && !text.contains("refresh_token"), "{text}");
    }

    #[test]
    fn written_files_are_copied_read_files_are_linked_private_files_are_left_out() {
        for name in ["AGENTS.md", "SYSTEM.md", "extensions", "skills", "npm", "git", "bin", "mine.json"] {
            assert_eq!(treatment(OsStr::new(name)), Treatment::Link, "{name}");
        }
        for name in ["auth.json", "models.json", "models-store.json", "settings.json", "trust.json"] {
            assert!(matches!(treatment(OsStr::new(name)), Treatment::Copy(_)), "{name}");
        }
        for name in [
            "sessions",
            "subagents",
            "subagent-trees",
            "auth.json.lock",
            "pi-debug.log",
            "mcp.log",
            "oauth.json",
            "tmp",
        ] {
            assert_eq!(treatment(OsStr::new(name)), Treatment::Omit, "{name}");
        }
    }
}
