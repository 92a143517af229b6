//! Names of ours: below `subagents/` in the user's agent directory, and in the directory of a run.

use std::path::{Path, PathBuf};

/// The directory in the agent directory that everything of ours lies in.
pub const SUBAGENTS: &str = "subagents";

/// A run's system prompt.
pub const PROMPT: &str = "prompt.md";
/// The extension that holds a run's child to its tools.
pub const GUARD: &str = "guard.cjs";

/// Where the directories of a conversation's runs lie: beside its session file, else in the agent directory.
#[must_use]
pub fn runs(agent_dir: &Path, session_file: Option<&Path>) -> PathBuf {
    let beside = session_file.and_then(|file| Some(file.parent()?.join(file.file_stem()?)));
    beside.unwrap_or_else(|| agent_dir.join(SUBAGENTS).join("runs"))
}

/// The store of this user's runs.
#[must_use]
pub fn store(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("runs.db")
}

/// Where the snapshots of kept runs lie while these are live.
#[must_use]
pub fn live(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("live")
}

/// The snapshot of one kept run.
#[must_use]
pub fn live_snapshot(agent_dir: &Path, key: &str) -> PathBuf {
    live(agent_dir).join(key).with_extension("json")
}

/// The project agents that the user has confirmed.
#[must_use]
pub fn confirmed_agents(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("confirmed-agents.json")
}

/// Where agents' own credentials lie.
#[must_use]
pub fn credentials(agent_dir: &Path) -> PathBuf {
    agent_dir.join(SUBAGENTS).join("auth")
}

/// One agent's own credentials. An agent's name has no separators.
#[must_use]
pub fn credentials_of(agent_dir: &Path, agent: &str) -> PathBuf {
    credentials(agent_dir).join(format!("{agent}.json"))
}

/// The session file of an attempt, from 1.
#[must_use]
pub fn session(attempt: u32) -> String {
    numbered("session", attempt, "jsonl")
}

/// A text that was too long to return, from 1.
#[must_use]
pub fn output(number: u32) -> String {
    numbered("output", number, "md")
}

fn numbered(name: &str, number: u32, extension: &str) -> String {
    if number > 1 { format!("{name}-{number}.{extension}") } else { format!("{name}.{extension}") }
}
