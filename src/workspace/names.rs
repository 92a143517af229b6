//! Names that mean something to other programs: data only.

/// What a confined child cannot change where it exists: repositories, and what pi and agents read as configuration.
pub(crate) const PROTECTED: [&str; 8] =
    [".git", ".hg", ".jj", ".svn", ".pi", ".agents", ".claude", ".mcp.json"];

/// Directories that hold nothing but what is installed: their files run only when they are asked for.
pub(super) const INSTALLED: [&str; 2] = ["node_modules", "site-packages"];

/// What else runs code later without being asked, or tells agents what to do. One or two parts of a path; what lies below
/// a directory of such a name counts too.
pub(super) const RUNS_LATER: [&str; 54] = [
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

/// What lies in a repository's directory and runs code, or says which code runs.
pub(super) const IN_REPOSITORY: [&str; 5] =
    ["config", "config.worktree", "hooks", "info/attributes", "commondir"];
