//! Names that other programs act on, and how they are recognized.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

/// The names that a confined child cannot change if they exist: repositories, and the configuration of pi and of agents.
pub(super) const PROTECTED: [&str; 8] =
    [".git", ".hg", ".jj", ".svn", ".pi", ".agents", ".claude", ".mcp.json"];

/// Directories of installed packages: a program names the files that it wants of them.
const INSTALLED: [&str; 2] = ["node_modules", "site-packages"];

/// The other names that run code later without being asked, or tell agents what to do. One or two parts of a path; the files
/// below a directory of such a name count too.
const RUNS_LATER: [&str; 54] = [
    // shells and their environments
    ".envrc",
    ".direnv",
    ".mise.toml",
    "mise.toml",
    // hooks
    ".husky",
    ".githooks",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    // git, from the tree
    ".gitattributes",
    ".gitmodules",
    // editors
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".vscode/settings.json",
    ".vscode/extensions.json",
    ".vscode/mcp.json",
    ".idea/runConfigurations",
    ".idea/workspace.xml",
    ".zed/tasks.json",
    ".zed/settings.json",
    ".devcontainer",
    ".devcontainer.json",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".vimrc",
    ".dir-locals.el",
    ".dir-locals-2.el",
    // builds and package managers
    ".cargo/config.toml",
    ".cargo/config",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "bunfig.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    ".pnpmfile.cjs",
    // builds elsewhere
    ".github/workflows",
    ".gitlab-ci.yml",
    // agents
    "AGENTS.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "TOOLS.md",
    ".github/copilot-instructions.md",
    ".clinerules",
    ".cursorrules",
    ".windsurfrules",
    ".cursor",
    ".codex",
    ".gemini",
    ".opencode",
];

/// The files in a repository's directory that run code, or say which code runs.
pub(super) const IN_REPOSITORY: [&str; 6] =
    ["config", "config.worktree", "hooks", "info/attributes", "commondir", "rebase-merge/git-rebase-todo"];

/// The file that every repository has in its directory.
pub(super) const HEAD: &str = "HEAD";

/// The meaning of one name.
#[derive(Debug, Default)]
pub(super) struct Role {
    /// A confined child cannot change it where it exists.
    pub is_protected: bool,
    /// It runs code later wherever it is.
    always: bool,
    /// The directories in which it runs code later.
    within: Vec<String>,
    /// The names that run code later in a directory of this name.
    pub contents: Vec<&'static str>,
}

impl Role {
    /// Returns true if a file of this name runs code later in the directory `parent`.
    pub(super) fn runs_later(&self, parent: Option<&OsStr>) -> bool {
        self.always
            || parent.filter(|_| !self.within.is_empty()).is_some_and(|parent| {
                let parent = folded(parent);
                self.within.iter().any(|known| *known == parent)
            })
    }
}

static ROLES: LazyLock<HashMap<String, Role>> = LazyLock::new(|| {
    let mut roles: HashMap<String, Role> = HashMap::new();
    let mut role = |name: &str, change: &mut dyn FnMut(&mut Role)| {
        change(roles.entry(name.to_ascii_lowercase()).or_default());
    };
    for name in PROTECTED {
        role(name, &mut |role| role.is_protected = true);
    }
    for path in RUNS_LATER {
        let Some((parent, name)) = path.split_once('/') else {
            role(path, &mut |role| role.always = true);
            continue;
        };
        role(name, &mut |role| role.within.push(parent.to_ascii_lowercase()));
        role(parent, &mut |role| role.contents.push(name));
    }
    roles
});

/// The length of the longest name with a role.
static LONGEST: LazyLock<usize> = LazyLock::new(|| ROLES.keys().map(String::len).max().unwrap_or_default());

/// Returns the meaning of a name, if it has one.
pub(super) fn role_of(name: &OsStr) -> Option<&'static Role> {
    let name = folded(name);
    (name.len() <= *LONGEST).then(|| ROLES.get(&*name)).flatten()
}

/// Returns true for the name of a directory of installed packages.
pub(super) fn is_installed(name: &OsStr) -> bool {
    INSTALLED.iter().any(|known| name == *known)
}

/// Returns true if a path is protected, or runs code later. A file in the place of a directory such as `.vscode` counts,
/// because it may be a link, and so does a `HEAD`, which makes a repository of its directory.
pub(crate) fn is_flagged(path: &Path) -> bool {
    let (mut parent, mut last, mut in_installed) = (None, None, false);
    for part in path.components() {
        let name = part.as_os_str();
        last = role_of(name);
        if last.is_some_and(|role| role.is_protected || (!in_installed && role.runs_later(parent))) {
            return true;
        }
        in_installed |= is_installed(name);
        parent = Some(name);
    }
    !in_installed && last.is_some_and(|role| !role.contents.is_empty())
        || parent.is_some_and(|name| name.eq_ignore_ascii_case(HEAD))
}

/// Returns the form of a name in which all spellings are equal that some file system takes for one name: capitals, the two
/// letters that become `k` and `s`, characters that HFS+ leaves out, and dots and blanks that Windows drops at the end.
pub(super) fn folded(name: &OsStr) -> Cow<'_, str> {
    let name = name.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if name.bytes().all(is_plain) && !name.ends_with(['.', ' ']) {
        return name;
    }
    let letters = name.chars().filter(|letter| !is_left_out(*letter)).map(|letter| match letter {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        letter => letter.to_ascii_lowercase(),
    });
    let folded: String = letters.collect();
    Cow::Owned(folded.trim_end_matches(['.', ' ']).to_owned())
}

/// Returns true for characters that HFS+ leaves out when it compares names.
fn is_left_out(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_runs_code_later_is_flagged_at_any_depth_and_in_every_spelling() {
        for (path, expected) in [
            (".pi/extensions/x.ts", true),
            ("a/.PI/x", true),
            ("a/.mcp.json", true),
            (".vscode/tasks.json", true),
            (".VSCode/Tasks.JSON", true),
            (".vscode/other.json", false),
            (".vscode", true),
            ("tasks.json", false),
            ("a/.github/workflows/x.yml", true),
            (".husky/pre-commit", true),
            (".hu\u{17f}\u{212a}y/pre-commit", true),
            (".g\u{200c}it/config", true),
            (".envrc. .", true),
            ("CLAUDE.md", true),
            ("fixtures/repository/HEAD", true),
            ("node_modules/x/.npmrc", false),
            ("node_modules/.vscode", false),
            ("node_modules/x/.pi/y", true),
            (".opencode/node_modules/x", true),
            ("...", false),
            ("src/main.rs", false),
            ("src/a name that is far longer than any name with a role.rs", false),
        ] {
            assert_eq!(is_flagged(Path::new(path)), expected, "{path}");
        }
    }
}
