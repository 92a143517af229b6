//! Decides which entries of the user's agent directory a private one copies, links or leaves out.

use std::ffi::OsStr;

use serde_json::{Map, Value};

use files::layout::is_unread;

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
/// The tokens of MCP servers.
pub(super) const MCP_AUTH: &str = "mcp-auth.json";
/// pi's settings.
pub(super) const SETTINGS: &str = "settings.json";
/// The setting for the shell.
pub(super) const SHELL_PATH: &str = "shellPath";

/// Old names that pi migrates or warns about when it starts. The user's own pi does this; a child cannot.
const MIGRATED: [&str; 4] = ["commands", "hooks", "oauth.json", "tools"];
/// Names that a private directory uses for its own files.
const RESERVED: [&str; 2] = ["shell", "shell.options"];

/// Decides how to treat one entry. Unknown entries are linked, because settings may name any file in the directory.
pub(super) fn treatment(name: &OsStr) -> Treatment {
    let Some(name) = name.to_str() else { return Treatment::Link };
    match name {
        AUTH => Treatment::Copy(Content::Credentials),
        SETTINGS => Treatment::Copy(Content::Settings),
        MCP_AUTH => Treatment::Copy(Content::McpTokens),
        "keybindings.json" | "models.json" | "models-store.json" | "trust.json" => {
            Treatment::Copy(Content::Plain)
        }
        _ if MIGRATED.contains(&name) || RESERVED.contains(&name) || is_unread(name) => Treatment::Omit,
        _ => Treatment::Link,
    }
}

/// Returns the shell in these settings, if any.
pub(super) fn shell_in(settings: &[u8]) -> Option<String> {
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
            "shell",
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
