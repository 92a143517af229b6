//! Recognizes names that other programs act on.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sanitizer::is_invisible;

/// The names that a confined child cannot change if they exist: repositories, and the configuration of pi and of
/// agents.
pub(super) const PROTECTED: [&str; 8] =
    [".git", ".hg", ".jj", ".svn", ".pi", ".agents", ".claude", ".mcp.json"];

/// Directories of installed packages. Programs load files from them by name.
const INSTALLED: [&str; 2] = ["node_modules", "site-packages"];

/// The severity of missing a changed file, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Danger {
    /// A repository, or the configuration of pi and of agents.
    Protected,
    /// It runs code on this machine.
    Runs,
    /// It runs code on a build server.
    RunsRemotely,
    /// It instructs agents.
    Instructs,
}

/// The other names of files that run code later without a question, or instruct agents. A name has one or two parts of
/// a path. The files below a directory with such a name count, too.
const RUNS_LATER: [(Danger, &[&str]); 7] = [
    // shells and their environments, debuggers and interpreters that read a file of the directory they start in
    (
        Danger::Runs,
        &[
            ".envrc",
            ".direnv",
            ".mise",
            ".mise.toml",
            "mise.toml",
            ".mise.local.toml",
            "mise.local.toml",
            ".config/mise",
            ".config/mise.toml",
            ".autoenv",
            ".autoenv.zsh",
            ".gdbinit",
            ".lldbinit",
            ".pdbrc",
            ".Rprofile",
            ".Renviron",
            ".RData",
            ".ocamlinit",
            ".octaverc",
            ".perldb",
            ".ghci",
            ".irbrc",
            ".pryrc",
            ".iex.exs",
        ],
    ),
    // hooks, and git from the tree
    (
        Danger::Runs,
        &[
            ".husky",
            ".githooks",
            ".git-hooks",
            ".pre-commit-config.yaml",
            "prek.toml",
            "lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yml",
            ".lefthook.yaml",
            "lefthook-local.yml",
            ".lefthook-local.yml",
            ".lefthook",
            ".overcommit.yml",
            ".simple-git-hooks.json",
            ".simple-git-hooks.js",
            ".simple-git-hooks.cjs",
            ".lintstagedrc",
            ".lintstagedrc.json",
            ".lintstagedrc.js",
            ".lintstagedrc.mjs",
            ".lintstagedrc.cjs",
            ".lintstagedrc.yaml",
            ".gitattributes",
            ".gitmodules",
        ],
    ),
    // editors
    (
        Danger::Runs,
        &[
            ".vscode/tasks.json",
            ".vscode/launch.json",
            ".vscode/settings.json",
            ".vscode/extensions.json",
            ".vscode/mcp.json",
            ".code-workspace",
            ".sublime-project",
            ".idea/runConfigurations",
            ".idea/workspace.xml",
            ".idea/watcherTasks.xml",
            ".idea/startup.xml",
            ".run",
            ".fleet",
            ".zed/tasks.json",
            ".zed/debug.json",
            ".zed/settings.json",
            ".theia",
            ".helix",
            ".devcontainer",
            ".devcontainer.json",
            ".gitpod.yml",
            ".idx",
            ".codesandbox",
            ".exrc",
            ".nvimrc",
            ".nvim.lua",
            ".vim",
            ".vimrc",
            ".lvimrc",
            ".dir-locals.el",
            ".dir-locals-2.el",
        ],
    ),
    // builds and package managers
    (
        Danger::Runs,
        &[
            ".cargo/config.toml",
            ".cargo/config",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".yarn/releases",
            ".yarn/plugins",
            ".pnpmfile.cjs",
            ".pnpmfile.mjs",
            "bunfig.toml",
            ".bundle/config",
            ".mvn",
            "gradle/wrapper",
            ".bazelrc",
            "tools/bazel",
            ".sbtopts",
            ".jvmopts",
            "pnpm-workspace.yaml",
            ".pylintrc",
            "pylintrc",
            ".arcconfig",
            "ansible.cfg",
            "rust-toolchain",
            "rust-toolchain.toml",
        ],
    ),
    // builds on servers
    (
        Danger::RunsRemotely,
        &[
            ".github/workflows",
            ".github/actions",
            ".gitea/workflows",
            ".forgejo/workflows",
            ".gitlab-ci.yml",
            ".circleci",
            ".travis.yml",
            ".appveyor.yml",
            "appveyor.yml",
            "azure-pipelines.yml",
            "azure-pipelines.yaml",
            "cloudbuild.yaml",
            "cloudbuild.yml",
            ".taskcluster.yml",
            ".build.yml",
            ".builds",
            ".teamcity",
            "bitbucket-pipelines.yml",
            ".buildkite",
            ".cirrus.yml",
            ".drone.yml",
            ".semaphore",
            ".woodpecker",
            ".woodpecker.yml",
            ".woodpecker.yaml",
            "Jenkinsfile",
        ],
    ),
    // agents: files that can start programs
    (
        Danger::Runs,
        &[
            ".cursor",
            ".codex",
            ".gemini",
            ".opencode",
            "opencode.json",
            "opencode.jsonc",
            ".crush",
            ".crush.json",
            "crush.json",
            ".aider.conf.yml",
            ".roo",
            ".kilocode",
            ".windsurf",
            ".kiro",
            ".trae",
            ".continue",
            ".amazonq",
            ".augment",
            ".junie",
            ".qwen",
            ".factory",
        ],
    ),
    // agents: instructions
    (
        Danger::Instructs,
        &[
            "AGENTS.md",
            "AGENTS.override.md",
            "AGENT.md",
            "CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "QWEN.md",
            "TOOLS.md",
            "WARP.md",
            ".github/copilot-instructions.md",
            ".github/instructions",
            ".github/prompts",
            ".github/agents",
            ".github/chatmodes",
            ".clinerules",
            ".cursorrules",
            ".windsurfrules",
            ".roorules",
            ".roomodes",
            ".goosehints",
            ".rules",
        ],
    ),
];

