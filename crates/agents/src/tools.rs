//! Maps names of tools between pi and other harnesses, and parses entries that name only a part of a tool.
//!
//! Every list of tools is read with these tables, in agent files and in the configuration.

use std::collections::BTreeSet;

use super::output_schema::SUBMIT;
use sanitizer::{covers, nearest, quoted, suggestion};

/// Tools that change nothing, in the order in which a child gets them.
pub(super) const READ_TOOLS: [&str; 7] =
    ["read", "grep", "find", "ls", "web_search", "fetch_content", "get_search_content"];
/// The reading tools that need the network.
pub(super) const WEB_TOOLS: [&str; 3] = ["web_search", "fetch_content", "get_search_content"];
/// pi's tools that only write.
pub const WRITE_TOOLS: [&str; 2] = ["edit", "write"];
pub(super) const LSP: &str = "lsp";
/// The tool for a child's questions. Our guard in the child provides it.
pub const ASK: &str = "ask";
/// pi's tool for shell commands.
pub const SHELL: &str = "bash";
/// Prefix of the names of MCP tools.
pub(super) const MCP: &str = "mcp__";

/// pi's tools with their names in other harnesses, in lower case and without `_` and `-`.
const TOOL_ALIASES: [(&str, &[&str]); 8] = [
    ("read", &["read", "readfile", "readfiles", "readmanyfiles", "viewfile", "fileread", "fsread"]),
    (
        "grep",
        &["grep", "greptool", "grepsearch", "ripgrep", "searchfilecontent", "textsearch", "searchfiles"],
    ),
    ("find", &["find", "glob", "globtool", "findfiles", "filesearch", "findbyname", "findpath"]),
    ("ls", &["ls", "listfiles", "listdirectory", "listdir"]),
    (
        SHELL,
        &[
            "bash",
            "bashtool",
            "runshellcommand",
            "shellcommand",
            "executecommand",
            "execcommand",
            "runcommand",
            "runcommands",
            "runinterminal",
            "runterminalcommand",
            "runterminalcmd",
            "localshell",
            "executebash",
            "runbash",
            "runshell",
            "executeshellcommand",
            "executeterminalcommand",
            "terminalcommand",
        ],
    ),
    (
        "edit",
        &[
            "edit",
            "multiedit",
            "editfile",
            "editfiles",
            "fileedit",
            "strreplace",
            "strreplaceeditor",
            "strreplacebasededittool",
            "searchreplace",
            "searchandreplace",
            "applydiff",
            "applypatch",
            "replaceinfile",
            "replacefilecontent",
            "replacestringinfile",
            "multireplacestringinfile",
            "inserteditintofile",
            "texteditor",
        ],
    ),
    ("write", &["write", "writefile", "writetofile", "filewrite", "createfile", "createnewfile", "fswrite"]),
    ("web_search", &["websearch", "googlewebsearch", "searchweb"]),
];
/// The names of a tool that reads pages.
const FETCH: (&str, &[&str]) =
    ("fetch_content", &["fetchcontent", "webfetch", "fetchwebpage", "fetchurl", "readurl"]);
/// Claude Code's names, which patterns match in addition to pi's own names.
const CLAUDE_TOOL_NAMES: [(&str, &str); 10] = [
    ("Read", "read"),
    ("Grep", "grep"),
    ("Glob", "find"),
    ("LS", "ls"),
    ("Bash", SHELL),
    ("Edit", "edit"),
    ("MultiEdit", "edit"),
    ("Write", "write"),
    ("WebFetch", "fetch_content"),
    ("WebSearch", "web_search"),
];
/// General words and the tools that they forbid. They never grant a tool, because an extension may use the same word
/// for another tool.
const GENERAL_WORDS: [(&str, &[&str]); 34] = [
    ("exec", &[SHELL]),
    ("execute", &[SHELL]),
    ("execution", &[SHELL]),
    ("shell", &[SHELL]),
    ("sh", &[SHELL]),
    ("zsh", &[SHELL]),
    ("cmd", &[SHELL]),
    ("powershell", &[SHELL]),
    ("pwsh", &[SHELL]),
    ("terminal", &[SHELL]),
    ("console", &[SHELL]),
    ("run", &[SHELL]),
    ("command", &[SHELL]),
    ("commands", &[SHELL]),
    ("process", &[SHELL]),
    ("modify", &WRITE_TOOLS),
    ("modification", &WRITE_TOOLS),
    ("change", &WRITE_TOOLS),
    ("patch", &WRITE_TOOLS),
    ("replace", &WRITE_TOOLS),
    ("update", &WRITE_TOOLS),
    ("create", &WRITE_TOOLS),
    ("delete", &WRITE_TOOLS),
    ("edits", &WRITE_TOOLS),
    ("writes", &WRITE_TOOLS),
    // These tools create files, too.
    ("applypatch", &WRITE_TOOLS),
    ("strreplaceeditor", &WRITE_TOOLS),
    ("strreplacebasededittool", &WRITE_TOOLS),
    ("texteditor", &WRITE_TOOLS),
    ("view", &["read"]),
    ("list", &["ls"]),
    ("search", &["grep", "find", "web_search"]),
    ("fetch", &["fetch_content"]),
    ("web", &["web_search", "fetch_content"]),
];
/// The tool groups of a harness that writes `group/tool`. Any other prefix is the name of an MCP server.
const GROUPS: [&str; 6] = ["edit", "execute", "read", "runCommands", "search", "web"];
/// Tools of other harnesses that delegate.
const DELEGATING_TOOLS: [&str; 3] = ["Agent", "Task", "Workflow"];
/// Tools of other harnesses without an equivalent in pi.
pub(super) const FOREIGN_TOOLS: [&str; 30] = [
    "AskUserQuestion",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "KillBash",
    "KillShell",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookEdit",
    "NotebookRead",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];
