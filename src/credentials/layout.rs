//! What becomes of each name in the user's agent directory.

use std::ffi::OsStr;

/// How an entry of the user's agent directory appears in a private one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// As a copy: pi writes it or makes a lock beside it.
    Copy(Content),
    /// As a link to the original: pi only reads it.
    Link,
    /// Not at all.
    LeaveOut,
}

/// What a copy has to be watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing.
    Plain,
    /// The credentials, read under pi's lock and remembered for the comparison at the end.
    Credentials,
    /// The settings, in which paths are relative to the directory they lie in.
    Settings,
    /// The tokens of MCP servers, which never come back: a child must not be able to spend those that work only once.
    McpTokens,
}

/// pi's credentials.
pub(super) const AUTH: &str = "auth.json";

/// What pi would move or complain about when it starts. The user's own pi has done that already, and a child could not.
const MIGRATED: [&str; 4] = ["commands", "hooks", "oauth.json", "tools"];
/// What belongs to other conversations, to us, or to one process.
const PRIVATE: [&str; 4] = ["sessions", "subagents", "tmp", "crashes.json"];
/// Locks, logs, old sessions, what a migration left, and files half written.
const PRIVATE_ENDINGS: [&str; 5] = [".lock", ".log", ".jsonl", ".migrated", ".tmp"];

/// Decides about one entry. What is unknown is linked, because settings may name any file in the directory.
pub(super) fn treatment(name: &OsStr) -> Treatment {
    let Some(name) = name.to_str() else { return Treatment::Link };
    match name {
        AUTH => Treatment::Copy(Content::Credentials),
        "settings.json" => Treatment::Copy(Content::Settings),
        "mcp-auth.json" => Treatment::Copy(Content::McpTokens),
        "keybindings.json" | "models.json" | "models-store.json" | "trust.json" => {
            Treatment::Copy(Content::Plain)
        }
        _ if MIGRATED.contains(&name) || PRIVATE.contains(&name) => Treatment::LeaveOut,
        _ if PRIVATE_ENDINGS.iter().any(|ending| name.ends_with(ending)) => Treatment::LeaveOut,
        _ => Treatment::Link,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pi_writes_is_copied_what_it_reads_is_linked_and_the_rest_is_not_there() {
        for name in ["AGENTS.md", "SYSTEM.md", "extensions", "skills", "npm", "git", "bin", "mine.json"] {
            assert_eq!(treatment(OsStr::new(name)), Treatment::Link, "{name}");
        }
        for name in ["auth.json", "models.json", "models-store.json", "settings.json", "trust.json"] {
            assert!(matches!(treatment(OsStr::new(name)), Treatment::Copy(_)), "{name}");
        }
        for name in
            ["sessions", "subagents", "auth.json.lock", "pi-debug.log", "mcp.log", "oauth.json", "tmp"]
        {
            assert_eq!(treatment(OsStr::new(name)), Treatment::LeaveOut, "{name}");
        }
    }
}
