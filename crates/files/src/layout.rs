//! The names of our files and directories: below `subagents/` in the user's agent directory, and in a run's directory.

use std::path::{Path, PathBuf};

/// The directory in the user's agent directory that holds all of our files.
pub const SUBAGENTS: &str = "subagents";
/// The directory next to it, for the private trees of runs. Children cannot see the content of [`SUBAGENTS`].
pub const PRIVATE_TREES: &str = "subagent-trees";
/// The directory in [`SUBAGENTS`] for the snapshots of trees.
pub const SNAPSHOTS: &str = "snapshots";

/// Entries of the user's agent directory that belong to other conversations, to this package, or to a single process.
const UNREAD: [&str; 5] = ["sessions", SUBAGENTS, PRIVATE_TREES, "tmp", "crashes.json"];
/// Locks, logs, old sessions, leftovers of a migration, and half-written files.
const UNREAD_ENDINGS: [&str; 5] = [".lock", ".log", ".jsonl", ".migrated", ".tmp"];

/// Returns true if no child reads this entry of the user's agent directory.
#[must_use]
pub fn is_unread(name: &str) -> bool {
    UNREAD.contains(&name) || UNREAD_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A run's system prompt.
pub const PROMPT: &str = "prompt.md";
/// The extension that limits a run's child to its tools.
pub const GUARD: &str = "guard.cjs";

/// The file that is locked as long as a run is alive.
pub const LOCK: &str = "run.lock";

/// Returns the parent of a conversation's run directories: next to its session file, or in the agent directory if it has none.
#[must_use]
pub fn runs(agent_dir: &Path, session_file: Option<&Path>) -> PathBuf {
    let sibling = session_file.and_then(|file| Some(file.parent()?.join(file.file_stem()?)));
    sibling.unwrap_or_else(|| agent_dir.join(SUBAGENTS).join("runs"))
}

/// The database of this user's runs.
#[must_use]
pub fn store(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("runs.db")
}

/// The directory of the locks that say which processes are alive.
#[must_use]
pub fn processes(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("processes")
}

/// The directory of the logs of processes.
#[must_use]
pub fn logs(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("logs")
}

/// The directory of the live snapshots of detached runs.
#[must_use]
pub fn live(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("live")
}

/// The live snapshot of one detached run.
#[must_use]
pub fn live_snapshot(agent_dir: &Path, key: &str) -> PathBuf {
    live(agent_dir).join(key).with_extension("json")
}

/// The directory of the snapshots of trees, one below it for each run.
#[must_use]
pub fn snapshots(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join(SNAPSHOTS)
}

/// The record of a run's private tree, in the directory of its snapshot. It is removed as soon
/// as the changes in the tree have been imported, even if the import failed.
pub const PRIVATE_TREE: &str = "private.json";

/// The directory of the private trees of runs.
#[must_use]
pub fn private_trees(agent_dir: &Path) -> PathBuf {
    agent_dir.join(PRIVATE_TREES)
}

/// The directory of the locks of trees that runs write to.
#[must_use]
pub fn writers(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("writers")
}

/// The list of project agents that the user has confirmed.
#[must_use]
pub fn confirmed_agents(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("confirmed-agents.json")
}

/// The directory with the imports of the workflow scripts that the user has started.
#[must_use]
pub fn script_imports(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("scripts")
}

/// The directory of agents' own credentials.
#[must_use]
pub fn credentials(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("auth")
}

/// One agent's own credentials. The name is safe as a file name: it has no separators.
#[must_use]
pub fn credentials_of(agent_dir: &Path, agent: &str) -> PathBuf {
    credentials(agent_dir).join(format!("{agent}.json"))
}

/// The directory of the notes of running runs: the paths to remove if their process is killed.
#[must_use]
pub fn scratch(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("scratch")
}

/// Returns true if this is the id of a run, which is also the name of its directory.
#[must_use]
pub fn is_run_id(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The session file of an attempt, counted from 1.
#[must_use]
pub fn session(attempt: u32) -> String {
    numbered("session", attempt, "jsonl")
}

/// The copy of an earlier run's session, in the directory of a child that boots before it is certain that it continues the run.
pub const SESSION_COPY: &str = "continued.jsonl";
/// The second name of that copy, which replaces the session.
pub const SESSION_REPLACEMENT: &str = "continued.next";

/// The file of a text that was too long to return, counted from 1.
#[must_use]
pub fn output(number: u32) -> String {
    numbered("output", number, "md")
}

/// The file of a submitted result that was too long to return, counted from 1.
#[must_use]
pub fn submitted(number: u32) -> String {
    numbered("result", number, "json")
}

fn numbered(name: &str, number: u32, extension: &str) -> String {
    if number > 1 { format!("{name}-{number}.{extension}") } else { format!("{name}.{extension}") }
}