/// More such tools, with names that an extension of pi may also use.
const AMBIGUOUS_FOREIGN_TOOLS: [&str; 7] =
    ["agent", "codesearch", "question", "skill", "task", "todoread", "todowrite"];
/// Opening brackets after a name, and their closing brackets.
const BRACKETS: [(char, char); 4] = [('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
/// The maximum length of a tool name, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// One entry of a list of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// Every tool: `*`.
    All,
    /// A tool, by pi's name if there is one.
    Tool(&'a str),
    /// Only some uses of a tool: `Bash(git log:*)`.
    Part(&'a str),
    /// Not this tool: `!bash`.
    Not(&'a str),
    /// An entry that is not a name.
    Other(&'a str),
}

impl<'a> Entry<'a> {
    /// Reads one entry.
    pub(crate) fn of(written: &'a str) -> Self {
        let written = written.trim().trim_matches(|c| matches!(c, '"' | '\'' | '`')).trim();
        if matches!(&*folded(written), "*" | "all" | "all tools") {
            return Self::All;
        }
        if let Some(refused) = written.strip_prefix(['!', '-', '~']) {
            return Self::Not(refused.trim());
        }
        if let Some(at) = written.find(BRACKETS.map(|(open, _)| open)) {
            let name = written[..at].trim_end();
            let rule = &written[at..];
            let inside =
                BRACKETS.iter().find_map(|(open, close)| rule.strip_prefix(*open)?.strip_suffix(*close));
            return match inside.map(str::trim) {
                // `Bash(*)` includes every use.
                Some("" | "*") => Self::of(name),
                _ => Self::Part(pi_tool_name(name)),
            };
        }
        let name = pi_tool_name(written);
        if is_tool_name(name) { Self::Tool(name) } else { Self::Other(written) }
    }
}

/// Returns pi's name for a declared tool, if it is a single literal name.
#[must_use]
pub fn tool_name(declared: &str) -> Option<&str> {
    Some(pi_tool_name(declared)).filter(|tool| is_tool_name(tool) && Entry::of(declared) != Entry::All)
}

/// Returns pi's name for a declared tool, or the declared name if pi has none.
pub(super) fn pi_tool_name(declared: &str) -> &str {
    let known =
        |name: &str| all_names().find(|(_, names)| names.contains(&&*folded(name))).map(|(tool, _)| *tool);
    let of_group = || {
        let (group, name) = declared.split_once('/').filter(|(group, _)| GROUPS.contains(group))?;
        known(name).or_else(|| known(&format!("{group}{name}")))
    };
    known(declared).or_else(of_group).unwrap_or(declared)
}

/// Returns pi's names, or patterns, for an entry of a list that allows tools.
#[must_use]
pub fn allowed_names(written: &str) -> Vec<String> {
    match Entry::of(written) {
        Entry::All => vec!["*".to_owned()],
        Entry::Tool(tool) => vec![tool.to_owned()],
        Entry::Part(_) | Entry::Not(_) => Vec::new(),
        Entry::Other(pattern) => with_matching(pattern),
    }
}

/// Returns pi's names, or patterns, for an entry of a list that forbids tools. An entry that may mean several tools,
/// or only a part of one, forbids all of them.
#[must_use]
pub fn denied_names(written: &str) -> Vec<String> {
    let named = |tool: &str, own: &str| {
        let mut names = vec![tool.to_owned()];
        // An extension may have a tool with the same name.
        if is_tool_name(own) && !own.eq_ignore_ascii_case(tool) {
            names.push(own.to_owned());
        }
        names.extend(tools_for_word(own).iter().map(|tool| (*tool).to_owned()));
        if own.starts_with(MCP) && !own.ends_with('*') && !own[MCP.len()..].contains("__") {
            names.push(format!("{own}__*"));
        }
        names
    };
    match Entry::of(written) {
        Entry::All => vec!["*".to_owned()],
        Entry::Tool(tool) => named(tool, written.trim()),
        Entry::Part(tool) => named(tool, tool),
        Entry::Not(_) => Vec::new(),
        Entry::Other(pattern) => with_matching(pattern),
    }
}

/// Reports an entry of a list of tools if no tool has its name, or if it names only a part of a tool. `available` are
/// the tools of this pi, if they are known.
#[must_use]
pub fn tool_entry_problem(
    written: &str,
    denies: bool,
    available: Option<&BTreeSet<String>>,
) -> Option<String> {
    let shown = quoted(written.trim());
    match Entry::of(written) {
        Entry::All => None,
        Entry::Part(tool) if denies => Some(format!(
            "{shown} is a part of `{tool}`, which cannot be separated from the rest; all of `{tool}` is denied"
        )),
        Entry::Part(tool) => Some(format!(
            "{shown} is a part of `{tool}`, which cannot be separated from the rest; it allows nothing. To allow all of it, \
             write `{tool}`"
        )),
        Entry::Not(_) => Some(format!("{shown} has no effect; expected names of tools")),
        Entry::Tool(tool) if is_known_tool(tool) || available.is_some_and(|names| names.contains(tool)) => {
            None
        }
        Entry::Tool(tool) => match tools_for_word(tool) {
            [] if available.is_some() => {
                Some(format!("no tool has the name {shown}{}", suggestion(nearest_tool(tool))))
            }
            [] => nearest_tool(tool)
                .map(|near| format!("no tool has the name {shown}{}", suggestion(Some(near)))),
            meant if denies => Some(format!("no tool has the name {shown}; it denies {}", listed(meant))),
            meant => Some(format!("no tool has the name {shown}; did you mean {}?", listed(meant))),
        },
        Entry::Other(pattern) if pattern.contains('*') => {
            let matches = |tool: &str| covers(pattern, tool);
            let is_used = with_matching(pattern).len() > 1
                || pattern.starts_with(MCP)
                || available.is_none_or(|names| names.iter().any(|tool| matches(tool)));
            (!is_used).then(|| format!("no tool matches {shown}"))
        }
        Entry::Other(_) => Some(format!("{shown} is not the name of a tool")),
    }
}

/// Returns true if pi or another harness has a tool with this name.
pub(super) fn is_known_tool(tool: &str) -> bool {
    READ_TOOLS.contains(&tool)
        || WRITE_TOOLS.contains(&tool)
        || FOREIGN_TOOLS.contains(&tool)
        || AMBIGUOUS_FOREIGN_TOOLS.contains(&tool)
        || [SHELL, LSP, ASK, SUBMIT].contains(&tool)
        || tool.starts_with(MCP)
        || tool.contains('/')
        || is_never_in_child(tool)
}

/// Returns the tools for a general word.
pub(super) fn tools_for_word(word: &str) -> &'static [&'static str] {
    let word = folded(word);
    GENERAL_WORDS.iter().find(|(known, _)| *known == word).map_or(&[], |(_, tools)| tools)
}

/// Returns the known tool with the most similar name.
pub(super) fn nearest_tool(name: &str) -> Option<&'static str> {
    nearest(name, READ_TOOLS.into_iter().chain(WRITE_TOOLS).chain([SHELL, LSP]))
}

/// Returns true if a declared tool is a single literal name.
///
/// pi's `--tools` accepts patterns, `+name` and `-name`, which would widen the list. A pattern is allowed only for the
/// tools of one MCP server, because their names are unknown until the server answers.
pub(super) fn is_tool_name(tool: &str) -> bool {
    let plain = tool
        .strip_prefix(MCP)
        .and_then(|rest| rest.strip_suffix('*'))
        .filter(|server| server.ends_with("__"));
    let plain = plain.unwrap_or(tool);
    plain.len() <= MAX_NAME_BYTES
        && plain.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && plain.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

/// Returns true if a tool delegates. A child never gets such a tool.
pub(super) fn is_never_in_child(tool: &str) -> bool {
    tool.starts_with("subagent")
        || tool.starts_with("sessions_")
        || tool == "agents_list"
        || DELEGATING_TOOLS.contains(&tool)
}

fn all_names() -> impl Iterator<Item = &'static (&'static str, &'static [&'static str])> {
    TOOL_ALIASES.iter().chain([&FETCH])
}

/// Returns a name without case and separators, so that different spellings are equal.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Returns a pattern, and pi's tools whose Claude Code name matches it in any case.
fn with_matching(pattern: &str) -> Vec<String> {
    let mut names = vec![pattern.to_owned()];
    let lower = pattern.to_lowercase();
    let matching = CLAUDE_TOOL_NAMES
        .iter()
        .filter(|(claude, _)| pattern.contains('*') && covers(&lower, &claude.to_lowercase()));
    for (_, tool) in matching {
        if !names.iter().any(|known| known == tool) {
            names.push((*tool).to_owned());
        }
    }
    names
}

fn listed(tools: &[&str]) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_for_several_tools_is_not_a_tool_name() {
        for tool in
            ["*", "+bash", "-read", "read,bash", "ba*", "mcp__*", "Bash(git:*)", "", "a b", "mcp__*__x"]
        {
            assert!(!is_tool_name(tool), "{tool}");
        }
        for tool in ["read", "get_search_content", "mcp__git__*", "mcp__git__log", "x-y.z:1"] {
            assert!(is_tool_name(tool), "{tool}");
        }
    }
}