/// Names that also count as the ending of a name.
const ENDINGS: [&str; 2] = [".code-workspace", ".sublime-project"];

/// The files in a repository's directory that run code, or say which code runs.
pub(super) const IN_REPOSITORY: [&str; 6] =
    ["config", "config.worktree", "hooks", "info/attributes", "commondir", "rebase-merge/git-rebase-todo"];

/// The file that every repository has in its directory.
pub(super) const HEAD: &str = "HEAD";

/// The reason why a changed file is flagged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Flag {
    danger: Danger,
    /// The entry of these tables.
    entry: &'static str,
}

impl Flag {
    const fn protected(entry: &'static str) -> Self {
        Self { danger: Danger::Protected, entry }
    }
}

/// The meaning of one name.
#[derive(Debug, Default)]
pub(super) struct Role {
    /// True if a confined child cannot change an existing file with this name.
    pub is_protected: bool,
    /// The flag of a name that is flagged in every directory.
    always: Option<Flag>,
    /// The directories in which it is flagged.
    within: Vec<(String, Flag)>,
    /// The names that run code later in a directory of this name, and why they are flagged.
    pub contents: Vec<(&'static str, Flag)>,
}

impl Role {
    /// Returns true if a file of this name runs code later in the directory `parent`.
    pub(super) fn runs_later(&self, parent: Option<&OsStr>) -> bool {
        self.flag(parent).is_some()
    }

    fn flag(&self, parent: Option<&OsStr>) -> Option<Flag> {
        let within = || {
            let parent = folded(parent.filter(|_| !self.within.is_empty())?);
            self.within.iter().find(|(known, _)| *known == parent).map(|(_, flag)| *flag)
        };
        self.always.or_else(within)
    }
}

static ROLES: LazyLock<HashMap<String, Role>> = LazyLock::new(|| {
    let mut roles: HashMap<String, Role> = HashMap::new();
    let mut role = |name: &str, change: &mut dyn FnMut(&mut Role)| {
        change(roles.entry(name.to_ascii_lowercase()).or_default());
    };
    for name in PROTECTED {
        role(name, &mut |role| {
            role.is_protected = true;
            role.always = Some(Flag::protected(name));
        });
    }
    let all = RUNS_LATER.iter().flat_map(|(danger, paths)| paths.iter().map(|path| (*danger, *path)));
    for (danger, entry) in all {
        let flag = Flag { danger, entry };
        let Some((parent, name)) = entry.split_once('/') else {
            role(entry, &mut |role| role.always = Some(flag));
            continue;
        };
        role(name, &mut |role| role.within.push((parent.to_ascii_lowercase(), flag)));
        role(parent, &mut |role| role.contents.push((name, flag)));
    }
    roles
});

/// The length of the longest name with a role.
static LONGEST: LazyLock<usize> = LazyLock::new(|| ROLES.keys().map(String::len).max().unwrap_or_default());

/// Returns the meaning of a name, if it has one.
pub(super) fn role_of(name: &OsStr) -> Option<&'static Role> {
    let name = folded(name);
    let known = (name.len() <= *LONGEST).then(|| ROLES.get(&*name)).flatten();
    known.or_else(|| ENDINGS.iter().find(|end| name.ends_with(*end)).and_then(|end| ROLES.get(*end)))
}

/// Returns true for the name of a directory of installed packages.
pub(super) fn is_installed(name: &OsStr) -> bool {
    INSTALLED.iter().any(|known| name == *known)
}

/// Returns true if a path is protected, or runs code later.
#[must_use]
pub fn is_flagged(path: &Path) -> bool {
    flag_of(path).is_some()
}

/// Returns the reason why a path is flagged by its names, if it is. A file in the place of a directory such as
/// `.vscode` counts, because it may be a link, and so does a `HEAD`, which makes a repository of its directory.
pub(crate) fn flag_of(path: &Path) -> Option<Flag> {
    let mut parent = None;
    let mut last = None;
    let mut in_installed = false;
    for part in path.components() {
        let name = part.as_os_str();
        last = role_of(name);
        let flag = last.filter(|role| role.is_protected || !in_installed).and_then(|role| role.flag(parent));
        if flag.is_some() {
            return flag;
        }
        in_installed |= is_installed(name);
        parent = Some(name);
    }
    let link = last.filter(|_| !in_installed).and_then(|role| role.contents.first());
    let is_head = || parent.is_some_and(|name| name.eq_ignore_ascii_case(HEAD));
    link.map(|(_, flag)| *flag).or_else(|| is_head().then_some(Flag::protected(HEAD)))
}

/// Returns the effect of a flagged path. A path without a flagged name runs code because of a link or of a repository's
/// configuration.
pub(crate) fn effect_of(path: &Path) -> &'static str {
    match flag_of(path) {
        Some(Flag { danger: Danger::Protected, entry: ".pi" }) => "configures pi",
        Some(Flag { danger: Danger::Protected, entry: ".agents" | ".claude" | ".mcp.json" }) => {
            "configures agents"
        }
        Some(Flag { danger: Danger::Protected, .. }) => "belongs to a repository",
        Some(Flag { danger: Danger::RunsRemotely, .. }) => "runs code on a build server",
        Some(Flag { danger: Danger::Instructs, .. }) => "instructs agents",
        Some(Flag { danger: Danger::Runs, .. }) | None => "runs code later",
    }
}

/// Orders flagged paths so that many decoys of one kind cannot hide another kind of file. First comes one path of each
/// kind, the worst kind first, then the next path of each kind. Within a kind, paths near the root come first.
pub fn by_danger(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut flagged = Vec::new();
    for path in paths {
        // A path without a flag runs code because of a link or of a repository's configuration.
        let flag = flag_of(&path).unwrap_or(Flag::protected(""));
        flagged.push((flag, path.components().count(), path));
    }
    flagged.sort();
    flagged.dedup();
    let mut numbers: HashMap<Flag, usize> = HashMap::new();
    let mut numbered = Vec::new();
    for (flag, depth, path) in flagged {
        let number = numbers.entry(flag).or_default();
        *number += 1;
        numbered.push((*number, flag, depth, path));
    }
    numbered.sort();
    numbered.into_iter().map(|(.., path)| path).collect()
}

/// Returns a form of a name in which all spellings are equal that some file system treats as the same name: capitals,
/// letters that become one or two of ASCII, ignored characters, and the dots and blanks that Windows drops at the end.
pub(super) fn folded(name: &OsStr) -> Cow<'_, str> {
    let name = name.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if name.bytes().all(is_plain) && !name.ends_with(['.', ' ']) {
        return name;
    }
    let mut folded = String::with_capacity(name.len());
    // HFS+ leaves out some of the invisible characters, and ext4 with folded capitals all of them.
    for letter in name.chars().filter(|letter| !is_invisible(*letter)) {
        match letter {
            '\u{212a}' => folded.push('k'),
            '\u{17f}' => folded.push('s'),
            '\u{df}' | '\u{1e9e}' => folded.push_str("ss"),
            '\u{fb00}' => folded.push_str("ff"),
            '\u{fb01}' => folded.push_str("fi"),
            '\u{fb02}' => folded.push_str("fl"),
            '\u{fb03}' => folded.push_str("ffi"),
            '\u{fb04}' => folded.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => folded.push_str("st"),
            letter => folded.push(letter.to_ascii_lowercase()),
        }
    }
    folded.truncate(folded.trim_end_matches(['.', ' ']).len());
    Cow::Owned(folded)
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
            (".g\u{ad}it/config", true),
            (".pre-commit-con\u{fb01}g.yaml", true),
            ("ru\u{fb06}-toolchain", true),
            ("packages/a/x.code-workspace", true),
            ("x.CODE-workspace", true),
            (".yarn/releases/yarn-4.cjs", true),
            (".yarn/cache/a.zip", false),
            ("x.code-workspaces", false),
            (".envrc. .", true),
            (".RData", true),
            ("tools/bazel", true),
            ("src/bazel", false),
            ("packages/a/ansible.cfg", true),
            ("pnpm-workspace.yaml", true),
            (".builds/alpine.yml", true),
            (".teamcity/settings.kts", true),
            ("WARP.md", true),
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

    #[test]
    fn many_files_of_one_kind_do_not_displace_the_first_of_another_kind() {
        let decoys = (0..60).flat_map(|number| {
            [format!("a{number:02}/AGENTS.md"), format!("a{number:02}/.envrc"), format!("a{number:02}/.pi/x")]
        });
        let real =
            ["z/deep/.vscode/tasks.json", "zz/hook", ".mcp.json", ".envrc", ".github/workflows/ci.yml"];
        let ordered = by_danger(decoys.chain(real.map(str::to_owned)).map(PathBuf::from));
        let shown: Vec<_> =
            ordered.iter().take(9).map(|path| path.to_str().expect("the path is UTF-8")).collect();
        assert_eq!(
            shown,
            [
                "zz/hook",
                ".mcp.json",
                "a00/.pi/x",
                ".envrc",
                "z/deep/.vscode/tasks.json",
                ".github/workflows/ci.yml",
                "a00/AGENTS.md",
                "a01/.pi/x",
                "a00/.envrc"
            ]
        );
        assert_eq!(ordered.len(), 185);
    }
}
